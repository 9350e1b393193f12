//! `GET /topics` and below, and `GET /brokers`.

use http::Response;
use salver_service::Consumer;
use serde_json::{Value as Json, json};

use super::{consumer, v2};
use crate::body::Body;
use crate::dialect::{Refusal, confluent};
use crate::request_context::RequestContext;
use crate::routes::confluent::ConfluentTarget;

/// Handles a request for metadata.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    target: &ConfluentTarget<'_>,
) -> Result<Response<Body>, Refusal> {
    Ok(v2(&match target {
        // To clients the server is the only broker.
        ConfluentTarget::Brokers => json!({ "brokers": [0] }),
        ConfluentTarget::Topics => {
            context.app.service.consumers(context.caller).map(|stream| stream.spec().topic()).collect()
        }
        ConfluentTarget::Topic(name) => {
            let partitions = partitions(consumer(context, name)?).await?;
            json!({ "name": name, "configs": {}, "partitions": partitions })
        }
        ConfluentTarget::Partitions(name) => partitions(consumer(context, name)?).await?.into(),
        ConfluentTarget::Partition(name, partition) => {
            let stream = consumer(context, name)?;
            described(known(stream, partition).await?)
        }
        ConfluentTarget::Offsets(name, partition) => {
            let stream = consumer(context, name)?;
            // Only the log can be read, which is partition 0.
            let ends = match known(stream, partition).await? {
                0 => stream.ends(),
                _ => Default::default(),
            };
            json!({ "beginning_offset": ends.first, "end_offset": ends.next })
        }
        _ => return Err(confluent::not_found()),
    }))
}

async fn partitions(stream: &Consumer) -> Result<Vec<Json>, Refusal> {
    Ok((0..stream.partitions().await?).map(described).collect())
}

/// Parses the number of an existing partition.
pub(super) async fn known(stream: &Consumer, text: &str) -> Result<u32, Refusal> {
    let number: u32 = text.parse().map_err(|_| confluent::not_found())?;
    if number >= stream.partitions().await? {
        return Err(confluent::partition_not_found());
    }
    Ok(number)
}

fn described(partition: u32) -> Json {
    let replica = json!({ "broker": 0, "leader": true, "in_sync": true });
    json!({ "partition": partition, "leader": 0, "replicas": [replica] })
}
