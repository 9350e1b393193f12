//! What a dataset is made from, as proved from the settings: plain data, read by nobody but the dataset's loader.

pub mod auth;
pub mod function;
pub mod own;
pub mod reserved;
pub mod stream;

use std::path::PathBuf;
use std::time::Duration;

use arrow::datatypes::DataType;

use crate::entry::Relation;
use crate::name::Name;
use crate::records::Operation;
use crate::rule::{Rule, Term};

pub use auth::{AuthSpec, JwtSpec, Secret, UsersSpec};
pub use function::{FunctionPath, FunctionSpec};
pub use reserved::{Reserve, Reserved};
pub use stream::{KafkaSpec, Pick, StreamSpec};

/// Formats a source may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// Comma-separated values, or separated by whatever `delimiter` says.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON document that is, or contains, an array of rows.
    Json,
    /// One JSON object a line.
    NdJson,
    /// Parquet.
    Parquet,
    /// Arrow IPC file.
    ArrowFile,
    /// Arrow IPC stream.
    ArrowStream,
    /// Avro object container.
    Avro,
    /// Excel or OpenDocument spreadsheet: xlsx, xls, xlsb, ods; which one is told from the bytes.
    Sheet,
}

impl SourceFormat {
    /// Every suffix with its format; names in the configuration's `format` are the same words.
    pub const SUFFIXES: [(&'static str, Self); 17] = [
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("tab", Self::Tsv),
        ("json", Self::Json),
        ("ndjson", Self::NdJson),
        ("jsonl", Self::NdJson),
        ("parquet", Self::Parquet),
        ("pq", Self::Parquet),
        ("arrow", Self::ArrowFile),
        ("feather", Self::ArrowFile),
        ("ipc", Self::ArrowFile),
        ("arrows", Self::ArrowStream),
        ("avro", Self::Avro),
        ("xlsx", Self::Sheet),
        ("xls", Self::Sheet),
        ("xlsb", Self::Sheet),
        ("ods", Self::Sheet),
    ];

    /// The format of files with this suffix (without its dot, any case).
    #[must_use]
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        Self::SUFFIXES.iter().find(|(s, _)| s.eq_ignore_ascii_case(suffix)).map(|(_, format)| *format)
    }
}

/// What stands around fields of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"`, unless the first lines are split better by `'` or by nothing.
    Guessed,
    /// Nothing: every character is part of its field.
    Off,
    /// This character.
    Is(u8),
}

/// How CSV and TSV are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Between fields; `None` tells it from the first lines (`,` `;` tab `|`), tab for TSV.
    pub delimiter: Option<u8>,
    /// Whether the first row holds the names; `None` tells it from the first rows.
    pub header: Option<bool>,
    /// Around fields; doubled inside them.
    pub quote: Quote,
    /// Escapes the next character inside quotes, beside the doubled quote.
    pub escape: Option<u8>,
    /// Lines that begin with it are skipped.
    pub comment: Option<u8>,
    /// Lines to skip before the header; `None` skips what stands before a table, such as its title.
    pub skip_rows: Option<usize>,
    /// Fields, unquoted, that mean null, beside the empty field.
    pub null_tokens: Vec<String>,
    /// Character encoding by its WHATWG label; `None` tells it from a byte order mark, else UTF-8, else windows-1252.
    pub encoding: Option<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: None,
            quote: Quote::Guessed,
            escape: None,
            comment: None,
            skip_rows: None,
            null_tokens: Vec::new(),
            encoding: None,
        }
    }
}

/// How JSON documents hold their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// Where the array of rows is, as a JSON pointer (RFC 6901); `None` for the document itself.
    pub pointer: Option<String>,
    /// Rows are arrays of values, not objects; names come from `schema`.
    pub array_encoded: bool,
}

/// Which part of a spreadsheet holds the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetOptions {
    /// The sheet's name; `None` for the first that is not empty.
    pub sheet: Option<String>,
    /// A range like `B3:F100`, `B:F` or `B3` (from there on); `None` for all that is used.
    pub range: Option<String>,
    /// Whether the first row of the range holds data and not names.
    pub no_header: bool,
}

/// One declared column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be null.
    pub nullable: bool,
}

/// Where a dataset is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residency {
    /// In memory while the budget has room, else scanned.
    #[default]
    Auto,
    /// In memory, and an error when there is no room.
    Always,
    /// Scanned from disk.
    Never,
}

