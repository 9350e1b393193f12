//! Sessions of logged-in users, named by an unguessable cookie. They are kept in memory under the keyed hashes of their
//! names, and outlive the process where there is a store (see `keeper`).
//!
//! Times are those of the clock on the wall, since a session goes on to age while the server is down.

mod journal;
mod keeper;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ahash::AHashMap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::HeaderMap;
use salver_model::limits::SESSIONS_MAX;
use salver_model::ports::SessionStore;
use salver_model::{Code, Error, Result, RootKey};
use tokio::sync::Notify;

use self::keeper::Keeper;
use super::Identity;
use super::hmac::{Tag, Tagger};
use crate::cookie;

/// Number of sessions from which on expired ones are swept.
const SWEPT_SESSIONS: usize = 1_024;
/// Share of a session's idle time after which a use is stored again, as a divisor.
const STORED_SHARE: u64 = 20;
/// Shortest time between two stored uses of a session, in milliseconds.
const STORED_EVERY_MS: u64 = 1_000;

/// What a session depends on: it holds only as long as the settings are those under which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Keyed hash of the settings that say whose sessions these are.
    pub(super) settings: Tag,
    /// How long a session lasts unused, in milliseconds.
    pub(super) idle_ms: u64,
}

impl Scope {
    /// Returns the scope of these settings.
    pub(super) fn of(tagger: &Tagger, settings: &[&str], idle: Duration) -> Self {
        let idle_ms = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
        let idle = idle_ms.to_string();
        let parts = [&["scope", idle.as_str()], settings].concat();
        Self { settings: tagger.tag(&parts), idle_ms }
    }
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    /// What it depends on.
    pub(crate) scope: Scope,
    /// Name of the user, as the table has it.
    pub(crate) username: String,
    /// Identity of the user.
    pub(crate) identity: Identity,
    /// Whether the identity is stored with the session, because no table has it.
    pub(super) stores_identity: bool,
    /// The user's columns, as sent to the client.
    pub(crate) told: Bytes,
    /// Keyed hash of name and password hash; the session ends when the user's password changes.
    pub(super) proof: Tag,
    /// State of the users database when the user's row was last read; `None` if it was not since the server began.
    pub(super) seen: Option<Seen>,
}

/// The state of the users database at the time of a read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Number of the settings under which it was read.
    pub(super) reader: u64,
    /// Version of the database, where it reports one.
    pub(super) version: Option<u64>,
    /// Time of the read.
    pub(super) at: Instant,
}

/// All sessions of the server, under whatever settings.
#[derive(Debug)]
pub struct Sessions {
    pub(super) tagger: Arc<Tagger>,
    slots: Mutex<Slots>,
    keeper: Option<Keeper>,
    /// Notified when something is to be stored.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Slots {
    by_tag: AHashMap<Tag, Slot>,
    sweep_at: usize,
    /// Changes that are not stored yet.
    unstored: Vec<Change>,
}

#[derive(Debug)]
struct Slot {
    used_ms: u64,
    /// The last use that is stored, or is about to be.
    stored_ms: u64,
    session: Arc<Session>,
}

/// A change to be stored.
#[derive(Debug)]
enum Change {
    Begin(Tag, u64, Arc<Session>),
    Use(Tag, u64),
    End(Tag),
}

impl Slot {
    fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.used_ms) >= self.session.scope.idle_ms
    }
}

impl Sessions {
    /// Opens the sessions in `store`, under the server's root key. Without a store, or under a key that is not kept,
    /// sessions end with the process. What is damaged is reported, and costs the sessions.
    #[must_use]
    pub fn open(root: &RootKey, store: Option<Arc<dyn SessionStore>>) -> Arc<Self> {
        let mut slots = Slots::default();
        let keeper = store.map(|store| Keeper::open(root, store, &mut slots));
        let sessions = Self {
            tagger: Arc::new(Tagger::of(root, "sessions")),
            slots: Mutex::new(slots),
            keeper,
            changed: Notify::new(),
        };
        Arc::new(sessions)
    }

    /// Begins a session and returns its name, which is a secret between server and user.
    ///
    /// # Errors
    /// `Overloaded` when there are too many.
    pub(crate) fn begin(&self, session: Session) -> Result<String> {
        let name = URL_SAFE_NO_PAD.encode(self.tagger.random()?);
        let (tag, now_ms) = (self.tag_of(&name), now_ms());
        let mut slots = self.lock();
        if slots.by_tag.len() >= slots.sweep_at.max(SWEPT_SESSIONS) {
            self.remove_if(&mut slots, |slot| slot.is_over(now_ms));
            slots.sweep_at = slots.by_tag.len().saturating_mul(2).min(SESSIONS_MAX);
            if slots.by_tag.len() >= SESSIONS_MAX {
                return Err(Error::new(Code::Overloaded, "too many users are logged in").with_hint("try again later"));
            }
        }
        let session = Arc::new(session);
        self.note(&mut slots, Change::Begin(tag, now_ms, Arc::clone(&session)));
        slots.by_tag.insert(tag, Slot { used_ms: now_ms, stored_ms: now_ms, session });
        Ok(name)
    }

