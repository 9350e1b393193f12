//! A server on a port of its own before a fake database, and a way to ask it.

use std::net::SocketAddr;
use std::sync::Arc;

use salver_http::{HttpOptions, serve};
use salver_model::observation::Silent;
use salver_model::ports::Table;
use salver_model::records::Document;
use salver_model::{Limits, Result};
use salver_service::{Catalog, Service};
use salver_testkit::{DatabaseRequest, FakeDatabase, NoSql};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct World {
    pub(crate) database: Arc<FakeDatabase>,
    address: SocketAddr,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn said(&self) -> (u16, &str) {
        (self.status, &self.body)
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(FakeDatabase::blog(), HttpOptions::default()).await
    }

    pub(crate) async fn with(database: FakeDatabase, options: HttpOptions) -> Self {
        Self::bounded(database, options, Limits::default()).await
    }

    pub(crate) async fn bounded(database: FakeDatabase, options: HttpOptions, limits: Limits) -> Self {
        Self::serving(&[], database, options, limits).await
    }

    /// Serves tables in memory beside the database.
    pub(crate) async fn serving(
        tables: &[Arc<dyn Table>],
        database: FakeDatabase,
        options: HttpOptions,
        limits: Limits,
    ) -> Self {
        let database = Arc::new(database);
        let names = tables.iter().map(|table| table.describe().name.clone());
        let catalog = Arc::new(Catalog::new(names, [], Vec::new()));
        tables.iter().for_each(|table| catalog.publish(Arc::clone(table)));
        let service =
            Service::new(catalog, Arc::new(NoSql), Arc::new(Silent), limits)
                .with_databases(vec![Arc::<FakeDatabase>::clone(&database)]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, Arc::new(service), options, std::future::pending()));
        Self { database, address }
    }

    /// Sends bytes as they are, and reads the answer to its end.
    pub(crate) async fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        parse(&bytes)
    }

    pub(crate) async fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.raw(&request(method, target, headers, body)).await
    }

    /// Begins a request and leaves without waiting for its answer.
    pub(crate) async fn begin(&self, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request).await.unwrap();
        stream
    }

    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.send("GET", target, &[], b"").await
    }

    pub(crate) async fn post(&self, target: &str, body: &str) -> Answer {
        self.send("POST", target, &[], body.as_bytes()).await
    }

    /// The one question that was asked since the last look.
    #[track_caller]
    pub(crate) fn asked(&self) -> DatabaseRequest {
        let mut asked = self.database.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        asked.pop().unwrap().1
    }
}

pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    let mut bytes = (head + "\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> =
        lines.map(|line| line.split_once(": ").unwrap()).map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
    let rest = &bytes[end + 4..];
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { unchunk(rest) } else { rest.to_vec() };
    // A compressed body is no text, and only its headers are looked at.
    Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

/// The bytes of a chunked body; what lacks its end ends in `[cut]`.
fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") else {
            body.extend_from_slice(b"[cut]");
            return body;
        };
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
}

pub(crate) fn document(json: &str) -> Result<Document> {
    Ok(Document::whole(json.as_bytes().to_vec()))
}
