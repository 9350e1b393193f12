//! Storing sessions, so that they outlive the process: changes are gathered for a moment and added to the journal in
//! one piece, aside from requests. Only who ends a session waits for that.
//!
//! A journal that has become long is written anew. When it can't be written at all, it is removed: better no session
//! outlives the process than one that has ended.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use salver_model::limits::{SESSION_END_MS_MAX, SESSIONS_FILE_BYTES_MAX, SESSIONS_MAX, STORED_SESSION_BYTES_MAX};
use salver_model::ports::SessionStore;
use salver_model::{Code, Error, Result, RootKey};
use tokio::sync::Mutex;

use super::journal::{self, Damage, JournalEnd, StoredChange, StoredSession};
use super::{Change, Scope, Session, Sessions, Slot, Slots, now_ms};
use crate::auth::hmac::{Tag, Tagger};

/// Time for which changes are gathered.
const PACE: Duration = Duration::from_secs(1);
/// Time until a journal that could not be written is tried again.
const RETRY: Duration = Duration::from_secs(10);
/// Size from which a journal is written anew when it has doubled, in bytes.
const LONG_BYTES: u64 = 256 * 1024;

/// The journal, and the way to it.
#[derive(Debug)]
pub(super) struct Keeper {
    store: Arc<dyn SessionStore>,
    tagger: Arc<Tagger>,
    /// Locked while something is being stored.
    state: Arc<Mutex<State>>,
}

/// What is known of the journal.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It lacks something, and has to be written as a whole.
    Unwritten {
        /// Whether that was tried in vain.
        failed: bool,
    },
    /// There is none, because there are no sessions.
    Absent,
    /// It has all changes but those that are gathered.
    Written { end: JournalEnd, bytes: u64, first_bytes: u64 },
}

/// What is to be stored.
#[derive(Debug)]
struct Unstored {
    changes: Vec<Change>,
    /// All sessions, if the journal is to be written as a whole.
    all: Option<Vec<Change>>,
}

impl Keeper {
    /// Opens the journal in `store`, and puts its sessions into `slots`.
    pub(super) fn open(root: &RootKey, store: Arc<dyn SessionStore>, slots: &mut Slots) -> Self {
        let tagger = Arc::new(Tagger::of(root, "journal of sessions"));
        let lost = |why: &str| {
            tracing::warn!("{} {why}: who was logged in has to log in again", store.place());
        };
        match store.read() {
            Ok(text) if text.is_empty() => {}
            Ok(text) => match journal::read(&tagger, &text) {
                Ok(changes) => restore(changes, slots, now_ms()),
                Err(Damage::Foreign) => lost("was written under another `tokens.key`, or is no file of sessions"),
                Err(Damage::Line(line)) => lost(&format!("is damaged in line {line}")),
            },
            Err(error) => lost(&format!("can't be used ({})", error.chain())),
        }
        Self { store, tagger, state: Arc::new(Mutex::new(State::Unwritten { failed: false })) }
    }
}

/// Applies the changes of a journal.
fn restore(changes: Vec<StoredChange>, slots: &mut Slots, now_ms: u64) {
    for change in changes {
        match change {
            StoredChange::Begin(stored) => {
                if let Some((tag, slot)) = slot(stored, now_ms).filter(|_| slots.by_tag.len() < SESSIONS_MAX) {
                    slots.by_tag.insert(tag, slot);
                }
            }
            StoredChange::Use { tag, at_ms } => {
                // The clock may have been put back since.
                let at_ms = at_ms.min(now_ms);
                if let Some(slot) = journal::parsed(&tag).and_then(|tag| slots.by_tag.get_mut(&tag)) {
                    (slot.used_ms, slot.stored_ms) = (at_ms, at_ms);
                }
            }
            StoredChange::End { tag } => {
                journal::parsed(&tag).map(|tag| slots.by_tag.remove(&tag));
            }
        }
    }
    slots.by_tag.retain(|_, slot| !slot.is_over(now_ms));
}

fn slot(stored: StoredSession, now_ms: u64) -> Option<(Tag, Slot)> {
    let at_ms = stored.at_ms.min(now_ms);
    let session = Session {
        scope: Scope { settings: journal::parsed(&stored.scope)?, idle_ms: stored.idle_ms },
        username: stored.username,
        stores_identity: stored.identity.is_some(),
        identity: stored.identity.unwrap_or_default(),
        told: Bytes::from_static(b"{}"),
        proof: journal::parsed(&stored.proof)?,
        seen: None,
    };
    let slot = Slot { used_ms: at_ms, stored_ms: at_ms, session: Arc::new(session) };
    Some((journal::parsed(&stored.tag)?, slot))
}

