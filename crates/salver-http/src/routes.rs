//! The routing table, as data. A row lists the paths and methods of a route, what it may do, and the protocol family
//! that it belongs to. From the table follow the routing itself, the responses for unknown paths and methods, the
//! rights of pages of other sites, and the page `docs/routes.md`.
//!
//! `GET /api/tables/cities.csv` finds the row of `/api/tables/{name}`, which turns it into
//! `OwnTarget::Table("cities.csv")`; `PUT` of it finds the path without a row, and gets `Allow: GET, HEAD, OPTIONS`.
//!
//! What entries declare (routes of streams and of functions, mounted applications) is in a second table, `declared`,
//! which is made again whenever a file is loaded. `precedence` says which paths are left to it.

pub(crate) mod arangodb;
pub(crate) mod confluent;
pub(crate) mod declared;
pub(crate) mod exports;
pub(crate) mod functions;
mod label;
pub(crate) mod own;
mod pattern;
pub(crate) mod precedence;
pub(crate) mod records;
pub(crate) mod streams;
mod suggest;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::Method;
use matchit::{Params, Router};

pub(crate) use self::label::{AtomicLabel, RouteLabel, labels};
pub(crate) use self::suggest::suggestion;
use crate::dialect::{Dialect, php};
use crate::segment::segment;

/// A route.
#[derive(Clone, Debug)]
pub(crate) struct RouteRow {
    /// Paths relative to the base path. The first one is documented.
    pub(crate) paths: &'static [&'static str],
    /// Methods of the route, in addition to OPTIONS.
    pub(crate) methods: Methods,
    /// Further condition on the request.
    pub(crate) when: When,
    /// Effects that the route may have.
    pub(crate) does: Does,
    /// Function that builds the target from the values in the path.
    pub(crate) target: for<'p> fn(Values<'_, 'p>) -> RouteTarget<'p>,
    /// Description of the route, in a sentence.
    pub(crate) summary: &'static str,
    /// Label under which its requests are counted, set when the table is made.
    pub(crate) label: RouteLabel,
}

/// Creates a row without a further condition.
const fn row(
    paths: &'static [&'static str],
    methods: Methods,
    does: Does,
    target: for<'p> fn(Values<'_, 'p>) -> RouteTarget<'p>,
    summary: &'static str,
) -> RouteRow {
    RouteRow { paths, methods, when: When::Always, does, target, summary, label: RouteLabel::NONE }
}

impl RouteRow {
    /// Returns the target without the values in the path.
    pub(crate) fn target_of_any(&self) -> RouteTarget<'static> {
        (self.target)(Values(&Params::default()))
    }

    /// Returns the row with a further condition.
    const fn when(self, when: When) -> Self {
        Self { when, ..self }
    }
}

