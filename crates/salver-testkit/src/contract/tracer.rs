//! The contract of the `Tracer` port, clause by clause.

use std::time::{Duration, Instant, SystemTime};

use salver_model::ports::Tracer;
use salver_model::trace::{Span, SpanContext, SpanKind};

/// Threads that record at the same time.
const THREADS: u64 = 4;
/// Spans that each of them records; more than is kept for a collector that is away.
const SPANS: u64 = 1_000;
/// How long the last of them may take until it is counted.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the suite on a tracer that recorded nothing yet. Nobody needs to be where its spans go.
///
/// # Panics
/// When the contract is broken.
pub fn run(tracer: &dyn Tracer) {
    for _ in 0..100 {
        let context = SpanContext::root();
        let decided = tracer.samples(&context, None);
        assert_eq!(tracer.samples(&context, None), decided, "two decisions about one trace: {context}");
    }
    let counted = || {
        let counts = tracer.counts();
        counts.exported + counts.dropped + counts.failed
    };
    assert_eq!(counted(), 0, "a decision is no span");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..SPANS).for_each(|_| tracer.record(span())));
        }
    });
    let until = Instant::now() + PATIENCE;
    while counted() != THREADS * SPANS {
        assert!(counted() < THREADS * SPANS, "a span is counted twice: {:?}", tracer.counts());
        assert!(Instant::now() < until, "a span is lost without a word: {:?}", tracer.counts());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn span() -> Span {
    let now = SystemTime::now();
    Span {
        context: SpanContext::root(),
        parent: None,
        is_parent_remote: false,
        name: "step".into(),
        kind: SpanKind::Internal,
        began: now,
        ended: now,
        attributes: Vec::new(),
        is_failure: false,
    }
}
