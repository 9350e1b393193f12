//! Sessions of logged-in users, kept in memory and named by an unguessable cookie.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use salver_model::limits::SESSIONS_MAX;
use salver_model::{Code, Error, Result};

use super::Identity;
use super::hmac::{Tag, Tagger};

/// Number of sessions from which on expired ones are swept.
const SWEPT_SESSIONS: usize = 1_024;

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Name of the user, as the table has it.
    pub(crate) username: String,
    /// Identity of the user.
    pub(crate) identity: Identity,
    /// The user's columns, as sent to the client.
    pub(crate) told: Bytes,
    /// Keyed hash of name and password hash; the session ends when the user's password changes.
    pub(super) proof: Tag,
    /// State of the users database when the user's row was last read.
    pub(super) seen: Seen,
}

/// The state of the users database at the time of a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Version of the database, where it reports one.
    pub(super) version: Option<u64>,
    /// Time of the read.
    pub(super) at: Instant,
}

#[derive(Debug, Default)]
struct Slots {
    by_tag: AHashMap<Tag, (Instant, Arc<Session>)>,
    sweep_at: usize,
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    idle: Duration,
    tagger: Arc<Tagger>,
    slots: Mutex<Slots>,
}

impl Sessions {
    pub(super) fn new(idle: Duration, tagger: Arc<Tagger>) -> Self {
        Self { idle, tagger, slots: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session and returns its name, which is a secret between server and user.
    ///
    /// # Errors
    /// `Overloaded` when there are too many.
    pub(crate) fn begin(&self, session: Session) -> Result<String> {
        let name = URL_SAFE_NO_PAD.encode(self.tagger.random()?);
        let tag = self.tagger.tag(&[&name]);
        let now = Instant::now();
        let mut slots = self.lock();
        if slots.by_tag.len() >= slots.sweep_at.max(SWEPT_SESSIONS) {
            slots.by_tag.retain(|_, (used, _)| now.duration_since(*used) < self.idle);
            slots.sweep_at = slots.by_tag.len().saturating_mul(2).min(SESSIONS_MAX);
            if slots.by_tag.len() >= SESSIONS_MAX {
                return Err(Error::new(Code::Overloaded, "too many users are logged in").with_hint("try again later"));
            }
        }
        slots.by_tag.insert(tag, (now, Arc::new(session)));
        Ok(name)
    }

    /// Returns the session `name` and marks it as used.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Session>> {
        let tag = self.tagger.tag(&[name]);
        let now = Instant::now();
        let mut slots = self.lock();
        let (used, session) = slots.by_tag.get_mut(&tag)?;
        if now.duration_since(*used) < self.idle {
            *used = now;
            return Some(Arc::clone(session));
        }
        slots.by_tag.remove(&tag);
        None
    }

    /// Replaces the session `name` by `session`, unless it has ended.
    pub(super) fn renew(&self, name: &str, session: Session) {
        if let Some((_, kept)) = self.lock().by_tag.get_mut(&self.tagger.tag(&[name])) {
            *kept = Arc::new(session);
        }
    }

    /// Ends the session `name`.
    pub(crate) fn end(&self, name: &str) {
        self.lock().by_tag.remove(&self.tagger.tag(&[name]));
    }

    /// Ends all sessions of a user.
    pub(crate) fn end_all_of(&self, username: &str) {
        self.lock().by_tag.retain(|_, (_, session)| session.username != username);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use bytes::Bytes;

    use super::{Seen, Session, Sessions};
    use crate::auth::hmac::Tagger;

    fn session(username: &str) -> Session {
        let seen = Seen { version: None, at: Instant::now() };
        let (identity, told, proof) = (Vec::new(), Bytes::new(), [0; 32]);
        Session { username: username.to_owned(), identity, told, proof, seen }
    }

    #[test]
    fn sessions_begin_and_end() {
        let sessions = Sessions::new(Duration::from_secs(600), Arc::new(Tagger::new().unwrap()));
        let [a, b, c] = ["ann", "ann", "ben"].map(|name| sessions.begin(session(name)).unwrap());
        assert_ne!(a, b);
        assert_eq!(sessions.find(&a).map(|own| own.username.clone()).as_deref(), Some("ann"));
        assert!(sessions.find("x").is_none());
        sessions.end(&a);
        sessions.renew(&a, session("ann"));
        assert!(sessions.find(&a).is_none() && sessions.find(&b).is_some());
        sessions.end_all_of("ann");
        assert!(sessions.find(&b).is_none() && sessions.find(&c).is_some());
        let short = Sessions::new(Duration::ZERO, Arc::new(Tagger::new().unwrap()));
        assert!(short.find(&short.begin(session("ann")).unwrap()).is_none());
    }
}
