//! The table of routes: what there is to ask for, as data. A row says at which paths and by which methods something is
//! asked for, what it may do, and whose language is spoken there. Where a request goes, what is said of a path that is
//! not there or not for a method, how far a page of another site may go, and the page `docs/routes.md` follow from it.
//!
//! `GET /api/tables/cities.csv` finds the row of `/api/tables/{name}`, which makes `Target::Table("cities.csv")` of it;
//! `PUT` of it finds the path without a row, and is told `GET, HEAD, OPTIONS`. Paths that entries declare (routes of
//! streams and of functions) are no rows; `asked` says in which order they are looked for.

pub(crate) mod arangodb;
pub(crate) mod confluent;
pub(crate) mod exports;
pub(crate) mod functions;
pub(crate) mod own;
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

pub(crate) use self::suggest::suggestion;
use crate::segment::segment;

/// One route.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its paths, below the base path. The first is the one that is shown.
    pub(crate) paths: &'static [&'static str],
    /// The methods it answers, beside OPTIONS.
    pub(crate) methods: Methods,
    /// What beside path and method makes a request one for it.
    pub(crate) when: When,
    /// What it may do.
    pub(crate) does: Does,
    /// What is asked for, of the values in the path.
    pub(crate) target: for<'p> fn(Values<'_, 'p>) -> Target<'p>,
    /// What it is, in a sentence.
    pub(crate) summary: &'static str,
}

/// A row for whatever else a request says.
const fn row(
    paths: &'static [&'static str],
    methods: Methods,
    does: Does,
    target: for<'p> fn(Values<'_, 'p>) -> Target<'p>,
    summary: &'static str,
) -> Row {
    Row { paths, methods, when: When::Always, does, target, summary }
}

impl Row {
    /// The same row, for requests of which this holds.
    const fn when(self, when: When) -> Self {
        Self { when, ..self }
    }
}

/// What is asked for, by the door that answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target<'p> {
    /// Salver's own doors that have no door of their own below.
    Own(own::Target<'p>),
    /// Rows of databases, as PHP-CRUD-API has them.
    Records(records::Target<'p>),
    /// Salver's own doors of streams, and Tinybird's.
    Streams(streams::Target<'p>),
    /// Confluent's REST Proxy.
    Confluent(confluent::Target<'p>),
    /// Cursors and what is around them, as ArangoDB has them.
    ArangoDb(arangodb::Target<'p>),
    /// Whole entries.
    Exports(exports::Target<'p>),
    /// User code by name.
    Functions(functions::Target<'p>),
}

/// How far a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It reads what is there. A page of another site may ask, and can't read the answer.
    Reads,
    /// It runs somebody's code, or holds something that others need. A link to it may be followed from anywhere.
    Runs,
    /// It asks for code to be run, or for work to be done, which no link is for.
    Asks,
    /// It may change something.
    Changes,
}

/// What beside path and method makes a request one for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Nothing.
    Always,
    /// The query string has this parameter.
    Parameter(&'static str),
    /// This value of the path is a whole number.
    Number(&'static str),
}

/// Methods, as a set. HEAD goes with GET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Methods(u8);

impl Methods {
    pub(crate) const GET: Self = Self(1);
    pub(crate) const POST: Self = Self(2);
    pub(crate) const PUT: Self = Self(4);
    pub(crate) const PATCH: Self = Self(8);
    pub(crate) const DELETE: Self = Self(16);
    /// All of them, and others too: the door says what it makes of each.
    pub(crate) const ANY: Self = Self(32);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::GET, "GET, HEAD"),
        (Self::POST, "POST"),
        (Self::PUT, "PUT"),
        (Self::PATCH, "PATCH"),
        (Self::DELETE, "DELETE"),
    ];

    /// These and others.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn allows(self, method: &Method) -> bool {
        self.has(Self::ANY) && *method != Method::OPTIONS
            || match *method {
                Method::GET | Method::HEAD => self.has(Self::GET),
                Method::POST => self.has(Self::POST),
                Method::PUT => self.has(Self::PUT),
                Method::PATCH => self.has(Self::PATCH),
                Method::DELETE => self.has(Self::DELETE),
                _ => false,
            }
    }

    /// As `Allow` lists them.
    fn list(self) -> String {
        let named = Self::NAMES.iter().filter(|(one, _)| self.has(*one) || self.has(Self::ANY));
        named.map(|(_, name)| *name).chain(["OPTIONS"]).collect::<Vec<_>>().join(", ")
    }
}

/// The values that a path has where its pattern has names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'a, 'p>(&'a Params<'static, 'p>);

impl<'p> Values<'_, 'p> {
    /// One, decoded.
    pub(crate) fn text(self, name: &str) -> Cow<'p, str> {
        segment(self.raw(name))
    }

    /// One as it came.
    pub(crate) fn raw(self, name: &str) -> &'p str {
        self.get(name).unwrap_or_default()
    }

    /// One that only some of the row's paths have, as it came.
    pub(crate) fn get(self, name: &str) -> Option<&'p str> {
        self.0.get(name)
    }
}

