//! Distributed traces: what a span is, and the text form of its context (W3C Trace Context, OpenTelemetry).
//!
//! Nothing that a client sent as a value stands in a span: entries are named, queries, keys and callers are not.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::Code;
use crate::limits::TRACE_STATE_BYTES_MAX;
use crate::seal;

/// Number of a trace: 16 bytes, not all of them 0.
pub type TraceId = [u8; 16];
/// Number of a span in its trace: 8 bytes, not all of them 0.
pub type SpanId = [u8; 8];

/// Where something stands in a trace, as it goes from one program to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanContext {
    /// The trace.
    pub trace: TraceId,
    /// The span in it.
    pub span: SpanId,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
    /// What other systems say of the trace, which is passed on as it came.
    pub state: Option<Arc<str>>,
}

impl SpanContext {
    /// Returns the context of the first span of a new trace, whose sampling is not decided yet.
    #[must_use]
    pub fn root() -> Self {
        Self { trace: number(), span: number(), is_sampled: false, state: None }
    }

    /// Returns the context of a new span in the same trace.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { span: number(), ..self.clone() }
    }

    /// Adds what other systems say of the trace; what is too long or has other characters than visible ones is left
    /// out.
    #[must_use]
    pub fn with_state(mut self, state: &str) -> Self {
        let is_plain = state.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\t');
        let fits = !state.trim().is_empty() && state.len() <= TRACE_STATE_BYTES_MAX;
        self.state = (fits && is_plain).then(|| Arc::from(state.trim()));
        self
    }
}

/// Returns a random number that is not 0.
fn number<const N: usize>() -> [u8; N] {
    let mut bytes = seal::random::<N>().unwrap_or([0; N]);
    if bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

/// The text form, `00-{trace}-{span}-{flags}`.
impl fmt::Display for SpanContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        self.trace.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("-")?;
        self.span.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(if self.is_sampled { "-01" } else { "-00" })
    }
}

/// The text is no context of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSpanContext;

impl FromStr for SpanContext {
    type Err = NoSpanContext;

    /// Reads the text form. One of a later version may go on after the flags.
    fn from_str(text: &str) -> Result<Self, NoSpanContext> {
        let mut parts = text.splitn(5, '-');
        let mut part = || parts.next().ok_or(NoSpanContext);
        let ([version], trace, span, [flags]) = (bytes(part()?)?, bytes(part()?)?, bytes(part()?)?, bytes(part()?)?);
        let is_longer = part().is_ok();
        if version == 0xff || version == 0 && is_longer || trace == [0; 16] || span == [0; 8] {
            return Err(NoSpanContext);
        }
        Ok(Self { trace, span, is_sampled: flags & 1 == 1, state: None })
    }
}

/// Reads lower-case hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Result<[u8; N], NoSpanContext> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(NoSpanContext),
    };
    if text.len() != 2 * N {
        return Err(NoSpanContext);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Ok(bytes)
}

/// What a span is to the programs beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A request of a client.
    Server,
    /// A step inside of the server.
    Internal,
    /// A request to another program.
    Client,
    /// An event that others will read.
    Producer,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// Text.
    Text(Cow<'static, str>),
    /// A number.
    Number(i64),
}

impl From<&'static str> for AttributeValue {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<u16> for AttributeValue {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<Code> for AttributeValue {
    fn from(code: Code) -> Self {
        code.slug().into()
    }
}

/// A step of the work for a request, with its time.
#[derive(Clone, Debug)]
pub struct Span {
    /// Where it stands.
    pub context: SpanContext,
    /// The span that it is a part of; `None` for the first of a trace.
    pub parent: Option<SpanId>,
    /// Whether that is another program's.
    pub is_parent_remote: bool,
    /// What is done, out of few names.
    pub name: Cow<'static, str>,
    /// What it is to the programs beside it.
    pub kind: SpanKind,
    /// When it began.
    pub began: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// What else is known of it, by OpenTelemetry's semantic conventions where they have a name.
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// Whether it failed.
    pub is_failure: bool,
}

#[cfg(test)]
mod tests {
    use super::{NoSpanContext, SpanContext};

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_context_is_its_text() {
        let context: SpanContext = TEXT.parse().unwrap();
        assert!(context.is_sampled);
        assert_eq!((context.trace[0], context.span[7]), (0x0a, 0x31));
        assert_eq!(context.to_string(), TEXT);
        let child = context.child();
        assert_eq!(child.trace, context.trace);
        assert_ne!(child.span, context.span);
        let later: SpanContext = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-08-more".parse().unwrap();
        assert!(!later.is_sampled);
    }

    #[test]
    fn what_is_no_context() {
        for text in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b71692033310-01",
            "00-0af7651916cd43dd8448eb211c8031\u{e9}-b7ad6b7169203331-01",
        ] {
            assert_eq!(text.parse::<SpanContext>(), Err(NoSpanContext), "{text}");
        }
    }

    #[test]
    fn what_others_say_of_a_trace() {
        let stated = |text: &str| SpanContext::root().with_state(text).state;
        assert_eq!(stated(" vendor=1,other=2 ").as_deref(), Some("vendor=1,other=2"));
        for text in ["", " ", "a=\u{e9}", "a=1\r\nX-Other: 2", &"a".repeat(513)] {
            assert_eq!(stated(text), None, "{text}");
        }
    }
}
