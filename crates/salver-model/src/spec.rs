//! Specification of a dataset, validated from the settings: plain data, read only by the dataset's loader.

pub mod api_key;
pub mod auth;
pub mod csv_options;
pub mod function;
pub mod google_sheet;
pub mod named_query;
pub mod object_store;
pub mod record_rule;
pub mod reserved;
pub mod sandbox;
pub mod scram;
pub mod secret;
pub mod stream;
pub mod table_version;
pub mod url_template;

use std::path::PathBuf;
use std::time::Duration;

use arrow::datatypes::DataType;

use crate::entry::Relation;
use crate::name::Name;
use crate::rule::Rule;

pub use api_key::{ApiKey, ApiKeySpec};
pub use auth::{AuthSpec, JwtSpec, OidcSpec, UsersSpec};
pub use csv_options::{CsvOptions, DateOrder, Quote};
pub use function::{FunctionPath, FunctionSpec};
pub use google_sheet::GoogleSheetSource;
pub use named_query::{Parameter, ParameterSpec, QuerySpec, RunsAs, ViewSpec};
pub use object_store::{ObjectStoreKind, ObjectStoreSpec};
pub use record_rule::{RecordRule, Tenancy};
pub use reserved::{Reserve, Reserved};
pub use sandbox::{SandboxLevel, SandboxSpec};
pub use scram::{ScramKey, ScramVerifier};
pub use secret::Secret;
pub use stream::{KafkaSpec, Pick, PublishedTable, StreamSpec};
pub use table_version::TableVersion;

/// Format of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// Comma-separated values, or separated by the configured `delimiter`.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON document that is, or contains, an array of rows.
    Json,
    /// One JSON object a line.
    NdJson,
    /// GeoJSON: a collection of features, or features one after another.
    GeoJson,
    /// Parquet.
    Parquet,
    /// Arrow IPC file.
    ArrowFile,
    /// Arrow IPC stream.
    ArrowStream,
    /// Avro object container.
    Avro,
    /// Excel or OpenDocument spreadsheet: xlsx, xls, xlsb, ods; detected from the bytes.
    Sheet,
    /// A sheet of a spreadsheet of Google, as its API answers it. No file has it, and so no suffix.
    GoogleSheet,
    /// A table of Delta Lake: a directory, and so no suffix.
    Delta,
}

impl SourceFormat {
    /// Every suffix with its format; the configuration's `format` uses the same words, and `delta`.
    pub const SUFFIXES: [(&'static str, Self); 20] = [
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("tab", Self::Tsv),
        ("json", Self::Json),
        ("ndjson", Self::NdJson),
        ("jsonl", Self::NdJson),
        ("geojson", Self::GeoJson),
        ("geojsonl", Self::GeoJson),
        ("geojsons", Self::GeoJson),
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

    /// Returns the format of files with this suffix (without its dot, any case).
    #[must_use]
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        Self::SUFFIXES.iter().find(|(s, _)| s.eq_ignore_ascii_case(suffix)).map(|(_, format)| *format)
    }

    /// Returns the format that the configuration's `format` names.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        if word == "delta" { Some(Self::Delta) } else { Self::of_suffix(word) }
    }
}

/// Layout of rows in JSON documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonOptions {
    /// JSON pointer (RFC 6901) to the array of rows; `None` for the document itself.
    pub pointer: Option<String>,
    /// Whether rows are arrays of values instead of objects; names come from `schema`.
    pub array_encoded: bool,
}

/// Location of the rows in a spreadsheet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetOptions {
    /// Name of the sheet; `None` for the first that is not empty.
    pub sheet: Option<String>,
    /// Range like `B3:F100`, `B:F` or `B3` (from there on); `None` for the used range.
    pub range: Option<String>,
    /// Whether the first row of the range holds data and not names.
    pub no_header: bool,
}

/// Declared column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Name of the column.
    pub name: String,
    /// Type of the column.
    pub data_type: DataType,
    /// Whether it is nullable.
    pub nullable: bool,
}

/// Residency of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residency {
    /// In memory while the memory budget has room, else scanned.
    #[default]
    Auto,
    /// In memory; an error when there is no room.
    Always,
    /// Scanned from disk.
    Never,
}

/// Declaration of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetSpec {
    /// Name of the dataset.
    pub name: Name,
    /// Files, directories, globs, http(s) URLs, objects (`s3://`, `gs://`, `az://`), spreadsheets of Google
    /// (`gsheets://`), or `-` for standard input, concatenated in order; or one table of Delta Lake.
    pub sources: Vec<String>,
    /// Headers sent with http(s) requests.
    pub headers: Vec<(String, String)>,
    /// How the object store, or the Google Sheets API, of its sources is reached.
    pub object_store: ObjectStoreSpec,
    /// Format; `None` detects it from the suffix.
    pub format: Option<SourceFormat>,
    /// Options for CSV and TSV.
    pub csv: CsvOptions,
    /// Options for JSON.
    pub json: JsonOptions,
    /// Options for spreadsheets.
    pub sheet: SheetOptions,
    /// Declared columns; empty infers them.
    pub schema: Vec<ColumnSpec>,
    /// Whether directory names like `year=2026` become columns.
    pub partitions: bool,
    /// Columns that identify a row; lookups by them are indexed.
    pub key: Vec<String>,
    /// Relations to other entries.
    pub relations: Vec<Relation>,
    /// Interval at which sources are checked for changes; `None` for never.
    pub refresh: Option<Duration>,
    /// Residency of the dataset.
    pub residency: Residency,
    /// Files that must not be read, whatever the sources say.
    pub reserved: Reserved,
}

