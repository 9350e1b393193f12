//! Rules for plans that are retried after running out of memory: rows that would go into a hash table are sorted
//! instead, because sorts spill.

mod distincts;
mod sorted;

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;

use distincts::Distincts;
use sorted::Sorted;

use super::rules::{Analysis, Physical};

/// Appends these rules to those of a session.
pub(super) fn spilling(session: SessionStateBuilder) -> SessionStateBuilder {
    session
        .with_analyzer_rule(Arc::new(Analysis(Arc::new(Distincts))))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::new(Sorted))))
}