impl Change {
    fn stored(&self) -> StoredChange {
        match self {
            Self::Begin(tag, at_ms, session) => StoredChange::Begin(StoredSession {
                tag: journal::written(tag),
                at_ms: *at_ms,
                scope: journal::written(&session.scope.settings),
                idle_ms: session.scope.idle_ms,
                username: session.username.clone(),
                proof: journal::written(&session.proof),
                identity: session.stores_identity.then(|| session.identity.clone()),
            }),
            Self::Use(tag, at_ms) => StoredChange::Use { tag: journal::written(tag), at_ms: *at_ms },
            Self::End(tag) => StoredChange::End { tag: journal::written(tag) },
        }
    }
}

impl Sessions {
    /// Stores changes as they come, for ever; returns if there is no store.
    pub async fn keep(self: Arc<Self>) {
        let Some(keeper) = &self.keeper else { return };
        loop {
            self.changed.notified().await;
            tokio::time::sleep(PACE).await;
            let _ = self.settle().await;
            if matches!(*keeper.state.lock().await, State::Unwritten { .. }) {
                tokio::time::sleep(RETRY).await;
                self.changed.notify_one();
            }
        }
    }

    /// Stores all changes, and the last use of each session to the moment.
    pub async fn close(self: &Arc<Self>) {
        {
            let mut slots = self.lock();
            let Slots { by_tag, unstored, .. } = &mut *slots;
            for (tag, slot) in by_tag.iter_mut().filter(|(_, slot)| slot.used_ms != slot.stored_ms) {
                slot.stored_ms = slot.used_ms;
                unstored.push(Change::Use(*tag, slot.used_ms));
            }
        }
        let _ = self.settle().await;
    }

    /// Waits until all changes are stored.
    ///
    /// # Errors
    /// `AuthenticationUnavailable` when they can't be.
    pub(super) async fn settle(self: &Arc<Self>) -> Result<()> {
        if self.keeper.is_none() {
            return Ok(());
        }
        let own = Arc::clone(self);
        // A task of its own, so that a request that is given up does not leave half a change.
        let storing = tokio::spawn(async move { own.store().await });
        let patience = Duration::from_millis(SESSION_END_MS_MAX);
        match tokio::time::timeout(patience, storing).await {
            Ok(Ok(stored)) => stored,
            _ => Err(not_stored()),
        }
    }

    async fn store(&self) -> Result<()> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let mut state = Arc::clone(&keeper.state).lock_owned().await;
        let unstored = self.take(&state);
        if unstored.changes.is_empty() && unstored.all.is_none() {
            return Ok(());
        }
        let (store, tagger, before) = (Arc::clone(&keeper.store), Arc::clone(&keeper.tagger), *state);
        let writing = tokio::task::spawn_blocking(move || before.write(&*store, &tagger, &unstored)).await;
        let written;
        (*state, written) = writing.unwrap_or((State::Unwritten { failed: true }, Err(not_stored())));
        written
    }

    /// Takes what is to be stored next.
    fn take(&self, state: &State) -> Unstored {
        let mut slots = self.lock();
        let Slots { by_tag, unstored, .. } = &mut *slots;
        let changes = std::mem::take(unstored);
        let is_whole = match state {
            State::Unwritten { .. } => true,
            State::Absent => !changes.is_empty(),
            State::Written { bytes, first_bytes, .. } => {
                *bytes > (2 * first_bytes).max(LONG_BYTES) || *bytes > SESSIONS_FILE_BYTES_MAX / 2
            }
        };
        let all = is_whole.then(|| {
            let whole = by_tag.iter_mut().map(|(tag, slot)| {
                slot.stored_ms = slot.used_ms;
                Change::Begin(*tag, slot.used_ms, Arc::clone(&slot.session))
            });
            whole.collect()
        });
        Unstored { changes, all }
    }
}

