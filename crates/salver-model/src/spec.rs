//! What a dataset is made from, as proved from the settings: plain data, read by nobody but the dataset's loader.

use std::time::Duration;

use arrow::datatypes::DataType;

use crate::entry::Relation;
use crate::name::Name;

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

/// How CSV and TSV are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Between fields; `None` tells it from the first lines (`,` `;` tab `|`), tab for TSV.
    pub delimiter: Option<u8>,
    /// Whether the first row holds the names.
    pub header: bool,
    /// Around fields; doubled inside them.
    pub quote: u8,
    /// Escapes the next character inside quotes, beside the doubled quote.
    pub escape: Option<u8>,
    /// Lines that begin with it are skipped.
    pub comment: Option<u8>,
    /// Lines to skip before the header.
    pub skip_rows: usize,
    /// Fields, unquoted, that mean null, beside the empty field.
    pub null_tokens: Vec<String>,
    /// Character encoding by its WHATWG label; `None` tells it from a byte order mark, else UTF-8, else windows-1252.
    pub encoding: Option<String>,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: true,
            quote: b'"',
            escape: None,
            comment: None,
            skip_rows: 0,
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
        }
    }
}
