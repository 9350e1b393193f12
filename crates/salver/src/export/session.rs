//! An export opened on the server.

use salver_model::{Code, Error};
use serde_json::{Value, json};

use super::target::ExportTarget;
use crate::client::{Client, Trouble};
use crate::failure::CommandFailure;

/// Time to live of an idle export on the server, in seconds: as long as a connection may be lost.
const TTL_S: u64 = 3600;

/// Open export.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExportSession {
    /// Token of the export.
    pub(super) token: String,
    /// Entry.
    pub(super) entry: String,
    /// Number of rows, if known.
    pub(super) rows: Option<u64>,
    /// Number of rows of each stream, if known.
    pub(super) streams: Vec<Option<u64>>,
}

impl ExportSession {
    /// Opens an export.
    pub(super) fn open(client: &Client, target: &ExportTarget, streams: u64) -> Result<Self, CommandFailure> {
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

    /// Parses the server's response, or its stored form.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let streams = value["streams"].as_array()?.iter().map(|stream| stream["rows"].as_u64()).collect();
        Some(Self {
            token: value["export"].as_str()?.to_owned(),
            entry: value["entry"].as_str()?.to_owned(),
            rows: value["rows"].as_u64(),
            streams,
        })
    }

    /// Returns the stored form.
    pub(super) fn write(&self) -> Value {
        let streams: Vec<Value> = self.streams.iter().map(|rows| json!({ "rows": rows })).collect();
        json!({ "export": self.token, "entry": self.entry, "rows": self.rows, "streams": streams })
    }

    /// Checks that the export still exists and is unchanged.
    pub(super) fn confirm(&self, client: &Client) -> Result<(), CommandFailure> {
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
            CommandFailure::Error(error) if matches!(error.code, Code::ExpiredCursor | Code::InvalidRequest) => {
                CommandFailure::Error(
                    error.with_hint("what was fetched can't be gone on with; begin anew with `--restart`"),
                )
            }
            other => other,
        })
    }

    /// Ends the export; a server that cannot be reached will expire it.
    pub(super) fn end(&self, client: &Client) {
        let _ = client.delete(&self.path()).call();
    }

    /// Returns its path.
    pub(super) fn path(&self) -> String {
        format!("/api/export/{}", self.token)
    }
}

fn strange(client: &Client) -> Error {
    Error::new(Code::Source, format!("{} says something else of this export than it did, or nothing", client.base()))
        .with_hint("is it the same server? `--restart` begins anew")
}
