//! The output formats of rows, with their suffixes and media types.

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A JSON array of objects.
    Json,
    /// A JSON object per line.
    NdJson,
    /// Comma-separated values with a header row, as RFC 4180 but for the line ends, which are `\n`.
    Csv,
    /// The same with tabs as delimiters.
    Tsv,
    /// Arrow IPC stream.
    ArrowStream,
    /// Arrow IPC file.
    ArrowFile,
    /// Parquet.
    Parquet,
    /// A workbook of spreadsheet programs, with one sheet.
    Xlsx,
    /// An HTML page with a table, for people.
    Html,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Json,
        Self::NdJson,
        Self::Csv,
        Self::Tsv,
        Self::ArrowStream,
        Self::ArrowFile,
        Self::Parquet,
        Self::Xlsx,
        Self::Html,
    ];

    /// Returns the format with this suffix (without its dot, in any case); `?format=` takes the same names.
    #[must_use]
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        if suffix.eq_ignore_ascii_case("jsonl") {
            return Some(Self::NdJson);
        }
        Self::ALL.into_iter().find(|format| format.suffix().eq_ignore_ascii_case(suffix))
    }

    /// Returns its suffix, without a dot.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::NdJson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::ArrowStream => "arrows",
            Self::ArrowFile => "arrow",
            Self::Parquet => "parquet",
            Self::Xlsx => "xlsx",
            Self::Html => "html",
        }
    }

    /// Returns its media type for `Content-Type`, unless the client named one of the aliases.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::NdJson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Tsv => "text/tab-separated-values; charset=utf-8",
            Self::ArrowStream => "application/vnd.apache.arrow.stream",
            Self::ArrowFile => "application/vnd.apache.arrow.file",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Html => "text/html; charset=utf-8",
        }
    }

    /// Returns whether [`crate::TextEncoder`] writes it.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Json | Self::NdJson | Self::Csv | Self::Tsv | Self::Html)
    }
}

/// A negotiated format and its media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// The format.
    pub format: Format,
    /// The value of `Content-Type`.
    pub media_type: &'static str,
}

impl From<Format> for Choice {
    fn from(format: Format) -> Self {
        Self { format, media_type: format.media_type() }
    }
}
