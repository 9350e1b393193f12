//! Reading records: what a list or a read by key may ask.

/// A primary key as it stands in a path: one part for each column of the key.
pub type RecordKey = Vec<String>;

/// How a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `cs`: contains the text.
    Contains,
    /// `sw`: starts with the text.
    StartsWith,
    /// `ew`: ends with the text.
    EndsWith,
    /// `eq`
    Equal,
    /// `lt`
    Less,
    /// `le`
    LessOrEqual,
    /// `ge`
    GreaterOrEqual,
    /// `gt`
    Greater,
    /// `bt`: between two values, both included.
    Between,
    /// `in`: one of a list.
    In,
    /// `is`: is null; the value is ignored.
    IsNull,
    /// `sco` and its like.
    Spatial(Spatial),
}

/// Relations between geometries, as in OGC Simple Features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the words are the standard's own")]
pub enum Spatial {
    Contains,
    Crosses,
    Disjoint,
    Equals,
    Intersects,
    Overlaps,
    Touches,
    Within,
    IsClosed,
    IsSimple,
    IsValid,
}

impl Operator {
    /// Every operator with its word in TreeQL; `n` before a word negates it.
    pub const ALL: [(&'static str, Self); 22] = [
        ("cs", Self::Contains),
        ("sw", Self::StartsWith),
        ("ew", Self::EndsWith),
        ("eq", Self::Equal),
        ("lt", Self::Less),
        ("le", Self::LessOrEqual),
        ("ge", Self::GreaterOrEqual),
        ("gt", Self::Greater),
        ("bt", Self::Between),
        ("in", Self::In),
        ("is", Self::IsNull),
        ("sco", Self::Spatial(Spatial::Contains)),
        ("scr", Self::Spatial(Spatial::Crosses)),
        ("sdi", Self::Spatial(Spatial::Disjoint)),
        ("seq", Self::Spatial(Spatial::Equals)),
        ("sin", Self::Spatial(Spatial::Intersects)),
        ("sov", Self::Spatial(Spatial::Overlaps)),
        ("sto", Self::Spatial(Spatial::Touches)),
        ("swi", Self::Spatial(Spatial::Within)),
        ("sic", Self::Spatial(Spatial::IsClosed)),
        ("sis", Self::Spatial(Spatial::IsSimple)),
        ("siv", Self::Spatial(Spatial::IsValid)),
    ];
}

/// A condition on the rows of a table, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// All of them; true when there is none.
    All(Vec<Condition>),
    /// Any of them; false when there is none.
    Any(Vec<Condition>),
    /// One comparison.
    Test {
        /// Related tables on the way and, last, the column: `["comments", "message"]`.
        path: Vec<String>,
        /// How.
        operator: Operator,
        /// Whether the comparison is negated.
        negated: bool,
        /// With what; for `bt` and `in` separated by commas.
        value: String,
    },
}

/// One key of an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// The column; with related tables before it (to one row only) as Salver's extension.
    pub path: Vec<String>,
    /// Largest first.
    pub descending: bool,
}

/// One page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// Its number, from 1.
    pub number: u64,
    /// Rows a page, 20 unless said.
    pub size: Option<u64>,
}

/// How joined rows are chosen (Salver's extension).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Child {
    /// The joined path it is about, like `["comments"]`.
    pub path: Vec<String>,
    /// Which rows.
    pub filter: Option<Condition>,
    /// Their order.
    pub order: Vec<Order>,
    /// At most so many for each parent.
    pub size: Option<u64>,
}

/// One aggregate (Salver's extension).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordAggregate {
    /// The function.
    pub function: crate::AggregateFunction,
    /// Its column; `None` counts rows.
    pub column: Option<String>,
    /// Its name in the answer.
    pub name: String,
}

/// What to read from a table of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordQuery {
    /// The table.
    pub table: String,
    /// Columns asked for: `col`, `table.col`, `table.*`, `*`, `*.*`; `None` for all.
    pub include: Option<Vec<String>>,
    /// Columns left out, in the same words, after `include`.
    pub exclude: Option<Vec<String>>,
    /// Which rows.
    pub filter: Option<Condition>,
    /// Text that one of the text columns must contain.
    pub search: Option<String>,
    /// The order; empty means by primary key.
    pub order: Vec<Order>,
    /// Which page; with it the number of all rows is told.
    pub page: Option<Page>,
    /// At most so many rows.
    pub size: Option<u64>,
    /// Related tables to join in, each a path from this table.
    pub joins: Vec<Vec<String>>,
    /// How joined rows are chosen.
    pub children: Vec<Child>,
    /// Columns to group by.
    pub group: Vec<String>,
    /// Aggregates over each group.
    pub aggregates: Vec<RecordAggregate>,
    /// Which groups; paths are names of aggregates or grouped columns.
    pub having: Option<Condition>,
    /// Whether equal rows become one.
    pub distinct: bool,
    /// Keyset paging: behind this token; an empty one begins. The answer then has `next`.
    pub after: Option<String>,
    /// Whether unknown words are errors, not silence.
    pub strict: bool,
}

/// An area on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// A rectangle: west, south, east, north, in degrees.
    Box([f64; 4]),
    /// A tile of the Web Mercator pyramid: zoom, column, row.
    Tile([u32; 3]),
}

/// What to read as GeoJSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeoQuery {
    /// Which rows and columns.
    pub query: RecordQuery,
    /// The geometry column; `None` for the first.
    pub geometry: Option<String>,
    /// Areas the geometry must intersect.
    pub areas: Vec<Area>,
}
