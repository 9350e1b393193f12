//! The streams of the configuration: opened before anything is served, in the catalog from then on, and closed when no
//! request is open any more.

use std::sync::Arc;
use std::time::Instant;

use futures::future::join_all;
use salver_config::Checked;
use salver_datasets::{Engine, growing};
use salver_model::observation::{Observation, Observer};
use salver_model::ports::EventStream;
use salver_model::{Code, Error, Result};
use salver_service::Catalog;
use salver_streams::LogStream;

/// Opens the streams of `checked` and puts them into `catalog`. One that can't be opened is reported and left out; the
/// others are served.
pub(crate) fn open(
    checked: &Checked,
    engine: &Arc<Engine>,
    catalog: &Catalog,
    observer: &Arc<dyn Observer>,
) -> Vec<Arc<dyn EventStream>> {
    let mut opened: Vec<Arc<dyn EventStream>> = Vec::new();
    for spec in &checked.streams {
        let started = Instant::now();
        let stream: Arc<dyn EventStream> = match LogStream::open(spec.clone()) {
            Ok(stream) => stream,
            Err(error) => {
                catalog.report(&spec.name, &error);
                observer.observe(&Observation::LoadFailed { name: &spec.name, error: &error });
                continue;
            }
        };
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        for (name, scan) in stream.scans() {
            let table = growing(scan, engine);
            let (version, source) = (table.describe().version, table.describe().source.clone());
            catalog.publish(table);
            observer.observe(&Observation::Loaded { name: &name, version, ms, source: &source });
        }
        opened.push(stream);
    }
    opened
}

/// Says of each stream why it is not there, in a command that must not open it: a log has one owner, and that may be a
/// server that runs.
pub(crate) fn leave_out(checked: &Checked, catalog: &Catalog) {
    for spec in &checked.streams {
        let message = format!("the stream `{}` is open to `salver serve` only", spec.name);
        let hint = "ask the server: POST the statement to its `/api/sql`";
        catalog.report(&spec.name, &Error::new(Code::EntryUnavailable, message).with_hint(hint));
    }
}

/// Writes what is in memory to disk and lets go of the logs.
pub(crate) async fn close(streams: &[Arc<dyn EventStream>]) -> Result<()> {
    join_all(streams.iter().map(|stream| stream.close())).await.into_iter().collect()
}
