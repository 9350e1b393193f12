//! The records doors, in the protocol of PHP-CRUD-API.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, Values, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RecordsTarget<'p> {
    /// Changes of several tables, all or none.
    Records,
    /// A table.
    Table(Cow<'p, str>),
    /// Rows of a table by their keys, which can only be split once the table is known.
    Row(Cow<'p, str>, &'p str),
    /// A table as GeoJSON features.
    Map(Cow<'p, str>),
    /// Rows of a table by their keys, as GeoJSON features.
    MapRow(Cow<'p, str>, &'p str),
    /// The schema.
    Schema,
    /// The schema of a table.
    SchemaTable(Cow<'p, str>),
    /// The schema of a column.
    SchemaColumn(Cow<'p, str>, Cow<'p, str>),
    /// The OpenAPI description.
    Openapi,
    /// Reloads the schemas.
    ClearCache,
    /// Measures the latency of the databases.
    Ping,
    /// An operation on the caller's own account.
    Account(AccountStep),
}

impl RecordsTarget<'_> {
    /// Returns whether it is rows, and nothing else that is kept with them.
    pub(crate) fn is_of_rows(&self) -> bool {
        matches!(self, Self::Records | Self::Table(_) | Self::Row(..) | Self::Map(_) | Self::MapRow(..))
    }
}

/// An operation on the caller's own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountStep {
    /// Logs in with a name and a password.
    Login,
    /// Ends the session.
    Logout,
    /// Registers a new user.
    Register,
    /// Changes the password.
    Password,
    /// Returns the user.
    Me,
}

/// Path prefixes of these doors.
pub(super) const FIRST: &[&str] = &[
    "/api/records",
    "/api/geojson",
    "/api/columns",
    "/api/openapi",
    "/api/cache",
    "/api/status",
    "/api/login",
    "/api/logout",
    "/api/register",
    "/api/password",
    "/api/me",
];

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;
const CHANGE: Methods = Methods::PUT.and(Methods::PATCH).and(Methods::DELETE);
const DEFINE: Methods = Methods::PUT.and(Methods::DELETE);

fn table<'p>(values: Values<'_, 'p>) -> Any<'p> {
    Any::Records(RecordsTarget::Table(values.text("table")))
}

fn by_key<'p>(values: Values<'_, 'p>) -> Any<'p> {
    Any::Records(RecordsTarget::Row(values.text("table"), values.raw("id")))
}

fn schema_table<'p>(values: Values<'_, 'p>) -> Any<'p> {
    Any::Records(RecordsTarget::SchemaTable(values.text("table")))
}

fn schema_column<'p>(values: Values<'_, 'p>) -> Any<'p> {
    Any::Records(RecordsTarget::SchemaColumn(values.text("table"), values.text("column")))
}

pub(super) const ROWS: &[RouteRow] = &[
    row(
        &["/api/records"],
        POST,
        Does::Changes,
        |_| Any::Records(RecordsTarget::Records),
        "Change rows of several tables in one transaction.",
    ),
    row(&["/api/records/{table}"], GET, Does::Reads, table, "List rows of a table."),
    row(&["/api/records/{table}"], POST, Does::Changes, table, "Create one row or many."),
    row(&["/api/records/{table}"], CHANGE, Does::Changes, table, "Change the rows that match a filter."),
    row(&["/api/records/{table}/{id}"], GET, Does::Reads, by_key, "Get rows by key."),
    row(&["/api/records/{table}/{id}"], CHANGE, Does::Changes, by_key, "Change rows by key."),
    row(
        &["/api/geojson/{table}"],
        GET,
        Does::Reads,
        |values| Any::Records(RecordsTarget::Map(values.text("table"))),
        "List rows as GeoJSON features.",
    ),
    row(
        &["/api/geojson/{table}/{id}"],
        GET,
        Does::Reads,
        |values| Any::Records(RecordsTarget::MapRow(values.text("table"), values.raw("id"))),
        "Get a row by key as a GeoJSON feature.",
    ),
    row(
        &["/api/columns"],
        GET,
        Does::Reads,
        |_| Any::Records(RecordsTarget::Schema),
        "List the tables and their columns.",
    ),
    row(&["/api/columns"], POST, Does::Changes, |_| Any::Records(RecordsTarget::Schema), "Create a table."),
    row(&["/api/columns/{table}"], GET, Does::Reads, schema_table, "Get the columns of a table."),
    row(&["/api/columns/{table}"], POST, Does::Changes, schema_table, "Create a column."),
    row(&["/api/columns/{table}"], DEFINE, Does::Changes, schema_table, "Rename or drop a table."),
    row(&["/api/columns/{table}/{column}"], GET, Does::Reads, schema_column, "Get a column."),
    row(&["/api/columns/{table}/{column}"], DEFINE, Does::Changes, schema_column, "Alter or drop a column."),
    row(
        &["/api/openapi"],
        GET,
        Does::Reads,
        |_| Any::Records(RecordsTarget::Openapi),
        "Describe the records API in OpenAPI.",
    ),
    row(
        &["/api/cache/clear"],
        GET,
        Does::Asks,
        |_| Any::Records(RecordsTarget::ClearCache),
        "Read the schemas of the databases again.",
    ),
    row(
        &["/api/status/ping"],
        GET,
        Does::Reads,
        |_| Any::Records(RecordsTarget::Ping),
        "Measure the round trip to the databases.",
    ),
    row(&["/api/login"], POST, Does::Changes, |_| Any::Records(RecordsTarget::Account(AccountStep::Login)), "Log in."),
    row(
        &["/api/logout"],
        POST,
        Does::Changes,
        |_| Any::Records(RecordsTarget::Account(AccountStep::Logout)),
        "Log out.",
    ),
    row(
        &["/api/register"],
        POST,
        Does::Changes,
        |_| Any::Records(RecordsTarget::Account(AccountStep::Register)),
        "Register a user.",
    ),
    row(
        &["/api/password"],
        POST,
        Does::Changes,
        |_| Any::Records(RecordsTarget::Account(AccountStep::Password)),
        "Change the password.",
    ),
    row(
        &["/api/me"],
        GET,
        Does::Reads,
        |_| Any::Records(RecordsTarget::Account(AccountStep::Me)),
        "Get the user who is logged in.",
    ),
];