/// One dataset, as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// Its name.
    pub name: Name,
    /// Files, directories, globs, http(s) URLs, or `-` for standard input; read in order as one.
    pub sources: Vec<String>,
    /// Headers sent with http(s) requests.
    pub headers: Vec<(String, String)>,
    /// The format; `None` tells it from the suffix.
    pub format: Option<SourceFormat>,
    /// For CSV and TSV.
    pub csv: CsvOptions,
    /// For JSON.
    pub json: JsonOptions,
    /// For spreadsheets.
    pub sheet: SheetOptions,
    /// Declared columns; empty infers them.
    pub schema: Vec<ColumnSpec>,
    /// Whether directory names like `year=2026` become columns.
    pub partitions: bool,
    /// Columns that identify a row; look-ups by them are indexed.
    pub key: Vec<String>,
    /// Links to other entries.
    pub relations: Vec<Relation>,
    /// How often to look for changes; `None` for never.
    pub refresh: Option<Duration>,
    /// Where it is held.
    pub residency: Residency,
    /// Files that it can't be made of, whatever its sources say.
    pub reserved: Reserved,
}

impl DatasetSpec {
    /// A dataset of `sources` with nothing else said.
    #[must_use]
    pub fn new(name: Name, sources: Vec<String>) -> Self {
        Self {
            name,
            sources,
            headers: Vec::new(),
            format: None,
            csv: CsvOptions::default(),
            json: JsonOptions::default(),
            sheet: SheetOptions::default(),
            schema: Vec::new(),
            partitions: true,
            key: Vec::new(),
            relations: Vec::new(),
            refresh: None,
            residency: Residency::Auto,
            reserved: Reserved::default(),
        }
    }
}

/// Database systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatabaseKind {
    /// SQLite, inside the process.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
}

impl DatabaseKind {
    /// The kind a URL is for, by its scheme.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, _) = url.split_once(':')?;
        Some(match scheme.to_ascii_lowercase().as_str() {
            "sqlite" => Self::Sqlite,
            "postgres" | "postgresql" => Self::Postgres,
            "mysql" | "mariadb" => Self::Mysql,
            _ => return None,
        })
    }
}

/// What a rule of a database entry says for some tables and operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordRule {
    /// Tables, by name or with `*`; empty means all.
    pub tables: Vec<String>,
    /// Operations; empty means all.
    pub operations: Vec<Operation>,
    /// The tables are not there.
    pub deny: bool,
    /// Columns that are not there.
    pub columns_hidden: Vec<String>,
    /// Only rows that pass are there. A new or changed row must pass too.
    pub rows: Option<Rule>,
    /// Callers of whom this holds are not meant. It names no columns.
    pub except: Option<Rule>,
}

impl RecordRule {
    /// Whether the rule is about an operation: one about `update` is about every way in which a row changes, and one
    /// about `read` about lists too, which read rows without their keys.
    #[must_use]
    pub fn covers(&self, operation: Operation) -> bool {
        let named = |own: Operation| self.operations.contains(&own);
        self.operations.is_empty()
            || named(operation)
            || (operation == Operation::Increment && named(Operation::Update))
            || (operation == Operation::List && named(Operation::Read))
    }

    /// Whether the rule is about a table.
    #[must_use]
    pub fn is_about(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|pattern| matches_pattern(pattern, table))
    }
}

/// What values must be like to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number, or text that is one.
    Numeric,
    /// Like `name@host`.
    Email,
    /// Not empty, not just white space.
    Filled,
}

/// A check of values before they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordCheck {
    /// Columns as `table.column`, either with `*`.
    pub columns: Vec<String>,
    /// What the value must be like.
    pub shape: Option<Shape>,
    /// A rule over the values of the row that is written.
    pub rule: Option<Rule>,
    /// What the client is told of the column.
    pub message: String,
}

/// A column that always has one value for a caller: tenants don't see each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenancy {
    /// The table, or `*`.
    pub table: String,
    /// The column; tables without it are not meant.
    pub column: String,
    /// Its value.
    pub value: Term,
}

/// Functions around the requests for records of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Customization {
    /// What is called before a request is answered.
    pub before: Option<FunctionPath>,
    /// What is called with the answer.
    pub after: Option<FunctionPath>,
}

