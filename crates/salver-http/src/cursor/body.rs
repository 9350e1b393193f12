//! Parses request bodies: JSON objects whose unknown members are ignored, as in ArangoDB.

use std::time::Duration;

use salver_model::limits::CURSOR_TTL_S_MAX;
use serde_json::{Map, Value as Json};

use crate::dialect::{Refusal, arangodb};

/// Default number of documents in a batch.
const BATCH_ROWS: usize = 1_000;
/// Default lifetime of an idle cursor, in seconds.
const TTL_S: f64 = 30.0;

/// The members of a request body.
#[derive(Debug)]
pub(super) struct Members(Map<String, Json>);

impl Members {
    /// Parses a body, which must not be empty.
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        match serde_json::from_slice(body) {
            Ok(Json::Object(members)) => Ok(Self(members)),
            Ok(_) => Err(arangodb::corrupted_json("the body must be an object")),
            Err(error) => Err(arangodb::corrupted_json(error)),
        }
    }

    /// Returns an empty set of members.
    pub(super) fn none() -> Self {
        Self(Map::new())
    }

    /// Returns a member; `null` counts as missing.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a boolean; false when it is missing.
    pub(super) fn boolean(&self, name: &str) -> Result<bool, Refusal> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| wrong_type("boolean", name)),
        }
    }

    /// Returns a number that is not negative.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Refusal> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.as_f64() {
            None => Err(wrong_type("number", name)),
            Some(number) if number < 0.0 => {
                Err(arangodb::wrong_type(format!("expecting non-negative value for '{name}'")))
            }
            Some(number) => Ok(Some(number)),
        }
    }

    /// Returns an integer that is not negative.
    pub(super) fn whole(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        match self.get(name).and_then(Json::as_u64) {
            Some(whole) => Ok(Some(whole)),
            // Truncated as in ArangoDB: 10.5 is 10.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            None => Ok(Some(number as u64)),
        }
    }

    /// Returns an object.
    pub(super) fn object(&self, name: &str) -> Result<Option<&Map<String, Json>>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => value.as_object().map(Some).ok_or_else(|| wrong_type("object", name)),
        }
    }

    /// Returns the members of the object `name`.
    pub(super) fn members(&self, name: &str) -> Result<Self, Refusal> {
        Ok(self.object(name)?.map_or_else(Self::none, |members| Self(members.clone())))
    }

    /// Returns `batchSize`.
    pub(super) fn batch_rows(&self) -> Result<usize, Refusal> {
        match self.whole("batchSize")? {
            None => Ok(BATCH_ROWS),
            Some(0) => Err(arangodb::wrong_type("expecting non-zero value for 'batchSize'")),
            Some(rows) => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
        }
    }

    /// Returns `ttl`, clamped to the limits.
    pub(super) fn ttl(&self) -> Result<Duration, Refusal> {
        let seconds = self.number("ttl")?.filter(|seconds| *seconds > 0.0).unwrap_or(TTL_S);
        Ok(Duration::from_secs_f64(seconds.min(CURSOR_TTL_S_MAX)))
    }
}

fn wrong_type(wanted: &str, name: &str) -> Refusal {
    arangodb::wrong_type(format!("expecting {wanted} for '{name}'"))
}
