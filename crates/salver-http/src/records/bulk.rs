//! `POST /api/records/{table}` of NDJSON or CSV: loads any number of rows while they arrive, in bounded memory.

mod csv;
mod lines;

use std::collections::VecDeque;
use std::time::Duration;

use futures::stream;
use http::{HeaderMap, Response, StatusCode, header};
use http_body_util::BodyExt;
use salver_model::ports::{ArrivingRow, RecordStream};
use salver_model::records::{BytesText, Document, Load, LoadReport};
use salver_model::{Code, Error, Result};

use self::csv::CsvReader;
use self::lines::LineReader;
use super::query::{self, Purpose};
use super::{hooks, respond};
use crate::body::Body;
use crate::dialect::php;
use crate::receive::{BodyBuffer, Incoming, Unpacker};
use crate::request_context::RequestContext;

/// Rows per batch that is passed to the database.
const ROWS_AT_ONCE: usize = 1_000;
/// Bytes after which a batch of rows is passed to the database.
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// The format of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFormat {
    /// One JSON object per line.
    NdJson,
    /// Comma-separated values below a header.
    Csv,
}

impl RowFormat {
    /// Returns the format of a body, when it is a format of rows.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let given = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Some(match essence.as_str() {
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Self::NdJson
            }
            "text/csv" => Self::Csv,
            _ => return None,
        })
    }

    /// Returns the default encoding of bytes: in JSON as elsewhere in records, in CSV as in exports.
    fn bytes(self) -> BytesText {
        match self {
            Self::NdJson => BytesText::Base64,
            Self::Csv => BytesText::Hexadecimal,
        }
    }
}

/// Loads the rows of `body` into `table`.
pub(super) async fn load(
    context: &RequestContext<'_>,
    table: &str,
    format: RowFormat,
    body: Incoming,
) -> Result<Response<Body>> {
    if context.header("idempotency-key").is_some() {
        return Err(Error::new(
            Code::InvalidRequest,
            "a load can't have an `Idempotency-Key`: it is too large to be compared",
        )
        .with_hint("use `upsert=update`, which makes a load that is sent again do no harm"));
    }
    let (database, table) = context.database(table).await?;
    hooks::refuse_past(database.spec(), "load")?;
    let ask = query::read(context.query, table, Purpose::Load, database.spec())?;
    if ask.upsert == Some(true) {
        return Err(Error::new(Code::InvalidRequest, "a load can't leave rows as they are")
            .with_hint("use `upsert=update`, or `keep_good=1`, which keeps the rows that are new"));
    }
    let load = Load {
        table: table.to_owned(),
        dry_run: ask.dry_run,
        keep_good: ask.keep_good,
        upsert: ask.upsert.is_some(),
        bytes: ask.bytes.unwrap_or_else(|| format.bytes()),
    };
    let limits = context.app.service.limits();
    let row_bytes_max = usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX);
    let reader = match format {
        RowFormat::NdJson => RowReader::NdJson(LineReader::new(row_bytes_max)),
        RowFormat::Csv => RowReader::Csv(CsvReader::new(row_bytes_max)),
    };
    let rows = rows(Arriving {
        body,
        unpacker: Unpacker::of(context.headers)?,
        reader,
        waiting: VecDeque::new(),
        patience: Duration::from_millis(limits.head_ms_max),
        ended: false,
    });
    let report = context.app.service.load(context.caller, &database, &load, rows).await?;
    let undone = report.refused > 0 && !load.keep_good;
    let xml = php::wants_xml(context.query);
    let mut response = respond::document(context, Document::whole(written(&report)), xml, None).await?;
    if undone {
        *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(response)
}

