//! How requests are refused: a component for each status, in the form of each protocol.

use std::fmt::Write as _;

use http::StatusCode;
use salver_model::{Code, Error};
use serde_json::{Value as Json, json};

use crate::dialect::{Dialect, Refusal};
use crate::openapi_document::{OpenapiDocument, json_content, reference};

/// Statuses that invite to try again later.
const LATER: [u16; 2] = [429, 503];

/// Returns a reference to the response of a refusal with this status, which becomes a component; of any other refusal
/// without a status.
pub(super) fn reference_to(document: &mut OpenapiDocument, dialect: Dialect, status: Option<u16>) -> Json {
    let (name, schema) = form(dialect);
    let component = match status {
        Some(status) => format!("{name}-{status}"),
        None => format!("{name}-default"),
    };
    let mut content = match dialect {
        Dialect::ConfluentV2 => {
            json!({ "application/vnd.kafka.v2+json": { "schema": reference("schemas", schema) } })
        }
        _ => json_content(reference("schemas", schema)),
    };
    if matches!(dialect, Dialect::Php { .. }) {
        content["text/xml"] = json!({ "schema": { "type": "string" } });
    }
    let mut response = json!({ "description": description(dialect, status), "content": content });
    if status.is_some_and(|status| LATER.contains(&status)) {
        response["headers"] = json!({
            "Retry-After": { "description": "Seconds until the next try.", "schema": { "type": "integer" } },
        });
    }
    document.component("responses", &component, response);
    reference("responses", &component)
}

/// Returns the schema of the words of errors.
pub(super) fn words() -> Json {
    let mut description = "What is wrong, for programs. A word never changes its meaning.".to_owned();
    for (_, word, meaning) in Code::TABLE {
        // Writing to a string does not fail.
        let _ = write!(description, "\n- `{word}`: {meaning}");
    }
    let words: Vec<&str> = Code::TABLE.iter().map(|(_, word, _)| *word).collect();
    json!({ "type": "string", "enum": words, "description": description })
}

/// Returns the name of a protocol, and of the schema of its refusals.
fn form(dialect: Dialect) -> (&'static str, &'static str) {
    match dialect {
        Dialect::Salver | Dialect::Graphql => ("problem", "Problem"),
        Dialect::Php { .. } => ("records_problem", "RecordsProblem"),
        Dialect::ArangoDb => ("arangodb_problem", "ArangoProblem"),
        Dialect::ConfluentV2 => ("confluent_v2_problem", "ConfluentProblem"),
        Dialect::ConfluentV3 => ("confluent_v3_problem", "ConfluentProblem"),
        Dialect::Tinybird => ("tinybird_problem", "TinybirdProblem"),
    }
}

/// Returns what a status means: the words that have it, in Salver's own protocol, and its usual name in others.
fn description(dialect: Dialect, status: Option<u16>) -> String {
    let Some(status) = status.and_then(|status| StatusCode::from_u16(status).ok()) else {
        return "The request was refused.".to_owned();
    };
    let mut text = status.canonical_reason().unwrap_or("Refused").to_owned();
    if dialect == Dialect::Salver {
        let has_it = |code: Code| dialect.status(&Refusal::from(Error::new(code, ""))) == status;
        for (_, word, meaning) in Code::TABLE.iter().filter(|(code, _, _)| has_it(*code)) {
            let _ = write!(text, "\n- `{word}`: {meaning}");
        }
    }
    text
}