/// A path that is there.
#[derive(Debug)]
pub(crate) struct Place {
    rows: Vec<&'static Row>,
    /// The methods it answers, as `Allow` lists them.
    pub(crate) methods: String,
    /// Which doors stand there.
    pub(crate) family: Family,
    /// The path, as the page shows it.
    pub(crate) path: &'static str,
    /// Whether callers do something here about who they are.
    pub(crate) is_account: bool,
}

/// What a request asks for.
#[derive(Debug)]
pub(crate) enum Found<'p> {
    /// Something.
    Row(&'static Row, Target<'p>),
    /// Something else than what is at the path.
    OtherMethod(&'static Place),
    /// Nothing, at a path that would be of these doors.
    Nothing(Family),
}

/// Doors that stand together: in what order they are asked, and whose language they speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Salver's own, beside those that follow.
    Own,
    /// Rows of databases.
    Records,
    /// Salver's own doors of streams.
    Streams,
    /// Confluent's REST Proxy, v2.
    ConfluentV2,
    /// Confluent's REST Proxy, v3.
    ConfluentV3,
    /// Tinybird's Events API.
    Tinybird,
    /// ArangoDB's cursors.
    ArangoDb,
    /// Whole entries.
    Exports,
    /// User code by name.
    Functions,
}

impl Family {
    /// Whether a path may end in a slash that says nothing.
    fn takes_slash(self) -> bool {
        matches!(self, Self::Records | Self::Streams | Self::ConfluentV2 | Self::ConfluentV3 | Self::ArangoDb)
    }
}

impl Target<'_> {
    fn family(&self) -> Family {
        match self {
            Self::Own(_) => Family::Own,
            Self::Records(_) => Family::Records,
            Self::Streams(streams::Target::Tinybird) => Family::Tinybird,
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
    /// Whose doors they are that answer.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Row(_, target) => target.family(),
            Self::OtherMethod(place) => place.family,
            Self::Nothing(family) => *family,
        }
    }
}

/// All rows, in the order in which the page has them.
fn rows() -> impl Iterator<Item = &'static Row> {
    let doors =
        [own::ROWS, records::ROWS, exports::ROWS, streams::ROWS, functions::ROWS, arangodb::ROWS, confluent::ROWS];
    doors.into_iter().flatten()
}

/// Where paths lead that are of no row.
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
    places: Vec<Place>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut by_path: BTreeMap<&'static str, Vec<&'static Row>> = BTreeMap::new();
    for row in rows() {
        for path in row.paths {
            by_path.entry(path).or_default().push(row);
        }
    }
    let mut table = Table { router: Router::new(), places: Vec::new() };
    for (path, mut rows) in by_path {
        // What asks for more comes first.
        rows.sort_by_key(|row| row.when == When::Always);
        let methods = rows.iter().fold(Methods(0), |all, row| all.and(row.methods)).list();
        let none = Params::default();
        let usual = rows.iter().find(|row| row.when == When::Always);
        let target = usual.map_or(Target::Own(own::Target::Index), |row| (row.target)(Values(&none)));
        let is_account = matches!(target, Target::Records(records::Target::Account(_)));
        let shown = usual.and_then(|row| row.paths.first()).unwrap_or(&path);
        let inserted = table.router.insert(path, table.places.len());
        debug_assert!(inserted.is_ok(), "{path}: {inserted:?}");
        table.places.push(Place { rows, methods, family: target.family(), path: shown, is_account });
    }
    table
});

/// What a request for `path`, below the base path, asks for.
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
    /// What of a place a request asks for.
    fn meant<'p>(&'static self, place: usize, values: Values<'_, 'p>, method: &Method, query: &str) -> Found<'p> {
        let place = &self.places[place];
        let is_meant = |row: &&&'static Row| row.methods.allows(method) && row.when.holds(values, query);
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
