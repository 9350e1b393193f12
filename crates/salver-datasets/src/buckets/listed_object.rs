//! An object as it was listed, and what tells whether it is still the same.

use chrono::{DateTime, Utc};
use object_store::ObjectMeta;
use salver_model::Version;

use super::address::Address;

/// An object as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedObject {
    /// Its address.
    pub(crate) address: Address,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// What tells its content from any other under its key, if the store has that.
    pub(super) e_tag: Option<String>,
    /// When it was written.
    pub(super) modified: DateTime<Utc>,
}

impl ListedObject {
    /// Returns what a listing says `about` an object of the bucket of `address`.
    pub(super) fn new(address: &Address, about: &ObjectMeta) -> Self {
        Self {
            address: address.with_key(about.location.as_ref()),
            bytes: about.size,
            e_tag: about.e_tag.as_deref().map(|tag| plain_tag(tag).to_owned()),
            modified: about.last_modified,
        }
    }

    /// Returns the version of its content.
    pub(crate) fn version(&self) -> Version {
        match &self.e_tag {
            Some(tag) => Version::of(&("object", self.bytes, tag)),
            None => Version::of(&("object", self.bytes, self.modified.timestamp_micros())),
        }
    }

    /// Returns when it was written, in milliseconds since 1970.
    pub(crate) fn modified_ms(&self) -> i64 {
        self.modified.timestamp_millis()
    }

    /// Returns whether `about` is of the very object that was listed.
    pub(super) fn is_same(&self, about: &ObjectMeta) -> bool {
        let is_same_tag = match (&self.e_tag, &about.e_tag) {
            (Some(listed), Some(now)) => listed == plain_tag(now),
            // Some stores send seconds here and fractions of them there.
            _ => self.modified.timestamp() == about.last_modified.timestamp(),
        };
        self.bytes == about.size && is_same_tag
    }
}

/// Returns an entity tag without what stores write around it in one answer and not in another.
fn plain_tag(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}
