//! Rules for plans that are retried after running out of memory: rows that would go into a hash table are sorted
//! instead, because sorts spill.

mod distinct_aggregates;
mod sorted_groups;

use std::sync::Arc;

use datafusion::execution::session_state::SessionStateBuilder;

use distinct_aggregates::Distincts;
use sorted_groups::Sorted;

use super::planner_rules::{Analysis, Physical};

/// Appends these rules to those of a session.
pub(super) fn spilling(session: SessionStateBuilder) -> SessionStateBuilder {
    session
        .with_analyzer_rule(Arc::new(Analysis(Arc::new(Distincts))))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::new(Sorted))))
}
