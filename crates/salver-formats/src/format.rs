//! The formats rows go out in, with their suffixes and media types.

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON array of objects.
    Json,
    /// One JSON object a line.
    NdJson,
    /// Comma-separated values with a header row, as RFC 4180 but for the line ends, which are `\n`.
    Csv,
    /// The same with tabs.
    Tsv,
    /// Arrow IPC stream.
    ArrowStream,
    /// Arrow IPC file.
    ArrowFile,
    /// Parquet.
    Parquet,
    /// A page with a table, for people.
    Html,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] =
        [Self::Json, Self::NdJson, Self::Csv, Self::Tsv, Self::ArrowStream, Self::ArrowFile, Self::Parquet, Self::Html];

    /// The format with this suffix (without its dot, any case); the names of `?format=` are the same words.
    #[must_use]
    pub fn of_suffix(suffix: &str) -> Option<Self> {
        if suffix.eq_ignore_ascii_case("jsonl") {
            return Some(Self::NdJson);
        }
        Self::ALL.into_iter().find(|format| format.suffix().eq_ignore_ascii_case(suffix))
    }

    /// Its suffix, without a dot.
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
            Self::Html => "html",
        }
    }

    /// Its media type as a `Content-Type`, when the client named none of the aliases.
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
            Self::Html => "text/html; charset=utf-8",
        }
    }

    /// Whether [`crate::TextEncoder`] writes it.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Json | Self::NdJson | Self::Csv | Self::Tsv | Self::Html)
    }
}

/// A format, and the name it goes out under.
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