impl DatasetSpec {
    /// Creates a dataset of `sources` with default settings.
    #[must_use]
    pub fn new(name: Name, sources: Vec<String>) -> Self {
        Self {
            name,
            sources,
            headers: Vec::new(),
            object_store: ObjectStoreSpec::default(),
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

/// Database system.
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
    /// Returns the system's name, as OpenTelemetry writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgresql",
            Self::Mysql => "mysql",
        }
    }

    /// Returns the kind for a URL, by its scheme.
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

/// Format that written values must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueFormat {
    /// A number, or text that is one.
    Numeric,
    /// Like `name@host`.
    Email,
    /// Not empty, and not only white space.
    Filled,
}

/// Validation of values before they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordCheck {
    /// Columns as `table.column`, either with `*`.
    pub columns: Vec<String>,
    /// Required format of the value.
    pub shape: Option<ValueFormat>,
    /// Predicate over the values of the written row.
    pub rule: Option<Rule>,
    /// Message for the client about the column.
    pub message: String,
}

/// Hooks around requests for the records of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Customization {
    /// Function called before a request is handled.
    pub before: Option<FunctionPath>,
    /// Function called with the response.
    pub after: Option<FunctionPath>,
}

/// Declaration of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSpec {
    /// Name of the database.
    pub name: Name,
    /// Database system.
    pub kind: DatabaseKind,
    /// `sqlite:PATH`, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `mysql://...`.
    pub url: String,
    /// Attribute of the caller in `url` (see [`url_template`]); `None` for one shared database.
    pub of_caller: Option<String>,
    /// File of SQL statements that initialize a SQLite database that does not exist yet.
    pub init: Option<PathBuf>,
    /// Whether rows can be changed.
    pub writable: bool,
    /// Whether the schema can be changed, through the `/columns` door.
    pub definable: bool,
    /// Served tables, by name or pattern with `*`.
    pub tables: Vec<String>,
    /// Public names: `table` or `table.column` in the database, and its public counterpart.
    pub mapping: Vec<(String, String)>,
    /// Whether unknown words in a request are errors even where PHP-CRUD-API ignores them.
    pub strict: bool,
    /// Maximum number of connections to the database.
    pub connections_max: usize,
    /// Timeout of one statement, in milliseconds.
    pub statement_ms_max: u64,
    /// Interval at which the schema is checked for changes.
    pub refresh: Duration,
    /// Spatial reference system of geometries.
    pub geometry_srid: u32,
    /// Highest page number allowed.
    pub pages_max: Option<u64>,
    /// Maximum number of rows of one list.
    pub records_max: Option<u64>,
    /// Maximum number of rows of one response, including joined ones, above which it is an error; 0 for no limit.
    pub rows_max: u64,
    /// Maximum length of a path of joined tables.
    pub joins_depth_max: Option<usize>,
    /// Maximum number of joined tables.
    pub joins_tables_max: Option<usize>,
    /// Maximum number of joined rows of one relation, for each parent.
    pub joins_records_max: Option<u64>,
    /// Query parameter for text search; `None` for no text search.
    pub search: Option<String>,
    /// Tables whose values are validated against their columns' types, by name or pattern with `*`.
    pub validate: Vec<String>,
    /// Custom checks.
    pub checks: Vec<RecordCheck>,
    /// Tables whose values are sanitized for their columns' types, by name or pattern with `*`.
    pub sanitize: Vec<String>,
    /// Columns (`table.column`, either with `*`) from which HTML tags are removed.
    pub strip_tags: Vec<String>,
    /// Columns (`table.column`) set to the caller's address when a row is created.
    pub ip_address: Vec<String>,
    /// Columns (`table.column`, either with `*`) whose text is JSON, and is read and written as such.
    pub json_columns: Vec<String>,
    /// Columns that isolate tenants.
    pub tenancy: Vec<Tenancy>,
    /// Access rules for rows and columns.
    pub rules: Vec<RecordRule>,
    /// Hooks around requests for records; `None` for none.
    pub customization: Option<Customization>,
    /// Files of other databases, with other rules, which this one must not open.
    pub reserved: Reserved,
}

impl DatabaseSpec {
    /// Creates a database at `url` with default settings.
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

/// Returns whether a host or an origin matches `pattern`, in which `*` matches any run of characters within one of its
/// parts: it does not match `/`, `:`, `@`, `?` or `#`, so that no other name can be placed before the intended one. A
/// single `*` matches every name.
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

/// Returns whether `name` matches `pattern`, in which `*` matches any run of characters.
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
