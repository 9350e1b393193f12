//! `GET /api/streams/{name}/tail`: events as they come, as server-sent events, or as NDJSON to who accepts that.
//!
//! `from=` is where to begin: an offset, `earliest`, `latest` (the default) or a time. A client that lost its
//! connection says the last offset it saw in `Last-Event-ID`, as browsers do by themselves, and misses nothing that is
//! still kept. `limit=` ends the answer after so many events; `filter[member]=`, `or=`, `and=` and `not=` are those of
//! `/api/tables`, over the members of the events. As SSE, `id` is the offset and `data` the event's own text; as
//! NDJSON a line is what `events` has for an event. Events that are damaged or gone are told of, as an SSE event
//! `missing` or a line with that member, and the tail goes on behind them. A comment, or an empty line, every few
//! seconds keeps proxies from giving up.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};
use salver_model::limits::STALL_MS_MAX;
use salver_model::observation::Observation;
use salver_model::ports::EventStream;
use salver_model::streams::Event;
use salver_model::{Code, Error, Holder, Result, Share};
use tokio::sync::watch;

use super::matches::Matcher;
use super::parameters::{number, unknown, value};
use super::position::Position;
use super::{event_json, respond};
use crate::body::{self, Body, Broken, Idle, Outlet};
use crate::exchange::{Exchange, parameters};
use crate::held::Answers;
use crate::rest;

const PARAMETERS: [&str; 6] = ["from", "limit", "filter[...]", "or", "and", "not"];
const SSE: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");
const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
/// How long nothing is said at most.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Events that are read at a time.
const COUNT_AT_ONCE: usize = 1_000;
/// Bytes of events that are read at a time at most, for who takes them without a pause. There may be thousands of
/// readers who take nothing: for them it is a quarter of it, and what is larger is counted among what they hold.
const BYTES_AT_ONCE: usize = 256 * 1024;

/// What stands around an event, in bytes.
const FRAME_BYTES: usize = 64;

/// Answers without end, or until `limit` is reached.
pub(super) async fn answer(exchange: &Exchange<'_>, name: &str) -> Result<Response<Body>> {
    let stream = exchange.stream(name)?;
    let (filter, parameters) = rest::conditions(parameters(exchange.query)?)?;
    if let Some((name, _)) = parameters.iter().find(|(name, _)| name != "from" && name != "limit") {
        return Err(unknown(name, &PARAMETERS));
    }
    let left = value(&parameters, "limit").map(|text| number("limit", text)).transpose()?;
    let place = exchange.tail_place()?;
    let from = match exchange.header("last-event-id").and_then(|id| id.trim().parse::<u64>().ok()) {
        Some(last) => Position::Offset(last.saturating_add(1)),
        None => value(&parameters, "from").map_or(Ok(Position::Latest), Position::read)?,
    };
    // What a client saw of a log that ends before: it is told that this is gone.
    let next = stream.ends().next;
    let lost = match from {
        Position::Offset(offset) if offset > next => Some(next..offset),
        _ => None,
    };
    let form = if wants_lines(exchange) { Form::Lines } else { Form::Sse };
    let tail = Tail {
        from: from.offset(&**stream).await?,
        stream: Arc::clone(stream),
        form,
        filter: filter.map(Matcher::new).transpose()?,
        left,
        ending: exchange.app.ending.subscribe(),
        lost,
        answers: Arc::clone(&exchange.app.answers),
        holder: exchange.caller.holder(),
        _place: place,
    };
    let service = Arc::clone(&exchange.app.service);
    let failed = move |error: &Error| service.observer().observe(&Observation::RequestFailed { error });
    // Not packed: a packer would keep the last events until more come.
    let body = body::made(None, failed, move |outlet| tail.give(outlet));
    let mut response = respond::whole(StatusCode::OK, form.media_type(), body);
    // The word by which nginx and its kin are told not to collect an answer first.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Whether the client would have NDJSON rather than SSE.
fn wants_lines(exchange: &Exchange<'_>) -> bool {
    let mut lines = exchange.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
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
        // The end of a line would end the field; the client puts the lines together again.
        for line in text.split(['\n', '\r']) {
            out.extend_from_slice(b"\ndata: ");
            out.extend_from_slice(line.as_bytes());
        }
        out.extend_from_slice(b"\n\n");
    }

    /// Says that the events of these offsets are not there; `is_passed` when the client goes on behind them.
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

    /// What says that there is nothing to say.
    fn heartbeat(self) -> &'static [u8] {
        if self == Self::Sse { b":\n\n" } else { b"\n" }
    }
}

/// How far one reader has come.
struct Tail {
    stream: Arc<dyn EventStream>,
    form: Form,
    filter: Option<Matcher>,
    from: u64,
    /// How many events may still go out; `None` for any number.
    left: Option<u64>,
    ending: watch::Receiver<bool>,
    /// Offsets the client knows of that the log does not have.
    lost: Option<Range<u64>>,
    answers: Arc<Answers>,
    holder: Holder,
    _place: Share,
}

impl Tail {
    /// Gives piece after piece, the next when the one before was taken.
    async fn give(mut self, mut outlet: Outlet) -> Result<(), Broken> {
        // Says at once that the connection stands.
        let mut piece = self.form.heartbeat().to_vec();
        if let Some(lost) = &self.lost {
            self.form.write_missing(lost, false, &mut piece);
        }
        loop {
            // Counted until it is taken, if it is large.
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

    /// The next piece of the answer, of about so many bytes at most, into an empty `piece`; whether there is one.
    async fn next(&mut self, bytes: usize, piece: &mut Vec<u8>) -> Result<bool> {
        loop {
            if self.left == Some(0) {
                return Ok(false);
            }
            let count = self.left.map_or(COUNT_AT_ONCE, |left| left.min(COUNT_AT_ONCE as u64) as usize);
            let reading = self.stream.events(self.from, count, bytes, HEARTBEAT);
            let read = tokio::select! {
                events = reading => Some(events),
                // Who reads on is told nothing more, but what was said is whole: the client may come again.
                _ = self.ending.wait_for(|is_ending| *is_ending) => None,
            };
            let events = match read {
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
            // A long way without an event that passes must not keep others from the processor.
            tokio::task::yield_now().await;
        }
    }

    /// Tells of what can't be read, and goes on behind it: who comes again would meet it again.
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
        // A buffer that grows as it is filled may get twice as large as what is in it.
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