/// The target of a request, by door.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RouteTarget<'p> {
    /// Salver's own doors, except those with a variant of their own below.
    Own(own::OwnTarget<'p>),
    /// Rows of databases, in the protocol of PHP-CRUD-API.
    Records(records::RecordsTarget<'p>),
    /// Streams, in Salver's own protocol and Tinybird's.
    Streams(streams::StreamsTarget<'p>),
    /// Streams, in the protocol of Confluent's REST Proxy.
    Confluent(confluent::ConfluentTarget<'p>),
    /// Cursors and related requests, in the protocol of ArangoDB.
    ArangoDb(arangodb::ArangodbTarget<'p>),
    /// Exports of whole entries.
    Exports(exports::ExportsTarget<'p>),
    /// User code by name.
    Functions(functions::FunctionsTarget<'p>),
}

/// The effects that a request may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// Only reads. A page of another site may send it, but can't read the response.
    Reads,
    /// Runs user code, or occupies shared resources. A link to it may be followed from any site.
    Runs,
    /// Requests that code is run or work is done. No link leads to such a request.
    Asks,
    /// May change something.
    Changes,
}

/// A condition on a request, in addition to its path and method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// No condition.
    Always,
    /// The query string has this parameter.
    Parameter(&'static str),
    /// This value of the path is a whole number.
    Number(&'static str),
}

/// A set of methods. HEAD is implied by GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Methods(u8);

impl Methods {
    pub(crate) const GET: Self = Self(1);
    pub(crate) const POST: Self = Self(2);
    pub(crate) const PUT: Self = Self(4);
    pub(crate) const PATCH: Self = Self(8);
    pub(crate) const DELETE: Self = Self(16);
    /// All methods except OPTIONS, including unknown ones: the door decides.
    pub(crate) const ANY: Self = Self(32);
    /// HEAD, where it is declared by itself.
    pub(crate) const HEAD: Self = Self(64);
    /// OPTIONS, where the door answers it.
    pub(crate) const OPTIONS: Self = Self(128);
    /// No method.
    pub(crate) const NONE: Self = Self(0);

    const NAMES: [(Self, &'static str); 6] = [
        (Self::GET, "GET, HEAD"),
        (Self::HEAD, "HEAD"),
        (Self::POST, "POST"),
        (Self::PUT, "PUT"),
        (Self::PATCH, "PATCH"),
        (Self::DELETE, "DELETE"),
    ];

    /// Returns the set of the method that user code declares under this name; `*` is any.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "*" => Self::ANY.and(Self::OPTIONS),
            "GET" => Self::GET,
            "HEAD" => Self::HEAD,
            "POST" => Self::POST,
            "PUT" => Self::PUT,
            "PATCH" => Self::PATCH,
            "DELETE" => Self::DELETE,
            "OPTIONS" => Self::OPTIONS,
            _ => Self::NONE,
        }
    }

    /// Returns the union of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether it has every method of `other`.
    pub(crate) fn covers(self, other: Self) -> bool {
        let implied = if self.has(Self::GET) { Self::HEAD } else { Self::NONE };
        let all = if self.has(Self::ANY) { Self(!Self::OPTIONS.0).and(self) } else { self.and(implied) };
        all.0 & other.0 == other.0
    }

    /// Returns one of its methods.
    pub(crate) fn sample(self) -> Method {
        let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD];
        methods.into_iter().find(|method| self.allows(method)).unwrap_or(Method::OPTIONS)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether a request with this method is answered.
    pub(crate) fn allows(self, method: &Method) -> bool {
        self.has(Self::ANY) && *method != Method::OPTIONS
            || match *method {
                Method::GET => self.has(Self::GET),
                Method::HEAD => self.has(Self::GET) || self.has(Self::HEAD),
                Method::OPTIONS => self.has(Self::OPTIONS),
                Method::POST => self.has(Self::POST),
                Method::PUT => self.has(Self::PUT),
                Method::PATCH => self.has(Self::PATCH),
                Method::DELETE => self.has(Self::DELETE),
                _ => false,
            }
    }

    /// Formats the set for `Allow`.
    pub(crate) fn list(self) -> String {
        let is_named = |one: Self| match one {
            Self::HEAD => self.has(one) && !self.has(Self::GET) && !self.has(Self::ANY),
            _ => self.has(one) || self.has(Self::ANY),
        };
        let named = Self::NAMES.iter().filter(|(one, _)| is_named(*one));
        named.map(|(_, name)| *name).chain(["OPTIONS"]).collect::<Vec<_>>().join(", ")
    }
}

/// The values of the parameters in a path pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a, 'p>(&'a Params<'static, 'p>);

impl<'p> Values<'_, 'p> {
    /// Returns a value, decoded.
    pub(crate) fn text(self, name: &str) -> Cow<'p, str> {
        segment(self.raw(name))
    }

    /// Returns a value, undecoded.
    pub(crate) fn raw(self, name: &str) -> &'p str {
        self.get(name).unwrap_or_default()
    }

    /// Returns a value that only some of the row's paths have, undecoded.
    pub(crate) fn get(self, name: &str) -> Option<&'p str> {
        self.0.get(name)
    }
}

/// A path in the table.
#[derive(Debug)]
pub(crate) struct RoutePath {
    rows: Vec<&'static RouteRow>,
    /// Methods of all rows at this path.
    pub(crate) all: Methods,
    /// The same, formatted for `Allow`.
    pub(crate) methods: String,
    /// Family of the doors at this path.
    pub(crate) family: Family,
    /// Path as documented.
    pub(crate) path: &'static str,
    /// Whether the path is for login, registration and the like.
    pub(crate) is_account: bool,
}

/// The result of a lookup in the table.
#[derive(Debug)]
pub(crate) enum Found<'p> {
    /// A row that matches.
    Row(&'static RouteRow, RouteTarget<'p>),
    /// A path that matches, but no row for this method.
    OtherMethod(&'static RoutePath),
    /// No path that matches; the family by the path's prefix.
    Nothing(Family),
}

/// Doors that belong together and share a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Salver's own doors, except those that follow.
    Own,
    /// Rows of databases, in the protocol of PHP-CRUD-API.
    Records,
    /// Streams, in Salver's own protocol.
    Streams,
    /// Confluent's REST Proxy, v2.
    ConfluentV2,
    /// Confluent's REST Proxy, v3.
    ConfluentV3,
    /// Tinybird's Events API.
    Tinybird,
    /// ArangoDB's cursors.
    ArangoDb,
    /// Exports of whole entries.
    Exports,
    /// User code by name.
    Functions,
}

