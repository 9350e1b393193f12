//! What plans that ran out of memory are made of when they are tried again: whatever a hash table would hold is sorted,
//! because sorts spill.

mod distincts;
mod sorted;

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;

use distincts::Distincts;
use sorted::Sorted;

use super::rules::{Analysis, Physical};

/// Gives a session these rules, behind those that it has.
pub(super) fn spilling(session: SessionStateBuilder) -> SessionStateBuilder {
    session
        .with_analyzer_rule(Arc::new(Analysis(Arc::new(Distincts))))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::new(Sorted))))
}
