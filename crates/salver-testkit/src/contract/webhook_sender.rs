//! The contract of the `WebhookSender` port, clause by clause.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use salver_model::Code;
use salver_model::ports::{Delivery, WebhookSender};
use salver_model::trace::SpanContext;

/// Runs the suite, with a receiver of its own.
///
/// # Panics
/// When the contract is broken.
pub async fn run(sender: &dyn WebhookSender) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let receiver = Arc::clone(&heard);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            if let Some(request) = serve(connection) {
                receiver.lock().expect("no panic").push(request);
            }
        }
    });
    let document = Bytes::from_static("{\"a\":\"ü\"}".as_bytes());
    let send = |path: &str| (format!("{base}{path}"), document.clone());
    let trace = SpanContext::root().with_state("vendor=1");
    for (path, outcome) in [
        ("/200", Some(Delivery::Taken)),
        ("/204", Some(Delivery::Taken)),
        ("/400", Some(Delivery::Refused)),
        ("/404", Some(Delivery::Refused)),
        // A redirect is not followed: it may lead where no delivery is allowed.
        ("/302", Some(Delivery::Refused)),
        ("/429", None),
        ("/503", None),
    ] {
        let (address, document) = send(path);
        let trace = (path == "/200").then_some(&trace);
        match (sender.post(&address, document, trace).await, outcome) {
            (Ok(delivery), Some(wanted)) => assert_eq!(delivery, wanted, "{path}"),
            (Err(error), None) => {
                assert_eq!(error.code, Code::Source, "{path}");
                assert!(!error.message.contains("secret"), "the response is told: {error:?}");
            }
            (other, wanted) => panic!("{path}: {other:?} instead of {wanted:?}"),
        }
    }
    {
        let heard = heard.lock().expect("no panic");
        assert_eq!(heard.len(), 7, "one request each: {heard:?}");
        for request in heard.iter() {
            assert!(request.starts_with("POST /") && request.ends_with("{\"a\":\"ü\"}"), "{request}");
            assert!(request.to_lowercase().contains("content-type: application/json"), "{request}");
            let tells_trace = request.contains(&format!("traceparent: {trace}\r\ntracestate: vendor=1\r\n"));
            assert_eq!(tells_trace, request.starts_with("POST /200"), "{request}");
            assert_eq!(request.contains("traceparent"), tells_trace, "{request}");
        }
    }
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
    let away = sender.post(&format!("http://{gone}/"), document.clone(), None).await.expect_err("nobody is there");
    assert_eq!(away.code, Code::Source);
}

/// Answers one request with the status in its path, and returns its text.
fn serve(mut connection: std::net::TcpStream) -> Option<String> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.ends_with(b"}") {
        match connection.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => request.extend_from_slice(&piece[..count]),
        }
    }
    let request = String::from_utf8(request).ok()?;
    let status = request.split(['/', ' ']).nth(2)?.to_owned();
    let head = if status == "204" { "" } else { "Content-Length: 6\r\n" };
    let body = if status == "204" { "" } else { "secret" };
    let answer = format!("HTTP/1.1 {status} X\r\nLocation: /200\r\nConnection: close\r\n{head}\r\n{body}");
    connection.write_all(answer.as_bytes()).ok()?;
    Some(request)
}
