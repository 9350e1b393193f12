//! What is counted of the statements of PostgreSQL's protocol.

use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::Code;
use salver_service::reception::Outcome;

use super::Exposition;

/// The outcomes of statements.
const OUTCOMES: [&str; 3] = ["done", "refused", "failed"];

/// Counts of statements.
#[derive(Debug, Default)]
pub(super) struct WireCounts {
    by_outcome: [AtomicU64; OUTCOMES.len()],
    ns: AtomicU64,
}

impl WireCounts {
    /// Name of the wire.
    pub(super) const NAME: &str = "postgres";

    pub(super) fn count(&self, outcome: Outcome) {
        let at = match outcome.refused {
            None => 0,
            Some(Code::Internal | Code::Source | Code::Config) => 2,
            Some(_) => 1,
        };
        let ns = u64::try_from(outcome.took.as_nanos()).unwrap_or(u64::MAX);
        self.by_outcome[at].fetch_add(1, Ordering::Relaxed);
        self.ns.fetch_add(ns, Ordering::Relaxed);
    }

    pub(super) fn write(&self, out: &mut Exposition) {
        let counts = self.by_outcome.each_ref().map(|count| count.load(Ordering::Relaxed));
        if counts == [0; OUTCOMES.len()] {
            return;
        }
        let help = "Statements of wires other than HTTP, by what became of them: done, refused for the client's fault \
                    or a limit, or failed for the server's.";
        out.family("salver_wire_statements_total", "counter", help);
        for (outcome, count) in OUTCOMES.iter().zip(counts) {
            out.sample("", &[("wire", Self::NAME), ("outcome", outcome)], count);
        }
        let help = "Seconds from a statement of such a wire to its last row.";
        out.family("salver_wire_statement_duration_seconds", "summary", help);
        out.sample("_sum", &[("wire", Self::NAME)], self.ns.load(Ordering::Relaxed) as f64 / 1e9);
        out.sample("_count", &[("wire", Self::NAME)], counts.iter().sum::<u64>());
    }
}
