//! The doors of Confluent's REST Proxy, v2 and v3.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, Values, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfluentTarget<'p> {
    /// v2: lists the topics.
    Topics,
    /// v2: describes a topic.
    Topic(Cow<'p, str>),
    /// v2: produces records to a topic, or to one of its partitions.
    Produce(Cow<'p, str>, Option<Cow<'p, str>>),
    /// v2: lists the partitions of a topic.
    Partitions(Cow<'p, str>),
    /// v2: describes a partition.
    Partition(Cow<'p, str>, Cow<'p, str>),
    /// v2: the first and last offsets of a partition.
    Offsets(Cow<'p, str>, Cow<'p, str>),
    /// v2: lists the brokers.
    Brokers,
    /// v2: creates a consumer in a group.
    Join(Cow<'p, str>),
    /// v2: deletes a consumer, by group and name.
    Leave(Cow<'p, str>, Cow<'p, str>),
    /// v2: an operation of a consumer, by group and name.
    Consumer(Cow<'p, str>, Cow<'p, str>, ConsumerStep),
    /// v3: lists the clusters.
    Clusters,
    /// v3: describes a cluster.
    Cluster(Cow<'p, str>),
    /// v3: a request about the topics of a cluster.
    InCluster(Cow<'p, str>, Topic<'p>),
}

/// An operation of a consumer, in v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsumerStep {
    /// Fetches records.
    Records,
    /// Commits offsets.
    Commit,
    /// Returns the committed offsets.
    Committed,
    /// Subscribes to topics.
    Subscribe,
    /// Returns the subscription.
    Subscription,
    /// Unsubscribes.
    Unsubscribe,
    /// Assigns partitions.
    Assign,
    /// Returns the assignment.
    Assignment,
    /// Seeks to offsets.
    Seek,
    /// Seeks to the first offsets.
    SeekBeginning,
    /// Seeks to the end.
    SeekEnd,
}

/// A request about the topics of a cluster, in v3.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Topic<'p> {
    /// Lists the topics.
    All,
    /// Describes a topic.
    One(Cow<'p, str>),
    /// Lists the partitions of a topic.
    Partitions(Cow<'p, str>),
    /// Describes a partition.
    Partition(Cow<'p, str>, Cow<'p, str>),
    /// Produces records to a topic, in a stream of requests and responses.
    Records(Cow<'p, str>),
    /// Produces a batch of records to a topic.
    Batch(Cow<'p, str>),
}

impl ConfluentTarget<'_> {
    /// Returns whether the target is one of v3, which has a media type of its own.
    pub(crate) fn is_of_v3(&self) -> bool {
        matches!(self, Self::Clusters | Self::Cluster(_) | Self::InCluster(..))
    }
}

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;
const DELETE: Methods = Methods::DELETE;

fn consumer<'p>(values: Values<'_, 'p>, step: ConsumerStep) -> Any<'p> {
    Any::Confluent(ConfluentTarget::Consumer(values.text("group"), values.text("name"), step))
}

fn in_cluster<'p>(values: Values<'_, 'p>, topic: Topic<'p>) -> Any<'p> {
    Any::Confluent(ConfluentTarget::InCluster(values.text("cluster"), topic))
}

fn produce<'p>(values: Values<'_, 'p>) -> Any<'p> {
    let partition = values.get("partition").map(|_| values.text("partition"));
    Any::Confluent(ConfluentTarget::Produce(values.text("topic"), partition))
}

pub(super) const ROWS: &[RouteRow] = &[
    row(&["/topics"], GET, Does::Runs, |_| Any::Confluent(ConfluentTarget::Topics), "List the topics."),
    row(
        &["/topics/{topic}"],
        GET,
        Does::Runs,
        |values| Any::Confluent(ConfluentTarget::Topic(values.text("topic"))),
        "Get a topic.",
    ),
    row(&["/topics/{topic}"], POST, Does::Changes, produce, "Append records to a topic."),
    row(
        &["/topics/{topic}/partitions"],
        GET,
        Does::Runs,
        |values| Any::Confluent(ConfluentTarget::Partitions(values.text("topic"))),
        "List the partitions of a topic.",
    ),
    row(
        &["/topics/{topic}/partitions/{partition}"],
        GET,
        Does::Runs,
        |values| Any::Confluent(ConfluentTarget::Partition(values.text("topic"), values.text("partition"))),
        "Get a partition.",
    ),
    row(&["/topics/{topic}/partitions/{partition}"], POST, Does::Changes, produce, "Append records to a partition."),
    row(
        &["/topics/{topic}/partitions/{partition}/offsets"],
        GET,
        Does::Runs,
        |values| Any::Confluent(ConfluentTarget::Offsets(values.text("topic"), values.text("partition"))),
        "Get the first and last offsets of a partition.",
    ),
    row(&["/brokers"], GET, Does::Runs, |_| Any::Confluent(ConfluentTarget::Brokers), "List the brokers."),
    row(
        &["/consumers/{group}"],
        POST,
        Does::Changes,
        |values| Any::Confluent(ConfluentTarget::Join(values.text("group"))),
        "Create a consumer in a group.",
    ),
    row(
        &["/consumers/{group}/instances/{name}"],
        DELETE,
        Does::Changes,
        |values| Any::Confluent(ConfluentTarget::Leave(values.text("group"), values.text("name"))),
        "Remove a consumer from its group.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/records"],
        GET,
        Does::Runs,
        |values| consumer(values, ConsumerStep::Records),
        "Get the next records of a consumer.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/offsets"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::Commit),
        "Commit the offsets of a consumer.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/offsets"],
        GET,
        Does::Runs,
        |values| consumer(values, ConsumerStep::Committed),
        "Get the committed offsets of a consumer.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/subscription"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::Subscribe),
        "Subscribe a consumer to topics.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/subscription"],
        GET,
        Does::Runs,
        |values| consumer(values, ConsumerStep::Subscription),
        "Get the topics that a consumer is subscribed to.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/subscription"],
        DELETE,
        Does::Changes,
        |values| consumer(values, ConsumerStep::Unsubscribe),
        "Unsubscribe a consumer from all topics.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/assignments"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::Assign),
        "Assign partitions to a consumer.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/assignments"],
        GET,
        Does::Runs,
        |values| consumer(values, ConsumerStep::Assignment),
        "Get the partitions assigned to a consumer.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/positions"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::Seek),
        "Move a consumer to offsets.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/positions/beginning"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::SeekBeginning),
        "Move a consumer to the first records.",
    ),
    row(
        &["/consumers/{group}/instances/{name}/positions/end"],
        POST,
        Does::Changes,
        |values| consumer(values, ConsumerStep::SeekEnd),
        "Move a consumer past the last records.",
    ),
    row(&["/v3/clusters"], GET, Does::Runs, |_| Any::Confluent(ConfluentTarget::Clusters), "List the clusters."),
    row(
        &["/v3/clusters/{cluster}"],
        GET,
        Does::Runs,
        |values| Any::Confluent(ConfluentTarget::Cluster(values.text("cluster"))),
        "Get a cluster.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics"],
        GET,
        Does::Runs,
        |values| in_cluster(values, Topic::All),
        "List the topics of a cluster.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics/{topic}"],
        GET,
        Does::Runs,
        |values| in_cluster(values, Topic::One(values.text("topic"))),
        "Get a topic.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics/{topic}/partitions"],
        GET,
        Does::Runs,
        |values| in_cluster(values, Topic::Partitions(values.text("topic"))),
        "List the partitions of a topic.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics/{topic}/partitions/{partition}"],
        GET,
        Does::Runs,
        |values| in_cluster(values, Topic::Partition(values.text("topic"), values.text("partition"))),
        "Get a partition.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics/{topic}/records"],
        POST,
        Does::Changes,
        |values| in_cluster(values, Topic::Records(values.text("topic"))),
        "Append records to a topic, with a response for each as it is stored.",
    ),
    row(
        &["/v3/clusters/{cluster}/topics/{topic}/records:batch"],
        POST,
        Does::Changes,
        |values| in_cluster(values, Topic::Batch(values.text("topic"))),
        "Append a batch of records to a topic, with one response.",
    ),
];