    /// Returns the session `name`, if it is one of `scope`, and marks it as used.
    pub(crate) fn find(&self, name: &str, scope: &Scope) -> Option<Arc<Session>> {
        let (tag, now_ms) = (self.tag_of(name), now_ms());
        let mut slots = self.lock();
        let slot = slots.by_tag.get_mut(&tag).filter(|slot| slot.session.scope == *scope)?;
        if slot.is_over(now_ms) {
            slots.by_tag.remove(&tag);
            self.note(&mut slots, Change::End(tag));
            return None;
        }
        slot.used_ms = now_ms;
        let session = Arc::clone(&slot.session);
        let every_ms = (scope.idle_ms / STORED_SHARE).max(STORED_EVERY_MS);
        if now_ms.saturating_sub(slot.stored_ms) >= every_ms {
            slot.stored_ms = now_ms;
            self.note(&mut slots, Change::Use(tag, now_ms));
        }
        Some(session)
    }

    /// Replaces the session `name` by what was read of its user anew, unless it has ended.
    pub(super) fn renew(&self, name: &str, session: Arc<Session>) {
        if let Some(slot) = self.lock().by_tag.get_mut(&self.tag_of(name)) {
            slot.session = session;
        }
    }

    /// Ends the session `name`. When this returns it has ended for ever, however the process ends.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` when that can't be stored. The session has ended nevertheless, as long as this
    /// process lives.
    pub(crate) async fn end(self: &Arc<Self>, name: &str) -> Result<()> {
        if self.forget(name) { self.settle().await } else { Ok(()) }
    }

    /// Ends the session `name`, and stores that within some seconds; returns whether there was one.
    pub(super) fn forget(&self, name: &str) -> bool {
        let tag = self.tag_of(name);
        let mut slots = self.lock();
        let was_there = slots.by_tag.remove(&tag).is_some();
        if was_there {
            self.note(&mut slots, Change::End(tag));
        }
        was_there
    }

    /// Ends all sessions of a user.
    pub(crate) fn end_all_of(&self, username: &str, scope: &Scope) {
        let is_of = |session: &Session| session.username == username && session.scope == *scope;
        self.remove_if(&mut self.lock(), |slot| is_of(&slot.session));
    }

    /// Ends all sessions but those of `scopes`.
    pub(super) fn end_others(&self, scopes: &[Scope]) {
        self.remove_if(&mut self.lock(), |slot| !scopes.contains(&slot.session.scope));
    }

    fn remove_if(&self, slots: &mut Slots, is_out: impl Fn(&Slot) -> bool) {
        let out: Vec<Tag> = slots.by_tag.iter().filter(|(_, slot)| is_out(slot)).map(|(tag, _)| *tag).collect();
        for tag in out {
            slots.by_tag.remove(&tag);
            self.note(slots, Change::End(tag));
        }
    }

    fn note(&self, slots: &mut Slots, change: Change) {
        if self.keeper.is_some() {
            slots.unstored.push(change);
            self.changed.notify_one();
        }
    }

    fn tag_of(&self, name: &str) -> Tag {
        self.tagger.tag(&["session", name])
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of the session in a request's cookie.
///
/// # Errors
/// `AuthenticationFailed` where there are several.
pub(super) fn session_in<'h>(headers: &'h HeaderMap, cookie: &str) -> Result<Option<&'h str>> {
    cookie::only(headers, cookie).map_err(|cookie::Several| {
        let what = "the cookie of the session came more than once, with different values";
        Error::new(Code::AuthenticationFailed, what).with_hint("delete the cookies of this host and log in again")
    })
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use salver_model::RootKey;

    use super::{Scope, Session, Sessions};

    pub(super) fn scope(sessions: &Sessions, name: &str, idle: Duration) -> Scope {
        Scope::of(&sessions.tagger, &[name], idle)
    }

    pub(super) fn session(username: &str, scope: Scope) -> Session {
        Session {
            scope,
            username: username.to_owned(),
            identity: Vec::new(),
            stores_identity: false,
            told: Bytes::new(),
            proof: [0; 32],
            seen: None,
        }
    }

    #[tokio::test]
    async fn sessions_begin_and_end() {
        let sessions = Sessions::open(&RootKey::random(), None);
        let own = scope(&sessions, "own", Duration::from_secs(600));
        let other = scope(&sessions, "other", Duration::from_secs(600));
        let [a, b, c] = ["ann", "ann", "ben"].map(|name| sessions.begin(session(name, own)).unwrap());
        assert_ne!(a, b);
        assert_eq!(sessions.find(&a, &own).map(|own| own.username.clone()).as_deref(), Some("ann"));
        assert!(sessions.find("x", &own).is_none() && sessions.find(&a, &other).is_none());
        sessions.end(&a).await.unwrap();
        sessions.renew(&a, session("ann", own).into());
        assert!(sessions.find(&a, &own).is_none() && sessions.find(&b, &own).is_some());
        sessions.end_all_of("ann", &other);
        assert!(sessions.find(&b, &own).is_some());
        sessions.end_all_of("ann", &own);
        assert!(sessions.find(&b, &own).is_none() && sessions.find(&c, &own).is_some());
        sessions.end_others(&[own]);
        assert!(sessions.find(&c, &own).is_some());
        sessions.end_others(&[other]);
        assert!(sessions.find(&c, &own).is_none());
        let short = scope(&sessions, "own", Duration::ZERO);
        assert!(sessions.find(&sessions.begin(session("ann", short)).unwrap(), &short).is_none());
    }
}
