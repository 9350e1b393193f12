//! The contract of the `IdentityProvider` port, clause by clause.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use salver_model::Code;
use salver_model::limits::OIDC_ANSWER_BYTES_MAX;
use salver_model::ports::{IdentityProvider, SecretPlace};

/// Runs the suite, with a provider of its own. `header` is the line of a request, and `form` the end of its body, in
/// which the client proves who it is.
///
/// # Panics
/// When the contract is broken.
pub async fn run(client: &dyn IdentityProvider, header: &str, form: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let _ = serve(connection, &sender);
        }
    });
    let url = |path: &str| format!("{base}/{path}");
    assert_eq!(client.document(&url("200")).await.expect("a document"), "x");
    // A redirect is not followed.
    for path in ["404", "302", "large", "gone"] {
        assert_eq!(client.document(&url(path)).await.expect_err(path).code, Code::Source);
    }
    let largest = client.document(&url("largest")).await.expect("a document").len() as u64;
    assert_eq!(largest, OIDC_ANSWER_BYTES_MAX);
    while requests.try_recv().is_ok() {}
    let fields = || vec![("grant_type", "a".to_owned()), ("code", "b&c=\u{e4}".to_owned())];
    for (path, status) in [("200", 200), ("400", 400), ("302", 302)] {
        let answer = client.token(&url(path), fields(), SecretPlace::Header).await.expect("an answer");
        assert_eq!((answer.status, &answer.body[..]), (status, &b"x"[..]));
        let request = requests.recv().expect("a request");
        let (head, body) = request.split_once("\r\n\r\n").expect("a body");
        assert!(head.starts_with(&format!("POST /{path} ")) && head.contains(header), "{head}");
        assert!(head.to_lowercase().contains("content-type: application/x-www-form-urlencoded"), "{head}");
        assert_eq!(body, "grant_type=a&code=b%26c%3D%C3%A4");
        assert!(requests.try_recv().is_err(), "once");
    }
    client.token(&url("200"), fields(), SecretPlace::Form).await.expect("an answer");
    let request = requests.recv().expect("a request");
    assert!(request.ends_with(&format!("&{form}")) && !request.to_lowercase().contains("authorization:"), "{request}");
    for path in ["large", "gone"] {
        let failed = client.token(&url(path), fields(), SecretPlace::Form).await.expect_err(path);
        assert_eq!(failed.code, Code::Source);
    }
    assert_eq!(client.key_set(&url("200")).fetch().await.expect("a key set"), "x");
}

/// Answers a request as its path says, and tells of it.
fn serve(mut connection: TcpStream, told: &Sender<String>) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    let text = loop {
        let count = connection.read(&mut piece)?;
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let length = |head: &str| {
            let lower = head.to_lowercase();
            let line = lower.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned));
            line.and_then(|length| length.parse::<usize>().ok()).unwrap_or(0)
        };
        let is_whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| body.len() >= length(head));
        if is_whole || count == 0 {
            break text;
        }
    };
    let path = text.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let _ = told.send(text.replace("Authorization:", "authorization:"));
    let largest = usize::try_from(OIDC_ANSWER_BYTES_MAX).expect("it fits");
    let (status, body) = match path.as_str() {
        "large" => ("200", "x".repeat(largest + 1)),
        "largest" => ("200", "x".repeat(largest)),
        "gone" => return Ok(()),
        status => (status, "x".to_owned()),
    };
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nLocation: /200\r\n", body.len());
    connection.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes())
}
