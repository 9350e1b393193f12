//! `GET /api/streams/{name}/events`: returns a page of events, or waits for new ones.
//!
//! `from=` is an offset, `earliest` (the default), `latest` or a time; `limit=` is the maximum number of events;
//! `wait=5s` is the time to wait when there are none. The response's `next` is the `from` of the next page.

use std::time::Duration;

use http::{Response, StatusCode};
use salver_model::limits::{EVENTS_WAIT_S_MAX, PAGE_EVENTS_BYTES_MAX, PAGE_EVENTS_MAX};
use salver_model::streams::Event;
use salver_model::{Code, Error, Result};
use salver_service::Consumer;

use super::event_json;
use super::parameters::{number, value};
use super::position::Position;
use crate::body::Body;
use crate::exit;
use crate::request_context::RequestContext;

const PARAMETERS: [&str; 3] = ["from", "limit", "wait"];
/// Default number of events in a page.
const COUNT: usize = 1_000;

/// The limits of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLimits {
    count: usize,
    wait: Duration,
}

/// Responds with a page.
pub(super) async fn answer(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>> {
    let stream = context.app.service.consumer(context.caller, name)?;
    let parameters = context.parameters(&PARAMETERS)?;
    let position = value(&parameters, "from").map_or(Ok(Position::Earliest), Position::read)?;
    let from = position.offset(stream).await?;
    let page = PageLimits::read(&parameters)?;
    let events = page.events(context, stream, from).await?;
    Ok(exit::unstored_json(StatusCode::OK, written(&events, from, b"{")))
}

impl PageLimits {
    /// Parses `limit` and `wait`.
    pub(super) fn read(parameters: &[(String, String)]) -> Result<Self> {
        let count = value(parameters, "limit").map_or(Ok(COUNT), |text| number("limit", text))?;
        if !(1..=PAGE_EVENTS_MAX).contains(&count) {
            return Err(Error::new(
                Code::InvalidNumber,
                format!("`limit` is from 1 to {PAGE_EVENTS_MAX}, not {count}"),
            ));
        }
        let wait = value(parameters, "wait").map_or(Ok(Duration::ZERO), duration)?;
        if wait > Duration::from_secs(EVENTS_WAIT_S_MAX) {
            return Err(Error::new(Code::InvalidValue, format!("`wait` is {EVENTS_WAIT_S_MAX} s at most"))
                .with_hint("ask again from `next`, or follow the stream at its `tail`"));
        }
        Ok(Self { count, wait })
    }

    /// Reads the events from `from` on. Waiting ends when the server shuts down, and without events once other rights
    /// are in force: the client asks again from the same place, and proves itself for that.
    pub(super) async fn events(
        &self,
        context: &RequestContext<'_>,
        stream: &Consumer,
        from: u64,
    ) -> Result<Vec<Event>> {
        let count = context.rows_of_part(self.count);
        if self.wait.is_zero() {
            return stream.events(from, count, PAGE_EVENTS_BYTES_MAX).await;
        }
        let permit = context.app.service.wait_permit(context.caller)?;
        let mut ending = context.app.ending.subscribe();
        let reading = stream.wait_for_events(&permit, from, (count, PAGE_EVENTS_BYTES_MAX), self.wait);
        tokio::select! {
            events = reading => Ok(events?.unwrap_or_default()),
            _ = ending.wait_for(|is_ending| *is_ending) => Ok(Vec::new()),
        }
    }
}

/// Parses `5s`, `500ms`, or a number of seconds.
fn duration(text: &str) -> Result<Duration> {
    let wrong =
        || Error::new(Code::InvalidValue, format!("`wait` can't be `{text}`")).with_hint("write it like `wait=5s`");
    let (digits, ms) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 1),
        None => (text.strip_suffix('s').unwrap_or(text), 1_000),
    };
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    Ok(Duration::from_millis(count.saturating_mul(ms)))
}

/// Writes a page after `head`, which begins the object.
pub(super) fn written(events: &[Event], from: u64, head: &[u8]) -> Vec<u8> {
    let bytes: usize = events.iter().map(|event| event.value.len() + 160).sum();
    let mut out = Vec::with_capacity(bytes + 64);
    out.extend_from_slice(head);
    out.extend_from_slice(b"\"events\":[");
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        event_json::write(event, &mut out);
    }
    let next = events.last().map_or(from, |event| event.offset + 1);
    out.extend_from_slice(b"],\"next\":");
    out.extend_from_slice(itoa::Buffer::new().format(next).as_bytes());
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn durations() {
        assert_eq!(duration("5s").ok(), Some(Duration::from_secs(5)));
        assert_eq!(duration("250ms").ok(), Some(Duration::from_millis(250)));
        assert_eq!(duration("2").ok(), Some(Duration::from_secs(2)));
        assert!(duration("soon").is_err());
    }
}
