//! Salver's own doors: the catalog, rows, SQL, GraphQL, values, and the state of the server.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OwnTarget<'p> {
    /// The index of the catalog.
    Index,
    /// The same as a page without scripts.
    Plain,
    /// A page or a file of the console.
    Console(&'p str),
    /// Liveness of the server.
    Health,
    /// Readiness: whether all entries are loaded.
    Ready,
    /// What the server counted.
    Metrics,
    /// The OpenAPI description of everything.
    Openapi,
    /// Version of the server.
    Version,
    /// The schemas of all entries.
    Schemas,
    /// The schema of an entry.
    Schema(Cow<'p, str>),
    /// The rows of an entry.
    Table(Cow<'p, str>),
    /// A SQL statement.
    Sql,
    /// The list of named queries.
    Queries,
    /// A named query.
    Query(Cow<'p, str>),
    /// A change of a named query.
    EditQuery(Cow<'p, str>),
    /// A GraphQL document.
    Graphql,
    /// A file of GraphiQL.
    GraphqlAsset(&'p str),
    /// The value of a key, in a store.
    Look(Cow<'p, str>, Cow<'p, str>),
    /// A step of log-in at an identity provider.
    Provider(ProviderStep),
    /// ROAPI's registration and removal of tables at run time, for which Salver has its configuration instead.
    Administer,
}

/// A step of log-in at an identity provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProviderStep {
    /// Sends the browser to the provider.
    Login,
    /// Takes what the provider sends back with the browser.
    Callback,
    /// Ends the session.
    Logout,
}

/// Prefix of the paths of log-in at an identity provider.
pub(crate) const PROVIDER: &str = "/auth/";

const GET: Methods = Methods::GET;
const POST: Methods = Methods::POST;

pub(super) const ROWS: &[RouteRow] = &[
    row(
        &["/"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Index),
        "Show the catalog: the console for browsers, JSON for programs.",
    ),
    row(&["/plain"], GET, Does::Reads, |_| Any::Own(OwnTarget::Plain), "Show the catalog as a page without scripts."),
    row(
        &["/console/{*path}", "/console", "/console/"],
        GET,
        Does::Reads,
        |values| Any::Own(OwnTarget::Console(values.raw("path"))),
        "Show a page of the console, or get one of its files.",
    ),
    row(&["/health"], GET, Does::Reads, |_| Any::Own(OwnTarget::Health), "Check that the server is alive."),
    row(
        &["/ready"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Ready),
        "Check that every entry is loaded, or tell why not.",
    ),
    row(
        &["/metrics"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Metrics),
        "Get what is measured, in Prometheus' text format.",
    ),
    row(
        &["/openapi.json"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Openapi),
        "Describe everything that is served, in OpenAPI.",
    ),
    row(&["/api/version"], GET, Does::Reads, |_| Any::Own(OwnTarget::Version), "Get the server's version."),
    row(
        &["/api/schema", "/api/schema/"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Schemas),
        "Get the schemas of all entries.",
    ),
    row(
        &["/api/schema/{name}"],
        GET,
        Does::Reads,
        |values| Any::Own(OwnTarget::Schema(values.text("name"))),
        "Get the schema of an entry.",
    ),
    row(
        &["/api/tables/{name}"],
        GET,
        Does::Reads,
        |values| Any::Own(OwnTarget::Table(values.text("name"))),
        "Get rows of an entry, in the format of the suffix, `format` or `Accept`.",
    ),
    row(&["/api/sql"], GET, Does::Runs, |_| Any::Own(OwnTarget::Sql), "Run the SQL statement `q`."),
    row(&["/api/sql"], POST, Does::Asks, |_| Any::Own(OwnTarget::Sql), "Run the SQL statement in the body."),
    row(&["/api/queries"], GET, Does::Reads, |_| Any::Own(OwnTarget::Queries), "List the named queries."),
    row(
        &["/api/queries/{name}"],
        GET,
        Does::Runs,
        |values| Any::Own(OwnTarget::Query(values.text("name"))),
        "Run a named query, with the values of its parameters.",
    ),
    row(
        &["/api/queries/{name}"],
        Methods::PUT,
        Does::Changes,
        |values| Any::Own(OwnTarget::EditQuery(values.text("name"))),
        "Save the text of a named query, where the server was started with `--edit`.",
    ),
    row(
        &["/api/queries/{name}"],
        Methods::DELETE,
        Does::Changes,
        |values| Any::Own(OwnTarget::EditQuery(values.text("name"))),
        "Remove a named query that stands in a file, where the server was started with `--edit`.",
    ),
    row(
        &["/api/graphql"],
        GET,
        Does::Reads,
        |_| Any::Own(OwnTarget::Graphql),
        "Run the GraphQL document `query`; without one, show GraphiQL to browsers.",
    ),
    row(&["/api/graphql"], POST, Does::Asks, |_| Any::Own(OwnTarget::Graphql), "Run the GraphQL document in the body."),
    row(
        &["/api/graphql/{*file}", "/api/graphql/"],
        GET,
        Does::Reads,
        |values| Any::Own(OwnTarget::GraphqlAsset(values.raw("file"))),
        "Get a file of GraphiQL.",
    ),
    row(
        &["/api/kv/{store}/{*key}"],
        GET,
        Does::Reads,
        |values| Any::Own(OwnTarget::Look(values.text("store"), values.text("key"))),
        "Look up the value of a key.",
    ),
    row(
        &["/auth/login"],
        GET,
        Does::Runs,
        |_| Any::Own(OwnTarget::Provider(ProviderStep::Login)),
        "Log in at the identity provider, and go on at the path `to`.",
    ),
    row(
        &["/auth/callback"],
        GET,
        Does::Runs,
        |_| Any::Own(OwnTarget::Provider(ProviderStep::Callback)),
        "Come back from the identity provider. HEAD is refused (405), so that no look at the link uses up its code.",
    ),
    row(
        &["/auth/logout"],
        POST,
        Does::Changes,
        |_| Any::Own(OwnTarget::Provider(ProviderStep::Logout)),
        "Log out, and go on at the path `to` if there is one; with `oidc_logout` by way of the provider.",
    ),
    row(
        &["/api/table", "/api/tables/drop"],
        POST,
        Does::Asks,
        |_| Any::Own(OwnTarget::Administer),
        "Refuse ROAPI's changes of the catalog, which comes from the settings.",
    ),
];
