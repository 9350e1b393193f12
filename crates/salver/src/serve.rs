//! `salver serve`: listens, loads, says what is served, and ends gracefully.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salver_config::Checked;
use salver_http::HttpOptions;
use salver_model::observation::Observer;
use salver_model::secrecy::masked;
use salver_model::{Code, Error, Name, RootKey, cursor};
use salver_service::{Entry, Service};
use tokio::net::TcpListener;

use crate::cli::ServeArguments;
use crate::data_dir::DataDir;
use crate::failure::Failure;
use crate::observe::Log;
use crate::settings::Need;
use crate::{descriptors, functions, memory, observe, output, places, root_key, settings, signals, streams, wire};

/// How long the list of entries waits for the last of them to load. Serving doesn't wait.
const ANNOUNCE: Duration = Duration::from_secs(10);
/// The most entries the list names.
const ANNOUNCE_ENTRIES_MAX: usize = 40;
/// How many answers that nobody takes let go of their rows at a time, when the process has too much in memory.
const YIELD_AT_ONCE: usize = 8;

/// Runs until it is asked to end.
pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let listen = settings::given("server.listen", "listen", arguments.listen.as_deref());
    let (mut checked, file) =
        settings::load_with_file(&arguments.sources, listen.into_iter().collect(), Need::Datasets)?;
    observe::start(&checked.server, places::secrets(&checked));
    keep_descriptors(&mut checked);
    let root_key = root_key::open(&checked.server, file.as_deref())?;
    cursor::sign_under(&root_key);
    let data_dir = DataDir::open(checked.server.data_dir.as_deref())?;
    let engine = wire::engine(&checked, data_dir.path())?;
    let runtime = wire::runtime(checked.server.threads)?;
    let done = runtime.block_on(serve(&checked, &engine, root_key, arguments.open));
    // A load that is under way must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}

/// Takes no more connections than there are descriptors for.
fn keep_descriptors(checked: &mut Checked) {
    let wanted = checked.limits.connections_max;
    if let Some(most) = descriptors::connections_max().filter(|most| *most < wanted) {
        tracing::warn!(
            "`limits.connections_max` is {wanted}, but the system has descriptors for {most} connections; \
             raise its limit (`ulimit -n`)"
        );
        checked.limits.connections_max = most;
    }
}

async fn serve(
    checked: &Checked,
    engine: &Arc<salver_datasets::Engine>,
    root_key: RootKey,
    open: bool,
) -> Result<(), Failure> {
    let listen = &checked.server.listen;
    let options = HttpOptions { root_key, ..wire::http_options(checked)? };
    let broken = |error| Failure::Error(Error::internal("the server broke down").with_source(error));
    let asked_to_end = signals::asked_to_end().map_err(broken)?;
    let listener = TcpListener::bind(listen.as_str()).await.map_err(|error| cannot_listen(listen, error))?;
    let address = listener.local_addr().map_err(broken)?;
    let url = format!("http://{address}{}", checked.server.base_path);
    output::out(&format!("salver {}\nlistening on {url}\n", env!("CARGO_PKG_VERSION")))?;
    warn_of_openness(checked, address);
    let log = Arc::new(Log::default());
    let observer: Arc<dyn Observer> = Arc::<Log>::clone(&log);
    let wired = wire::wire(checked, engine, &observer, wire::Streams::Open);
    let service = Arc::clone(&wired.service);
    let relieved = Arc::downgrade(&service);
    let relieve = move || {
        relieved.upgrade().is_some_and(|service| (0..YIELD_AT_ONCE).filter(|_| service.yield_one()).count() > 0)
    };
    engine.relieve_with(relieve.clone());
    memory::look_after(engine.process_bytes_max(), relieve);
    let opened = service.streams().to_vec();
    let announcing = tokio::spawn(announce(Arc::clone(&service), url, log, open));
    // As a task: what `block_on` runs is on a thread of its own, which would have to be woken for every connection.
    let serving = tokio::spawn(salver_http::serve(listener, service, options, asked_to_end));
    let served = serving.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
    announcing.abort();
    // When nobody can append any more.
    let closed = streams::close(&opened).await;
    served.map_err(broken)?;
    Ok(closed?)
}

/// Says so when everybody who can reach the machine is let in.
fn warn_of_openness(checked: &Checked, address: SocketAddr) {
    let is_local = address.ip().to_canonical().is_loopback();
    if !is_local && checked.auth.is_none() && checked.server.firewall.is_empty() {
        tracing::warn!(
            "whoever can reach {address} is let in: there is no [auth]; add one, or a `server.firewall`, or listen on \
             127.0.0.1"
        );
    }
}

