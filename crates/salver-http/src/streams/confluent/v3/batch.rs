//! `POST /v3/clusters/{id}/topics/{topic}/records:batch`: produces a few records, each with an id for its result.

use std::collections::HashSet;

use bytes::Bytes;
use http::{Response, StatusCode};
use salver_formats::json::write_string;
use salver_model::limits::{CONFLUENT_BATCH_ENTRIES_MAX, CONFLUENT_ENTRY_ID_BYTES_MAX};

use super::record::Record;
use super::{append, appender};
use crate::body::Body;
use crate::dialect::{Refusal, confluent};
use crate::exit;
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::streams::raw;

/// Handles a batch; responds with 207 and the result of each record.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    cluster: &str,
    name: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let stream = appender(context, name)?;
    let body = receive::read_body(context.app, context.headers, body).await?;
    let entries = entries(&body)?;
    let mut records = Vec::with_capacity(entries.len());
    for (id, text) in entries {
        records.push((id, Record::read(&text, stream.spec(), true)));
    }
    let good = records.iter().filter_map(|(_, record)| record.as_ref().ok());
    let events: Vec<_> = good.map(|record| record.event.clone()).collect();
    let mut places = append(stream, &events).await?.into_iter();
    let (mut successes, mut failures) = (Vec::new(), Vec::new());
    for (id, record) in records {
        let placed = record.and_then(|record| {
            let place = places.next().unwrap_or_else(|| Err(confluent::not_found()))?;
            Ok((record, place))
        });
        let out = if placed.is_ok() { &mut successes } else { &mut failures };
        if !out.is_empty() {
            out.push(b',');
        }
        let mut head = b"{\"id\":".to_vec();
        write_string(&id, &mut head);
        head.push(b',');
        match placed {
            Ok((record, place)) => {
                out.extend_from_slice(&head);
                record.write(cluster, name, place, out);
                out.push(b'}');
            }
            Err(refusal) => {
                out.extend_from_slice(&head);
                confluent::write_members(&refusal, out);
                out.push(b'}');
            }
        }
    }
    let body = [&b"{\"successes\":["[..], &successes, b"],\"failures\":[", &failures, b"]}"].concat();
    Ok(exit::unstored_json(StatusCode::MULTI_STATUS, body))
}

/// Parses the entries and their ids.
fn entries(body: &Bytes) -> Result<Vec<(String, Bytes)>, Refusal> {
    let batch = |why: &str| confluent::unprocessable(42208, format!("Error producing batch: {why}"));
    if body.trim_ascii().is_empty() {
        return Err(batch("Request is null"));
    }
    let members = raw::is_json(body).then(|| raw::members(body)).flatten();
    let members = members.ok_or_else(|| confluent::malformed("the body is not a JSON object"))?;
    if let Some((other, _)) = members.iter().find(|(name, _)| name != "entries") {
        return Err(confluent::unrecognized(other));
    }
    let list = members.into_iter().next().map(|(_, at)| body.slice(at)).unwrap_or_else(|| Bytes::from_static(b"[]"));
    let elements = raw::elements(&list).ok_or_else(|| confluent::malformed("`entries` is not an array"))?;
    if elements.is_empty() {
        return Err(batch("Empty batch"));
    }
    if elements.len() > CONFLUENT_BATCH_ENTRIES_MAX {
        return Err(batch(&format!("Too many entries in batch, {CONFLUENT_BATCH_ENTRIES_MAX} are taken")));
    }
    let mut seen = HashSet::new();
    let mut entries = Vec::with_capacity(elements.len());
    for at in elements {
        let entry = list.slice(at);
        let id = raw::members(&entry).and_then(|members| {
            let (_, at) = members.into_iter().find(|(name, _)| name == "id")?;
            raw::string(&entry[at]).map(|id| id.into_owned())
        });
        let id = id.filter(|id| (1..=CONFLUENT_ENTRY_ID_BYTES_MAX).contains(&id.len()));
        let id = id
            .ok_or_else(|| batch(&format!("Each entry has an id of 1 to {CONFLUENT_ENTRY_ID_BYTES_MAX} characters")))?;
        if !seen.insert(id.clone()) {
            return Err(batch("Entry IDs are not distinct"));
        }
        entries.push((id, entry));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::entries;
    use crate::dialect::confluent;

    #[test]
    fn ids() {
        let of = |text: &str| {
            let found =
                entries(&Bytes::copy_from_slice(text.as_bytes())).map_err(|refusal| confluent::number(&refusal));
            found.map(|entries| entries.into_iter().map(|(id, _)| id).collect::<Vec<_>>())
        };
        assert_eq!(of(r#"{"entries":[{"id":"1"},{"id":"2"}]}"#), Ok(vec!["1".to_owned(), "2".to_owned()]));
        let many = format!(
            r#"{{"entries":[{}]}}"#,
            (0..11).map(|n| format!("{{\"id\":\"{n}\"}}")).collect::<Vec<_>>().join(",")
        );
        for bad in
            ["", "{}", r#"{"entries":[]}"#, r#"{"entries":[{"id":"1"},{"id":"1"}]}"#, r#"{"entries":[{}]}"#, &many]
        {
            assert_eq!(of(bad), Err(42208), "{bad}");
        }
        assert_eq!(of("{"), Err(400));
        assert_eq!(of(r#"{"entrys":[]}"#), Err(422));
    }
}
