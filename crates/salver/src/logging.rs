//! Logging of observations.

mod json_lines;
mod log_queue;

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use salver_config::Server;
use salver_model::Name;
use salver_model::observation::{Observation, Observer};
use salver_model::secrecy::{MASK, masked};
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{Directive, EnvFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, reload};

use self::json_lines::JsonLines;
use self::log_queue::{LineKind, LogQueue};

/// The secrets that are masked in the log and in messages.
static SECRETS: OnceLock<Arc<RwLock<Vec<String>>>> = OnceLock::new();

/// Replaces what is logged.
static FILTER: OnceLock<Box<dyn Fn(EnvFilter) + Send + Sync>> = OnceLock::new();

/// The lines of the log that are still to be written.
static QUEUE: LogQueue = LogQueue::new();

/// The log with secrets masked, since drivers and user code are logged, too.
#[derive(Clone, Debug)]
struct Discreet {
    secrets: Arc<RwLock<Vec<String>>>,
}

impl Default for Discreet {
    fn default() -> Self {
        Self { secrets: Arc::clone(SECRETS.get_or_init(Arc::default)) }
    }
}

/// Where the line of one event goes.
struct EventLine<'d> {
    discreet: &'d Discreet,
    kind: LineKind,
}

impl Write for EventLine<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A line is written as a whole.
        let text = String::from_utf8_lossy(line);
        let told = self.discreet.without_secrets(&text);
        QUEUE.add(as_one(&told).as_bytes(), self.kind);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'d> MakeWriter<'d> for Discreet {
    type Writer = EventLine<'d>;

    fn make_writer(&'d self) -> EventLine<'d> {
        EventLine { discreet: self, kind: LineKind::Other }
    }

    fn make_writer_for(&'d self, event: &Metadata<'_>) -> EventLine<'d> {
        EventLine { discreet: self, kind: LineKind::of(event.target()) }
    }
}

impl Discreet {
    fn without_secrets(&self, text: &str) -> String {
        let mut told = masked(text).into_owned();
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        for secret in secrets.iter().filter(|secret| text.contains(secret.as_str())) {
            told = told.replace(secret, MASK);
        }
        told
    }
}

/// Indents the continuation lines of one event, so that text of a client or user code cannot imitate a log event.
fn as_one(text: &str) -> String {
    let (lines, end) = text.strip_suffix('\n').map_or((text, ""), |lines| (lines, "\n"));
    let mut told = lines.replace('\r', "\\r").replace('\n', "\n    ");
    told.push_str(end);
    told
}

/// Masks secrets in panic messages too.
fn tame_panics(discreet: Discreet) {
    std::panic::set_hook(Box::new(move |panic| {
        if salver_model::panics::is_expected() {
            return;
        }
        let backtrace = match std::env::var_os("RUST_BACKTRACE") {
            Some(_) => format!("\n{}", std::backtrace::Backtrace::force_capture()),
            None => String::new(),
        };
        let thread = std::thread::current();
        let text = format!("thread '{}' {panic}{backtrace}\n", thread.name().unwrap_or("<unnamed>"));
        QUEUE.add(as_one(&discreet.without_secrets(&text)).as_bytes(), LineKind::Other);
        // It may be the end of the program.
        QUEUE.flush();
    }));
}

/// Starts the log on standard error, with `secrets` masked.
pub(crate) fn start(server: &Server, secrets: Vec<String>) {
    mask(secrets);
    let discreet = Discreet::default();
    tame_panics(discreet.clone());
    let is_json = server.log_format == "json";
    QUEUE.start(if is_json { json_lines::dropped } else { dropped });
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match is_json {
        true => Box::new(JsonLines { discreet }),
        false => Box::new(
            tracing_subscriber::fmt::layer()
                .with_writer(discreet)
                .with_ansi(std::io::stderr().is_terminal())
                .with_target(false),
        ),
    };
    let (filter, handle) = reload::Layer::new(filter(server));
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
    let _ = FILTER.set(Box::new(move |other: EnvFilter| {
        // It fails only when there is no log any more.
        let _ = handle.reload(other);
    }));
}

/// Logs as much as `server` says from now on.
pub(crate) fn set_level(server: &Server) {
    if let Some(replace) = FILTER.get() {
        replace(filter(server));
    }
}

/// Waits until the log is written, for a while: before the program ends.
pub(crate) fn flush() {
    QUEUE.flush();
}

/// What the log tells of lines that were dropped.
const DROPPED: &str = "lines about requests were dropped, since the log was not read fast enough";

/// Returns the line that tells how many were dropped.
fn dropped(count: u64) -> String {
    format!("{}  WARN {DROPPED} dropped={count}\n", now())
}

/// Returns the time as it stands in the log.
fn now() -> String {
    let mut time = String::new();
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    time
}

