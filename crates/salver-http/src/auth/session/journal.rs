//! The journal of sessions as text: a line for each change, in which a session is known by the keyed hash of its name.
//!
//! ```text
//! salver-sessions-1 MAC
//! MAC {"begin":{"tag":"...","at_ms":1764255600000,...}}
//! MAC {"end":{"tag":"..."}}
//! ```
//!
//! Each line begins with a keyed hash of itself and of the hash before it. So a line that was changed, moved or taken
//! out of the middle is found, and so is a journal under another key. A last line without its end was being written
//! when the power failed, and nobody was told that it was; it is left out.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::auth::Identity;
use crate::auth::hmac::{Tag, Tagger};

/// First word of the journal, to be changed with the format.
const FORMAT: &str = "salver-sessions-1";

/// A change of the sessions, as it is stored. Tags are written in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredChange {
    /// A session began.
    Begin(StoredSession),
    /// A session was used.
    Use {
        /// Hash of its name.
        tag: String,
        /// Time in milliseconds since 1970.
        at_ms: u64,
    },
    /// A session ended.
    End {
        /// Hash of its name.
        tag: String,
    },
}

/// A session, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredSession {
    /// Hash of its name.
    pub(super) tag: String,
    /// Time of its last use in milliseconds since 1970.
    pub(super) at_ms: u64,
    /// Hash of the settings that it depends on.
    pub(super) scope: String,
    /// How long it lasts unused, in milliseconds.
    pub(super) idle_ms: u64,
    /// Name of the user.
    pub(super) username: String,
    /// Hash of name and password hash.
    pub(super) proof: String,
    /// Identity of the user, where no table has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<Identity>,
}

/// Why a journal can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// It was written by another program, or under another key.
    Foreign,
    /// This line is not what was written; the first has the number 1.
    Line(usize),
}

/// The end of a journal, to which lines are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct JournalEnd(Tag);

/// Returns a journal without changes, and its end.
pub(super) fn begin(tagger: &Tagger) -> (String, JournalEnd) {
    let tag = tagger.tag(&[FORMAT]);
    (format!("{FORMAT} {}\n", written(&tag)), JournalEnd(tag))
}

impl JournalEnd {
    /// Returns the next line.
    pub(super) fn line(&mut self, tagger: &Tagger, change: &StoredChange) -> String {
        let text = serde_json::to_string(change).unwrap_or_default();
        self.0 = tagger.tag(&[&written(&self.0), &text]);
        format!("{} {text}\n", written(&self.0))
    }
}

/// Returns the changes in a journal.
///
/// # Errors
/// [`Damage`].
pub(super) fn read(tagger: &Tagger, text: &[u8]) -> Result<Vec<StoredChange>, Damage> {
    let (first, mut end) = begin(tagger);
    let mut rest = text.strip_prefix(first.as_bytes()).ok_or(Damage::Foreign)?;
    let mut changes = Vec::new();
    while let Some(length) = rest.iter().position(|byte| *byte == b'\n') {
        let line;
        (line, rest) = (&rest[..length], &rest[length + 1..]);
        let damage = Damage::Line(changes.len() + 2);
        let parts = std::str::from_utf8(line).ok().and_then(|line| line.split_once(' '));
        let (mac, text) = parts.ok_or(damage)?;
        let tag = tagger.tag(&[&written(&end.0), text]);
        // Hashes are compared and not their texts, of which the last character has bits to spare.
        if parsed(mac) != Some(tag) {
            return Err(damage);
        }
        changes.push(serde_json::from_str(text).map_err(|_| damage)?);
        end = JournalEnd(tag);
    }
    Ok(changes)
}

/// Writes a hash.
pub(super) fn written(tag: &Tag) -> String {
    URL_SAFE_NO_PAD.encode(tag)
}

/// Reads a hash.
pub(super) fn parsed(text: &str) -> Option<Tag> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use salver_model::RootKey;

    use super::{Damage, StoredChange, StoredSession, begin, read};
    use crate::auth::hmac::Tagger;

    fn changes() -> Vec<StoredChange> {
        let session = |tag: &str, identity| StoredSession {
            tag: tag.to_owned(),
            at_ms: 1,
            scope: "s".to_owned(),
            idle_ms: 2,
            username: "ann \"\n\u{1F600}".to_owned(),
            proof: "p".to_owned(),
            identity,
        };
        vec![
            StoredChange::Begin(session("a", None)),
            StoredChange::Use { tag: "a".to_owned(), at_ms: 7 },
            StoredChange::Begin(session("b", Some(vec![("user".to_owned(), "ann".to_owned())]))),
            StoredChange::End { tag: "a".to_owned() },
        ]
    }

    fn journal(tagger: &Tagger) -> Vec<String> {
        let (first, mut end) = begin(tagger);
        let lines = changes();
        std::iter::once(first).chain(lines.iter().map(|change| end.line(tagger, change))).collect()
    }

    #[test]
    fn there_and_back_and_nothing_else() {
        let tagger = Tagger::of(&RootKey::of([7; 32]), "a test");
        let lines = journal(&tagger);
        let whole = lines.concat();
        assert_eq!(read(&tagger, whole.as_bytes()), Ok(changes()));
        // Each byte counts.
        for at in 0..whole.len() {
            let mut damaged = whole.clone().into_bytes();
            damaged[at] ^= 1;
            let is_last = at == whole.len() - 1;
            match read(&tagger, &damaged) {
                Ok(read) => assert!(is_last && read == changes()[..3], "{at}: {read:?}"),
                Err(Damage::Foreign) => assert!(at < lines[0].len(), "{at}"),
                Err(Damage::Line(_)) => assert!(at >= lines[0].len(), "{at}"),
            }
        }
        // A line that is half there was never told of.
        for at in lines[0].len()..whole.len() {
            let part = &whole.as_bytes()[..at];
            let count = part.iter().filter(|byte| **byte == b'\n').count() - 1;
            assert_eq!(read(&tagger, part), Ok(changes()[..count].to_vec()), "{at}");
        }
        // Lines that are missing, moved, repeated, or of another journal.
        for (order, line) in [(vec![0, 1, 2, 4], 4), (vec![0, 2, 1], 2), (vec![0, 1, 1], 3), (vec![0, 4], 2)] {
            let other: String = order.iter().map(|index| lines[*index].as_str()).collect();
            assert_eq!(read(&tagger, other.as_bytes()), Err(Damage::Line(line)), "{order:?}");
        }
        let other = Tagger::of(&RootKey::of([8; 32]), "a test");
        for text in [whole.as_str(), "", "salver-sessions-1", "{}\n"] {
            assert_eq!(read(&other, text.as_bytes()), Err(Damage::Foreign), "{text}");
        }
    }
}
