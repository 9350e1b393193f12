//! The consumers of v2: instances that live in memory, each with its subscription and how far it has come.
//!
//! A consumer that says nothing for five minutes is gone, as with Confluent. Of the instances of a group one at a time
//! reads a topic, since a stream is one partition; when it goes, the next one does, from where the group committed.

mod door;
mod instance;
mod pattern;
mod records;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;

pub(super) use self::door::answer;
use self::instance::{Instance, Settings};
use super::{Call, Embedded, Failure, topic, topic_name};

/// How long a consumer may say nothing.
const PATIENCE: Duration = Duration::from_secs(300);
/// Most consumers at once.
const INSTANCES_MAX: usize = 4_096;

/// Every consumer.
#[derive(Debug, Default)]
pub(crate) struct Consumers(Mutex<Members>);

#[derive(Debug, Default)]
struct Members {
    /// By group and name.
    instances: HashMap<(String, String), Arc<Instance>>,
    /// Which instance of a group reads a topic.
    readers: HashMap<(String, String), String>,
}

impl Consumers {
    fn lock(&self) -> MutexGuard<'_, Members> {
        // What is kept is whole between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new consumer.
    fn create(&self, group: &str, name: &str, settings: Settings) -> Result<(), Failure> {
        let mut members = self.lock();
        members.instances.retain(|_, instance| !instance.is_gone(PATIENCE));
        if members.instances.len() >= INSTANCES_MAX {
            let message = format!("there are {INSTANCES_MAX} consumers, and no more are taken; delete some");
            return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, 42901, message));
        }
        let key = (group.to_owned(), name.to_owned());
        if members.instances.contains_key(&key) {
            let message = "Consumer with specified consumer ID already exists in the specified consumer group.";
            return Err(Failure::new(StatusCode::CONFLICT, 40902, message));
        }
        members.instances.insert(key, Arc::new(Instance::new(group, name, settings)));
        Ok(())
    }

    /// The consumer of that name, which lives on with that.
    fn find(&self, group: &str, name: &str) -> Result<Arc<Instance>, Failure> {
        let members = self.lock();
        let found = members.instances.get(&(group.to_owned(), name.to_owned()));
        let found = found.filter(|instance| !instance.is_gone(PATIENCE)).ok_or_else(not_found)?;
        found.touch(Instant::now());
        Ok(Arc::clone(found))
    }

    /// Ends a consumer.
    fn remove(&self, group: &str, name: &str) -> Result<Arc<Instance>, Failure> {
        let removed = self.lock().instances.remove(&(group.to_owned(), name.to_owned()));
        removed.filter(|instance| !instance.is_gone(PATIENCE)).ok_or_else(not_found)
    }

    /// Whether `instance` is the one of its group that reads `topic`, as it is when nobody else does.
    fn reads(&self, instance: &Instance, topic: &str) -> bool {
        let members = &mut *self.lock();
        let key = (instance.group.clone(), topic.to_owned());
        if let Some(reader) = members.readers.get(&key)
            && *reader != instance.name
            && members
                .instances
                .get(&(instance.group.clone(), reader.clone()))
                .is_some_and(|other| !other.is_gone(PATIENCE))
        {
            return false;
        }
        members.readers.insert(key, instance.name.clone());
        true
    }

    /// Lets others of its group read what `instance` read.
    fn release(&self, instance: &Instance) {
        self.lock().readers.retain(|(group, _), reader| *group != instance.group || *reader != instance.name);
    }
}

fn not_found() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, 40403, "Consumer instance not found.")
}
