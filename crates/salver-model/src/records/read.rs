//! Reads of records: the parameters of a list or a read by key.

/// Primary key as written in a path: one part for each column of the key.
pub type RecordKey = Vec<String>;

/// Comparison operator of a condition.
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
    /// Every operator with its word in TreeQL; the prefix `n` negates it.
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

/// Condition on the rows of a table, unconverted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Conjunction; true when empty.
    All(Vec<Condition>),
    /// Disjunction; false when empty.
    Any(Vec<Condition>),
    /// Comparison.
    Test {
        /// Path over related tables to the column: `["comments", "message"]`.
        path: Vec<String>,
        /// Operator.
        operator: Operator,
        /// Whether the comparison is negated.
        negated: bool,
        /// Value; for `bt` and `in` separated by commas.
        value: String,
    },
}

/// Sort key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Column; as Salver's extension with related tables before it (to-one only).
    pub path: Vec<String>,
    /// Whether the order is descending.
    pub descending: bool,
}

/// Page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListPage {
    /// Page number, from 1.
    pub number: u64,
    /// Rows per page, 20 by default.
    pub size: Option<u64>,
}

/// Selection of joined rows (Salver's extension).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Child {
    /// Path of the join, like `["comments"]`.
    pub path: Vec<String>,
    /// Predicate on the rows.
    pub filter: Option<Condition>,
    /// Sort order.
    pub order: Vec<Order>,
    /// Maximum number of rows for each parent.
    pub size: Option<u64>,
}

/// Aggregate (Salver's extension).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordAggregate {
    /// Function.
    pub function: crate::AggregateFunction,
    /// Column; `None` counts rows.
    pub column: Option<String>,
    /// Name in the response.
    pub name: String,
}

/// Query on a table of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordQuery {
    /// Table.
    pub table: String,
    /// Projected columns: `col`, `table.col`, `table.*`, `*`, `*.*`; `None` for all.
    pub include: Option<Vec<String>>,
    /// Columns removed after `include`, in the same syntax.
    pub exclude: Option<Vec<String>>,
    /// Predicate on rows.
    pub filter: Option<Condition>,
    /// Text that one of the text columns must contain.
    pub search: Option<String>,
    /// Sort order; empty for the order of the primary key.
    pub order: Vec<Order>,
    /// Page; with it the response has the number of all rows.
    pub page: Option<ListPage>,
    /// Maximum number of rows.
    pub size: Option<u64>,
    /// Related tables to join, each as a path from this table.
    pub joins: Vec<Vec<String>>,
    /// Selection of joined rows.
    pub children: Vec<Child>,
    /// Columns to group by.
    pub group: Vec<String>,
    /// Aggregates of each group.
    pub aggregates: Vec<RecordAggregate>,
    /// Predicate on groups; its paths are names of aggregates or grouped columns.
    pub having: Option<Condition>,
    /// Whether duplicate rows are removed.
    pub distinct: bool,
    /// Token for keyset pagination: rows continue behind it, an empty one starts at the beginning. The response then
    /// has `next`.
    pub after: Option<String>,
    /// Whether unknown words are errors instead of being ignored.
    pub strict: bool,
}

impl RecordQuery {
    /// Returns whether it is for whole rows, whichever they are, and no others beside them.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_whole() && self.filter.is_none()
    }

    /// Returns whether it is for all columns, and no joined rows.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.include.is_none() && self.exclude.is_none() && self.joins.is_empty() && self.children.is_empty()
    }
}

/// Read of rows of a database: the operation that [`crate::ports::Database::read`] runs.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordRead {
    /// Rows by condition: `{"records":[...]}`.
    List(Box<RecordQuery>),
    /// The whole row with a key: an object.
    Row {
        /// Table.
        table: String,
        /// Key.
        key: RecordKey,
    },
    /// Rows by key: an object, or an array with null for missing rows when `many`.
    Keys {
        /// Columns and joined rows.
        query: Box<RecordQuery>,
        /// Keys, of which there is one without `many`.
        keys: Vec<RecordKey>,
        /// Whether the response is an array.
        many: bool,
    },
    /// Rows as a GeoJSON feature collection, or the one with the key as a feature.
    Features(Box<GeoQuery>, Option<RecordKey>),
}

impl RecordRead {
    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> &str {
        match self {
            Self::List(query) | Self::Keys { query, .. } => &query.table,
            Self::Row { table, .. } => table,
            Self::Features(geo, _) => &geo.query.table,
        }
    }
}

/// Area on a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Area {
    /// A rectangle: west, south, east, north, in degrees.
    Box([f64; 4]),
    /// A tile of the Web Mercator pyramid: zoom, column, row.
    Tile([u32; 3]),
}

/// Query for GeoJSON.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeoQuery {
    /// Rows and columns.
    pub query: RecordQuery,
    /// Geometry column; `None` for the first.
    pub geometry: Option<String>,
    /// Areas the geometry must intersect.
    pub areas: Vec<Area>,
}
