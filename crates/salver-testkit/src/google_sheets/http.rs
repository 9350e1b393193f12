//! Requests and answers of HTTP/1.1, one a connection.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use salver_text::form;

/// Longest request that is read.
const LONGEST: u64 = 1024 * 1024;

/// A request.
#[derive(Debug, Default)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// The path without the query, not decoded.
    pub(super) path: String,
    /// The decoded parameters of the query.
    pub(super) query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl HttpRequest {
    /// Reads a request; `None` if it breaks off or is none.
    pub(super) fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream.take(LONGEST));
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut request = Self { method, path: path.to_owned(), query: pairs(query), headers, body: String::new() };
        let length: u64 = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_string(&mut request.body).ok()?;
        Some(request)
    }

    /// Returns a header by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the decoded pairs of a query or a form.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, ""))).map(|(a, b)| (decoded(a), decoded(b))).collect()
}

fn decoded(text: &str) -> String {
    form::decode(text).map_or_else(|_| text.to_owned(), Cow::into_owned)
}

/// Sends an answer; a client that is gone needs none.
pub(super) fn answer(stream: &mut TcpStream, status: u16, headers: &str, body: &str) {
    let kind = if body.starts_with('{') { "application/json; charset=UTF-8" } else { "text/html; charset=UTF-8" };
    let length = body.len();
    let fixed = format!("connection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n");
    let head = format!("HTTP/1.1 {status} Word\r\n{fixed}{headers}\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

/// Sends a body that ends too early.
pub(super) fn cut(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(b"{\"sheets\":["));
}

/// Sends a body until the client has had enough of it.
pub(super) fn endless(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n{\"sheets\":[";
    let mut is_listening = stream.write_all(head.as_bytes()).is_ok();
    let blank = [b' '; 64 * 1024];
    while is_listening {
        is_listening = stream.write_all(&blank).is_ok();
    }
}
