//! `salver serve`: listens, loads, announces what is served, and shuts down gracefully.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use salver_config::Checked;
use salver_http::{CurrentAuth, Doors, HttpOptions, Listener, Places};
use salver_model::limits::{ANNOUNCED_ENTRIES_MAX, ANNOUNCED_S_MAX};
use salver_model::observation::Observer;
use salver_model::ports::{QueryEditor, Tracer};
use salver_model::secrecy::masked;
use salver_model::{Code, Error, Name, Result, cursor};
use salver_service::{Entry, Service};
use salver_text::percent;
use tokio::sync::{mpsc, watch};

use crate::cli::ServeArguments;
use crate::data_dir::DataDir;
use crate::data_dir_lock::{DataDirLock, Taken};
use crate::exposure::Exposure;
use crate::failure::CommandFailure;
use crate::grouped_digits::thousands;
use crate::logging::Log;
use crate::query_edits::{QueryEdit, QueryEdits};
use crate::reload::{CurrentService, KeptFresh, Reload};
use crate::root_key::OpenedKey;
use crate::service_manager::ServiceManager;
use crate::sessions::LateSessions;
use crate::settings::Loaded;
use crate::socket_activation::Activated;
use crate::streams::OpenStreams;
use crate::tls::Certificate;
use crate::traces::Traces;
use crate::watch::Watch;
use crate::wire::Wires;
use crate::{
    access, data_dir_lock, data_format, descriptors, functions, listening, load_progress, logging, memory_monitor,
    output, root_key, secrets, settings, signals, wiring,
};

/// Longest time the announcement waits for entries to load. Serving does not wait.
const ANNOUNCE: Duration = Duration::from_secs(ANNOUNCED_S_MAX);
/// Number of idle responses whose rows are released at a time when memory is short.
const YIELD_AT_ONCE: usize = 8;

