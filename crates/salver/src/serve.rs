//! `salver serve`: listens, loads, announces what is served, and shuts down gracefully.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use salver_config::Checked;
use salver_http::{HttpOptions, Places};
use salver_model::limits::{ANNOUNCED_ENTRIES_MAX, ANNOUNCED_S_MAX};
use salver_model::observation::Observer;
use salver_model::ports::Tracer;
use salver_model::secrecy::masked;
use salver_model::{Error, Name, Result, cursor};
use salver_service::{Entry, Service};
use salver_text::percent;

use crate::cli::ServeArguments;
use crate::data_dir::DataDir;
use crate::failure::CommandFailure;
use crate::logging::Log;
use crate::reload::Reload;
use crate::root_key::OpenedKey;
use crate::service_manager::ServiceManager;
use crate::sessions::LateSessions;
use crate::settings::Loaded;
use crate::socket_activation::Activated;
use crate::tls::Certificate;
use crate::traces::Traces;
use crate::watch::Watch;
use crate::{
    access, data_format, descriptors, exposure, functions, listening, logging, memory_monitor, output, root_key,
    secrets, settings, signals, streams, wiring,
};

/// Longest time the announcement waits for entries to load. Serving does not wait.
const ANNOUNCE: Duration = Duration::from_secs(ANNOUNCED_S_MAX);
/// Number of idle responses whose rows are released at a time when memory is short.
const YIELD_AT_ONCE: usize = 8;

/// Runs until shutdown is requested.
pub(crate) fn run(arguments: ServeArguments, activated: Activated) -> Result<(), CommandFailure> {
    let loaded = settings::of_server(&arguments)?;
    let mut checked = loaded.checked.clone();
    logging::start(&checked.server, secrets::secrets(&checked));
    output::log_notes();
    keep_descriptors(&mut checked);
    let file = loaded.sources.file.as_deref();
    let keep_dir = checked.server.keep_dir(file);
    keep_dir.as_deref().map(data_format::check).transpose()?;
    let root_key = root_key::open(&checked.server, file)?;
    let is_named = checked.server.data_dir.is_some();
    keep_dir.as_deref().map(|dir| data_format::mark(dir, is_named)).transpose()?;
    cursor::sign_under(&root_key.key);
    let data_dir = DataDir::open(checked.server.data_dir.as_deref())?;
    let engine = wiring::engine(&checked, data_dir.path())?;
    let runtime = wiring::runtime(checked.server.threads)?;
    let traces = Traces::start(&checked.server)?;
    let begun = (root_key, activated, traces.tracer());
    let done = runtime.block_on(serve(&checked, &engine, begun, (arguments, loaded)));
    // A load in progress must not delay the exit.
    runtime.shutdown_timeout(Duration::from_secs(1));
    traces.finish();
    done
}

/// Limits connections to the number of available file descriptors.
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
    (root_key, activated, tracer): (OpenedKey, Activated, Option<Arc<dyn Tracer>>),
    (arguments, loaded): (ServeArguments, Loaded),
) -> Result<(), CommandFailure> {
    let certificate = checked.server.tls.as_ref().map(Certificate::open).transpose()?;
    let tls = certificate.as_ref().map(Certificate::listener).transpose()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let sessions = LateSessions::new(&root_key);
    let options = HttpOptions { root_key: root_key.key, tls, tracer, ..wiring::http_options(checked, &sessions)? };
    let auth = options.auth.clone();
    let broken = |error| CommandFailure::Error(Error::internal("the server broke down").with_source(error));
    let asked_to_end = signals::asked_to_end().map_err(broken)?;
    let hang_ups = signals::hang_ups().map_err(broken)?;
    let manager = ServiceManager::of_environment();
    let listener = listening::open(&checked.server, activated).await?;
    let places = listener.places().map_err(broken)?;
    exposure::check(checked, &places)?;
    let own = OwnAddress::of(&places, scheme, &checked.server.base_path);
    output::out(&format!("salver {}\nlistening on {}\n", env!("CARGO_PKG_VERSION"), own.told))?;
    let log = Arc::new(Log::default());
    let observer: Arc<dyn Observer> = Arc::<Log>::clone(&log);
    let wired = wiring::wire(checked, engine, &observer, wiring::Streams::Open);
    let wiring::Wired { service, streams: opened, keepers, _tasks } = wired;
    let relieved = Arc::downgrade(&service);
    let relieve = move || {
        relieved.upgrade().is_some_and(|service| (0..YIELD_AT_ONCE).filter(|_| service.yield_one()).count() > 0)
    };
    engine.relieve_with(relieve.clone());
    memory_monitor::look_after(engine.process_bytes_max(), relieve);
    let reading = certificate.map(|certificate| tokio::spawn(certificate.keep_fresh()));
    let proving = auth.clone();
    let fetching = tokio::spawn(async move { proving.keep_fresh().await });
    let announcing = tokio::spawn(announce(Arc::clone(&service), own, log, (arguments.open, manager.clone())));
    let Loaded { checked: declared, sources, directories } = loaded;
    let reload = Reload {
        arguments: Arc::new(arguments),
        watch: (declared.server.watch && !directories.is_empty()).then(|| Watch::new(directories, &sources.discovered)),
        checked: declared,
        sources,
        places,
        manager: manager.clone(),
        engine: Arc::clone(engine),
        service: Arc::clone(&service),
        auth,
        sessions: sessions.clone(),
        keepers,
    };
    let reloading = tokio::spawn(reload.at_each(hang_ups));
    // Spawned as a task: `block_on` runs on its own thread, which would have to be woken for every connection.
    let ending = async move {
        asked_to_end.await;
        manager.stopping();
    };
    let serving = tokio::spawn(salver_http::serve(listener, service, options, ending));
    let served = serving.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
    announcing.abort();
    reading.into_iter().chain([fetching, reloading]).for_each(|task| task.abort());
    sessions.close().await;
    // After this no one can append any more.
    let closed = streams::close(&opened).await;
    served.map_err(broken)?;
    Ok(closed?)
}

