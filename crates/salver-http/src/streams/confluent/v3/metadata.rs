//! Clusters, topics and partitions, with links between them.

use http::{Response, StatusCode};
use salver_service::Consumer;
use serde_json::{Map, Value as Json, json};

use super::{consumer, origin};
use crate::body::Body;
use crate::dialect::{Refusal, confluent};
use crate::exit;
use crate::request_context::RequestContext;
use crate::routes::confluent::Topic;

/// The id of the only cluster.
const CLUSTER: &str = "salver";

/// Responds with the list of clusters.
pub(in crate::streams::confluent) fn clusters(context: &RequestContext<'_>) -> Result<Response<Body>, Refusal> {
    let base = base(context);
    Ok(told(&list("KafkaClusterList", &base, vec![described_cluster(&base, CLUSTER)])))
}

/// Responds with the cluster, which exists under any id.
pub(in crate::streams::confluent) fn cluster(
    context: &RequestContext<'_>,
    id: &str,
) -> Result<Response<Body>, Refusal> {
    Ok(told(&described_cluster(&base(context), id)))
}

/// Handles a request for the topics of the cluster.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    id: &str,
    asked: &Topic<'_>,
) -> Result<Response<Body>, Refusal> {
    let base = base(context);
    Ok(told(&match asked {
        Topic::All => {
            let mut topics = Vec::new();
            for stream in context.app.service.consumers(context.caller).filter(|stream| stream.available().is_ok()) {
                topics.push(described(&base, id, stream.spec().topic(), stream).await?);
            }
            list("KafkaTopicList", &format!("{base}/{id}/topics"), topics)
        }
        Topic::One(name) => described(&base, id, name, consumer(context, name)?).await?,
        Topic::Partitions(name) => {
            let count = consumer(context, name)?.partitions().await?;
            let all = (0..count).map(|number| partition(&base, id, name, number)).collect();
            list("KafkaPartitionList", &format!("{base}/{id}/topics/{name}/partitions"), all)
        }
        Topic::Partition(name, number) => {
            let count = consumer(context, name)?.partitions().await?;
            let number = number.parse().map_err(|_| confluent::not_found())?;
            if number >= count {
                let message = "This server does not host this topic-partition.";
                return Err(confluent::refused(StatusCode::NOT_FOUND, 40403, message));
            }
            partition(&base, id, name, number)
        }
        Topic::Records(_) | Topic::Batch(_) => return Err(confluent::not_found()),
    }))
}

fn base(context: &RequestContext<'_>) -> String {
    format!("{}/v3/clusters", origin(context))
}

fn told(json: &Json) -> Response<Body> {
    exit::unstored_json(StatusCode::OK, json.to_string().into_bytes())
}

fn list(kind: &str, own: &str, data: Vec<Json>) -> Json {
    json!({ "kind": kind, "metadata": { "self": own, "next": null }, "data": data })
}

/// Returns links to resources below `own`, by the names that clients know.
fn related(own: &str, names: &[(&str, &str)]) -> Map<String, Json> {
    names.iter().map(|(name, path)| ((*name).to_owned(), json!({ "related": format!("{own}/{path}") }))).collect()
}

/// Builds a resource: kind and metadata, followed by `members` and `links`.
fn thing(kind: &str, (own, resource): (&str, String), members: Json, links: Map<String, Json>) -> Json {
    let mut json = json!({ "kind": kind, "metadata": { "self": own, "resource_name": format!("crn:///{resource}") } });
    if let (Json::Object(all), Json::Object(members)) = (&mut json, members) {
        all.extend(members);
        all.extend(links);
    }
    json
}

fn described_cluster(base: &str, id: &str) -> Json {
    let own = format!("{base}/{id}");
    let links = related(
        &own,
        &[
            ("controller", "brokers/0"),
            ("acls", "acls"),
            ("brokers", "brokers"),
            ("broker_configs", "broker-configs"),
            ("consumer_groups", "consumer-groups"),
            ("topics", "topics"),
            ("partition_reassignments", "topics/-/partitions/-/reassignment"),
        ],
    );
    thing("KafkaCluster", (&own, format!("kafka={id}")), json!({ "cluster_id": id }), links)
}

async fn described(base: &str, id: &str, name: &str, stream: &Consumer) -> Result<Json, Refusal> {
    let own = format!("{base}/{id}/topics/{name}");
    let count = stream.partitions().await?;
    let members = json!({
        "cluster_id": id,
        "topic_name": name,
        "is_internal": false,
        "replication_factor": 1,
        "partitions_count": count,
    });
    let links = related(
        &own,
        &[
            ("partitions", "partitions"),
            ("configs", "configs"),
            ("partition_reassignments", "partitions/-/reassignment"),
        ],
    );
    Ok(thing("KafkaTopic", (&own, format!("kafka={id}/topic={name}")), members, links))
}

fn partition(base: &str, id: &str, name: &str, number: u32) -> Json {
    let own = format!("{base}/{id}/topics/{name}/partitions/{number}");
    let members = json!({ "cluster_id": id, "topic_name": name, "partition_id": number });
    let links = related(&own, &[("leader", "replicas/0"), ("replicas", "replicas"), ("reassignment", "reassignment")]);
    thing("KafkaPartition", (&own, format!("kafka={id}/topic={name}/partition={number}")), members, links)
}
