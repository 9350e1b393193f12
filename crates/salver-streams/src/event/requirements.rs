//! A stream's requirements on its events, and the validation of events that are already separated.

use std::sync::Arc;

use salver_model::limits::{EVENT_BYTES_MAX, EVENT_DEPTH_MAX};
use salver_model::streams::NewEvent;
use salver_text::json::blank_end;

use super::json_schema::Rule;
use super::live_shape::LiveShape;
use super::shape::EventShape;
use super::validate::{Pass, Stop};

/// Requirements of a stream on its events, and the shape inferred from them.
#[derive(Debug)]
pub(crate) struct Checks {
    /// Shape, widened by every event that passes.
    pub(crate) shape: Arc<LiveShape>,
    /// JSON Schema that events must satisfy.
    pub(crate) rule: Option<Rule>,
    /// Largest size of an event, in bytes.
    pub(crate) event_bytes_max: usize,
}

impl Checks {
    /// Creates the checks of a stream without a schema whose events have this shape so far.
    pub(crate) fn new(shape: EventShape) -> Self {
        Self { shape: Arc::new(LiveShape::new(shape)), rule: None, event_bytes_max: EVENT_BYTES_MAX }
    }

    /// Runs the final checks on an event that is well-formed JSON, and widens the shape if it `adds` to it. The error
    /// is the reason for rejection.
    pub(super) fn admit(&self, event: &[u8], adds: bool) -> Result<(), String> {
        if event.first() != Some(&b'{') {
            return Err("at byte 0: expected an object".to_owned());
        }
        if event.len() > self.event_bytes_max {
            return Err(too_long(self.event_bytes_max));
        }
        if let Some(rule) = &self.rule {
            rule.check(event)?;
        }
        if adds {
            self.shape.widen(event);
        }
        Ok(())
    }
}

/// Validator for events that are already separated.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    checks: &'a Checks,
    shape: Arc<EventShape>,
    pass: Pass,
}

impl<'a> Checker<'a> {
    /// Creates a checker for the events of one append.
    pub(crate) fn new(checks: &'a Checks) -> Self {
        Self { checks, shape: checks.shape.newest(), pass: Pass::new() }
    }

    /// Validates one event: a JSON object, with optional white space around it. The error is the reason for rejection.
    pub(crate) fn check(&mut self, text: &[u8]) -> Result<(), String> {
        let start = blank_end(text, 0);
        let whole = self.pass.value(text, start, self.shape.plan()).map_err(|stop| reason(stop, 0))?;
        let end = blank_end(text, whole.end);
        if end < text.len() {
            return Err(format!("at byte {end}: expected the end of the event"));
        }
        if let Err(error) = simdutf8::compat::from_utf8(text) {
            return Err(not_utf8(error.valid_up_to()));
        }
        self.checks.admit(&text[start..whole.end], whole.adds)?;
        if whole.adds {
            self.shape = self.checks.shape.newest();
        }
        Ok(())
    }
}

impl Checker<'_> {
    /// Validates a value received over a protocol, and returns whether it is a JSON object. An `is_opaque` stream also
    /// accepts other values and tombstones, but no value may exceed the event limit, and a value declared as JSON must
    /// be JSON.
    pub(crate) fn check_one(&mut self, event: &NewEvent, is_opaque: bool) -> Result<bool, String> {
        let is_object = || event.value.trim_ascii_start().first() == Some(&b'{');
        match is_opaque {
            true if event.is_tombstone => Ok(false),
            true if event.value.len() > self.checks.event_bytes_max => Err(too_long(self.checks.event_bytes_max)),
            true if event.is_json && !is_object() => self.check_json(&event.value).map(|()| false),
            true if event.is_json => self.check(&event.value).map(|()| true),
            true => Ok(self.check(&event.value).is_ok()),
            false if event.is_tombstone => {
                Err("a tombstone is not an object, which the stream's schema asks for".to_owned())
            }
            false => self.check(&event.value).map(|()| true),
        }
    }

    /// Checks that a text is exactly one JSON value, of any kind.
    fn check_json(&mut self, text: &[u8]) -> Result<(), String> {
        let start = blank_end(text, 0);
        let whole = self.pass.value(text, start, self.shape.plan()).map_err(|stop| reason(stop, 0))?;
        let end = blank_end(text, whole.end);
        if end < text.len() {
            return Err(format!("at byte {end}: expected the end of the event"));
        }
        simdutf8::compat::from_utf8(text).map(|_| ()).map_err(|error| not_utf8(error.valid_up_to()))
    }
}

/// Returns the reason why a walk stopped, with the place relative to the event's `start`.
pub(super) fn reason(stop: Stop, start: usize) -> String {
    match stop {
        Stop::Incomplete => "the text ends within the event".to_owned(),
        Stop::Deep(at) => format!("at byte {}: expected no more than {EVENT_DEPTH_MAX} levels", at - start),
        Stop::Unpaired(at, expected) | Stop::Malformed(at, expected) => {
            format!("at byte {}: expected {expected}", at - start)
        }
    }
}

pub(super) fn too_long(bytes_max: usize) -> String {
    format!("the event is longer than {bytes_max} bytes")
}

pub(super) fn not_utf8(at: usize) -> String {
    format!("at byte {at}: expected UTF-8")
}
