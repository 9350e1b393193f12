//! Cursors, and the other requests of ArangoDB's clients. Those clients put `/_db/{database}` before their paths; there
//! is only one database, which has any name.

use super::{Does, Methods, RouteRow, RouteTarget as Any, Values, When, row};

/// A request to these doors, and the database that it names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArangodbTarget<'p> {
    /// Name of the database in the path.
    pub(crate) database: Option<&'p str>,
    /// The request itself.
    pub(crate) asked: ArangodbRequest<'p>,
}

/// A request to these doors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArangodbRequest<'p> {
    /// Opens an export: the rows of an entry, in batches.
    OpenExport,
    /// Fetches the next batch of an export.
    NextOfExport(&'p str),
    /// Closes an export.
    EndExport(&'p str),
    /// Opens a cursor: the rows of a query, in batches.
    OpenCursor,
    /// Fetches the next batch of a cursor, or one by its number.
    NextOfCursor(&'p str, Option<&'p str>),
    /// Closes a cursor.
    EndCursor(&'p str),
    /// Lists the collections.
    Collections,
    /// Describes a collection, or returns one of its properties.
    Collection(&'p str, Option<&'p str>),
    /// Lists the databases; with a value, only the current one or those of the user.
    Databases(Option<&'p str>),
    /// Logs in: a token for a name and a password.
    Login,
    /// Describes the server.
    Server(About),
    /// A part of ArangoDB's API that Salver does not implement, by its first word.
    Absent(&'p str),
}

/// The properties of the server that clients request first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Version of the server.
    Version,
    /// Availability.
    Availability,
    /// Mode, which tells whether the server is writable.
    Mode,
    /// Role in a cluster.
    Role,
    /// System time.
    Time,
    /// Storage engine.
    Engine,
}

fn of<'p>(values: Values<'_, 'p>, asked: ArangodbRequest<'p>) -> Any<'p> {
    Any::ArangoDb(ArangodbTarget { database: values.get("database"), asked })
}

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;
const PUT: Methods = Methods::PUT;
const DELETE: Methods = Methods::DELETE;

pub(super) const ROWS: &[RouteRow] = &[
    row(
        &["/_api/cursor", "/api/cursor", "/_db/{database}/_api/cursor"],
        POST,
        Does::Asks,
        |values| of(values, ArangodbRequest::OpenCursor),
        "Run a query and get its first batch.",
    ),
    row(
        &["/_api/cursor/{id}", "/api/cursor/{id}", "/_db/{database}/_api/cursor/{id}"],
        POST.and(PUT),
        Does::Asks,
        |values| of(values, ArangodbRequest::NextOfCursor(values.raw("id"), None)),
        "Get the next batch of a cursor.",
    ),
    row(
        &["/_api/cursor/{id}", "/api/cursor/{id}", "/_db/{database}/_api/cursor/{id}"],
        DELETE,
        Does::Asks,
        |values| of(values, ArangodbRequest::EndCursor(values.raw("id"))),
        "Delete a cursor.",
    ),
    row(
        &["/_api/cursor/{id}/{batch}", "/api/cursor/{id}/{batch}", "/_db/{database}/_api/cursor/{id}/{batch}"],
        POST.and(PUT),
        Does::Asks,
        |values| of(values, ArangodbRequest::NextOfCursor(values.raw("id"), values.get("batch"))),
        "Get a batch of a cursor by its number.",
    ),
    row(
        &["/api/export", "/api/export/"],
        POST,
        Does::Asks,
        |values| of(values, ArangodbRequest::OpenExport),
        "Export the entry `collection` in batches, and get the first one.",
    )
    .when(When::Parameter("collection")),
    row(
        &["/_api/export", "/_db/{database}/_api/export"],
        POST,
        Does::Asks,
        |values| of(values, ArangodbRequest::OpenExport),
        "Export the entry `collection` in batches, and get the first one.",
    ),
    row(
        &["/_api/export/{id}", "/api/export/{id}", "/_db/{database}/_api/export/{id}"],
        PUT,
        Does::Asks,
        |values| of(values, ArangodbRequest::NextOfExport(values.raw("id"))),
        "Get the next batch of an export.",
    ),
    row(
        &["/api/export/{id}"],
        DELETE,
        Does::Asks,
        |values| of(values, ArangodbRequest::EndExport(values.raw("id"))),
        "Delete an export in batches.",
    )
    .when(When::Number("id")),
    row(
        &["/_api/export/{id}", "/_db/{database}/_api/export/{id}"],
        DELETE,
        Does::Asks,
        |values| of(values, ArangodbRequest::EndExport(values.raw("id"))),
        "Delete an export in batches.",
    ),
    row(
        &["/_api/collection", "/_db/{database}/_api/collection"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Collections),
        "List the entries as collections.",
    ),
    row(
        &["/_api/collection/{name}", "/_db/{database}/_api/collection/{name}"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Collection(values.raw("name"), None)),
        "Get an entry as a collection.",
    ),
    row(
        &["/_api/collection/{name}/{question}", "/_db/{database}/_api/collection/{name}/{question}"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Collection(values.raw("name"), values.get("question"))),
        "Get the `properties`, `count` or `revision` of a collection.",
    ),
    row(
        &["/_api/database", "/_db/{database}/_api/database"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Databases(None)),
        "List the databases, of which there is one.",
    ),
    row(
        &["/_api/database/{question}", "/_db/{database}/_api/database/{question}"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Databases(values.get("question"))),
        "Get the `current` database, or those of the `user`.",
    ),
    row(
        &["/_open/auth", "/_db/{database}/_open/auth"],
        POST,
        Does::Asks,
        |values| of(values, ArangodbRequest::Login),
        "Get a token for a user name and a password.",
    ),
    row(
        &["/_api/version", "/_db/{database}/_api/version"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Version)),
        "Get the version, as ArangoDB's clients read it.",
    ),
    row(
        &["/_api/engine", "/_db/{database}/_api/engine"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Engine)),
        "Get the storage engine.",
    ),
    row(
        &["/_admin/server/availability", "/_db/{database}/_admin/server/availability"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Availability)),
        "Check that the server is available.",
    ),
    row(
        &["/_admin/server/mode", "/_db/{database}/_admin/server/mode"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Mode)),
        "Get the mode of the server, which is read-only.",
    ),
    row(
        &["/_admin/server/role", "/_db/{database}/_admin/server/role"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Role)),
        "Get the server's role in a cluster.",
    ),
    row(
        &["/_admin/time", "/_db/{database}/_admin/time"],
        GET,
        Does::Runs,
        |values| of(values, ArangodbRequest::Server(About::Time)),
        "Get the server's time.",
    ),
    row(
        &["/_api/{door}", "/_api/{door}/{*rest}", "/_db/{database}/_api/{door}", "/_db/{database}/_api/{door}/{*rest}"],
        Methods::ANY,
        Does::Runs,
        |values| of(values, ArangodbRequest::Absent(values.raw("door"))),
        "Refuse what else ArangoDB has, with what to use instead.",
    ),
];
