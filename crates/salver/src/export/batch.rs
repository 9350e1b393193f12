//! What rows are fetched as, and what one fetch brings.

use std::path::Path;

use salver_formats::Format;
use salver_model::{Code, Error};

use crate::cli::ExportFormat;
use crate::failure::Failure;

/// The format of the output, and how it is made of what is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Text that is fetched and written as it is.
    Text(Format),
    /// Rows that are fetched as Arrow, and written again.
    Rows(Format),
}

impl Layout {
    /// The format that is asked for, or that of the file's suffix.
    pub(super) fn of(asked: Option<ExportFormat>, path: Option<&Path>) -> Result<Self, Failure> {
        let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str());
        let format = match (asked, suffix) {
            (Some(asked), _) => of_word(asked),
            (None, None) => Format::NdJson,
            (None, Some(suffix)) => Format::of_suffix(suffix)
                .filter(|format| !matches!(format, Format::Json | Format::Html))
                .ok_or_else(|| {
                    let message = format!("nothing is exported into files ending in `.{suffix}`");
                    Failure::Usage(
                        Error::new(Code::UnknownFormat, message).with_hint("say which format with `--format`"),
                    )
                })?,
        };
        Ok(if format.is_text() { Self::Text(format) } else { Self::Rows(format) })
    }

    /// Whether what is fetched is written as it is.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// The format of the output.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Text(format) | Self::Rows(format) => format,
        }
    }

    /// The format that is fetched.
    pub(super) fn fetched(self) -> Format {
        match self {
            Self::Text(format) => format,
            Self::Rows(_) => Format::ArrowStream,
        }
    }
}

fn of_word(asked: ExportFormat) -> Format {
    match asked {
        ExportFormat::Ndjson => Format::NdJson,
        ExportFormat::Csv => Format::Csv,
        ExportFormat::Tsv => Format::Tsv,
        ExportFormat::Arrows => Format::ArrowStream,
        ExportFormat::Arrow => Format::ArrowFile,
        ExportFormat::Parquet => Format::Parquet,
    }
}

/// Rows of a stream.
#[derive(Debug)]
pub(super) struct Batch {
    /// How many.
    pub(super) rows: u64,
    /// Their bytes.
    pub(super) bytes: Vec<u8>,
    /// Where the next batch begins; `None` at the end.
    pub(super) next: Option<u64>,
}
