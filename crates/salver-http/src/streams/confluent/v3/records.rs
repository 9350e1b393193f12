//! `POST /v3/clusters/{id}/topics/{topic}/records`: produces a sequence of records, and reports each on a line as soon
//! as the broker has it, while further records arrive.

use bytes::Bytes;
use futures::stream;
use http::{HeaderValue, Response, StatusCode};
use salver_formats::Coding;
use salver_model::Result;
use salver_model::limits::CONFLUENT_RECORD_BYTES_MAX;
use salver_service::Appender;
use salver_text::json::blank_end;

use super::record::Record;
use super::{append, appender};
use crate::body::{self, Body};
use crate::dialect::{Refusal, confluent};
use crate::exit;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::streams::append::body_reader::Intake;
use crate::streams::raw;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Maximum number of records per append.
const RECORDS_AT_ONCE: usize = 1_000;

/// Responds with one report per record.
pub(super) fn answer(
    context: &RequestContext<'_>,
    cluster: &str,
    name: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let conversation = Conversation {
        stream: appender(context, name)?.clone(),
        cluster: cluster.to_owned(),
        topic: name.to_owned(),
        intake: Intake::new(context, body, None)?,
        rest: Bytes::new(),
        has_ended: false,
    };
    let texts = stream::unfold(conversation, |mut conversation| async move {
        let text = conversation.next().await?;
        Some((Ok(text), conversation))
    });
    // Errors are reported in the body, record by record.
    let body = body::pieces(Box::pin(texts), Coding::Identity, None, |_| ());
    Ok(exit::unstored(StatusCode::OK, JSON, body))
}

/// A request whose records are read while reports are sent.
struct Conversation {
    stream: Appender,
    cluster: String,
    topic: String,
    intake: Intake,
    /// Bytes that were received but not parsed.
    rest: Bytes,
    has_ended: bool,
}

impl Conversation {
    /// Returns the next reports; `None` after the last.
    async fn next(&mut self) -> Option<Vec<u8>> {
        while !self.has_ended {
            let mut out = Vec::new();
            let (text, is_last) = match self.intake.piece(std::mem::take(&mut self.rest)).await {
                Ok(piece) => piece,
                Err(error) => {
                    self.has_ended = true;
                    report(&Refusal::from(error), &mut out);
                    return Some(out);
                }
            };
            self.has_ended = is_last;
            let mut at = blank_end(&text, 0);
            loop {
                let mut records = Vec::new();
                while records.len() < RECORDS_AT_ONCE
                    && let Some(end) = end(&text, at, is_last)
                {
                    let record = text.slice(at..end);
                    at = blank_end(&text, end);
                    // Without an opening brace the end of the record can't be found.
                    let is_lost = record[0] != b'{';
                    if record.len() > CONFLUENT_RECORD_BYTES_MAX {
                        // Refused regardless of how it arrives: a record in several pieces is given up too.
                        records.push(Err(too_large()));
                        at = text.len();
                        self.has_ended = true;
                        break;
                    }
                    records.push(Record::read(&record, self.stream.spec(), false));
                    if is_lost || !raw::is_json(&record) {
                        at = text.len();
                        self.has_ended = true;
                    }
                }
                if records.is_empty() {
                    break;
                }
                self.append(records, &mut out).await;
            }
            self.rest = text.slice(at.min(text.len())..);
            if self.rest.len() > CONFLUENT_RECORD_BYTES_MAX {
                self.has_ended = true;
                report(&too_large(), &mut out);
            }
            if !out.is_empty() {
                return Some(out);
            }
        }
        None
    }

    /// Appends the valid records, and writes the reports of all records in order.
    async fn append(&self, mut records: Vec<Result<Record, Refusal>>, out: &mut Vec<u8>) {
        let events: Vec<_> = records.iter_mut().flatten().map(|record| std::mem::take(&mut record.event)).collect();
        let mut places = append(&self.stream, &events).await.map(Vec::into_iter);
        let mut events = events.into_iter();
        for record in records {
            let placed = record.and_then(|mut record| {
                record.event = events.next().unwrap_or_default();
                let place = match &mut places {
                    Ok(places) => places.next().unwrap_or_else(|| Err(confluent::not_found()))?,
                    Err(error) => return Err(Refusal::from(error.shared())),
                };
                Ok((record, place))
            });
            match placed {
                Ok((record, place)) => {
                    out.extend_from_slice(b"{\"error_code\":200,");
                    record.write(&self.cluster, &self.topic, place, out);
                    out.extend_from_slice(b"}\n");
                }
                Err(refusal) => report(&refusal, out),
            }
        }
    }
}

fn too_large() -> Refusal {
    let message = format!("a record has more than {CONFLUENT_RECORD_BYTES_MAX} bytes");
    confluent::refused(StatusCode::PAYLOAD_TOO_LARGE, 413, message)
}

fn report(refusal: &Refusal, out: &mut Vec<u8>) {
    out.push(b'{');
    confluent::write_members(refusal, out);
    out.extend_from_slice(b"}\n");
}

/// Returns the end of the record at `at`; `None` when there is none, or when it is incomplete.
fn end(text: &[u8], at: usize, is_last: bool) -> Option<usize> {
    if at >= text.len() {
        return None;
    }
    raw::value_end(text, at).or(is_last.then_some(text.len()))
}
