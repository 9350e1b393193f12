//! The assignment and the positions of a consumer.

use salver_model::limits::LIST_ITEMS_MAX;
use salver_service::Consumer;
use serde_json::Value as Json;

use super::{consumer, pattern};
use crate::consumers::{ConsumerState, Consumers, Instance, Wants};
use crate::dialect::{Refusal, confluent};
use crate::request_context::RequestContext;

impl ConsumerState {
    /// Returns the partitions that this consumer currently reads.
    pub(super) fn assignment(&self, context: &RequestContext<'_>, instance: &Instance) -> Vec<(String, u32)> {
        let consumers: &Consumers = &context.app.consumers;
        let shared = |topics: &[String]| {
            let read = topics.iter().filter(|name| consumer(context, name).is_ok() && consumers.reads(instance, name));
            read.map(|name| (name.clone(), 0)).collect()
        };
        match &self.wants {
            Wants::Nothing => Vec::new(),
            Wants::Topics(topics) => shared(topics),
            Wants::Pattern(_) => shared(&self.subscribed(context)),
            Wants::Assigned(partitions) => partitions.clone(),
        }
    }

    /// Returns the topics it is subscribed to.
    pub(super) fn subscribed(&self, context: &RequestContext<'_>) -> Vec<String> {
        match &self.wants {
            Wants::Topics(topics) => topics.clone(),
            Wants::Pattern(pattern) => {
                let names =
                    context.app.service.consumers(context.caller).map(|stream| stream.spec().topic().to_owned());
                names.filter(|name| pattern::matches(pattern, name)).collect()
            }
            Wants::Nothing | Wants::Assigned(_) => Vec::new(),
        }
    }

    /// Returns the offset of the next event of `topic`: its own position, the offset committed by its group, or the
    /// start position of new groups.
    pub(super) fn position(&mut self, instance: &Instance, name: &str, stream: &Consumer) -> u64 {
        *self.positions.entry(name.to_owned()).or_insert_with(|| {
            let ends = stream.ends();
            let start = if instance.settings.from_earliest { ends.first } else { ends.next };
            stream.committed(&instance.group).unwrap_or(start)
        })
    }

    /// Commits the current positions.
    pub(super) async fn commit(&self, context: &RequestContext<'_>, instance: &Instance) -> Result<(), Refusal> {
        for (name, position) in &self.positions {
            let stream = consumer(context, name)?;
            // A log that was created anew may end before it.
            let position = (*position).min(stream.ends().next);
            if stream.committed(&instance.group) != Some(position) {
                stream.commit(&instance.group, position).await?;
            }
        }
        Ok(())
    }
}

/// Parses a member that is a list of topics and partitions with offsets, 0 where they are missing.
pub(super) fn places(json: &Json, member: &str) -> Result<Vec<(String, u32, u64)>, Refusal> {
    let list = json.get(member).and_then(Json::as_array);
    let list = list.ok_or_else(|| confluent::unprocessable(422, format!("{member} may not be empty")))?;
    if list.len() > LIST_ITEMS_MAX {
        return Err(confluent::unprocessable(422, format!("{member} may have at most {LIST_ITEMS_MAX} items")));
    }
    let place = |item: &Json| {
        let topic = item.get("topic")?.as_str()?.to_owned();
        let partition = u32::try_from(item.get("partition")?.as_u64()?).ok()?;
        let offset = item.get("offset").map_or(Some(0), Json::as_u64)?;
        Some((topic, partition, offset))
    };
    let read = |item| place(item).ok_or_else(|| confluent::unprocessable(422, format!("{item} names no partition")));
    list.iter().map(read).collect()
}