/// Runs until shutdown is requested.
pub(crate) fn run(arguments: ServeArguments, activated: Activated) -> Result<(), CommandFailure> {
    // If it can't be done, a hang-up ends the server, as it does everywhere.
    let _ = signals::survive_first_hang_ups();
    let mut loaded = settings::of_server(&arguments)?;
    logging::start(&loaded.checked.server, secrets::secrets(&loaded.checked));
    output::log_notes();
    // Held until everything in the directory is closed.
    let _own = take_data_dir(&mut loaded, &arguments)?;
    let mut checked = loaded.checked.clone();
    if arguments.edit && checked.server.queries.is_none() {
        let error = Error::new(Code::Config, "`--edit` needs a folder for named queries");
        return Err(error.with_hint("set `queries = \"queries\"` in [server]").into());
    }
    descriptors::keep(&mut checked);
    let file = loaded.sources.file.as_deref();
    let keep_dir = checked.server.keep_dir(file);
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

/// Takes the data directory, after another server that has it. Then the settings are read again, which may have changed
/// meanwhile.
fn take_data_dir(loaded: &mut Loaded, arguments: &ServeArguments) -> Result<Option<DataDirLock>, CommandFailure> {
    loop {
        let server = &loaded.checked.server;
        let Some(dir) = server.keep_dir(loaded.sources.file.as_deref()) else { return Ok(None) };
        data_format::check(&dir)?;
        let (is_named, when) = (server.data_dir.is_some(), server.data_dir_in_use);
        match data_dir_lock::take(&dir, is_named, when)? {
            Taken::Now(lock) => return Ok(Some(lock)),
            Taken::Unlocked => return Ok(None),
            Taken::Later(lock) => {
                *loaded = settings::of_server(arguments)?;
                let server = &loaded.checked.server;
                let is_same_dir = server.keep_dir(loaded.sources.file.as_deref()) == Some(dir);
                if is_same_dir && server.data_dir_in_use == when {
                    return Ok(Some(lock));
                }
            }
        }
    }
}

async fn serve(
    checked: &Checked,
    engine: &Arc<salver_datasets::Engine>,
    (root_key, activated, tracer): (OpenedKey, Activated, Option<Arc<dyn Tracer>>),
    (arguments, loaded): (ServeArguments, Loaded),
) -> Result<(), CommandFailure> {
    let keep_dir = checked.server.keep_dir(loaded.sources.file.as_deref());
    let open_certificate = |tls| Certificate::open(tls, keep_dir.as_deref());
    let certificate = checked.server.tls.as_ref().map(open_certificate).transpose()?;
    let tls = certificate.as_ref().map(|certificate| certificate.options()).transpose()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let sessions = LateSessions::new(&root_key);
    let auth = wiring::current_auth(checked, &sessions, None)?;
    auth.begin(&CurrentAuth::default());
    let (query_editor, edits) = query_edits(arguments.edit);
    let usual = wiring::http_options(checked, auth.clone());
    let options = HttpOptions { root_key: root_key.key, tls, tracer, query_editor, ..usual };
    let asked_to_end = signals::asked_to_end().map_err(broken)?;
    let hang_ups = signals::hang_ups().map_err(broken)?;
    let manager = ServiceManager::of_environment();
    let listener = listening::open(&checked.server, activated).await?;
    let doors = Doors::default();
    let wires = Wires::open(checked, &doors, options.tls.as_ref()).await?;
    let (exposure, own) = tell_places(checked, &listener, &wires, scheme)?;
    let log = Arc::new(Log::default());
    let observer: Arc<dyn Observer> = Arc::<Log>::clone(&log);
    let wired = wiring::wire(checked, engine, &observer, wiring::Streams::Open);
    let service = Arc::clone(&wired.service);
    let opened = OpenStreams::default();
    wired.streams.iter().for_each(|stream| opened.add(stream));
    let current = CurrentService::new(&service);
    look_after_memory(engine, &current);
    let reading = certificate.map(|certificate| tokio::spawn(certificate.keep_fresh()));
    let telling = manager.keep_told(service.catalog());
    let announcing = tokio::spawn(announce(Arc::clone(&service), own, log, (arguments.open, manager.clone())));
    let Loaded { sources, directories, .. } = loaded;
    let reload = Reload {
        arguments: Arc::new(arguments),
        watch: (checked.server.watch && !directories.is_empty()).then(|| Watch::new(directories, &sources.discovered)),
        checked: checked.clone(),
        sources,
        exposure,
        manager: manager.clone(),
        engine: Arc::clone(engine),
        observer,
        current,
        fetching: KeptFresh::begin(&auth),
        auth,
        doors,
        sessions: sessions.clone(),
        edits,
        streams: opened.clone(),
        wired,
    };
    let behind = reload.doors.clone();
    let reloading = tokio::spawn(reload.at_each(hang_ups));
    // Spawned as a task: `block_on` runs on its own thread, which would have to be woken for every connection.
    let (end_wires, wires_end) = watch::channel(false);
    let serving_wires = wires.serve(&wires_end);
    let ending = async move {
        asked_to_end.await;
        manager.stopping();
        end_wires.send_replace(true);
    };
    let serving = tokio::spawn(salver_http::serve_behind(behind, listener, service, options, ending));
    let served = serving.await.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
    if let Some(serving) = serving_wires {
        let _ = serving.await;
    }
    announcing.abort();
    reading.into_iter().chain([reloading, telling]).for_each(|task| task.abort());
    sessions.close().await;
    // After this no one can append any more.
    let closed = opened.close().await;
    served.map_err(broken)?;
    Ok(closed?)
}

/// Returns both ends of the way of changes of named queries, if clients may ask for any.
fn query_edits(is_on: bool) -> (Option<Arc<dyn QueryEditor>>, Option<mpsc::Receiver<QueryEdit>>) {
    if !is_on {
        return (None, None);
    }
    let (editor, edits) = QueryEdits::open();
    (Some(Arc::new(editor)), Some(edits))
}

/// Has memory freed when it is short: by ending what rests, and by the engine's threads.
fn look_after_memory(engine: &Arc<salver_datasets::Engine>, current: &CurrentService) {
    let relieved = current.clone();
    let relieve =
        move || relieved.get().is_some_and(|service| (0..YIELD_AT_ONCE).filter(|_| service.yield_one()).count() > 0);
    engine.relieve_with(relieve.clone());
    // The monitor's thread never ends, and would keep the engine and its directory.
    let resting = Arc::downgrade(engine);
    let idle = Weak::clone(&resting);
    let drop_idle = move || {
        if let Some(engine) = idle.upgrade() {
            engine.drop_idle();
        }
    };
    let on_each_thread = move |work| {
        if let Some(engine) = resting.upgrade() {
            engine.on_each_idle_thread(work);
        }
    };
    memory_monitor::look_after(engine.process_bytes_max(), relieve, drop_idle, on_each_thread);
}

fn broken(error: io::Error) -> CommandFailure {
    CommandFailure::Error(Error::internal("the server broke down").with_source(error))
}

/// Checks that the server may be reached where it listens, and prints where that is.
fn tell_places(
    checked: &Checked,
    listener: &Listener,
    wires: &Wires,
    scheme: &str,
) -> Result<(Exposure, OwnAddress), CommandFailure> {
    let exposure = Exposure::of(listener).map_err(broken)?;
    exposure.check(checked)?;
    let own = OwnAddress::of(&exposure.main, scheme, &checked.server.base_path);
    let mut told = format!("salver {}\nlistening on {}\n", env!("CARGO_PKG_VERSION"), own.told);
    if let Some(metrics) = &exposure.metrics {
        let url = OwnAddress::of(metrics, "http", &checked.server.base_path).url;
        told.push_str(&format!("measurements at {url}/metrics\n"));
        tracing::info!("`/metrics` is served at {url}/metrics alone");
    }
    if let Some(address) = wires.postgres() {
        told.push_str(&format!("clients of PostgreSQL at {address}: psql -h {} -p {}\n", address.ip(), address.port()));
    }
    if let Some(uri) = wires.flight() {
        told.push_str(&format!("clients of Arrow Flight SQL at {uri}\n"));
    }
    output::out(&told)?;
    Ok((exposure, own))
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
    let _ = tokio::time::timeout(ANNOUNCE, load_progress::settled(service.catalog())).await;
    functions::settled(service.functions(), ANNOUNCE).await;
    access::idle_rules::warn(&service);
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