impl Family {
    /// Returns the dialect in which requests with this query string are refused.
    pub(crate) fn dialect(self, query: &str) -> Dialect {
        match self {
            Self::Records => Dialect::Php { xml: php::wants_xml(query) },
            Self::ArangoDb => Dialect::ArangoDb,
            Self::ConfluentV2 => Dialect::ConfluentV2,
            Self::ConfluentV3 => Dialect::ConfluentV3,
            Self::Tinybird => Dialect::Tinybird,
            Self::Own | Self::Streams | Self::Exports | Self::Functions => Dialect::Salver,
        }
    }

    /// Returns the headers that pages of other sites may send, formatted for `Access-Control-Allow-Headers`.
    pub(crate) fn request_headers(self) -> &'static str {
        match self {
            Self::Records => {
                "accept, authorization, content-type, if-match, if-none-match, idempotency-key, prefer, x-api-key, \
                 x-request-id, x-requested-with"
            }
            Self::Streams | Self::ConfluentV2 | Self::ConfluentV3 | Self::Tinybird => {
                "accept, content-type, content-encoding, last-event-id, salver-key, salver-id, salver-partition, \
                 salver-time, x-request-id"
            }
            Self::ArangoDb => "accept, content-type, x-request-id",
            Self::Functions => "accept, content-type, prefer, x-callback-url, x-request-id",
            _ => {
                "accept, authorization, content-type, if-none-match, prefer, range, x-api-key, x-request-id, \
                 x-requested-with"
            }
        }
    }

    /// Returns whether a trailing slash in a path is ignored.
    fn takes_slash(self) -> bool {
        matches!(self, Self::Records | Self::Streams | Self::ConfluentV2 | Self::ConfluentV3 | Self::ArangoDb)
    }
}

impl RouteTarget<'_> {
    /// Returns the family of the door.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Own(_) => Family::Own,
            Self::Records(_) => Family::Records,
            Self::Streams(streams::StreamsTarget::Tinybird) => Family::Tinybird,
            Self::Streams(_) => Family::Streams,
            Self::Confluent(target) if target.is_of_v3() => Family::ConfluentV3,
            Self::Confluent(_) => Family::ConfluentV2,
            Self::ArangoDb(_) => Family::ArangoDb,
            Self::Exports(_) => Family::Exports,
            Self::Functions(_) => Family::Functions,
        }
    }
}

impl Found<'_> {
    /// Returns the family of the door.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Row(_, target) => target.family(),
            Self::OtherMethod(place) => place.family,
            Self::Nothing(family) => *family,
        }
    }
}

