//! Addresses that clients make the server ask: only those that the settings begin, however they are written, and no
//! further.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::server::{Answer, Server};

const CODE: &[u8] = b"def add(a: int, b: int) -> int:\n    return a + b\n";
/// Hosts that lead to this machine, to its neighbours, or nearly to what is allowed.
const HOSTS: [&str; 23] = [
    "localhost",
    "127.1",
    "127.0.0.2",
    "0.0.0.0",
    "0",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "169.254.169.254",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    "10.0.0.1",
    "127.0.0.1.nip.io",
    "localtest.me",
    "hooks.example",
    "user@127.0.0.1",
];
/// Paths that leave what is allowed, as some server may read them.
const PATHS: [&str; 12] = [
    "/hooks",
    "/admin",
    "/hooks/../admin",
    "/hooks/%2e%2e/admin",
    "/hooks/..%2fadmin",
    "/hooks/x%2F..%2F..%2Fadmin",
    "/hooks/%252e%252e/admin",
    "/hooks/..%5cadmin",
    "/hooks/..;/admin",
    "/hooks/.%00./admin",
    "/hooks/.%0d./admin",
    "/Hooks/",
];

fn serve(callbacks: &str) -> Server {
    let toml = format!("server.callbacks = [{callbacks}]\n[[function]]\nfile = \"code.py\"\n");
    let server = Server::with(&toml, &[("code.py", CODE)]);
    server.until(|server| server.get("/api/functions/code").status == 200);
    server
}

/// Calls the function as a job that reports to `address`.
fn ask(server: &Server, address: &str) -> Answer {
    let headers = [("prefer", "respond-async"), ("content-type", "application/json"), ("x-callback-url", address)];
    server.ask("POST", "/api/functions/code/add", &headers, br#"{"a": 1, "b": 2}"#)
}

fn assert_refused(server: &Server, addresses: &[String]) {
    for address in addresses {
        let answer = ask(server, address);
        assert_eq!(answer.status, 403, "{address}: {answer:?}");
        assert_eq!(answer.json()["error"], "forbidden", "{address}");
    }
}

/// A listener that sees whether anybody came.
fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

fn assert_nobody_came(listener: &TcpListener) {
    listener.set_nonblocking(true).expect("a listener");
    assert!(listener.accept().is_err(), "the server came");
}

#[test]
fn no_address_is_asked_without_a_setting() {
    let (listener, port) = listen();
    let server = serve("");
    let addresses = ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"].map(|host| format!("http://{host}:{port}/hooks/"));
    assert_refused(&server, &addresses);
    assert_nobody_came(&listener);
}

#[test]
fn addresses_are_those_of_the_settings_to_the_letter() {
    let (listener, port) = listen();
    let server = serve(&format!("\"http://127.0.0.1:{port}/hooks/\", \"https://hooks.example/in/\""));
    let own = format!("127.0.0.1:{port}");
    let mut addresses: Vec<String> = HOSTS.iter().map(|host| format!("http://{host}:{port}/hooks/")).collect();
    addresses.extend(PATHS.iter().map(|path| format!("http://{own}{path}")));
    addresses.extend([
        format!("HTTP://{own}/hooks/"),
        format!("https://{own}/hooks/"),
        format!("http:{own}/hooks/"),
        format!("//{own}/hooks/"),
        format!("http://{own}1/hooks/"),
        format!("http://{own}@evil.example/hooks/"),
        format!("http://evil.example/?http://{own}/hooks/"),
        format!("gopher://{own}/hooks/"),
        format!("file:///hooks/{own}"),
        format!("http://{own}/hooks/\tx"),
        "https://hooks.example.evil.example/in/".to_owned(),
        "https://hooks.example@evil.example/in/".to_owned(),
        "https://hooks.example:8443/in/".to_owned(),
    ]);
    assert_refused(&server, &addresses);
    assert_nobody_came(&listener);
    assert_eq!(ask(&server, &format!("http://{own}/hooks/job?x=1")).status, 202);
}

/// Reads a request to its end.
fn taken(stream: &mut TcpStream) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece).expect("a request");
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let head = head.to_ascii_lowercase();
            let said = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            body.len() >= said.unwrap_or(0)
        });
        if whole || count == 0 {
            return text;
        }
    }
}

/// Who is allowed to be told may not send the server on to who is not.
#[test]
fn callbacks_follow_no_redirect() {
    let ((listener, port), (other, target)) = (listen(), listen());
    let server = serve(&format!("\"http://127.0.0.1:{port}/hooks/\""));
    for status in ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"] {
        let accepted = ask(&server, &format!("http://127.0.0.1:{port}/hooks/x"));
        assert_eq!(accepted.status, 202, "{accepted:?}");
        let (mut stream, _) = listener.accept().expect("the server");
        assert!(taken(&mut stream).starts_with("POST /hooks/x HTTP/1.1"), "{status}");
        let head = format!("HTTP/1.1 {status}\r\nlocation: http://127.0.0.1:{target}/\r\n");
        let answer = format!("{head}content-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).expect("sent");
        let job = accepted.header("location").expect("a job").to_owned();
        server.until(|server| server.get(&job).json()["callback"]["state"] == "failed");
    }
    assert_nobody_came(&other);
}
