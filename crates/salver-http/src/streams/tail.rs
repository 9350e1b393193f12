//! `GET /api/streams/{name}/tail`: streams events as they arrive, as server-sent events or, if accepted, as NDJSON.
//!
//! `from=` is the position to begin at: an offset, `earliest`, `latest` (the default) or a time. A client that
//! reconnects sends the last offset it received in `Last-Event-ID`, as browsers do automatically, and misses no event
//! that is still kept. `limit=` ends the response after that many events; `filter[member]=`, `or=`, `and=` and `not=`
//! are those of `/api/tables`, over the members of the events. In SSE, `id` is the offset and `data` the event's own
//! text; in NDJSON a line has the format of `events`. Events that are damaged or deleted are reported as an SSE event
//! `missing` or a line with that member, and the tail continues after them. A comment, or an empty line, every few
//! seconds keeps proxies from timing out.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};
use salver_model::limits::STALL_MS_MAX;
use salver_model::streams::Event;
use salver_model::{Code, Error, Holder, Result};
use salver_service::{Consumer, WaitPermit};
use tokio::sync::watch;

use super::event_filter::Matcher;
use super::event_json;
use super::parameters::{number, unknown, value};
use super::position::Position;
use crate::body::{self, Body, Broken, Idle, Outlet};
use crate::exit;
use crate::refuse::observed;
use crate::request_context::{RequestContext, parameters};
use crate::rest;
use crate::unsent_responses::Answers;

const PARAMETERS: [&str; 6] = ["from", "limit", "filter[...]", "or", "and", "not"];
const SSE: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
/// Interval of heartbeats when there are no events.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Maximum number of events per read.
const COUNT_AT_ONCE: usize = 1_000;
/// Maximum size of events per read, for a client that reads without pause. There may be thousands of clients that
/// stall: for them it is a quarter of this, and larger buffers count against their memory limit.
const BYTES_AT_ONCE: usize = 256 * 1024;

/// Estimated overhead of an event in the response, in bytes.
const FRAME_BYTES: usize = 64;

