//! The log as JSON: one object for each event, on a line of its own.

use std::fmt::Debug;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::log_queue::LineKind;
use super::{DROPPED, Discreet, QUEUE, now};

/// Writes events to the log. Each text is masked for itself: so a secret is found however it is escaped, and the
/// rest is still JSON.
#[derive(Debug)]
pub(super) struct JsonLines {
    pub(super) discreet: Discreet,
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        QUEUE.add(self.line(event).as_bytes(), LineKind::of(event.metadata().target()));
    }
}

impl JsonLines {
    fn line(&self, event: &Event<'_>) -> String {
        let time = now();
        let mut fields = Fields { discreet: &self.discreet, members: Map::new() };
        let head = [("timestamp", time.as_str()), ("level", event.metadata().level().as_str())];
        for (name, text) in head.into_iter().chain([("target", event.metadata().target())]) {
            fields.members.insert(name.to_owned(), text.into());
        }
        event.record(&mut fields);
        // JSON allows these in texts, but many readers of lines take them for the end of one.
        let line = Value::Object(fields.members).to_string();
        format!("{}\n", line.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"))
    }
}

/// Returns the line that tells how many were dropped.
pub(super) fn dropped(count: u64) -> String {
    let line = json!({ "timestamp": now(), "level": "WARN", "target": "access", "message": DROPPED, "dropped": count });
    format!("{line}\n")
}

/// The members of the object.
struct Fields<'d> {
    discreet: &'d Discreet,
    members: Map<String, Value>,
}

impl Fields<'_> {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.members.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, self.discreet.without_secrets(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, self.discreet.without_secrets(&format!("{value:?}")));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, RwLock};

    use serde_json::Value;
    use tracing::{Event, Subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    use super::{Discreet, JsonLines};

    /// Keeps the lines instead of writing them.
    struct Kept {
        lines: JsonLines,
        kept: Arc<Mutex<Vec<String>>>,
    }

    impl<S: Subscriber> Layer<S> for Kept {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            self.kept.lock().unwrap().push(self.lines.line(event));
        }
    }

    #[test]
    fn what_was_dropped_is_an_event() {
        let line = super::dropped(7);
        assert_eq!(line.find('\n'), Some(line.len() - 1));
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&event["dropped"], &event["level"]), (&7.into(), &"WARN".into()));
        assert!(event["timestamp"].as_str().unwrap().starts_with("20"));
    }

    #[test]
    fn an_event_is_one_line_without_secrets() {
        let discreet = Discreet { secrets: Arc::new(RwLock::new(vec!["a \"long\"\nkey".to_owned()])) };
        let kept = Arc::new(Mutex::new(Vec::new()));
        let layer = Kept { lines: JsonLines { discreet }, kept: Arc::clone(&kept) };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let (ms, status, uri) = (1.5, 200_u16, "https://host/a?token=x");
            tracing::info!(target: "access", uri, status, ms, who = %"a \"long\"\nkey", "at postgres://ann:s3cret@db/x\nagain");
        });
        let kept = kept.lock().unwrap();
        let [line] = kept.as_slice() else { panic!("{kept:?}") };
        assert_eq!(line.find('\n'), Some(line.len() - 1));
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["message"], "at postgres://ann:***@db/x\nagain");
        assert_eq!((&event["who"], &event["uri"]), (&"***".into(), &"https://host/a?token=***".into()));
        assert_eq!((&event["ms"], &event["status"]), (&1.5.into(), &200.into()));
        assert_eq!((&event["level"], &event["target"]), (&"INFO".into(), &"access".into()));
        assert!(event["timestamp"].as_str().unwrap().starts_with("20"));
    }
}
