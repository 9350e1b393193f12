//! The state of one query's work, which whoever computes for it looks at: a query that nobody waits for any more ends
//! at its next checkpoint.
//!
//! It goes along in the session's options, so that functions find it (`ScalarFunctionArgs::config_options`) and
//! operators do (`TaskContext::session_config`), in whatever plan they stand.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SessionState, TaskContext};
use salver_model::{Code, Error};
use tokio::time::sleep;

use super::pressure::Pressure;
use super::turn;
use super::work_state::State;

/// How long work that ended is waited for: what computes looks whether it may every few milliseconds.
const RELEASED_MAX: Duration = Duration::from_secs(1);
/// How often it is looked whether it has let go.
const LOOK: Duration = Duration::from_millis(1);

/// One query's work. Clones are the same work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work(Arc<State>);

impl Work {
    /// Begins work for a query in `state`, whose functions and operators find it from now on.
    pub(crate) fn begin(state: &mut SessionState) -> Self {
        let work = Self::default();
        if let Some(pressure) = state.config_options().extensions.get::<Pressure>() {
            pressure.watch(&work.0);
        }
        work.clone().enter(state);
        work
    }

    /// Makes `state` one in which this work goes on.
    pub(crate) fn enter(self, state: &mut SessionState) {
        state.config_mut().options_mut().extensions.insert(self);
        // Functions get the options as they are at this moment.
        state.mark_start_execution();
    }

    /// The work that a function is called for; one that never ends where a plan runs for nobody in particular.
    pub(crate) fn of(options: &ConfigOptions) -> Self {
        options.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// The work that an operator runs for.
    pub(crate) fn of_task(task: &TaskContext) -> Self {
        Self::of(task.session_config().options())
    }

    /// Ends the work: every checkpoint fails from now on.
    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether the work was ended.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the work is nobody's but the caller's, for a second at most. Tasks of a plan are aborted with it,
    /// but end only when their threads come by, and hold memory of the pool until then.
    pub(crate) async fn released(&self) {
        let patience = Instant::now() + RELEASED_MAX;
        loop {
            sleep(LOOK).await;
            if Arc::strong_count(&self.0) == 1 || Instant::now() >= patience {
                return;
            }
        }
    }

    /// The plan is made: what is computed from now on does not become part of it.
    pub(crate) fn mark_planned(&self) {
        self.0.mark_planned();
    }

    /// Whether the plan is made.
    pub(crate) fn is_planned(&self) -> bool {
        self.0.is_planned()
    }

    /// Checks that somebody waits for the work still. Computations of many rows, or of long ones, do so every few
    /// milliseconds; work that has gone on for long makes way here for that of others.
    ///
    /// # Errors
    /// When it was ended.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(self.stopped());
        }
        turn::give_way();
        Ok(())
    }

    /// What work ends with that was ended: because nobody waits for it, or because of the memory it takes.
    pub(super) fn stopped(&self) -> DataFusionError {
        let error = if self.0.is_pressed() {
            Error::new(Code::OutOfMemory, "the query was ended: with it the server has more in memory than it may")
                .with_hint("ask for less: add a filter or a `limit`; or raise `limits.memory_bytes_max`")
        } else {
            Error::internal("the query was stopped before its end")
        };
        DataFusionError::External(Box::new(error))
    }

    /// Ends the work when the guard is dropped, unless it was [`Guard::disarm`]ed.
    pub(crate) fn guard(self) -> Guard {
        Guard(Some(self))
    }
}

/// Ends work with its holder.
#[derive(Debug)]
pub(crate) struct Guard(Option<Work>);

impl Guard {
    /// Lets the work go on.
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

impl ConfigExtension for Work {
    const PREFIX: &'static str = "salver";
}

impl ExtensionOptions for Work {
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
        Err(DataFusionError::Configuration(format!("`{key}` is no setting")))
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
