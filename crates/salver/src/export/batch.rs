//! The format in which rows are fetched, and the result of one fetch.

use std::path::Path;

use salver_formats::Format;
use salver_model::{Code, Error};

use crate::cli::ExportFormat;
use crate::failure::CommandFailure;

/// Format of the output, and its conversion from what is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Text that is fetched and written unchanged.
    Text(Format),
    /// Rows that are fetched as Arrow and re-encoded.
    Rows(Format),
}

impl Layout {
    /// Returns the requested format, or that of the file's suffix.
    pub(super) fn of(asked: Option<ExportFormat>, path: Option<&Path>) -> Result<Self, CommandFailure> {
        let suffix = path.and_then(Path::extension).and_then(|suffix| suffix.to_str());
        let format = match (asked, suffix) {
            (Some(asked), _) => of_word(asked),
            (None, None) => Format::NdJson,
            (None, Some(suffix)) => Format::of_suffix(suffix)
                .filter(|format| !matches!(format, Format::Json | Format::Html))
                .ok_or_else(|| {
                    let message = format!("nothing is exported into files ending in `.{suffix}`");
                    CommandFailure::Usage(
                        Error::new(Code::UnknownFormat, message).with_hint("say which format with `--format`"),
                    )
                })?,
        };
        Ok(if format.is_text() { Self::Text(format) } else { Self::Rows(format) })
    }

    /// Returns whether the fetched bytes are written unchanged.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_))
    }

    /// Returns the format of the output.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Text(format) | Self::Rows(format) => format,
        }
    }

    /// Returns the format that is fetched.
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
        ExportFormat::Xlsx => Format::Xlsx,
    }
}

/// Batch of rows of a stream.
#[derive(Debug)]
pub(super) struct FetchedBatch {
    /// Number of rows.
    pub(super) rows: u64,
    /// Encoded rows.
    pub(super) bytes: Vec<u8>,
    /// Offset of the next batch; `None` at the end.
    pub(super) next: Option<u64>,
}