/// Where clients find the server.
struct OwnAddress {
    /// Everything that it listens on.
    told: String,
    /// A URL of it.
    url: String,
    /// The Unix socket by which that is reached.
    socket: Option<PathBuf>,
}

impl OwnAddress {
    fn of(places: &Places, scheme: &str, base_path: &str) -> Self {
        let urls = places.addresses.iter().map(|address| format!("{scheme}://{address}{base_path}"));
        let files = places.files.iter().map(|file| format!("unix:{}", file.display()));
        let told: Vec<String> = urls.chain(files).collect();
        let socket = places.files.first().filter(|_| places.addresses.is_empty()).cloned();
        let url = match (&socket, told.first()) {
            (None, Some(url)) => url.clone(),
            _ => format!("{scheme}://localhost{base_path}"),
        };
        Self { told: told.join(", "), url, socket }
    }
}

/// Announces what is served, once everything is loaded or has failed, or after a timeout.
async fn announce(service: Arc<Service>, own: OwnAddress, log: Arc<Log>, (open, manager): (bool, ServiceManager)) {
    if open {
        open_browser(&own);
    }
    let _ = tokio::time::timeout(ANNOUNCE, service.catalog().settled()).await;
    functions::settled(service.functions(), ANNOUNCE).await;
    access::warn_of_idle_rules(&service);
    let streams: Vec<Name> = service.all_consumers().map(|stream| stream.spec().name.clone()).collect();
    manager.ready();
    let listing = listing(&service, &streams, &own);
    // Standard output may be closed or blocked; the server continues.
    let _ = tokio::task::spawn_blocking(move || output::out(&logging::discreet(&listing))).await;
    log.announced();
}

fn listing(service: &Service, streams: &[Name], own: &OwnAddress) -> String {
    let url = &own.url;
    let snapshot = service.catalog().snapshot();
    let width =
        snapshot.entries().take(ANNOUNCED_ENTRIES_MAX).map(|e| e.name.as_str().chars().count()).max().unwrap_or(0);
    let mut out = String::from("\n");
    for entry in snapshot.entries().take(ANNOUNCED_ENTRIES_MAX) {
        out.push_str(&format!("  {:width$}  {}\n", entry.name.as_str(), state(entry)));
        if streams.contains(&entry.name) {
            let path = percent::encode(entry.name.as_str());
            out.push_str(&format!("  {:width$}  takes events: POST {url}/api/streams/{path}\n", ""));
        }
    }
    let count = snapshot.entries().count();
    if count > ANNOUNCED_ENTRIES_MAX {
        out.push_str(&format!("  ... and {} more\n", count - ANNOUNCED_ENTRIES_MAX));
    }
    for file in service.functions() {
        let name = file.spec().name.as_str();
        let own = format!("{url}/api/functions/{}", percent::encode(name));
        out.push_str(&format!("  {name:width$}  {}\n", functions::state(file, &own)));
    }
    match &own.socket {
        Some(path) => out.push_str(&format!("\ntry curl --unix-socket {} {url}/\n", path.display())),
        None => out.push_str(&format!("\ntry {url}/\n")),
    }
    if let Some(entry) = snapshot.entries().find(|entry| entry.table().is_some()) {
        out.push_str(&format!("    {url}/api/tables/{}?limit=5\n", percent::encode(entry.name.as_str())));
    }
    out
}

/// Describes an entry in one line: its rows and residency, or the reason why there are none.
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

/// Formats `1234567` as `1 234 567`.
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

/// Opens `url` in a browser. Without a desktop only a message is printed.
fn open_browser(OwnAddress { url, socket, .. }: &OwnAddress) {
    if let Some(socket) = socket {
        output::note(&format!("a browser can't open a Unix socket, which {} is", socket.display()));
        return;
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let null = std::process::Stdio::null;
    let started = std::process::Command::new(opener).arg(url).stdin(null()).stdout(null()).stderr(null()).spawn();
    if started.is_err() {
        output::note(&format!("can't open a browser (no `{opener}`); open {url} yourself"));
    }
}
