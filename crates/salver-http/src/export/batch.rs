//! `GET /api/export/{token}/{stream}`: reads rows of one stream from any offset, any number of times.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Coding, Encoder, TextEncoder};
use salver_model::limits::EXPORT_READ_BYTES_MAX;
use salver_model::{Caller, Code, Error, Result};

use super::body_encoder::Work;
use super::full_body::{Ending, made_whole, takes_trailers};
use super::params::Parameters;
use super::resume;
use super::{count_header, number};
use crate::app::App;
use crate::body::off_the_loop;
use crate::body::{Body, Encoding};
use crate::exit;
use crate::export_state::{ExportToken, Opened};
use crate::request_context::RequestContext;
use crate::respond::compress;
use crate::row_size;

/// The query parameters.
const PARAMETERS: [&str; 4] = ["offset", "rows", "format", "header"];
/// Rows per read, initially and at most.
const FIRST_STEP_ROWS: usize = 256;
const FULL_STEP_ROWS: usize = 8 * 1024;

/// A request for rows of a stream.
struct BatchRequest<'a> {
    app: &'a Arc<App>,
    caller: &'a Caller,
    opened: Arc<Opened>,
    stream: usize,
    offset: u64,
    media_type: &'static str,
    encoding: Encoding,
    /// Whether CSV and TSV begin with a header of column names.
    has_header: bool,
}

/// Rows that were read and encoded.
struct StreamBatch {
    rows: u64,
    bytes: Vec<u8>,
    has_more: bool,
}

/// Handles a request for rows of a stream.
pub(super) async fn answer(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    token: &ExportToken,
    stream: &str,
) -> Result<Response<Body>> {
    let parameters = Parameters::of(context, &PARAMETERS)?;
    let format = context.choose_or(None, parameters.value("format"), salver_formats::Format::NdJson)?;
    let offset = parameters.value("offset").map_or(Ok(0), |text| number("offset", text))?;
    let rows = parameters.value("rows").map(|text| number("rows", text)).transpose()?;
    if rows == Some(0) {
        return Err(Error::new(Code::InvalidNumber, "`rows` is 0").with_hint("ask for one row at least"));
    }
    let has_header = match parameters.value("header") {
        None | Some("" | "true" | "1") => true,
        Some("false" | "0") => false,
        Some(other) => {
            return Err(Error::new(Code::InvalidRequest, format!("`header` is true or false, not `{other}`")));
        }
    };
    let number: Option<u64> = stream.parse().ok().filter(|number| *number < token.streams);
    let stream = number.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| no_stream(token, stream))?;
    let opened = resume::find(app, context.caller, token).await?;
    let encoding = context.encoding(format.format, token.entry.as_str());
    let ask = BatchRequest {
        app,
        caller: context.caller,
        opened,
        stream,
        offset,
        media_type: format.media_type,
        encoding,
        has_header,
    };
    ask.check_offset(token)?;
    match rows {
        Some(rows) => ask.batch(rows).await,
        None => ask.rest(context, token),
    }
}

fn no_stream(token: &ExportToken, stream: &str) -> Error {
    let shown: String = stream.chars().take(20).collect();
    Error::new(Code::NotFound, format!("this export has no stream `{shown}`"))
        .with_hint(format!("its streams are 0 to {}", token.streams.saturating_sub(1)))
}