/// Returns a text without secrets.
pub(crate) fn discreet(text: &str) -> String {
    Discreet::default().without_secrets(text)
}

/// Masks further secrets in the log and in messages.
pub(crate) fn mask(secrets: Vec<String>) {
    let discreet = Discreet::default();
    let mut known = discreet.secrets.write().unwrap_or_else(PoisonError::into_inner);
    known.extend(secrets);
    // A secret may contain another one.
    known.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    known.dedup();
}

/// Returns what is logged: what `RUST_LOG` says, else the setting.
fn filter(server: &Server) -> EnvFilter {
    let level: LevelFilter = server.log.parse().unwrap_or(LevelFilter::INFO);
    let mut own = EnvFilter::default().add_directive(level.into());
    // It warns of each connection of HTTP/2 that breaks the rules, so that any client could fill the log.
    if (LevelFilter::WARN..=LevelFilter::INFO).contains(&level)
        && let Ok(quiet) = Directive::from_str("h2=error")
    {
        own = own.add_directive(quiet);
    }
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(text) if !text.is_empty() => EnvFilter::try_new(&text).unwrap_or_else(|error| {
            let _ = writeln!(io::stderr(), "RUST_LOG is ignored: {error}");
            own
        }),
        _ => own,
    };
    // Enabled explicitly, so they are logged at any level.
    let access = server.access_log.then_some("access=info");
    let slow = (server.slow_ms > 0).then_some("slow=warn");
    let enabled = access.into_iter().chain(slow).filter_map(|text| Directive::from_str(text).ok());
    enabled.fold(filter, EnvFilter::add_directive)
}

/// Tables named in the line about those that are left out.
const LEFT_OUT: usize = 10;

/// Observer that writes to the log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Whether the first loads were already announced to the operator.
    announced: AtomicBool,
    /// Last failure of each entry, so that a persistent failure is logged once.
    failures: Mutex<HashMap<Name, String>>,
    /// What was last left out of each database, which is logged once, too.
    left_out: Mutex<HashMap<Name, String>>,
}

impl Log {
    /// Logs loads from now on.
    pub(crate) fn announced(&self) {
        self.announced.store(true, Ordering::Relaxed);
    }

    /// Returns whether `failure` is new for `name`; `None` means success.
    fn is_news(&self, name: &Name, failure: Option<&str>) -> bool {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            None => failures.remove(name).is_some(),
            Some(why) => failures.insert(name.clone(), why.to_owned()).as_deref() != Some(why),
        }
    }
}

impl Observer for Log {
    fn observe(&self, observation: &Observation<'_>) {
        let announced = self.announced.load(Ordering::Relaxed);
        match observation {
            Observation::Loaded { name, version, ms, source } => {
                self.is_news(name, None);
                if announced {
                    tracing::info!("loaded `{name}` in {ms} ms, version {version}: {source}");
                } else {
                    tracing::debug!("loaded `{name}` in {ms} ms, version {version}: {source}");
                }
            }
            Observation::Loading { name, files, percent } => {
                tracing::info!("loading `{name}`: {percent} % of {files} files");
            }
            Observation::LoadFailed { name, error } => {
                let hint = error.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                let why = format!("can't load `{name}`: {}{hint}", error.chain());
                match (self.is_news(name, Some(&why)), announced) {
                    (true, true) => tracing::warn!("{why}"),
                    _ => tracing::debug!("{why}"),
                }
            }
            Observation::LeftOut { name, tables } => {
                let shown: Vec<String> = tables.iter().take(LEFT_OUT).map(|table| format!("`{table}`")).collect();
                let more = if tables.len() > LEFT_OUT { ", ..." } else { "" };
                let told = format!("{}{more}", shown.join(", "));
                let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
                if left_out.insert((*name).clone(), told.clone()).as_ref() != Some(&told) {
                    tracing::warn!("of `{name}`, these are served at `/api/records` alone, for their names: {told}");
                }
            }
            Observation::RequestFailed { error, request } => {
                tracing::error!(id = *request, "a request failed: {}", error.chain());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, RwLock};

    use super::{Discreet, as_one};

    #[test]
    fn a_line_of_another_is_set_in() {
        assert_eq!(as_one("ERROR f failed: a\n2026 INFO forged\rb\n"), "ERROR f failed: a\n    2026 INFO forged\\rb\n");
        assert_eq!(as_one("INFO b\n"), "INFO b\n");
    }

    #[test]
    fn lines_have_no_secrets() {
        let discreet = Discreet { secrets: Arc::new(RwLock::new(vec!["a-long-key".to_owned()])) };
        let line = "can't reach postgres://ann:s3cret@db/x with a-long-key";
        assert_eq!(discreet.without_secrets(line), "can't reach postgres://ann:***@db/x with ***");
    }
}
