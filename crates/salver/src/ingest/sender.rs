//! Sends batches to a server, with retries while it is busy or unavailable.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use salver_model::{Code, Error, Name};
use serde_json::Value;

use super::batches::EventBatch;
use crate::cli::IngestArguments;
use crate::client::{Client, Trouble, encoded};
use crate::failure::CommandFailure;

/// Outcome of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Number appended to the stream.
    pub(crate) taken: u64,
    /// Number already in the stream: the response to an earlier attempt was lost.
    pub(crate) duplicates: u64,
    /// Number in the stream's quarantine.
    pub(crate) quarantined: u64,
    /// Reason for the first of those.
    pub(crate) reason: Option<String>,
}

impl Counts {
    /// Returns the number of events in the stream.
    pub(crate) fn there(&self) -> u64 {
        self.taken + self.duplicates
    }

    /// Adds other counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.taken += other.taken;
        self.duplicates += other.duplicates;
        self.quarantined += other.quarantined;
        self.reason = self.reason.take().or_else(|| other.reason.clone());
    }

    /// Returns whether all counts are zero.
    fn are_none(&self) -> bool {
        self.taken == 0 && self.duplicates == 0 && self.quarantined == 0
    }

    /// Parses the counts of a response.
    fn of(answer: &Value) -> Self {
        let number = |key: &str| answer[key].as_u64().unwrap_or(0);
        Self {
            taken: number("taken"),
            duplicates: number("duplicates"),
            quarantined: number("quarantined"),
            reason: answer["reason"].as_str().map(str::to_owned),
        }
    }
}

/// Server, with the parameters of requests.
#[derive(Debug)]
pub(crate) struct Sender {
    client: Client,
    path: String,
}

impl Sender {
    pub(crate) fn new(arguments: &IngestArguments, interrupted: &Arc<AtomicBool>) -> Result<Self, CommandFailure> {
        let name = Name::new(&arguments.stream).map_err(CommandFailure::Usage)?;
        let client = Client::new(&arguments.url, &arguments.work, interrupted)?;
        let path = format!("/api/streams/{}?ack={}", encoded(name.as_str()), arguments.ack.word());
        Ok(Self { client, path })
    }

    /// Sends a batch of the run `run`, with retries.
    pub(crate) fn send(&self, run: &str, batch: &EventBatch) -> Result<Counts, CommandFailure> {
        self.client.persist(|| self.try_once(run, batch))
    }

    fn try_once(&self, run: &str, batch: &EventBatch) -> Result<Counts, Trouble> {
        let request = self.client.post(&self.path).content_type("application/x-ndjson");
        let request = request.header("salver-id", format!("{run}-{}", batch.number));
        let mut response = request.send(&batch.text).map_err(|cause| self.client.unreachable(cause))?;
        let text = response.body_mut().read_to_string().map_err(|cause| self.client.unreachable(cause))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        if response.status().is_success() && answer.is_object() {
            let counts = Counts::of(&answer);
            // A batch with content must have an outcome.
            return if counts.are_none() { Err(self.silent(&text)) } else { Ok(counts) };
        }
        // A batch without valid events is refused, but is in the quarantine.
        if answer["error"] == Code::InvalidEvent.slug() {
            return Ok(Counts::of(&answer));
        }
        Err(self.client.refused(&response, &answer))
    }

    fn silent(&self, answer: &str) -> Trouble {
        let beginning: String = answer.chars().take(100).collect();
        let message = format!("{} does not say what became of the events: {beginning}", self.client.base());
        Trouble::Lasting(Error::new(Code::Source, message).with_hint("check the address: is it a Salver server?"))
    }
}
