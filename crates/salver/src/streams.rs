//! The streams of the configuration: opened before anything is served, in the catalog from then on, and closed after
//! the last request.

mod late_stream;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::future::join_all;
use salver_config::Checked;
use salver_datasets::{Engine, growing};
use salver_model::observation::{Observation, Observer};
use salver_model::ports::EventStream;
use salver_model::spec::StreamSpec;
use salver_model::{Code, Error, Result};
use salver_service::Catalog;
use salver_streams::LogStream;

use self::late_stream::{Late, Open};

/// The streams of a server, to be closed in the end. Cheap to share.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenStreams(Arc<Mutex<Vec<Arc<dyn EventStream>>>>);

impl OpenStreams {
    /// Returns all of them.
    fn all(&self) -> Vec<Arc<dyn EventStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds one that was opened, or is about to be.
    pub(crate) fn add(&self, stream: &Arc<dyn EventStream>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(stream));
    }

    /// Closes one that is not served any more.
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::close`].
    pub(crate) async fn close_one(&self, stream: &Arc<dyn EventStream>) -> Result<()> {
        let closed = stream.close().await;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|own| !Arc::ptr_eq(own, stream));
        closed
    }

    /// Writes pending events to disk and releases the logs.
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::close`].
    pub(crate) async fn close(&self) -> Result<()> {
        let all = self.all();
        join_all(all.iter().map(|stream| stream.close())).await.into_iter().collect()
    }
}

/// Opens the streams of `checked` and adds them to `catalog`. One that cannot be opened is reported, returns the reason
/// to its callers, and is retried; the others are served. Call it inside the runtime.
pub(crate) fn open(
    checked: &Checked,
    engine: &Arc<Engine>,
    catalog: &Arc<Catalog>,
    observer: &Arc<dyn Observer>,
) -> Vec<Arc<dyn EventStream>> {
    let streams = checked.streams.iter().map(|spec| -> Arc<dyn EventStream> {
        let open = opener(spec, engine, catalog, observer);
        open().unwrap_or_else(|error| {
            observer.observe(&Observation::LoadFailed { name: &spec.name, error: &error });
            Late::begin(spec.clone(), error, open)
        })
    });
    streams.collect()
}

/// Returns the stream of `spec` and what opens it, for a server that serves others already: nothing of it is in
/// `catalog` before that is polled.
pub(crate) fn later(
    spec: &StreamSpec,
    engine: &Arc<Engine>,
    catalog: &Arc<Catalog>,
    observer: &Arc<dyn Observer>,
) -> (Arc<dyn EventStream>, impl Future<Output = ()> + Send + use<>) {
    let open = opener(spec, engine, catalog, observer);
    let fault = Error::new(Code::StreamUnavailable, format!("`{}` is about to be opened", spec.name));
    let late = Late::new(spec.clone(), fault);
    let (own, observer) = (Arc::clone(&late), Arc::clone(observer));
    let opening = async move {
        if let Some(error) = Late::open_or_retry(&own, open).await {
            observer.observe(&Observation::LoadFailed { name: &own.spec().name, error: &error });
        }
    };
    let stream: Arc<dyn EventStream> = late;
    (stream, opening)
}

/// Returns the function that opens a stream and publishes its rows, or reports the failure.
fn opener(spec: &StreamSpec, engine: &Arc<Engine>, catalog: &Arc<Catalog>, observer: &Arc<dyn Observer>) -> Open {
    let (spec, engine) = (spec.clone(), Arc::clone(engine));
    let (catalog, observer) = (Arc::clone(catalog), Arc::clone(observer));
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move || {
        let started = Instant::now();
        // Also entered on a thread that may block.
        let _inside = runtime.enter();
        let stream: Arc<dyn EventStream> =
            LogStream::open(spec.clone()).inspect_err(|error| catalog.report(&spec.name, error))?;
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        for (name, scan) in stream.scans() {
            let table = growing(scan, &engine);
            let (version, source) = (table.describe().version, table.describe().source.clone());
            catalog.publish(table);
            observer.observe(&Observation::Loaded { name: &name, version, ms, source: &source });
        }
        Ok(stream)
    })
}

/// Returns the mistakes in streams' schemas and in settings of Kafka's client, each with the stream's name.
pub(crate) fn mistakes(checked: &Checked) -> Vec<String> {
    let wrong = checked.streams.iter().flat_map(|spec| {
        let mistakes = LogStream::prove(spec).into_iter();
        mistakes.map(move |error| format!("error: stream `{}`: {}", spec.name, crate::output::with_hint(&error)))
    });
    wrong.collect()
}

/// What is said of a stream that is left out.
const LEFT_OUT: &str = " is open to `salver serve` only";

/// Returns whether a failure is that of a stream that is left out.
pub(crate) fn is_left_out(message: &str) -> bool {
    message.contains(LEFT_OUT)
}

/// Reports for each stream why it is unavailable, in a command that must not open it: a log has one owner, which may be
/// a running server.
pub(crate) fn leave_out(checked: &Checked, catalog: &Catalog) {
    for spec in &checked.streams {
        let message = format!("the stream `{}`{LEFT_OUT}", spec.name);
        let hint = "ask the server: POST the statement to its `/api/sql`";
        catalog.report(&spec.name, &Error::new(Code::EntryUnavailable, message).with_hint(hint));
    }
}
