//! The key that tokens hang on: where it is kept, who may read it, and what is over without it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use super::lines;
use crate::server::Server;

/// Settings of a server over the rows beside `dir`, which keeps its data there.
fn settings(rows: &Path, dir: &Path) -> String {
    format!(
        "[server]\ndata_dir = \"{}\"\n[[dataset]]\nname = \"a\"\nsource = \"{}\"\n",
        dir.display(),
        rows.join("a.ndjson").display()
    )
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
#[cfg(unix)]
fn tokens_outlive_the_server_with_its_data_directory_and_not_without() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.ndjson"), lines(1_000)).unwrap();
    let (kept, other) = (place.path().join("kept"), place.path().join("other"));
    let begin = |dir: &Path| Server::with(&settings(place.path(), dir), &[]);
    let page = |server: &Server, after: &str| server.get(&format!("/api/tables/a?limit=2{after}"));
    let server = begin(&kept);
    let opened = server.post_json("/api/export", "{\"entry\":\"a\",\"streams\":2}").json();
    let url = format!("{}?rows=5", opened["streams"][1]["url"].as_str().unwrap());
    let rows = server.get(&url);
    let after = format!("&after={}", super::next_of(&page(&server, "")));
    let behind = page(&server, &after);
    assert_eq!((rows.status, behind.status), (200, 200));
    assert_eq!((mode(&kept.join("tokens.key")), mode(&kept)), (0o600, 0o700));
    let key = std::fs::read_to_string(kept.join("tokens.key")).unwrap();
    drop(server);
    let server = begin(&kept);
    assert_eq!(server.get(&url).text(), rows.text());
    assert_eq!(page(&server, &after).text(), behind.text());
    drop(server);
    let server = begin(&other);
    assert_eq!(server.get(&url).status, 400);
    assert_eq!(page(&server, &after).status, 400);
    drop(server);
    // Servers with one key know each other's tokens.
    assert_ne!(std::fs::read_to_string(other.join("tokens.key")).unwrap(), key);
    std::fs::write(other.join("tokens.key"), &key).unwrap();
    let server = begin(&other);
    assert_eq!(server.get(&url).text(), rows.text());
}

#[test]
fn without_a_data_directory_the_key_is_beside_the_settings() {
    let server = Server::with("[[dataset]]\nname = \"a\"\nsource = \"a.csv\"\n", &[("a.csv", b"id\n1\n")]);
    assert!(server.file("salver-data/tokens.key").is_file());
    // Where it can't be kept, the server does without.
    let toml = "[[dataset]]\nname = \"a\"\nsource = \"a.csv\"\n";
    let server = Server::with(toml, &[("a.csv", b"id\n1\n"), ("salver-data", b"no directory")]);
    assert_eq!(server.post_json("/api/export", "{\"entry\":\"a\"}").status, 201);
    // Nothing is left in a folder of data that has no settings.
    let server = Server::of(&[("a.csv", b"id\n1\n")]);
    assert!(!server.file("salver-data").exists());
    assert_eq!(server.post_json("/api/export", "{\"entry\":\"a\"}").status, 201);
}

/// How the program ends that can't begin, and what it says.
fn refused(settings: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("salver.toml"), settings).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_salver"));
    program.args(["serve", "--listen", "127.0.0.1:0"]).arg(place.path());
    let output = program.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_damaged_key_is_told_and_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.ndjson"), lines(3)).unwrap();
    let dir = place.path().join("kept");
    drop(Server::with(&settings(place.path(), &dir), &[]));
    let path = dir.join("tokens.key");
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[20] ^= 1;
    let long = vec![b'0'; 1 << 20];
    for damaged in [&flipped[..], &whole[..40], b"", b"\xff\xfe", &long] {
        std::fs::write(&path, damaged).unwrap();
        let said = refused(&settings(place.path(), &dir));
        assert!(said.contains("tokens.key` is not a key of tokens, or it is damaged"), "{said}");
        assert!(!said.contains(std::str::from_utf8(&whole[20..60]).unwrap()), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let said = refused(&settings(place.path(), &dir));
    assert!(said.contains("can't read the key of tokens"), "{said}");
}

/// The log of requests shows how tokens begin, and no more of them.
#[test]
fn logs_do_not_show_tokens() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.ndjson"), lines(1_000)).unwrap();
    std::fs::write(
        place.path().join("salver.toml"),
        "[server]\naccess_log = true\n[[dataset]]\nname = \"a\"\nsource = \"a.ndjson\"\n",
    )
    .unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_salver"));
    program.args(["serve", "--listen", "127.0.0.1:0"]).arg(place.path());
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = printed.find_map(|line| Some(line.unwrap().split_once("http://")?.1.trim().to_owned())).unwrap();
    std::thread::spawn(move || printed.for_each(drop));
    let mut log = child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = log.read_to_string(&mut text);
        text
    });
    let ask = |head: &str, body: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{head} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    while !ask("GET /ready", "").starts_with("HTTP/1.1 200") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let answer = ask("POST /api/export", "{\"entry\":\"a\"}");
    let (_, token) = answer.split_once("\"export\":\"").unwrap();
    let (token, _) = token.split_once('"').unwrap();
    assert!(ask(&format!("GET /api/export/{token}/0?rows=2"), "").starts_with("HTTP/1.1 200"));
    let answer = ask("GET /api/tables/a?limit=2", "");
    let (_, after) = answer.split_once("after=").unwrap();
    let (after, _) = after.split_once('>').unwrap();
    assert!(ask(&format!("GET /api/tables/a?limit=2&after={after}"), "").starts_with("HTTP/1.1 200"));
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap();
    let log = log.join().unwrap();
    assert!(log.contains("/api/export/x_") && log.contains("after="), "{log}");
    assert!(!log.contains(&token[..20]) && !log.contains(&after[..20]), "{log}");
}
