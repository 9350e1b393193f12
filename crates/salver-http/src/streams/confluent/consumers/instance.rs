//! One consumer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use salver_model::ports::EventStream;
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::{Call, Consumers, Embedded, Failure, pattern, topic, topic_name};

/// What a consumer was made with.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// How keys and values are told.
    pub(super) format: Embedded,
    /// Whether a group that has no offset begins with the oldest event.
    pub(super) from_earliest: bool,
    /// Whether reading on commits what was read before.
    pub(super) commits: bool,
    /// How long a read waits.
    pub(super) wait: Duration,
}

/// What a consumer reads.
#[derive(Clone, Debug, Default)]
pub(super) enum Wants {
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
pub(super) struct State {
    pub(super) wants: Wants,
    /// The offset of the next event, by topic.
    pub(super) positions: BTreeMap<String, u64>,
}

/// One consumer.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) group: String,
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) state: Mutex<State>,
    made: Instant,
    /// When it last said something, in milliseconds after it was made.
    touched_ms: AtomicU64,
}

impl Instance {
    pub(super) fn new(group: &str, name: &str, settings: Settings) -> Self {
        Self {
            group: group.to_owned(),
            name: name.to_owned(),
            settings,
            state: Mutex::new(State::default()),
            made: Instant::now(),
            touched_ms: AtomicU64::new(0),
        }
    }

    /// Whether it has said nothing for `patience`.
    pub(super) fn is_gone(&self, patience: Duration) -> bool {
        let touched = Duration::from_millis(self.touched_ms.load(Ordering::Relaxed));
        self.made.elapsed().saturating_sub(touched) > patience
    }

    /// It said something.
    pub(super) fn touch(&self, now: Instant) {
        let since = now.saturating_duration_since(self.made).as_millis();
        self.touched_ms.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl State {
    /// The partitions this consumer reads now.
    pub(super) fn assignment(&self, call: &Call<'_>, instance: &Instance) -> Vec<(String, u32)> {
        let consumers: &Consumers = &call.app.consumers;
        let shared = |topics: &[String]| {
            let read = topics.iter().filter(|name| topic(call, name).is_ok() && consumers.reads(instance, name));
            read.map(|name| (name.clone(), 0)).collect()
        };
        match &self.wants {
            Wants::Nothing => Vec::new(),
            Wants::Topics(topics) => shared(topics),
            Wants::Pattern(_) => shared(&self.subscribed(call)),
            Wants::Assigned(partitions) => partitions.clone(),
        }
    }

    /// The topics it is subscribed to.
    pub(super) fn subscribed(&self, call: &Call<'_>) -> Vec<String> {
        match &self.wants {
            Wants::Topics(topics) => topics.clone(),
            Wants::Pattern(pattern) => {
                let names = call.app.service.streams().iter().map(|stream| topic_name(&**stream).to_owned());
                names.filter(|name| pattern::matches(pattern, name)).collect()
            }
            Wants::Nothing | Wants::Assigned(_) => Vec::new(),
        }
    }

    /// The offset of the next event of `topic`: where it was, where its group was, or where new groups begin.
    pub(super) fn position(&mut self, instance: &Instance, name: &str, stream: &dyn EventStream) -> u64 {
        *self.positions.entry(name.to_owned()).or_insert_with(|| {
            let ends = stream.ends();
            let start = if instance.settings.from_earliest { ends.first } else { ends.next };
            stream.committed(&instance.group).unwrap_or(start)
        })
    }

    /// Commits how far it has come.
    pub(super) async fn commit(&self, call: &Call<'_>, instance: &Instance) -> Result<(), Failure> {
        for (name, position) in &self.positions {
            let stream = topic(call, name)?;
            if stream.committed(&instance.group) != Some(*position) {
                stream.commit(&instance.group, *position).await?;
            }
        }
        Ok(())
    }
}

/// A member of a request that is a list of topics and partitions, and the offsets with them, 0 where none stand.
pub(super) fn places(json: &Json, member: &str) -> Result<Vec<(String, u32, u64)>, Failure> {
    let list = json.get(member).and_then(Json::as_array);
    let list = list.ok_or_else(|| Failure::unprocessable(422, format!("{member} may not be empty")))?;
    let place = |item: &Json| {
        let topic = item.get("topic")?.as_str()?.to_owned();
        let partition = u32::try_from(item.get("partition")?.as_u64()?).ok()?;
        let offset = item.get("offset").map_or(Some(0), Json::as_u64)?;
        Some((topic, partition, offset))
    };
    let read = |item| place(item).ok_or_else(|| Failure::unprocessable(422, format!("{item} names no partition")));
    list.iter().map(read).collect()
}
