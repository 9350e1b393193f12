//! The ids of cursors.

use std::fmt;

use salver_service::exports;

use crate::dialect::{Refusal, arangodb};
use crate::request_context::RequestContext;
use crate::tokens::{LARGEST_ID, Owner};

/// The id of a cursor as seen by the caller who opened it. It is a number, because ArangoDB's clients may parse it as
/// one. For other callers it refers to no cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id(u64);

impl Id {
    /// Returns the caller's id for the cursor that is kept as `lease`.
    pub(super) fn of(context: &RequestContext<'_>, lease: u64) -> Self {
        Self(context.app.tokens.masked(&Owner::of(context.caller), lease))
    }

    /// Parses an id, which has exactly one valid form; anything else refers to no cursor.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        let id = text.parse().ok().filter(|id| is_number && *id <= LARGEST_ID).map(Self);
        id.ok_or_else(|| arangodb::of_lease(exports::LeaseError::Unknown))
    }

    /// Returns the lease of the cursor, if the caller opened it.
    pub(super) fn lease(self, context: &RequestContext<'_>) -> u64 {
        context.app.tokens.masked(&Owner::of(context.caller), self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
