//! A proxy before a store that counts, and fails as asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// What happens to a request.
pub(super) enum Fault {
    /// It is answered with a status and a body, and the store is not asked.
    Answer(u16, &'static str),
    /// Its answer ends after so many bytes of the body.
    Cut(usize),
    /// Its answer begins and never goes on.
    Stall,
    /// Something is done before the store is asked.
    Before(Box<dyn Fn() + Send + Sync>),
}

/// A fault for some requests.
struct Rule {
    /// Part of the request line and the headers.
    part: String,
    left: u32,
    fault: Arc<Fault>,
}

/// A running proxy.
pub(super) struct Proxy {
    address: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    store: String,
    rules: Mutex<Vec<Rule>>,
    is_down: AtomicBool,
    /// Bytes of the bodies of objects.
    bytes: AtomicU64,
    /// The request lines and ranges.
    requests: Mutex<Vec<String>>,
}

impl Proxy {
    /// A proxy before the store at `address`.
    pub(super) fn before(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address").to_string();
        let shared = Arc::new(Shared { store: address.to_owned(), ..Shared::default() });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address: own, shared }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Has `fault` happen to the next `times` requests in which `part` stands.
    pub(super) fn fail(&self, part: &str, times: u32, fault: Fault) {
        let rule = Rule { part: part.to_owned(), left: times, fault: Arc::new(fault) };
        self.shared.rules.lock().unwrap().push(rule);
    }

    /// Whether all faults have happened as often as they should.
    pub(super) fn is_through(&self) -> bool {
        self.shared.rules.lock().unwrap().iter().all(|rule| rule.left == 0)
    }

    /// Ends all faults.
    pub(super) fn mend(&self) {
        self.shared.rules.lock().unwrap().clear();
        self.shared.is_down.store(false, Ordering::SeqCst);
    }

    /// Closes every connection from now on.
    pub(super) fn go_down(&self) {
        self.shared.is_down.store(true, Ordering::SeqCst);
    }

    /// The bytes of objects that were sent so far.
    pub(super) fn bytes(&self) -> u64 {
        self.shared.bytes.load(Ordering::SeqCst)
    }

    /// The requests for objects so far, without those for listings.
    pub(super) fn reads(&self) -> Vec<String> {
        let requests = self.shared.requests.lock().unwrap();
        requests.iter().filter(|line| line.starts_with("GET") && !is_listing(line)).cloned().collect()
    }

    /// The requests for listings so far.
    pub(super) fn listings(&self) -> usize {
        self.shared.requests.lock().unwrap().iter().filter(|line| is_listing(line)).count()
    }
}

fn is_listing(line: &str) -> bool {
    line.contains("list-type=") || line.contains("comp=list")
}

impl Shared {
    fn serve(&self, client: TcpStream) {
        let mut reader = BufReader::new(client.try_clone().expect("a stream"));
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line == "\r\n" {
                break;
            }
            // One request a connection, and to the host that the store takes itself for.
            match line.to_ascii_lowercase().split(':').next() {
                Some("connection") => {}
                Some("host") => head.push_str(&format!("host: {}\r\n", self.store)),
                _ => head.push_str(&line),
            }
        }
        if self.is_down.load(Ordering::SeqCst) {
            let _ = client.shutdown(Shutdown::Both);
            return;
        }
        let first = head.lines().next().unwrap_or_default().to_owned();
        let range = head.lines().find(|line| line.to_ascii_lowercase().starts_with("range:")).unwrap_or_default();
        self.requests.lock().unwrap().push(format!("{first} {range}"));
        let fault = self.fault_of(&head);
        match fault.as_deref() {
            Some(Fault::Answer(status, body)) => {
                let length = body.len();
                let text =
                    format!("HTTP/1.1 {status} Fault\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
                let _ = (&client).write_all(text.as_bytes());
            }
            Some(Fault::Before(work)) => {
                work();
                self.forward(&client, &head, &first, None);
            }
            other => self.forward(&client, &head, &first, other),
        }
        let _ = client.shutdown(Shutdown::Both);
    }

    fn fault_of(&self, head: &str) -> Option<Arc<Fault>> {
        let mut rules = self.rules.lock().unwrap();
        let rule = rules.iter_mut().find(|rule| rule.left > 0 && head.contains(&rule.part))?;
        rule.left -= 1;
        Some(Arc::clone(&rule.fault))
    }

    fn forward(&self, mut client: &TcpStream, head: &str, first: &str, fault: Option<&Fault>) {
        let Ok(mut store) = TcpStream::connect(&self.store) else { return };
        if store.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).is_err() {
            return;
        }
        let mut answer = BufReader::new(store);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if answer.read_line(&mut line).unwrap_or(0) == 0 || client.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
        let is_object = first.starts_with("GET") && !is_listing(first);
        let mut left = match fault {
            Some(Fault::Cut(bytes)) => *bytes,
            Some(Fault::Stall) => 0,
            _ => usize::MAX,
        };
        let mut buffer = vec![0; 64 * 1024];
        while left > 0 {
            let wanted = buffer.len().min(left);
            let count = answer.read(&mut buffer[..wanted]).unwrap_or(0);
            if count == 0 || client.write_all(&buffer[..count]).is_err() {
                return;
            }
            if is_object {
                self.bytes.fetch_add(count as u64, Ordering::SeqCst);
            }
            left -= count;
        }
        if matches!(fault, Some(Fault::Stall)) {
            // Until the client has enough of it.
            let _ = client.read(&mut [0; 1]);
        }
    }
}