impl BatchRequest<'_> {
    fn check_offset(&self, token: &ExportToken) -> Result<()> {
        let rows = self.opened.streams.get(self.stream).and_then(|range| range.rows);
        match rows.filter(|rows| self.offset > *rows) {
            None => Ok(()),
            Some(rows) => Err(Error::new(
                Code::InvalidRequest,
                format!(
                    "stream {} of this export of `{}` has {rows} rows, none behind {}",
                    self.stream, token.entry, self.offset
                ),
            )
            .with_hint("`salver-next` of each answer is the offset of the next")),
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
        count_header(&mut headers, "salver-offset", self.offset);
        headers
    }

    /// Returns a buffered body of up to `rows` rows.
    async fn batch(&self, rows: u64) -> Result<Response<Body>> {
        let bound = self.caller.limits.rows(self.app.service.limits().rows_max);
        let rows = bound.most().map_or(rows, |most| rows.min(most));
        let StreamBatch { rows, bytes, has_more } = self.read(rows).await?;
        let mut headers = self.headers();
        count_header(&mut headers, "salver-rows", rows);
        if has_more {
            count_header(&mut headers, "salver-next", self.offset + rows);
        }
        let wanted = self.encoding.coding;
        let (sum, bytes, coding) = off_the_loop(move || {
            let sum = crc32fast::hash(&bytes);
            let (bytes, coding) = compress(wanted, bytes);
            Ok((sum, bytes, coding))
        })
        .await?;
        if let Ok(sum) = HeaderValue::try_from(format!("{sum:08x}")) {
            headers.insert("salver-crc32", sum);
        }
        if coding != Coding::Identity {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
        }
        Ok(answer_with(headers, Body::Full(bytes.into())))
    }

    async fn read(&self, rows_wanted: u64) -> Result<StreamBatch> {
        let service = &self.app.service;
        let gone = || Error::internal("a stream of an export is not there");
        let turns = &self.app.exports.turns;
        let turn = turns.take(&self.caller.holder()).await;
        let mut reader = self.opened.reader(self.stream, self.offset).ok_or_else(gone)?;
        let schema = Arc::clone(reader.schema());
        let mut encoder = Encoder::new(self.encoding.format, &schema, &self.encoding.style)?;
        let (mut bytes, mut rows, mut weight) = (Vec::new(), 0, 0);
        let mut step = FIRST_STEP_ROWS;
        while rows < rows_wanted {
            let left = usize::try_from(rows_wanted - rows).unwrap_or(usize::MAX);
            let slices = service.read_on(self.caller, &mut reader, step.min(left)).await?;
            if slices.is_empty() {
                break;
            }
            rows += slices.iter().map(|slice| slice.num_rows() as u64).sum::<u64>();
            weight += slices.iter().map(row_size::of).sum::<usize>();
            (encoder, bytes) = off_the_loop(move || add(encoder, &slices, bytes)).await?;
            let size = weight.max(bytes.len());
            if size >= EXPORT_READ_BYTES_MAX {
                break;
            }
            let row_bytes = size / usize::try_from(rows).unwrap_or(usize::MAX).max(1) + 1;
            step = ((EXPORT_READ_BYTES_MAX - size) / row_bytes).clamp(1, FULL_STEP_ROWS);
        }
        bytes = off_the_loop(move || {
            encoder.finish(&mut bytes)?;
            Ok(bytes)
        })
        .await?;
        if !self.has_header {
            bytes.drain(..self.header_bytes(&schema));
        }
        let has_more = match self.opened.streams.get(self.stream).and_then(|range| range.rows) {
            Some(all) => self.offset + rows < all,
            None => service.reads_on(self.caller, &mut reader).await?,
        };
        drop(turn);
        self.opened.keep(self.stream, reader, turns.idle());
        Ok(StreamBatch { rows, bytes, has_more })
    }

    /// Returns the length of the header of column names, for the formats that have one.
    fn header_bytes(&self, schema: &arrow::datatypes::SchemaRef) -> usize {
        use salver_formats::Format::{Csv, Tsv};
        if !matches!(self.encoding.format, Csv | Tsv) {
            return 0;
        }
        let mut begin = Vec::new();
        TextEncoder::new(self.encoding.format, schema, &self.encoding.style).begin(&mut begin);
        begin.len()
    }

    /// Returns all remaining rows, in a body that is encoded while it is sent.
    fn rest(self, context: &RequestContext<'_>, token: &ExportToken) -> Result<Response<Body>> {
        let Some(range) = self.opened.streams.get(self.stream).cloned() else {
            return Err(Error::internal("a stream of an export is not there"));
        };
        Encoder::check(self.encoding.format, &self.opened.held.schema_of(&self.opened.columns))?;
        let rows = range.rows.map(|rows| rows - self.offset);
        rows.map_or(Ok(()), |rows| Encoder::check_rows(self.encoding.format, rows))?;
        let mut headers = self.headers();
        if let Some(rows) = rows {
            count_header(&mut headers, "salver-rows", rows);
        }
        if self.encoding.coding != Coding::Identity {
            let coding = HeaderValue::from_static(self.encoding.coding.token());
            headers.insert(header::CONTENT_ENCODING, coding);
        }
        if *context.method == Method::HEAD {
            return Ok(answer_with(headers, Body::Full(bytes::Bytes::new())));
        }
        let says_rows = takes_trailers(context);
        if says_rows {
            headers.insert(header::TRAILER, HeaderValue::from_static("salver-rows"));
        }
        let work = Work {
            app: Arc::clone(self.app),
            caller: self.caller.clone(),
            held: Arc::clone(&self.opened.held),
            columns: self.opened.columns.clone(),
            parts: range.parts,
            skip: range.skip + self.offset,
            rows,
            encoding: self.encoding.clone(),
            before: 0,
        };
        let skip =
            if self.has_header { 0 } else { self.header_bytes(&self.opened.held.schema_of(&self.opened.columns)) };
        let keeps = Some(token.clone());
        let body = made_whole(self.app, work, None, Ending { skip: skip as u64, says_rows, tag: None, keeps });
        Ok(answer_with(headers, body))
    }
}

fn add(mut encoder: Encoder, slices: &[RecordBatch], mut bytes: Vec<u8>) -> Result<(Encoder, Vec<u8>)> {
    for slice in slices {
        encoder.write(slice, &mut bytes)?;
    }
    Ok((encoder, bytes))
}

fn answer_with(headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = exit::reply(StatusCode::OK, body);
    *response.headers_mut() = headers;
    response
}