fn cannot_listen(listen: &str, error: io::Error) -> Failure {
    let (why, hint) = match error.kind() {
        io::ErrorKind::AddrInUse => {
            let free = match listen.parse::<SocketAddr>() {
                Ok(address) => SocketAddr::new(address.ip(), address.port().checked_add(1).unwrap_or(0)).to_string(),
                Err(_) => "127.0.0.1:8081".to_owned(),
            };
            let hint = format!("choose another with `--listen {free}`, or any free port with `--listen 127.0.0.1:0`");
            ("another program listens there".to_owned(), hint)
        }
        io::ErrorKind::PermissionDenied => (
            "it is not permitted".to_owned(),
            "ports below 1024 are for root; try `--listen 127.0.0.1:8080`".to_owned(),
        ),
        _ => (error.to_string(), "an address of this machine is needed, like `--listen 127.0.0.1:8080`".to_owned()),
    };
    let message = format!("can't listen on {listen}: {why}");
    Failure::Error(Error::new(Code::Config, message).with_hint(hint))
}

/// Says what is served, once everything is loaded or has failed, or after a while.
async fn announce(service: Arc<Service>, url: String, log: Arc<Log>, open: bool) {
    if open {
        open_browser(&url);
    }
    let _ = tokio::time::timeout(ANNOUNCE, service.catalog().settled()).await;
    functions::settled(service.functions(), ANNOUNCE).await;
    let streams: Vec<Name> = service.streams().iter().map(|stream| stream.spec().name.clone()).collect();
    let listing = listing(&service, &streams, &url);
    // Whoever started the server may have stopped reading, or not read at all; it serves on.
    let _ = tokio::task::spawn_blocking(move || output::out(&listing)).await;
    log.announced();
}

fn listing(service: &Service, streams: &[Name], url: &str) -> String {
    let snapshot = service.catalog().snapshot();
    let width =
        snapshot.entries().take(ANNOUNCE_ENTRIES_MAX).map(|e| e.name.as_str().chars().count()).max().unwrap_or(0);
    let mut out = String::from("\n");
    for entry in snapshot.entries().take(ANNOUNCE_ENTRIES_MAX) {
        out.push_str(&format!("  {:width$}  {}\n", entry.name.as_str(), state(entry)));
        if streams.contains(&entry.name) {
            let path = percent_encoded(entry.name.as_str());
            out.push_str(&format!("  {:width$}  takes events: POST {url}/api/streams/{path}\n", ""));
        }
    }
    let count = snapshot.entries().count();
    if count > ANNOUNCE_ENTRIES_MAX {
        out.push_str(&format!("  ... and {} more\n", count - ANNOUNCE_ENTRIES_MAX));
    }
    for file in service.functions() {
        let name = file.spec().name.as_str();
        let own = format!("{url}/api/functions/{}", percent_encoded(name));
        out.push_str(&format!("  {name:width$}  {}\n", functions::state(file, &own)));
    }
    out.push_str(&format!("\ntry {url}/\n"));
    if let Some(entry) = snapshot.entries().find(|entry| entry.table().is_some()) {
        out.push_str(&format!("    {url}/api/tables/{}?limit=5\n", percent_encoded(entry.name.as_str())));
    }
    out
}

/// The text as a part of a path.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// An entry in one line: how many rows and where they are held, or why there are none.
fn state(entry: &Entry) -> String {
    match (entry.table(), entry.failure()) {
        (Some(table), _) => {
            let description = table.describe();
            match description.rows {
                Some(1) => format!("1 row, {}", description.source),
                Some(rows) => format!("{} rows, {}", thousands(rows), description.source),
                None => description.source.clone(),
            }
        }
        (None, Some(failure)) => {
            let hint = failure.hint.as_deref().map(|hint| format!("\n      hint: {hint}")).unwrap_or_default();
            masked(&format!("FAILED: {}{hint}", failure.message)).into_owned()
        }
        (None, None) => "is still being loaded".to_owned(),
    }
}

/// `1234567` as `1 234 567`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Asks the desktop to show `url`. Without a desktop nothing happens but a word about it.
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let null = std::process::Stdio::null;
    let started = std::process::Command::new(opener).arg(url).stdin(null()).stdout(null()).stderr(null()).spawn();
    if started.is_err() {
        output::note(&format!("can't open a browser (no `{opener}`); open {url} yourself"));
    }
}
