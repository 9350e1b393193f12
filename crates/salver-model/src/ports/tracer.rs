//! The port for recording distributed traces.

use std::fmt::Debug;

use crate::trace::{Span, SpanContext};

/// What became of the spans so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Spans that the collector took.
    pub exported: u64,
    /// Spans that were dropped, because they came faster than they could be sent.
    pub dropped: u64,
    /// Spans that were lost, because the collector could not be reached or refused them.
    pub failed: u64,
}

/// Records spans. Neither method waits, fails or takes long, whatever is the matter with who gets the spans. Each span
/// is counted once, when it was sent or is given up.
pub trait Tracer: Debug + Send + Sync {
    /// Decides whether a request is recorded, whose own span would have this context, as a part of `parent` if a client
    /// sent one.
    fn samples(&self, context: &SpanContext, parent: Option<&SpanContext>) -> bool;

    /// Takes a span that has ended.
    fn record(&self, span: Span);

    /// Returns what became of the spans so far.
    fn counts(&self) -> SpanCounts;
}
