//! What is counted of the statements of wires other than HTTP.

use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::Code;
use salver_service::reception::Outcome;

use super::Exposition;

/// The outcomes of statements.
const OUTCOMES: [&str; 3] = ["done", "refused", "failed"];

/// The wires.
const WIRES: [&str; 2] = ["postgres", "flight"];

/// Counts of the statements of every wire.
#[derive(Debug, Default)]
pub(super) struct WireCounts([StatementCounts; WIRES.len()]);

/// Counts of the statements of one wire.
#[derive(Debug, Default)]
struct StatementCounts {
    by_outcome: [AtomicU64; OUTCOMES.len()],
    ns: AtomicU64,
}

impl WireCounts {
    /// Counts a statement of the wire of this name.
    pub(super) fn count(&self, wire: &str, outcome: Outcome) {
        let counts = WIRES.iter().zip(&self.0).find(|(name, _)| **name == wire);
        debug_assert!(counts.is_some(), "{wire}");
        if let Some((_, counts)) = counts {
            counts.count(outcome);
        }
    }

    /// Writes the counts of the wires that had statements.
    pub(super) fn write(&self, out: &mut Exposition) {
        let counted = self.0.iter().map(StatementCounts::counts);
        let wires: Vec<_> =
            WIRES.iter().zip(&self.0).zip(counted).filter(|(_, counts)| *counts != [0; OUTCOMES.len()]).collect();
        if wires.is_empty() {
            return;
        }
        let help = "Statements of wires other than HTTP, by what became of them: done, refused for the client's fault \
                    or a limit, or failed for the server's.";
        out.family("salver_wire_statements_total", "counter", help);
        for ((wire, _), counts) in &wires {
            for (outcome, count) in OUTCOMES.iter().zip(counts) {
                out.sample("", &[("wire", wire), ("outcome", outcome)], *count);
            }
        }
        let help = "Seconds from a statement of such a wire to its last row.";
        out.family("salver_wire_statement_duration_seconds", "summary", help);
        for ((wire, own), counts) in &wires {
            out.sample("_sum", &[("wire", wire)], own.ns.load(Ordering::Relaxed) as f64 / 1e9);
            out.sample("_count", &[("wire", wire)], counts.iter().sum::<u64>());
        }
    }
}

impl StatementCounts {
    fn count(&self, outcome: Outcome) {
        let at = match outcome.refused {
            None => 0,
            Some(Code::Internal | Code::Source | Code::Config) => 2,
            Some(_) => 1,
        };
        let ns = u64::try_from(outcome.took.as_nanos()).unwrap_or(u64::MAX);
        self.by_outcome[at].fetch_add(1, Ordering::Relaxed);
        self.ns.fetch_add(ns, Ordering::Relaxed);
    }

    fn counts(&self) -> [u64; OUTCOMES.len()] {
        self.by_outcome.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}
