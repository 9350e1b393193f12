//! The spans of a request: who works for it finds the span that it is a part of in its task.
//!
//! Without a tracer, and for requests that are not recorded, there is no span, and nothing is done for one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use salver_model::ports::Tracer;
use salver_model::trace::{AttributeValue, Span, SpanContext, SpanKind};
use salver_model::{Error, Result};

tokio::task_local! {
    /// The span that the task works for.
    static CURRENT: Option<ParentSpan>;
}

/// A span that others are parts of.
#[derive(Clone, Debug)]
struct ParentSpan {
    tracer: Arc<dyn Tracer>,
    context: SpanContext,
}

impl ParentSpan {
    fn begin(&self, name: &'static str, kind: SpanKind) -> ActiveSpan {
        let parent = Some(self.context.span);
        ActiveSpan::new(Arc::clone(&self.tracer), self.context.child(), (parent, false), (name, kind))
    }
}

/// A span that has not ended yet. It ends when it is dropped, as a failure if nobody said how it went: then the work
/// was given up.
#[derive(Debug)]
pub struct ActiveSpan {
    tracer: Arc<dyn Tracer>,
    /// `None` once it has ended.
    span: Option<Box<Span>>,
    is_settled: bool,
}

impl ActiveSpan {
    fn new(
        tracer: Arc<dyn Tracer>,
        context: SpanContext,
        (parent, is_parent_remote): (Option<[u8; 8]>, bool),
        (name, kind): (&'static str, SpanKind),
    ) -> Self {
        let began = SystemTime::now();
        let (name, attributes) = (Cow::Borrowed(name), Vec::new());
        let span =
            Span { context, parent, is_parent_remote, name, kind, began, ended: began, attributes, is_failure: false };
        Self { tracer, span: Some(Box::new(span)), is_settled: false }
    }

    /// Begins the span of a request, which may be a part of a client's; `None` if it is not recorded.
    #[must_use]
    pub fn of_request(tracer: &Arc<dyn Tracer>, parent: Option<SpanContext>) -> Option<Self> {
        let context = parent.as_ref().map_or_else(SpanContext::root, SpanContext::child);
        if !tracer.samples(&context, parent.as_ref()) {
            return None;
        }
        let context = SpanContext { is_sampled: true, ..context };
        let parent = (parent.as_ref().map(|parent| parent.span), parent.is_some());
        Some(Self::new(Arc::clone(tracer), context, parent, ("request", SpanKind::Server)))
    }

    /// Begins a span that is a part of this one.
    #[must_use]
    pub fn child(&self, name: &'static str, kind: SpanKind) -> Option<Self> {
        self.as_parent().map(|parent| parent.begin(name, kind))
    }

    /// Returns where it stands.
    #[must_use]
    pub fn context(&self) -> Option<&SpanContext> {
        self.span.as_ref().map(|span| &span.context)
    }

    /// Names it anew.
    pub fn rename(&mut self, name: String) {
        if let Some(span) = &mut self.span {
            span.name = Cow::Owned(name);
        }
    }

    /// Adds what is known of it.
    pub fn set(&mut self, key: &'static str, value: impl Into<AttributeValue>) {
        if let Some(span) = &mut self.span {
            span.attributes.push((key, value.into()));
        }
    }

    /// Notes that the work was done.
    pub fn succeed(&mut self) {
        self.is_settled = true;
    }

    /// Notes that the work failed, in a way out of few.
    pub fn fail(&mut self, why: impl Into<AttributeValue>) {
        self.is_settled = true;
        if let Some(span) = &mut self.span {
            span.is_failure = true;
            span.attributes.push(("error.type", why.into()));
        }
    }

    /// Notes that the work failed with this error, of which the code alone is told.
    pub fn fail_by(&mut self, error: &Error) {
        self.fail(error.code);
    }

    /// Ends it with the outcome of the work, of which only the code of an error is noted.
    pub fn end<T>(mut self, outcome: &Result<T>) {
        match outcome {
            Ok(_) => self.succeed(),
            Err(error) => self.fail_by(error),
        }
    }

    /// Returns `work` as a part of this span.
    pub fn scope<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.as_parent(), work)
    }

    fn as_parent(&self) -> Option<ParentSpan> {
        let context = self.context()?.clone();
        Some(ParentSpan { tracer: Arc::clone(&self.tracer), context })
    }
}