/// All rows, in the order of the documentation.
static ROWS: LazyLock<Vec<RouteRow>> = LazyLock::new(|| {
    let doors =
        [own::ROWS, records::ROWS, exports::ROWS, streams::ROWS, functions::ROWS, arangodb::ROWS, confluent::ROWS];
    label::labelled(doors.into_iter().flatten().cloned().collect())
});

/// Returns all rows, in the order of the documentation.
pub(crate) fn rows() -> impl Iterator<Item = &'static RouteRow> {
    ROWS.iter()
}

/// Prefixes of the families, for paths that match no row.
const FAMILIES: [(Family, &[&str]); 6] = [
    (Family::Records, records::FIRST),
    (Family::Streams, &["/api/streams"]),
    (Family::ConfluentV2, &["/topics", "/brokers", "/consumers"]),
    (Family::ConfluentV3, &["/v3/clusters"]),
    (Family::ArangoDb, &["/_api"]),
    (Family::Exports, &["/api/export"]),
];

struct Table {
    router: Router<usize>,
    places: Vec<RoutePath>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut by_path: BTreeMap<&'static str, Vec<&'static RouteRow>> = BTreeMap::new();
    for row in rows() {
        for path in row.paths {
            by_path.entry(path).or_default().push(row);
        }
    }
    let mut table = Table { router: Router::new(), places: Vec::new() };
    for (path, mut rows) in by_path {
        // Rows with a condition come first.
        rows.sort_by_key(|row| row.when == When::Always);
        let all = rows.iter().fold(Methods::NONE, |all, row| all.and(row.methods));
        let usual = rows.iter().find(|row| row.when == When::Always);
        let target = usual.map_or(RouteTarget::Own(own::OwnTarget::Index), |row| row.target_of_any());
        let is_account = matches!(target, RouteTarget::Records(records::RecordsTarget::Account(_)));
        let shown = usual.and_then(|row| row.paths.first()).unwrap_or(&path);
        let inserted = table.router.insert(path, table.places.len());
        debug_assert!(inserted.is_ok(), "{path}: {inserted:?}");
        let (methods, family) = (all.list(), target.family());
        table.places.push(RoutePath { rows, all, methods, family, path: shown, is_account });
    }
    table
});

/// Looks up `path`, relative to the base path.
pub(crate) fn find<'p>(method: &Method, path: &'p str, query: &str) -> Found<'p> {
    let table = &*TABLE;
    let path = if path.is_empty() { "/" } else { path };
    if let Some(shorter) = path.strip_suffix('/')
        && let Ok(found) = table.router.at(shorter)
        && table.places[*found.value].family.takes_slash()
    {
        return table.meant(*found.value, Values(&found.params), method, query);
    }
    match table.router.at(path) {
        Ok(found) => table.meant(*found.value, Values(&found.params), method, query),
        Err(_) => Found::Nothing(family_of(path)),
    }
}

impl Table {
    /// Selects the row of a place that matches the request.
    fn meant<'p>(&'static self, place: usize, values: Values<'_, 'p>, method: &Method, query: &str) -> Found<'p> {
        let place = &self.places[place];
        let is_meant = |row: &&&'static RouteRow| row.methods.allows(method) && row.when.holds(values, query);
        match place.rows.iter().find(is_meant) {
            Some(row) => Found::Row(row, (row.target)(values)),
            None => Found::OtherMethod(place),
        }
    }
}

impl When {
    fn holds(self, values: Values<'_, '_>, query: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Parameter(name) => query.split('&').any(|pair| pair.split('=').next() == Some(name)),
            Self::Number(name) => values.raw(name).bytes().all(|byte| byte.is_ascii_digit()),
        }
    }
}

fn family_of(path: &str) -> Family {
    let is_below =
        |first: &&str| path.strip_prefix(*first).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut families = FAMILIES.iter().filter(|(_, firsts)| firsts.iter().any(is_below));
    families.next().map_or(Family::Own, |(family, _)| *family)
}