impl State {
    /// Writes what is not stored yet, and returns what is known of the journal then.
    fn write(self, store: &dyn SessionStore, tagger: &Tagger, unstored: &Unstored) -> (Self, Result<()>) {
        let mut failure = None;
        if let Some(all) = &unstored.all {
            match write_whole(store, tagger, all) {
                Ok(state) => return (state, Ok(())),
                Err(error) => failure = Some(error),
            }
        }
        if let Self::Written { mut end, bytes, first_bytes } = self {
            let lines = lines(&mut end, tagger, &unstored.changes);
            let bytes = bytes + lines.len() as u64;
            match store.append(lines.as_bytes()) {
                Ok(()) => return (Self::Written { end, bytes, first_bytes }, Ok(())),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure.filter(|_| !matches!(self, Self::Unwritten { failed: true })) {
            let chain = error.chain();
            tracing::warn!("{} can't be written, so that no session outlives the server: {chain}", store.place());
        }
        let removed = store.remove().map_err(|error| not_stored().with_source(error));
        (Self::Unwritten { failed: true }, removed)
    }
}

/// Writes a journal of these sessions only; none if there are none.
fn write_whole(store: &dyn SessionStore, tagger: &Tagger, all: &[Change]) -> Result<State> {
    if all.is_empty() {
        store.remove()?;
        return Ok(State::Absent);
    }
    let mut by_use: Vec<&Change> = all.iter().collect();
    by_use.sort_by_key(|change| match change {
        Change::Begin(_, used_ms, _) | Change::Use(_, used_ms) => std::cmp::Reverse(*used_ms),
        Change::End(_) => std::cmp::Reverse(0),
    });
    let (mut text, mut end) = journal::begin(tagger);
    for change in by_use {
        text.push_str(&lines(&mut end, tagger, std::slice::from_ref(change)));
        if text.len() as u64 > SESSIONS_FILE_BYTES_MAX / 2 {
            break;
        }
    }
    store.replace(text.as_bytes())?;
    let bytes = text.len() as u64;
    Ok(State::Written { end, bytes, first_bytes: bytes })
}

/// Returns the lines of these changes, without sessions that are too large to be stored.
fn lines(end: &mut JournalEnd, tagger: &Tagger, changes: &[Change]) -> String {
    let mut lines = String::new();
    for change in changes {
        let mut next = *end;
        let line = next.line(tagger, &change.stored());
        if line.len() <= STORED_SESSION_BYTES_MAX {
            lines.push_str(&line);
            *end = next;
        }
    }
    lines
}

fn not_stored() -> Error {
    Error::new(Code::AuthenticationUnavailable, "the end of the session is not stored: a crash may bring it back")
        .with_hint("the server's log says why; a new password ends all sessions of a user for ever")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use salver_model::ports::SessionStore;
    use salver_model::{Code, Error, Result, RootKey};

    use super::super::tests::{scope, session};
    use super::{Scope, Sessions, Slots, StoredChange, StoredSession, restore};

    /// A store in memory, whose disk may be full, or broken altogether.
    #[derive(Debug, Default)]
    struct Disk {
        journal: Mutex<Vec<u8>>,
        is_full: AtomicBool,
        is_broken: AtomicBool,
    }

    impl Disk {
        fn len(&self) -> usize {
            self.journal.lock().unwrap().len()
        }

        fn check(&self, by: &AtomicBool) -> Result<()> {
            let is_failing = by.load(Ordering::Relaxed) || self.is_broken.load(Ordering::Relaxed);
            if is_failing { Err(Error::new(Code::Source, "no")) } else { Ok(()) }
        }
    }

    impl SessionStore for Disk {
        fn place(&self) -> String {
            "the disk".to_owned()
        }

        fn read(&self) -> Result<Vec<u8>> {
            Ok(self.journal.lock().unwrap().clone())
        }

        fn append(&self, lines: &[u8]) -> Result<()> {
            // What fits is written.
            self.journal.lock().unwrap().extend(&lines[..lines.len() / 2]);
            self.check(&self.is_full)?;
            self.journal.lock().unwrap().extend(&lines[lines.len() / 2..]);
            Ok(())
        }

        fn replace(&self, lines: &[u8]) -> Result<()> {
            self.check(&self.is_full)?;
            *self.journal.lock().unwrap() = lines.to_vec();
            Ok(())
        }

        fn remove(&self) -> Result<()> {
            self.check(&self.is_broken)?;
            self.journal.lock().unwrap().clear();
            Ok(())
        }
    }

    const KEY: [u8; 32] = [7; 32];

    fn open(disk: &Arc<Disk>) -> Arc<Sessions> {
        let store: Arc<dyn SessionStore> = Arc::<Disk>::clone(disk);
        Sessions::open(&RootKey::of(KEY), Some(store))
    }

    fn own(sessions: &Sessions) -> Scope {
        scope(sessions, "own", Duration::from_secs(600))
    }

    fn log_in(sessions: &Sessions, name: &str) -> String {
        sessions.begin(session(name, own(sessions))).unwrap()
    }

    fn is_there(disk: &Arc<Disk>, name: &str) -> bool {
        let sessions = open(disk);
        sessions.find(name, &own(&sessions)).is_some()
    }

    #[tokio::test]
    async fn what_is_stored_comes_back() {
        let disk = Arc::new(Disk::default());
        let sessions = open(&disk);
        let [a, b] = ["ann", "ben"].map(|name| log_in(&sessions, name));
        sessions.settle().await.unwrap();
        let text = String::from_utf8(disk.read().unwrap()).unwrap();
        assert!(!text.contains(&a) && !text.contains(&b), "{text}");
        assert!(is_there(&disk, &a) && is_there(&disk, &b));
        let c = log_in(&sessions, "cid");
        sessions.end(&a).await.unwrap();
        assert!(!is_there(&disk, &a) && is_there(&disk, &b) && is_there(&disk, &c));
        // Under another key, and when damaged, there are none; and what comes then is kept.
        let key = RootKey::of([8; 32]);
        let other = Sessions::open(&key, Some(Arc::<Disk>::clone(&disk)));
        assert!(other.find(&b, &own(&other)).is_none() && other.find(&b, &own(&sessions)).is_none());
        *disk.journal.lock().unwrap().last_mut().unwrap() = b'x';
        disk.journal.lock().unwrap().push(b'\n');
        assert!(!is_there(&disk, &b));
        let sessions = open(&disk);
        let d = log_in(&sessions, "dan");
        sessions.settle().await.unwrap();
        assert!(is_there(&disk, &d) && !is_there(&disk, &b));
        // No journal without sessions.
        sessions.end(&d).await.unwrap();
        open(&disk).close().await;
        assert_eq!(disk.len(), 0);
    }

    #[test]
    fn sessions_age_while_nobody_runs() {
        let stored = |tag: u8, at_ms| {
            let hash = |byte| super::journal::written(&[byte; 32]);
            StoredChange::Begin(StoredSession {
                tag: hash(tag),
                at_ms,
                scope: hash(0),
                idle_ms: 1_000,
                username: "ann".to_owned(),
                proof: hash(0),
                identity: None,
            })
        };
        let used = StoredChange::Use { tag: super::journal::written(&[2; 32]), at_ms: 9_500 };
        let changes = vec![stored(1, 9_000), stored(2, 8_000), used, stored(3, 9_001), stored(4, 99_000)];
        let mut slots = Slots::default();
        restore(changes, &mut slots, 10_000);
        let mut times: Vec<_> = slots.by_tag.iter().map(|(tag, slot)| (tag[0], slot.used_ms)).collect();
        times.sort_unstable();
        assert_eq!(times, [(2, 9_500), (3, 9_001), (4, 10_000)]);
    }

    #[tokio::test]
    async fn a_journal_does_not_grow_for_ever() {
        let disk = Arc::new(Disk::default());
        let sessions = open(&disk);
        let kept = log_in(&sessions, "ann");
        for _ in 0..2_000 {
            let name = log_in(&sessions, "ben");
            sessions.end(&name).await.unwrap();
        }
        assert!(disk.len() < 300 * 1024, "{}", disk.len());
        assert!(is_there(&disk, &kept));
        let large = log_in(&sessions, &"x".repeat(20_000));
        sessions.settle().await.unwrap();
        assert!(!is_there(&disk, &large) && is_there(&disk, &kept));
    }

    #[tokio::test]
    async fn no_session_that_ended_comes_back() {
        let disk = Arc::new(Disk::default());
        let sessions = open(&disk);
        let [a, b, c] = ["ann", "ben", "cid"].map(|name| log_in(&sessions, name));
        sessions.settle().await.unwrap();
        disk.is_full.store(true, Ordering::Relaxed);
        sessions.end(&a).await.unwrap();
        assert!(!is_there(&disk, &a) && !is_there(&disk, &b));
        assert!(sessions.find(&b, &own(&sessions)).is_some());
        // Once there is room, they are all there again.
        disk.is_full.store(false, Ordering::Relaxed);
        sessions.settle().await.unwrap();
        assert!(!is_there(&disk, &a) && is_there(&disk, &b));
        disk.is_broken.store(true, Ordering::Relaxed);
        assert_eq!(sessions.end(&b).await.unwrap_err().code, Code::AuthenticationUnavailable);
        assert!(sessions.find(&b, &own(&sessions)).is_none());
        disk.is_broken.store(false, Ordering::Relaxed);
        sessions.close().await;
        assert!(!is_there(&disk, &b) && is_there(&disk, &c));
    }
}
