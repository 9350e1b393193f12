//! An export as the server opened it.

use salver_model::{Code, Error};
use serde_json::{Value, json};

use super::target::Target;
use crate::client::{Client, Trouble};
use crate::failure::Failure;

/// How long the server keeps an export that nobody reads, in seconds: as long as a lost connection may take.
const TTL_S: u64 = 3600;

/// An open export.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Session {
    /// What the server calls it.
    pub(super) token: String,
    /// The entry.
    pub(super) entry: String,
    /// How many rows there are, where that is known.
    pub(super) rows: Option<u64>,
    /// How many each stream has, where that is known.
    pub(super) streams: Vec<Option<u64>>,
}

impl Session {
    /// Opens an export.
    pub(super) fn open(client: &Client, target: &Target, streams: u64) -> Result<Self, Failure> {
        let mut wanted = json!({ "entry": target.entry.as_str(), "streams": streams, "ttl": TTL_S });
        if let Some(columns) = &target.columns {
            wanted["columns"] = json!(columns);
        }
        let body = wanted.to_string();
        client.persist(|| {
            let request = client.post("/api/export").content_type("application/json");
            let mut response = request.send(&body).map_err(|cause| client.unreachable(cause))?;
            let text = response.body_mut().read_to_string().map_err(|cause| client.unreachable(cause))?;
            let answer: Value = serde_json::from_str(&text).unwrap_or_default();
            if response.status().as_u16() != 201 {
                return Err(client.refused(&response, &answer));
            }
            Self::read(&answer).ok_or_else(|| Trouble::Lasting(strange(client)))
        })
    }

    /// Reads what the server says of an export, or what was kept of it.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let streams = value["streams"].as_array()?.iter().map(|stream| stream["rows"].as_u64()).collect();
        Some(Self {
            token: value["export"].as_str()?.to_owned(),
            entry: value["entry"].as_str()?.to_owned(),
            rows: value["rows"].as_u64(),
            streams,
        })
    }

    /// As it is kept.
    pub(super) fn write(&self) -> Value {
        let streams: Vec<Value> = self.streams.iter().map(|rows| json!({ "rows": rows })).collect();
        json!({ "export": self.token, "entry": self.entry, "rows": self.rows, "streams": streams })
    }

    /// Makes sure that the export is still to be had, and is the same.
    pub(super) fn confirm(&self, client: &Client) -> Result<(), Failure> {
        let confirmed = client.persist(|| {
            let asked = client.get(&self.path()).call();
            let mut response = asked.map_err(|cause| client.unreachable(cause))?;
            let text = response.body_mut().read_to_string().map_err(|cause| client.unreachable(cause))?;
            let answer: Value = serde_json::from_str(&text).unwrap_or_default();
            if !response.status().is_success() {
                return Err(client.refused(&response, &answer));
            }
            match Self::read(&answer) {
                Some(now) if now == *self => Ok(()),
                _ => Err(Trouble::Lasting(strange(client))),
            }
        });
        confirmed.map_err(|failure| match failure {
            Failure::Error(error) if matches!(error.code, Code::ExpiredCursor | Code::InvalidRequest) => {
                Failure::Error(error.with_hint("what was fetched can't be gone on with; begin anew with `--restart`"))
            }
            other => other,
        })
    }

    /// Ends the export; a server that is not there any more ends it itself.
    pub(super) fn end(&self, client: &Client) {
        let _ = client.delete(&self.path()).call();
    }

    /// Its path.
    pub(super) fn path(&self) -> String {
        format!("/api/export/{}", self.token)
    }
}

fn strange(client: &Client) -> Error {
    Error::new(Code::Source, format!("{} says something else of this export than it did, or nothing", client.base()))
        .with_hint("is it the same server? `--restart` begins anew")
}
