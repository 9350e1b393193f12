//! State of one query's work, shared by everything that computes for it: a cancelled query ends at its next checkpoint.
//!
//! The state is carried in the session's options, so that functions (`ScalarFunctionArgs::config_options`) and
//! operators (`TaskContext::session_config`) find it in any plan.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SessionState, TaskContext};
use salver_model::{Code, Error};
use tokio::time::sleep;

use super::memory_pressure::Pressure;
use super::time_slice;
use super::work_state::WorkState;
use crate::column_cache::StatementId;

/// Maximum time to wait for cancelled work to end; computations check for cancellation every few milliseconds.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);
/// Interval at which that is checked.
const LOOK: Duration = Duration::from_millis(1);

/// Work of one query. Clones share their state.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryWork(Arc<WorkState>);

impl QueryWork {
    /// Begins the work of a query in `state`, whose functions and operators find it from now on.
    pub(crate) fn begin(state: &mut SessionState) -> Self {
        let work = Self::default();
        if let Some(pressure) = state.config_options().extensions.get::<Pressure>() {
            pressure.watch(&work.0);
        }
        work.clone().enter(state);
        work
    }

    /// Makes `state` one in which this work continues.
    pub(crate) fn enter(self, state: &mut SessionState) {
        state.config_mut().options_mut().extensions.insert(self);
        // Functions get the options as of this moment.
        state.mark_start_execution();
    }

    /// Returns the work that a function is called for, or work that is never cancelled if the plan belongs to no query.
    pub(crate) fn of(options: &ConfigOptions) -> Self {
        options.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Returns the work that an operator runs for.
    pub(crate) fn of_task(task: &TaskContext) -> Self {
        Self::of(task.session_config().options())
    }

    /// Returns the query as one that asks for columns.
    pub(crate) fn statement(&self) -> StatementId {
        StatementId(self.0.number())
    }

    /// Cancels the work: every checkpoint fails from now on.
    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns whether the work was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until only the caller holds the work, for a second at most. The tasks of a plan are aborted with it, but
    /// end only when their threads poll them, and hold memory of the pool until then.
    pub(crate) async fn released(&self) {
        let patience = Instant::now() + RELEASE_PATIENCE;
        loop {
            sleep(LOOK).await;
            if Arc::strong_count(&self.0) == 1 || Instant::now() >= patience {
                return;
            }
        }
    }

    /// Marks the plan as complete: values that are computed from now on do not become part of it.
    pub(crate) fn mark_planned(&self) {
        self.0.mark_planned();
    }

    /// Returns whether the plan is complete.
    pub(crate) fn is_planned(&self) -> bool {
        self.0.is_planned()
    }

    /// Checks for cancellation. Computations over many rows, or over long values, call it every few milliseconds; a
    /// turn that has taken long gives way here.
    ///
    /// # Errors
    /// When the work was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(self.stopped());
        }
        time_slice::give_way();
        Ok(())
    }

    /// Returns the error of cancelled work: nothing waits for it any more, or it uses too much memory.
    pub(super) fn stopped(&self) -> DataFusionError {
        let error = if self.0.is_pressed() {
            Error::new(Code::OutOfMemory, "the query was ended: with it the server has more in memory than it may")
                .with_hint("ask for less: add a filter or a `limit`; or raise `limits.memory_bytes_max`")
        } else {
            Error::internal("the query was stopped before its end")
        };
        DataFusionError::External(Box::new(error))
    }

    /// Returns a guard that cancels the work when it is dropped, unless it was [`Guard::disarm`]ed.
    pub(crate) fn guard(self) -> Guard {
        Guard(Some(self))
    }
}

/// Cancels work when it is dropped.
#[derive(Debug)]
pub(crate) struct Guard(Option<QueryWork>);

impl Guard {
    /// Lets the work continue.
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(work) = &self.0 {
            work.cancel();
        }
    }
}

impl ConfigExtension for QueryWork {
    const PREFIX: &'static str = "salver";
}

impl ExtensionOptions for QueryWork {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, _: &str) -> Result<()> {
        Err(DataFusionError::Configuration(format!("`{key}` is not a setting")))
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