/// Responds with a stream without end, or until `limit` is reached.
pub(super) async fn answer(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    let (filter, parameters) = rest::conditions(parameters(context.query)?)?;
    if let Some((name, _)) = parameters.iter().find(|(name, _)| name != "from" && name != "limit") {
        return Err(unknown(name, &PARAMETERS));
    }
    let limit: Option<u64> = value(&parameters, "limit").map(|text| number("limit", text)).transpose()?;
    // One that ends for this, too, is gone on with by `Last-Event-ID`.
    let left = [limit, context.rows_max()].into_iter().flatten().min();
    let begin = value(&parameters, "from").map_or(Ok(Position::Latest), Position::read)?;
    let permit = context.app.service.wait_permit(context.caller)?;
    let from = match context.header("last-event-id").and_then(|id| id.trim().parse::<u64>().ok()) {
        Some(last) => Position::Offset(last.saturating_add(1)),
        None => begin,
    };
    // Offsets that the client saw but the log no longer reaches are reported as missing.
    let next = stream.ends().next;
    let lost = match from {
        Position::Offset(offset) if offset > next => Some(next..offset),
        _ => None,
    };
    let form = if wants_lines(context) { Form::Lines } else { Form::Sse };
    let tail = Tail {
        from: from.offset(stream).await?,
        stream: stream.clone(),
        form,
        filter: filter.map(Matcher::new).transpose()?,
        left,
        ending: context.app.ending.subscribe(),
        lost,
        answers: Arc::clone(&context.app.answers),
        holder: context.caller.holder(),
        permit,
    };
    // Not compressed: a compressor would hold back the last events until more arrive.
    let body = body::made(None, observed(context.app), move |outlet| tail.give(outlet));
    let mut response = exit::unstored(StatusCode::OK, form.media_type(), body);
    // Disables response buffering in nginx and similar proxies.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Returns whether the client prefers NDJSON to SSE.
fn wants_lines(context: &RequestContext<'_>) -> bool {
    let mut lines = context.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    lines.any(|line| line.contains("ndjson") || line.contains("jsonl"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Sse,
    Lines,
}

impl Form {
    fn media_type(self) -> HeaderValue {
        if self == Self::Sse { SSE } else { NDJSON }
    }

    fn write(self, event: &Event, out: &mut Vec<u8>) {
        if self == Self::Lines {
            let start = out.len();
            event_json::write(event, out);
            event_json::on_one_line(&mut out[start..]);
            out.push(b'\n');
            return;
        }
        out.extend_from_slice(b"id: ");
        out.extend_from_slice(itoa::Buffer::new().format(event.offset).as_bytes());
        let text = if event.is_tombstone { "null".into() } else { String::from_utf8_lossy(&event.value) };
        // A line break would end the field; the client joins the lines again.
        for line in text.split(['\n', '\r']) {
            out.extend_from_slice(b"\ndata: ");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"\n\n");
    }

    /// Reports the events of these offsets as missing; `is_passed` when the client resumes after them.
    fn write_missing(self, offsets: &Range<u64>, is_passed: bool, out: &mut Vec<u8>) {
        let (from, to) = (offsets.start, offsets.end.saturating_sub(1));
        let text = match self {
            Self::Lines => format!("{{\"missing\":{{\"from\":{from},\"to\":{to}}}}}\n"),
            Self::Sse => {
                let id = if is_passed { format!("id: {to}\n") } else { String::new() };
                format!("event: missing\n{id}data: {{\"from\":{from},\"to\":{to}}}\n\n")
            }
        };
        out.extend_from_slice(text.as_bytes());
    }

    /// Returns a heartbeat.
    fn heartbeat(self) -> &'static [u8] {
        if self == Self::Sse { b":\n\n" } else { b"\n" }
    }
}

/// The state of one reader.
struct Tail {
    stream: Consumer,
    form: Form,
    filter: Option<Matcher>,
    from: u64,
    /// Number of events that may still be sent; `None` for no limit.
    left: Option<u64>,
    ending: watch::Receiver<bool>,
    /// Offsets that the client has seen but the log does not have.
    lost: Option<Range<u64>>,
    answers: Arc<Answers>,
    holder: Holder,
    permit: WaitPermit,
}

impl Tail {
    /// Sends piece after piece, each after the previous one was taken.
    async fn give(mut self, mut outlet: Outlet) -> Result<(), Broken> {
        // Sent at once, so that the client sees the connection is open.
        let mut piece = self.form.heartbeat().to_vec();
        if let Some(lost) = &self.lost {
            self.form.write_missing(lost, false, &mut piece);
        }
        loop {
            // A large piece counts against the memory limit until it is taken.
            let share = self.answers.take(&self.holder, piece.len())?;
            outlet.send(piece);
            outlet.drained(Duration::from_millis(STALL_MS_MAX)).await.map_err(|Idle| Broken::Gone)?;
            drop(share);
            piece = outlet.buffer();
            outlet.trim();
            let bytes = outlet.piece_bytes().min(BYTES_AT_ONCE);
            if !self.next(bytes, &mut piece).await? {
                break;
            }
        }
        outlet.end(None);
        Ok(())
    }

    /// Writes the next piece of about `bytes` bytes into an empty `piece`. Returns `false` at the end.
    async fn next(&mut self, bytes: usize, piece: &mut Vec<u8>) -> Result<bool> {
        loop {
            if self.left == Some(0) {
                return Ok(false);
            }
            let count = self.left.map_or(COUNT_AT_ONCE, |left| left.min(COUNT_AT_ONCE as u64) as usize);
            let reading = self.stream.wait_for_events(&self.permit, self.from, (count, bytes), HEARTBEAT);
            let read = tokio::select! {
                events = reading => events.transpose(),
                // On shutdown the response ends at an event boundary, so that the client can reconnect.
                _ = self.ending.wait_for(|is_ending| *is_ending) => None,
            };
            let events = match read {
                // Also when others may read it than at its beginning: the client has to prove itself again.
                None => return Ok(false),
                Some(Ok(events)) => events,
                Some(Err(error)) => return self.go_over(error, piece).await.map(|()| true),
            };
            let Some(last) = events.last() else {
                piece.extend_from_slice(self.form.heartbeat());
                return Ok(true);
            };
            self.from = last.offset + 1;
            self.write(&events, piece);
            if !piece.is_empty() {
                return Ok(true);
            }
            // A long run of events that do not pass must not block the executor.
            tokio::task::yield_now().await;
        }
    }

    /// Reports events that can't be read, and continues after them; a reconnecting client would hit them again.
    async fn go_over(&mut self, error: Error, piece: &mut Vec<u8>) -> Result<()> {
        if error.code != Code::Source {
            return Err(error);
        }
        let good = self.stream.good_from(self.from).await?;
        if good <= self.from {
            return Err(error);
        }
        self.form.write_missing(&(self.from..good), true, piece);
        self.from = good;
        Ok(())
    }

    fn write(&mut self, events: &[Event], out: &mut Vec<u8>) {
        // Reserved exactly, since a growing buffer may get twice as large as its content.
        out.reserve_exact(events.iter().map(|event| event.value.len() + FRAME_BYTES).sum());
        for event in events {
            if self.left == Some(0) {
                break;
            }
            if self.filter.as_ref().is_none_or(|filter| filter.passes(event)) {
                self.form.write(event, out);
                self.left = self.left.map(|left| left - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::streams::Event;

    use super::Form;

    #[test]
    fn lines_within_an_event() {
        let event = Event {
            offset: 3,
            time_ms: 0,
            id: "i".into(),
            key: None,
            partition: None,
            headers: Vec::new(),
            value: Bytes::from_static(b"{\n\"a\":1}"),
            is_tombstone: false,
        };
        let mut out = Vec::new();
        Form::Sse.write(&event, &mut out);
        assert_eq!(out, b"id: 3\ndata: {\ndata: \"a\":1}\n\n");
        out.clear();
        Form::Lines.write(&event, &mut out);
        assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(out.ends_with(b"\"value\":{ \"a\":1}}\n"));
    }
}
