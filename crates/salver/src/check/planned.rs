//! Plans every view and named query over the entries, as a server does.

use std::sync::Arc;

use salver_config::Checked;
use salver_datasets::Engine;
use salver_model::observation::{Observer, Silent};
use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, Error};
use salver_service::{LoadState, Snapshot};

use crate::failure::CommandFailure;
use crate::wiring::{self, Streams};
use crate::{output, streams};

/// Plans them, and counts those that can't be run. What reads a stream, or calls a function of a file, is left out: a
/// stream is open to a server alone, and files are not run here.
pub(super) async fn count_wrong(checked: &Checked, engine: &Arc<Engine>) -> Result<usize, CommandFailure> {
    if checked.views.is_empty() && checked.queries.is_empty() {
        return Ok(0);
    }
    let settings = Checked { functions: Vec::new(), queries: Vec::new(), ..checked.clone() };
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let wired = wiring::wire(&settings, engine, &observer, Streams::LeaveOut);
    let catalog = Arc::clone(wired.service.catalog());
    catalog.settled().await;
    let snapshot = catalog.snapshot();
    Ok(views(checked, &snapshot)? + queries(checked, engine, &snapshot).await?)
}

fn views(checked: &Checked, snapshot: &Snapshot) -> Result<usize, CommandFailure> {
    let mut wrong = 0;
    for spec in &checked.views {
        let Some(entry) = snapshot.entry(spec.name.as_str()) else { continue };
        let failed = match &entry.state {
            LoadState::Failed(failure) => {
                Some(Error::new(Code::Config, failure.message.clone()).with_hint_if(failure.hint.clone()))
            }
            _ => None,
        };
        wrong += told(spec.name.as_str(), "a view", failed, checked)?;
    }
    Ok(wrong)
}

async fn queries(checked: &Checked, engine: &Arc<Engine>, snapshot: &Arc<Snapshot>) -> Result<usize, CommandFailure> {
    let mut wrong = 0;
    for spec in &checked.queries {
        let tables: Arc<dyn Tables> = Arc::<Snapshot>::clone(snapshot);
        let failed = engine.describe(tables, spec).await.err();
        wrong += told(spec.name.as_str(), "a named query", failed, checked)?;
    }
    Ok(wrong)
}

/// Tells what came of one, and returns 1 if it is wrong.
fn told(name: &str, what: &str, failed: Option<Error>, checked: &Checked) -> Result<usize, CommandFailure> {
    let Some(error) = failed else {
        output::out(&format!("ok  {name}: {what}\n"))?;
        return Ok(0);
    };
    let calls = !checked.functions.is_empty() && error.message.starts_with("Invalid function");
    if calls || streams::is_left_out(&error.message) {
        let why = if calls { "may call a function of a file" } else { "reads a stream" };
        output::note(&format!("note: {name} is not tried here, since it {why}"));
        return Ok(0);
    }
    output::note(&format!("error: {name}: {}", output::with_hint(&error)));
    Ok(1)
}