fn written(report: &LoadReport) -> Vec<u8> {
    let LoadReport { read, loaded, refused, problems } = report;
    let head = format!("{{\"read\":{read},\"loaded\":{loaded},\"refused\":{refused},\"problems\":[");
    let mut out = head.into_bytes();
    for (index, found) in problems.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        out.extend_from_slice(format!("{comma}{{\"row\":{},", found.row).as_bytes());
        php::write_members(&found.error, &mut out);
        php::write_details(&found.error, &mut out);
        php::write_hint(&found.error, &mut out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    out
}

/// The parser of a format.
#[derive(Debug)]
enum RowReader {
    NdJson(LineReader),
    Csv(CsvReader),
}

impl RowReader {
    fn take(&mut self, bytes: &[u8], rows: &mut Vec<ArrivingRow>) -> Result<()> {
        match self {
            Self::NdJson(reader) => {
                reader.take(bytes, rows);
                Ok(())
            }
            Self::Csv(reader) => reader.take(bytes, rows),
        }
    }

    fn finish(&mut self, rows: &mut Vec<ArrivingRow>) -> Result<()> {
        match self {
            Self::NdJson(reader) => {
                reader.finish(rows);
                Ok(())
            }
            Self::Csv(reader) => reader.finish(rows),
        }
    }
}

/// A body that is being parsed.
struct Arriving {
    body: Incoming,
    /// The decompressor, until the body has ended; `None` when it is not compressed.
    unpacker: Option<Unpacker>,
    reader: RowReader,
    /// Bytes that were received but not parsed; a frame may be longer than a piece.
    waiting: VecDeque<bytes::Bytes>,
    patience: Duration,
    ended: bool,
}

/// Streams the records of a body, in batches.
fn rows(arriving: Arriving) -> RecordStream {
    Box::pin(stream::try_unfold(arriving, |mut arriving| async move {
        let rows = arriving.next().await?;
        Ok(rows.map(|rows| (rows, arriving)))
    }))
}

impl Arriving {
    async fn next(&mut self) -> Result<Option<Vec<ArrivingRow>>> {
        let mut rows = Vec::with_capacity(ROWS_AT_ONCE);
        let mut bytes = 0;
        while !self.ended && rows.len() < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE {
            match self.piece().await? {
                Some(piece) => {
                    bytes += piece.len();
                    self.reader.take(&piece, &mut rows)?;
                }
                None => {
                    self.ended = true;
                    self.reader.finish(&mut rows)?;
                }
            }
        }
        Ok((!rows.is_empty()).then_some(rows))
    }

    /// Returns the next piece of the body; `None` at the end.
    async fn piece(&mut self) -> Result<Option<bytes::Bytes>> {
        const PIECE_BYTES: usize = 64 * 1024;
        loop {
            if let Some(mut first) = self.waiting.pop_front() {
                if first.len() > PIECE_BYTES {
                    let rest = first.split_off(PIECE_BYTES);
                    self.waiting.push_front(rest);
                }
                return Ok(Some(first));
            }
            let mut piece = BodyBuffer::default();
            if let Some(unpacker) = &mut self.unpacker {
                unpacker.unpack(&mut piece, PIECE_BYTES)?;
                if piece.len() > 0 {
                    return Ok(Some(piece.into_bytes()));
                }
            }
            let broken = |message: &str| Error::new(Code::InvalidRequest, message.to_owned());
            match tokio::time::timeout(self.patience, self.body.frame()).await {
                Err(_) => {
                    return Err(broken("the rows stopped arriving")
                        .with_hint("send them faster, or raise `limits.head_ms_max`"));
                }
                Ok(None) => {
                    let Some(mut unpacker) = self.unpacker.take() else { return Ok(None) };
                    unpacker.finish(&mut piece)?;
                    return Ok(Some(piece.into_bytes()));
                }
                Ok(Some(Err(error))) => return Err(error.into_error(Code::InvalidRequest)),
                Ok(Some(Ok(frame))) => match (frame.into_data(), &mut self.unpacker) {
                    (Ok(data), Some(unpacker)) => unpacker.take(data),
                    (Ok(data), None) => self.waiting.push_back(data),
                    (Err(_), _) => {}
                },
            }
        }
    }
}

/// The error for a row that exceeds the limit on its length.
fn too_long(bytes_max: usize) -> Error {
    Error::new(Code::BodyTooLarge, format!("the row has more than {bytes_max} bytes"))
        .with_hint("send less in one row, or raise `limits.body_bytes_max`")
}

/// The error for a malformed row.
fn unreadable(what: impl Into<String>) -> Error {
    Error::new(Code::Invalid, what)
}
