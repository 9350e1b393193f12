//! Logging of observations.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use salver_config::Server;
use salver_model::Name;
use salver_model::observation::{Observation, Observer};
use salver_model::secrecy::{MASK, masked};
use serde_json::Value;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Directive, EnvFilter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The form in which an event is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object for each event, on a line of its own.
    Json,
}

/// Standard error with secrets masked, since drivers and user code are logged, too.
#[derive(Clone, Debug)]
struct Discreet {
    secrets: Arc<[String]>,
    format: LogFormat,
}

impl Write for Discreet {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A line is written as a whole.
        let text = String::from_utf8_lossy(line);
        let told = match self.format {
            LogFormat::Text => as_one(&self.without_secrets(&text)),
            LogFormat::Json => self.without_secrets_in_json(&text),
        };
        io::stderr().lock().write_all(told.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

impl Discreet {
    fn without_secrets(&self, text: &str) -> String {
        let mut told = masked(text).into_owned();
        for secret in self.secrets.iter().filter(|secret| text.contains(secret.as_str())) {
            told = told.replace(secret, MASK);
        }
        told
    }

    /// Masks each text of an event in JSON for itself: so a secret is found however it is escaped, and what is left is
    /// JSON, on one line.
    fn without_secrets_in_json(&self, line: &str) -> String {
        match serde_json::from_str(line) {
            Ok(mut event) => {
                self.mask(&mut event);
                format!("{event}\n")
            }
            // What can't be written as JSON is told as a text of its own.
            Err(_) => {
                let told = self.without_secrets(line.trim_end());
                format!("{}\n", serde_json::json!({ "level": "ERROR", "message": told }))
            }
        }
    }

    /// Masks secrets in all texts of a value.
    fn mask(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.without_secrets(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.mask(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
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
        // A failure cannot be reported.
        let _ = io::stderr().lock().write_all(as_one(&discreet.without_secrets(&text)).as_bytes());
    }));
}

/// Starts the log on standard error, with `secrets` masked.
pub(crate) fn start(server: &Server, secrets: Vec<String>) {
    let format = if server.log_format == "json" { LogFormat::Json } else { LogFormat::Text };
    let discreet = Discreet { secrets: secrets.into(), format };
    tame_panics(discreet.clone());
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(move || discreet.clone());
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Text => Box::new(lines.with_ansi(std::io::stderr().is_terminal()).with_target(false)),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).with_current_span(false).with_span_list(false)),
    };
    // A second start, as in tests, keeps the first log.
    let _ = tracing_subscriber::registry().with(lines).with(filter(server)).try_init();
}

/// Returns what is logged: what `RUST_LOG` says, else the setting.
fn filter(server: &Server) -> EnvFilter {
    let level: LevelFilter = server.log.parse().unwrap_or(LevelFilter::INFO);
    let own = EnvFilter::default().add_directive(level.into());
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

/// Observer that writes to the log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Whether the first loads were already announced to the operator.
    announced: AtomicBool,
    /// Last failure of each entry, so that a persistent failure is logged once.
    failures: Mutex<HashMap<Name, String>>,
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
            Observation::RequestFailed { error, request } => {
                tracing::error!(id = *request, "a request failed: {}", error.chain());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Discreet, LogFormat, as_one};

    fn discreet(secret: &str, format: LogFormat) -> Discreet {
        Discreet { secrets: [secret.to_owned()].into(), format }
    }

    #[test]
    fn a_line_of_another_is_set_in() {
        assert_eq!(as_one("ERROR f failed: a\n2026 INFO forged\rb\n"), "ERROR f failed: a\n    2026 INFO forged\\rb\n");
        assert_eq!(as_one("INFO b\n"), "INFO b\n");
    }

    #[test]
    fn lines_have_no_secrets() {
        let discreet = discreet("a-long-key", LogFormat::Text);
        let line = "can't reach postgres://ann:s3cret@db/x with a-long-key";
        assert_eq!(discreet.without_secrets(line), "can't reach postgres://ann:***@db/x with ***");
    }

    #[test]
    fn json_without_secrets_is_json_on_one_line() {
        let discreet = discreet("a \"long\"\nkey", LogFormat::Json);
        let event = serde_json::json!({
            "message": "with a \"long\"\nkey\nat postgres://ann:s3cret@db/x",
            "url": "https://host/a?token=x",
            "ms": 1.5,
            "list": [{ "password": "password=s3cret" }],
        });
        let told = discreet.without_secrets_in_json(&format!("{event}\n"));
        let expected = serde_json::json!({
            "message": "with ***\nat postgres://ann:***@db/x",
            "url": "https://host/a?token=***",
            "ms": 1.5,
            "list": [{ "password": "password=***" }],
        });
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), expected);
        assert_eq!(told.find('\n'), Some(told.len() - 1));
        let told = discreet.without_secrets_in_json("not JSON\nby a \"long\"\nkey\n");
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["message"], "not JSON\nby ***");
        assert_eq!(told.find('\n'), Some(told.len() - 1));
    }
}
