//! Streams, in Salver's own protocol and Tinybird's.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamsTarget<'p> {
    /// Lists the streams.
    All,
    /// Describes a stream.
    Describe(Cow<'p, str>),
    /// Appends events to a stream.
    Append(Cow<'p, str>),
    /// Follows the events of a stream.
    Tail(Cow<'p, str>),
    /// Reads a page of events.
    Events(Cow<'p, str>),
    /// Lists the groups of a stream.
    Groups(Cow<'p, str>),
    /// Describes a group.
    Group(Cow<'p, str>, Cow<'p, str>),
    /// Reads the next events of a group.
    GroupEvents(Cow<'p, str>, Cow<'p, str>),
    /// Commits the offset of a group.
    GroupCommit(Cow<'p, str>, Cow<'p, str>),
    /// Appends events to the stream that the query string names.
    Tinybird,
}

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;

pub(super) const ROWS: &[RouteRow] = &[
    row(&["/api/streams"], GET, Does::Reads, |_| Any::Streams(StreamsTarget::All), "List the streams."),
    row(
        &["/api/streams/{name}"],
        GET,
        Does::Reads,
        |values| Any::Streams(StreamsTarget::Describe(values.text("name"))),
        "Get the state of a stream.",
    ),
    row(
        &["/api/streams/{name}"],
        POST,
        Does::Changes,
        |values| Any::Streams(StreamsTarget::Append(values.text("name"))),
        "Append events to a stream.",
    ),
    row(
        &["/api/streams/{name}/tail"],
        GET,
        Does::Runs,
        |values| Any::Streams(StreamsTarget::Tail(values.text("name"))),
        "Follow new events, as server-sent events.",
    ),
    row(
        &["/api/streams/{name}/events"],
        GET,
        Does::Reads,
        |values| Any::Streams(StreamsTarget::Events(values.text("name"))),
        "Get a page of events.",
    ),
    row(
        &["/api/streams/{name}/groups"],
        GET,
        Does::Reads,
        |values| Any::Streams(StreamsTarget::Groups(values.text("name"))),
        "List the consumer groups of a stream.",
    ),
    row(
        &["/api/streams/{name}/groups/{group}"],
        GET,
        Does::Runs,
        |values| Any::Streams(StreamsTarget::Group(values.text("name"), values.text("group"))),
        "Get the offset of a consumer group.",
    ),
    row(
        &["/api/streams/{name}/groups/{group}/events"],
        GET,
        Does::Runs,
        |values| Any::Streams(StreamsTarget::GroupEvents(values.text("name"), values.text("group"))),
        "Get the next events of a consumer group.",
    ),
    row(
        &["/api/streams/{name}/groups/{group}/commit"],
        POST,
        Does::Changes,
        |values| Any::Streams(StreamsTarget::GroupCommit(values.text("name"), values.text("group"))),
        "Commit the offset of a consumer group.",
    ),
    row(
        &["/v0/events"],
        POST,
        Does::Changes,
        |_| Any::Streams(StreamsTarget::Tinybird),
        "Append events to the stream `name`, as in Tinybird.",
    ),
];