/// One database, as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSpec {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub kind: DatabaseKind,
    /// `sqlite:PATH`, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `mysql://...`.
    pub url: String,
    /// What of the caller stands in `url` (see [`own`]); `None` for one database for everybody.
    pub of_caller: Option<String>,
    /// A file of SQL statements that make a SQLite database which is not there yet.
    pub init: Option<PathBuf>,
    /// Whether rows may be changed.
    pub writable: bool,
    /// Whether the schema may be changed, through the `/columns` door.
    pub definable: bool,
    /// Which tables are served, by name or with `*`.
    pub tables: Vec<String>,
    /// Names to the outside: `table` or `table.column` in the database, and the same for the outside.
    pub mapping: Vec<(String, String)>,
    /// Whether unknown words in a request are errors also where PHP-CRUD-API is silent.
    pub strict: bool,
    /// Most connections to the database.
    pub connections_max: usize,
    /// Longest run of one statement, in milliseconds.
    pub statement_ms_max: u64,
    /// How often to look for changes of the schema.
    pub refresh: Duration,
    /// The spatial reference system of geometries.
    pub geometry_srid: u32,
    /// The last page that may be asked for.
    pub pages_max: Option<u64>,
    /// Most rows of one list.
    pub records_max: Option<u64>,
    /// Most rows one answer may have before it is an error, joined ones counted; 0 is no bound.
    pub rows_max: u64,
    /// Longest path of joined tables.
    pub joins_depth_max: Option<usize>,
    /// Most joined tables.
    pub joins_tables_max: Option<usize>,
    /// Most joined rows of one relation, for each parent.
    pub joins_records_max: Option<u64>,
    /// The parameter of text search; `None` for no text search.
    pub search: Option<String>,
    /// Tables whose values are checked against their columns' types, by name or with `*`.
    pub validate: Vec<String>,
    /// Checks of one's own.
    pub checks: Vec<RecordCheck>,
    /// Tables whose values are brought into their columns' form, by name or with `*`.
    pub sanitize: Vec<String>,
    /// Columns (`table.column`, either with `*`) out of which HTML tags are taken.
    pub strip_tags: Vec<String>,
    /// Columns (`table.column`) that get the caller's address when a row is made.
    pub ip_address: Vec<String>,
    /// Columns (`table.column`, either with `*`) whose text is JSON, and goes out and comes in as such.
    pub json_columns: Vec<String>,
    /// Columns that keep tenants apart.
    pub tenancy: Vec<Tenancy>,
    /// Who may do what with which rows and columns.
    pub rules: Vec<RecordRule>,
    /// Functions around requests for records; `None` for none.
    pub customization: Option<Customization>,
    /// Files of other databases, which have other rules, so that none of them may be this one's.
    pub reserved: Reserved,
}

impl DatabaseSpec {
    /// A database at `url` with nothing else said.
    #[must_use]
    pub fn new(name: Name, kind: DatabaseKind, url: impl Into<String>) -> Self {
        Self {
            name,
            kind,
            url: url.into(),
            of_caller: None,
            init: None,
            writable: false,
            definable: false,
            tables: vec!["*".to_owned()],
            mapping: Vec::new(),
            strict: false,
            connections_max: 8,
            statement_ms_max: 30_000,
            refresh: Duration::from_secs(1),
            geometry_srid: 4326,
            pages_max: None,
            records_max: None,
            rows_max: 0,
            joins_depth_max: None,
            joins_tables_max: None,
            joins_records_max: None,
            search: None,
            validate: Vec::new(),
            checks: Vec::new(),
            sanitize: Vec::new(),
            strip_tags: Vec::new(),
            ip_address: Vec::new(),
            json_columns: Vec::new(),
            tenancy: Vec::new(),
            rules: Vec::new(),
            customization: None,
            reserved: Reserved::default(),
        }
    }
}

/// Whether a host or an origin is meant by `pattern`, in which `*` stands for any run of characters of one of its
/// parts: it reaches over no `/`, `:`, `@`, `?` or `#`, so that nobody can put another name before the one that is
/// meant. A `*` alone means every one.
#[must_use]
pub fn matches_host(pattern: &str, name: &str) -> bool {
    const ENDS: [char; 5] = ['/', ':', '@', '?', '#'];
    let asked: Vec<&str> = pattern.split_inclusive(ENDS).collect();
    let given: Vec<&str> = name.split_inclusive(ENDS).collect();
    let is_meant = |(pattern, part): (&&str, &&str)| {
        let end = |text: &str| text.chars().last().filter(|last| ENDS.contains(last));
        end(pattern) == end(part) && matches_pattern(pattern.trim_end_matches(ENDS), part.trim_end_matches(ENDS))
    };
    pattern == "*" || asked.len() == given.len() && asked.iter().zip(&given).all(is_meant)
}

/// Whether `name` is meant by `pattern`, in which `*` stands for any run of characters.
#[must_use]
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or("");
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.len() >= tail.len() && left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::matches_host;

    #[test]
    fn a_star_stays_in_its_part() {
        for (pattern, name, expected) in [
            ("https://*.example.com", "https://a.b.example.com", true),
            ("https://*.example.com", "https://evil.org/.example.com", false),
            ("https://*.example.com", "https://evil.org:1.example.com", false),
            ("https://*.example.com", "https://evil.org@a.example.com", false),
            ("https://*.example.com", "https://evil.org?.example.com", false),
            ("https://*.example.com", "https://a.example.com:8443", false),
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", false),
            ("*.corp:8443", "a.corp:8443", true),
            ("*", "https://any.example:1", true),
            ("*.corp", "evil:1.corp", false),
            ("a", "a", true),
            ("", "", true),
        ] {
            assert_eq!(matches_host(pattern, name), expected, "{pattern} {name}");
        }
    }
}
