//! Sources behind http, from a server of a few lines.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use salver_model::spec::DatasetSpec;
use salver_model::{Code, Name};

use crate::made::{load, parquet_of, probe, sample, show};

/// Answers each request with what `answer` makes of its head; the base URL and the heads so far.
fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut head).unwrap_or(0) > 2 {}
            seen.lock().unwrap().push(head.clone());
            let _ = stream.write_all(&answer(&head));
        }
    });
    (base, heads)
}

fn reply(head: &str, status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len())
        .into_bytes();
    if !head.starts_with("HEAD") {
        out.extend(body);
    }
    out
}

fn spec(url: String) -> DatasetSpec {
    DatasetSpec::new(Name::new("far").unwrap(), vec![url])
}

#[test]
fn headers_and_etags() {
    let etag = Arc::new(Mutex::new("\"one\""));
    let now = Arc::clone(&etag);
    let (base, heads) = serve(move |head| {
        let etag = format!("ETag: {}\r\n", now.lock().unwrap());
        reply(head, "200 OK", &etag, b"a,b\n1,x\n")
    });
    let mut spec = spec(format!("{base}/data/a.csv?token=secret"));
    spec.headers = vec![("Authorization".into(), "Bearer t".into())];
    let loaded = load(&spec).unwrap();
    assert_eq!(show(&loaded), "a:Int64|b:Utf8\n1|x");
    assert!(loaded.source.contains("/data/a.csv") && !loaded.source.contains("secret"));
    assert_eq!(probe(&spec).unwrap(), loaded.version);
    *etag.lock().unwrap() = "\"two\"";
    assert_ne!(probe(&spec).unwrap(), loaded.version);
    let heads = heads.lock().unwrap();
    assert!(heads[0].starts_with("GET /data/a.csv?token=secret HTTP/1.1"));
    assert!(heads[1].starts_with("HEAD "));
    assert!(heads.iter().all(|head| head.to_lowercase().contains("authorization: bearer t")));
}

#[test]
fn without_etag_or_head() {
    let (base, _) = serve(|head| match head.starts_with("HEAD") {
        true => reply(head, "405 Method Not Allowed", "", b""),
        false => reply(head, "200 OK", "Content-Type: text/csv; charset=utf-8\r\n", b"a\n1\n"),
    });
    // The format comes from the media type.
    let spec = spec(format!("{base}/export"));
    let loaded = load(&spec).unwrap();
    assert_eq!(show(&loaded), "a:Int64\n1");
    assert_eq!(probe(&spec).unwrap(), loaded.version);
    let (base, _) =
        serve(|head| reply(head, "200 OK", "Last-Modified: Sat, 31 Jan 2026 10:00:00 GMT\r\n", b"[{\"a\":1}]"));
    let spec = self::spec(format!("{base}/x.json"));
    assert_eq!(probe(&spec).unwrap(), load(&spec).unwrap().version);
}

#[test]
fn parquet_is_kept_while_it_is_scanned() {
    let bytes = parquet_of(&sample());
    let (base, _) = serve(move |head| reply(head, "200 OK", "", &bytes));
    let mut spec = spec(format!("{base}/x.parquet"));
    spec.residency = salver_model::spec::Residency::Never;
    let loaded = load(&spec).unwrap();
    assert!(show(&loaded).ends_with("3|cäsar|-2.0"));
}

#[test]
fn a_web_page_is_no_data() {
    let (base, _) = serve(|head| {
        let body: &[u8] = match head.split([' ', '?']).nth(1).unwrap() {
            "/login.csv" => b"\n <!DOCTYPE html><html><body>Log in</body></html>",
            "/error.tsv" => b"<Error><Code>AccessDenied</Code></Error>",
            "/refused.csv" => b"{\"error\":\"login\",\"code\":401}",
            "/sentence.csv" => b"Please log in\n",
            "/quotes.csv" => b"<DATE>,<OPEN>\n2026-01-31,1.5\n",
            _ => b"<p>Log in</p>",
        };
        reply(head, "200 OK", "Content-Type: text/html\r\n", body)
    });
    for path in ["/login.csv", "/error.tsv", "/a.json", "/a.ndjson", "/a.parquet"] {
        let wrong = load(&spec(format!("{base}{path}?key=secret"))).unwrap_err();
        assert_eq!(wrong.code, Code::Source);
        assert!(wrong.message.contains("answers a web page") && wrong.hint.is_some(), "{wrong:?}");
        assert!(!wrong.message.contains("secret"), "{wrong:?}");
    }
    let wrong = load(&spec(format!("{base}/refused.csv"))).unwrap_err();
    assert!(wrong.message.contains("answers JSON, not CSV"), "{wrong:?}");
    let wrong = load(&spec(format!("{base}/sentence.csv"))).unwrap_err();
    assert!(wrong.message.contains("answers a sentence, not CSV"), "{wrong:?}");
    let quotes = load(&spec(format!("{base}/quotes.csv"))).unwrap();
    assert_eq!(show(&quotes), "<DATE>:Date32|<OPEN>:Float64\n2026-01-31|1.5");
}

#[test]
fn failures_are_named() {
    let (base, _) = serve(|head| match head.split([' ', '?']).nth(1).unwrap() {
        "/cut.csv" => b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\na,b\n1,2\n".to_vec(),
        "/drop.csv" => Vec::new(),
        "/loop.csv" => reply(head, "302 Found", "Location: /loop.csv\r\n", b""),
        "/html" => reply(head, "200 OK", "", b"<html>"),
        "/part.csv" => reply(head, "206 Partial Content", "", b"a,b\n1,2\n"),
        "/locked.csv" => reply(head, "403 Forbidden", "", b""),
        _ => reply(head, "404 Not Found", "", b"nothing"),
    });
    for (path, message) in [
        ("/none.csv", "answers 404"),
        ("/locked.csv", "answers 403"),
        ("/part.csv", "a part that nobody asked for"),
        ("/cut.csv", "broke off"),
        ("/drop.csv", "can't reach"),
        ("/loop.csv", "loop.csv`"),
        ("/html", "can't tell the format"),
    ] {
        let wrong = load(&spec(format!("{base}{path}?key=secret"))).unwrap_err();
        assert_eq!(wrong.code, Code::Source);
        assert!(wrong.message.contains(message) && wrong.hint.is_some(), "{wrong:?}");
        assert!(!wrong.message.contains("secret"), "{wrong:?}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(load(&spec(format!("http://{closed}/a.csv"))).unwrap_err().message.contains("can't reach"));
    assert!(load(&spec("http:///".into())).is_err());
}