impl Drop for ActiveSpan {
    fn drop(&mut self) {
        if !self.is_settled {
            self.fail("cancelled");
        }
        if let Some(mut span) = self.span.take() {
            span.ended = SystemTime::now().max(span.began);
            self.tracer.record(*span);
        }
    }
}

/// Begins a span that is a part of the one the task works for; `None` if it works for none.
pub(crate) fn begin(name: &'static str, kind: SpanKind) -> Option<ActiveSpan> {
    CURRENT.try_with(|current| current.as_ref().map(|parent| parent.begin(name, kind))).ok().flatten()
}

/// Ends a span, if there is one, with the outcome of the work.
pub(crate) fn end<T>(span: Option<ActiveSpan>, outcome: &Result<T>) {
    if let Some(span) = span {
        span.end(outcome);
    }
}

/// Does `work` in a span.
pub(crate) async fn within<T>(span: Option<ActiveSpan>, work: impl Future<Output = Result<T>>) -> Result<T> {
    let outcome = work.await;
    end(span, &outcome);
    outcome
}

/// Returns `work` as a part of the span that this task works for, to be done in another.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(CURRENT.try_with(Option::clone).ok().flatten(), work)
}

/// Returns where the span stands that the task works for; `None` if it works for none.
#[must_use]
pub fn current() -> Option<SpanContext> {
    CURRENT.try_with(|current| current.as_ref().map(|parent| parent.context.clone())).ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use salver_model::ports::{SpanCounts, Tracer};
    use salver_model::trace::{Span, SpanContext, SpanKind};
    use salver_model::{Code, Error, Result};

    use super::{ActiveSpan, begin, carried, current, within};

    /// Keeps what it is given.
    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<Span>>);

    impl Tracer for Kept {
        fn samples(&self, _: &SpanContext, parent: Option<&SpanContext>) -> bool {
            parent.is_none_or(|parent| parent.is_sampled)
        }

        fn record(&self, span: Span) {
            self.0.lock().unwrap().push(span);
        }

        fn counts(&self) -> SpanCounts {
            SpanCounts::default()
        }
    }

    #[tokio::test]
    async fn spans_are_parts_of_the_request() {
        let kept = Arc::new(Kept::default());
        let tracer: Arc<dyn Tracer> = Arc::<Kept>::clone(&kept);
        assert!(begin("nothing", SpanKind::Internal).is_none() && current().is_none());
        let mut request = ActiveSpan::of_request(&tracer, None).unwrap();
        let context = request.context().unwrap().clone();
        let failing = within(None, async { Err::<(), _>(Error::new(Code::NotFound, "a secret")) });
        request
            .scope(async {
                assert_eq!(current().map(|current| current.span), Some(context.span));
                let _: Result<()> = within(begin("failing", SpanKind::Client), failing).await;
                let elsewhere = carried(async { drop(begin("given up", SpanKind::Internal)) });
                tokio::spawn(elsewhere).await.unwrap();
            })
            .await;
        request.succeed();
        drop(request);
        let spans = kept.0.lock().unwrap();
        assert_eq!(spans.iter().map(|span| &*span.name).collect::<Vec<_>>(), ["failing", "given up", "request"]);
        assert!(spans.iter().all(|span| span.context.trace == context.trace));
        assert_eq!(spans.iter().map(|span| span.is_failure).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!((spans[0].parent, spans[1].parent, spans[2].parent), (Some(context.span), Some(context.span), None));
        let told = format!("{:?}", spans[0].attributes);
        assert!(told.contains("not_found") && !told.contains("secret"), "{told}");
    }

    #[test]
    fn who_sends_a_trace_decides() {
        let tracer: Arc<dyn Tracer> = Arc::new(Kept::default());
        let mut parent = SpanContext::root();
        assert!(ActiveSpan::of_request(&tracer, Some(parent.clone())).is_none());
        parent.is_sampled = true;
        let request = ActiveSpan::of_request(&tracer, Some(parent.clone())).unwrap();
        assert_eq!(request.context().unwrap().trace, parent.trace);
        assert_ne!(request.context().unwrap().span, parent.span);
    }
}
