//! The consumers of Confluent's v2: instances that live in memory, each with its subscription and how far it has come.
//!
//! A consumer that says nothing for five minutes is gone, as with Confluent. Of the instances of a group one at a time
//! reads a topic, since a stream is one partition; when it goes, the next one does, from where the group committed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::tokens::Owner;

/// How long a consumer may say nothing.
const PATIENCE: Duration = Duration::from_secs(300);
/// Most consumers at once.
pub(crate) const INSTANCES_MAX: usize = 4_096;

/// Every consumer.
#[derive(Debug, Default)]
pub(crate) struct Consumers(Mutex<Members>);

#[derive(Debug, Default)]
struct Members {
    /// By whose they are, group and name: the same names are other instances in another caller's hands.
    instances: HashMap<Key, Arc<Instance>>,
    /// Which instance of a group reads a topic. A group is all callers' who may read its streams, like its offsets.
    readers: HashMap<(String, String), Key>,
}

/// Whose an instance is, its group and its name.
type Key = (Owner, String, String);

impl Consumers {
    fn lock(&self) -> MutexGuard<'_, Members> {
        // What is kept is whole between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new consumer.
    pub(crate) fn create(&self, owner: &Owner, group: &str, name: &str, settings: Settings) -> Result<(), Refusal> {
        let mut members = self.lock();
        members.instances.retain(|_, instance| !instance.is_gone(PATIENCE));
        if members.instances.len() >= INSTANCES_MAX {
            return Err(Refusal::TooMany);
        }
        let key = (owner.clone(), group.to_owned(), name.to_owned());
        if members.instances.contains_key(&key) {
            return Err(Refusal::Exists);
        }
        members.instances.insert(key, Arc::new(Instance::new(owner, group, name, settings)));
        Ok(())
    }

    /// The consumer of that name, which lives on with that.
    pub(crate) fn find(&self, owner: &Owner, group: &str, name: &str) -> Result<Arc<Instance>, Refusal> {
        let members = self.lock();
        let found = members.instances.get(&(owner.clone(), group.to_owned(), name.to_owned()));
        let found = found.filter(|instance| !instance.is_gone(PATIENCE)).ok_or(Refusal::Unknown)?;
        found.touch(Instant::now());
        Ok(Arc::clone(found))
    }

    /// Ends a consumer.
    pub(crate) fn remove(&self, owner: &Owner, group: &str, name: &str) -> Result<Arc<Instance>, Refusal> {
        let removed = self.lock().instances.remove(&(owner.clone(), group.to_owned(), name.to_owned()));
        removed.filter(|instance| !instance.is_gone(PATIENCE)).ok_or(Refusal::Unknown)
    }

    /// Whether `instance` is the one of its group that reads `topic`, as it is when nobody else does.
    pub(crate) fn reads(&self, instance: &Instance, topic: &str) -> bool {
        let members = &mut *self.lock();
        let key = (instance.group.clone(), topic.to_owned());
        if let Some(reader) = members.readers.get(&key)
            && *reader != instance.key()
            && members.instances.get(reader).is_some_and(|other| !other.is_gone(PATIENCE))
        {
            return false;
        }
        members.readers.insert(key, instance.key());
        true
    }

    /// Lets others of its group read what `instance` read.
    pub(crate) fn release(&self, instance: &Instance) {
        let key = instance.key();
        self.lock().readers.retain(|_, reader| *reader != key);
    }
}

/// Why a consumer is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There are as many as there may be.
    TooMany,
    /// The name is taken.
    Exists,
    /// There is none of that name.
    Unknown,
}

/// How keys and values stand in a request or an answer of v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Embedded {
    /// As JSON.
    Json,
    /// In Base64.
    Binary,
}

/// What a consumer was made with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How keys and values are told.
    pub(crate) format: Embedded,
    /// Whether a group that has no offset begins with the oldest event.
    pub(crate) from_earliest: bool,
    /// Whether reading on commits what was read before.
    pub(crate) commits: bool,
    /// How long a read waits.
    pub(crate) wait: Duration,
}

/// What a consumer reads.
#[derive(Clone, Debug, Default)]
pub(crate) enum Wants {
    #[default]
    Nothing,
    /// These topics, shared with its group.
    Topics(Vec<String>),
    /// The topics a pattern matches, shared with its group.
    Pattern(String),
    /// These partitions, whoever else reads them.
    Assigned(Vec<(String, u32)>),
}

/// What changes about a consumer.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) wants: Wants,
    /// The offset of the next event, by topic.
    pub(crate) positions: BTreeMap<String, u64>,
}

/// One consumer.
#[derive(Debug)]
pub(crate) struct Instance {
    owner: Owner,
    pub(crate) group: String,
    name: String,
    pub(crate) settings: Settings,
    pub(crate) state: tokio::sync::Mutex<State>,
    made: Instant,
    /// When it last said something, in milliseconds after it was made.
    touched_ms: AtomicU64,
}

impl Instance {
    fn new(owner: &Owner, group: &str, name: &str, settings: Settings) -> Self {
        Self {
            owner: owner.clone(),
            group: group.to_owned(),
            name: name.to_owned(),
            settings,
            state: tokio::sync::Mutex::new(State::default()),
            made: Instant::now(),
            touched_ms: AtomicU64::new(0),
        }
    }

    fn key(&self) -> Key {
        (self.owner.clone(), self.group.clone(), self.name.clone())
    }

    /// Whether it has said nothing for `patience`.
    pub(crate) fn is_gone(&self, patience: Duration) -> bool {
        let touched = Duration::from_millis(self.touched_ms.load(Ordering::Relaxed));
        self.made.elapsed().saturating_sub(touched) > patience
    }

    /// It said something.
    pub(crate) fn touch(&self, now: Instant) {
        let since = now.saturating_duration_since(self.made).as_millis();
        self.touched_ms.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
