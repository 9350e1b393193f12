//! A small HTTP client that keeps its connection, and tells a refusal from a connection that broke.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection to a server, made when it is needed.
#[derive(Debug)]
pub(crate) struct Client {
    address: String,
    stream: Option<BufReader<TcpStream>>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// A header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The status and the body.
    pub(crate) fn said(&self) -> (u16, &str) {
        (self.status, &self.body)
    }
}

impl Client {
    /// A client of the server at `address`.
    pub(crate) fn new(address: &str) -> Self {
        Self { address: address.to_owned(), stream: None }
    }

    /// Sends a request and reads the answer. What is not ASCII in `target`, and white space, is encoded.
    pub(crate) fn send(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Answer, Error> {
        let reused = self.stream.is_some();
        match self.exchange(method, target, headers, body) {
            // The server may close a connection that rests; nothing was read of this request then.
            Err(error) if reused && error.kind() == ErrorKind::NotConnected => {
                self.exchange(method, target, headers, body)
            }
            result => result,
        }
    }

    fn exchange(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Answer, Error> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(Duration::from_secs(120)))?;
                BufReader::new(stream)
            }
        };
        let mut head = format!("{method} {} HTTP/1.1\r\nhost: {}\r\n", encoded(target), self.address);
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").expect("text");
        }
        if let Some(body) = body {
            write!(head, "content-length: {}\r\n", body.len()).expect("text");
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        stream.get_mut().write_all(&bytes).map_err(|_| Error::from(ErrorKind::NotConnected))?;
        let answer = read(&mut stream, method)?;
        if answer.header("connection") != Some("close") {
            self.stream = Some(stream);
        }
        Ok(answer)
    }
}

/// Reads one answer.
fn read(stream: &mut BufReader<TcpStream>, method: &str) -> Result<Answer, Error> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(ErrorKind::NotConnected.into());
    }
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(ErrorKind::InvalidData)?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let find = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let body = if method == "HEAD" || matches!(status, 204 | 304) {
        Vec::new()
    } else if find("transfer-encoding") == Some("chunked") {
        chunks(stream)?
    } else if let Some(length) = find("content-length").and_then(|value| value.parse().ok()) {
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        body
    } else {
        let mut body = Vec::new();
        stream.read_to_end(&mut body)?;
        body
    };
    let body = String::from_utf8(body).map_err(|_| ErrorKind::InvalidData)?;
    Ok(Answer { status, headers, body })
}

fn chunks(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let size = usize::from_str_radix(line.trim_end(), 16).map_err(|_| ErrorKind::InvalidData)?;
        let start = body.len();
        body.resize(start + size + 2, 0);
        stream.read_exact(&mut body[start..])?;
        body.truncate(start + size);
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Encodes what must not stand in a request's target. What is encoded already stays.
pub(crate) fn encoded(target: &str) -> String {
    let mut text = String::with_capacity(target.len());
    for byte in target.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte) {
            text.push(byte as char);
        } else {
            write!(text, "%{byte:02X}").expect("text");
        }
    }
    text
}

/// Encodes a text so that it is one value in a query or one part of a path, whatever is in it.
pub(crate) fn value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            value.push(byte as char);
        } else {
            write!(value, "%{byte:02X}").expect("text");
        }
    }
    value
}
