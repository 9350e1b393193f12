//! The consumers of Confluent's REST API v2: instances in memory, each with its subscription and its positions.
//!
//! A consumer without requests for five minutes expires, as with Confluent. Only one instance of a group reads a topic
//! at a time, since a stream is a single partition; when it ends, the next one takes over from the offset that the
//! group committed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use salver_model::limits::{CONSUMER_IDLE_S_MAX, CONSUMERS_MAX, SHARE_OF_FREE};

use crate::tokens::Owner;

/// Time without requests after which a consumer expires.
const PATIENCE: Duration = Duration::from_secs(CONSUMER_IDLE_S_MAX);

/// All consumers.
#[derive(Debug, Default)]
pub(crate) struct Consumers(Mutex<Members>);

#[derive(Debug, Default)]
struct Members {
    /// The instances by owner, group and name: different callers may use the same names for different instances.
    instances: HashMap<Key, Arc<Instance>>,
    /// The instance of a group that reads a topic. Callers who may read the same streams share groups, as they share
    /// the groups' offsets.
    readers: HashMap<(String, String), Key>,
}

/// Owner, group and name of an instance.
type Key = (Owner, String, String);

impl Consumers {
    fn lock(&self) -> MutexGuard<'_, Members> {
        // The data is consistent between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a consumer.
    pub(crate) fn create(&self, owner: &Owner, group: &str, name: &str, settings: Settings) -> Result<(), Refusal> {
        let mut members = self.lock();
        members.instances.retain(|_, instance| !instance.is_gone(PATIENCE));
        // An owner must leave some places to others, if there are any left.
        let free = CONSUMERS_MAX.saturating_sub(members.instances.len());
        let own = members.instances.keys().filter(|(other, ..)| other == owner).count();
        if free == 0 || own >= SHARE_OF_FREE * free {
            return Err(Refusal::TooMany);
        }
        let key = (owner.clone(), group.to_owned(), name.to_owned());
        if members.instances.contains_key(&key) {
            return Err(Refusal::Exists);
        }
        members.instances.insert(key, Arc::new(Instance::new(owner, group, name, settings)));
        Ok(())
    }

    /// Returns the consumer of that name and extends its lifetime.
    pub(crate) fn find(&self, owner: &Owner, group: &str, name: &str) -> Result<Arc<Instance>, Refusal> {
        let members = self.lock();
        let found = members.instances.get(&(owner.clone(), group.to_owned(), name.to_owned()));
        let found = found.filter(|instance| !instance.is_gone(PATIENCE)).ok_or(Refusal::Unknown)?;
        found.touch(Instant::now());
        Ok(Arc::clone(found))
    }

    /// Removes a consumer.
    pub(crate) fn remove(&self, owner: &Owner, group: &str, name: &str) -> Result<Arc<Instance>, Refusal> {
        let removed = self.lock().instances.remove(&(owner.clone(), group.to_owned(), name.to_owned()));
        removed.filter(|instance| !instance.is_gone(PATIENCE)).ok_or(Refusal::Unknown)
    }

    /// Returns whether `instance` is the reader of `topic` in its group; it becomes the reader if there is none.
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

    /// Releases the topics that `instance` read to others of its group.
    pub(crate) fn release(&self, instance: &Instance) {
        let key = instance.key();
        self.lock().readers.retain(|_, reader| *reader != key);
    }
}

/// The reason why an operation on a consumer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The maximum number of consumers exists.
    TooMany,
    /// The name is taken.
    Exists,
    /// There is no consumer of that name.
    Unknown,
}

/// The encoding of keys and values in requests and responses of v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Embedded {
    /// As JSON.
    Json,
    /// As Base64.
    Binary,
}

/// The settings that a consumer was created with.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Encoding of keys and values.
    pub(crate) format: Embedded,
    /// Whether a group without an offset begins at the oldest event.
    pub(crate) from_earliest: bool,
    /// Whether a read commits the offsets of the previous ones.
    pub(crate) commits: bool,
    /// Time that a read waits for events.
    pub(crate) wait: Duration,
}

/// The subscription of a consumer.
#[derive(Clone, Debug, Default)]
pub(crate) enum Wants {
    #[default]
    Nothing,
    /// These topics, shared with the group.
    Topics(Vec<String>),
    /// The topics that match a pattern, shared with the group.
    Pattern(String),
    /// These partitions, regardless of other readers.
    Assigned(Vec<(String, u32)>),
}

/// The mutable state of a consumer.
#[derive(Debug, Default)]
pub(crate) struct ConsumerState {
    pub(crate) wants: Wants,
    /// Offset of the next event, by topic.
    pub(crate) positions: BTreeMap<String, u64>,
}

/// A consumer.
#[derive(Debug)]
pub(crate) struct Instance {
    owner: Owner,
    pub(crate) group: String,
    name: String,
    pub(crate) settings: Settings,
    pub(crate) state: tokio::sync::Mutex<ConsumerState>,
    made: Instant,
    /// Time of the last request, in milliseconds after the instance was created.
    touched_ms: AtomicU64,
}

impl Instance {
    fn new(owner: &Owner, group: &str, name: &str, settings: Settings) -> Self {
        Self {
            owner: owner.clone(),
            group: group.to_owned(),
            name: name.to_owned(),
            settings,
            state: tokio::sync::Mutex::new(ConsumerState::default()),
            made: Instant::now(),
            touched_ms: AtomicU64::new(0),
        }
    }

    fn key(&self) -> Key {
        (self.owner.clone(), self.group.clone(), self.name.clone())
    }

    /// Returns whether the last request is more than `patience` ago.
    pub(crate) fn is_gone(&self, patience: Duration) -> bool {
        let touched = Duration::from_millis(self.touched_ms.load(Ordering::Relaxed));
        self.made.elapsed().saturating_sub(touched) > patience
    }

    /// Records a request.
    pub(crate) fn touch(&self, now: Instant) {
        let since = now.saturating_duration_since(self.made).as_millis();
        self.touched_ms.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use salver_model::{Caller, Principal};

    use super::{Consumers, Embedded, Refusal, Settings};
    use crate::tokens::Owner;

    /// Creates consumers of `user` until one is refused; returns how many there are.
    fn filled(consumers: &Consumers, user: &str) -> usize {
        let attributes = vec![("user".to_owned(), user.to_owned())];
        let owner = Owner::of(&Caller::from(Principal { attributes, ..Principal::default() }));
        let settings =
            || Settings { format: Embedded::Json, from_earliest: false, commits: true, wait: Duration::ZERO };
        let refused = (0..).find_map(|number: usize| {
            let refusal = consumers.create(&owner, "g", &number.to_string(), settings()).err()?;
            Some((number, matches!(refusal, Refusal::TooMany)))
        });
        let (count, is_full) = refused.unwrap_or_default();
        assert!(is_full, "{user}");
        count
    }

    #[test]
    fn owners_share_the_places() {
        let consumers = Consumers::default();
        assert_eq!([filled(&consumers, "a"), filled(&consumers, "b"), filled(&consumers, "c")], [3_072, 768, 192]);
    }
}
