//! The one exit: it turns rows into a response with status, entity tag, format and compression.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Choice, Coding, Encoder, Format, encode};
use salver_model::limits::{COMPRESSED_BYTES_MIN, READY_BYTES_MAX, READY_ROWS_MAX};
use salver_model::ports::MaybeReady;
use salver_model::reply::BatchStream;
use salver_model::{Batches, Error, Name, Result, Rows, Version};

use crate::body::{self, Body, Encoding};
use crate::cache::{CachedResponse, SingleFlight};
use crate::conditional;
use crate::exit;
use crate::html_page;
use crate::offload::INLINE_BYTES;
use crate::page_ways::PageWays;
use crate::refuse::{observed, refuse};
use crate::request_context::RequestContext;
use crate::row_size;
use crate::security_headers;
use crate::unsent_responses::Repeatable;

/// The head of a response that is still to be made.
#[derive(Debug)]
pub(crate) struct Heading {
    /// Format and media type of the response.
    pub(crate) choice: Choice,
    /// Title of an HTML page.
    pub(crate) title: String,
    /// Version of the response, for the entity tag.
    pub(crate) version: Version,
    /// Ways from an HTML page, where there are other pages.
    pub(crate) ways: Option<Box<PageWays>>,
}

impl Heading {
    /// Returns 304 when the client already has this response.
    pub(crate) fn unchanged(&self, context: &RequestContext<'_>) -> Option<Response<Body>> {
        let asked = context.if_none_match()?;
        let etag = conditional::etag(self.version);
        let mut headers = HeaderMap::with_capacity(3);
        describe(&mut headers, Some(&etag), Coding::Identity);
        conditional::matches(&asked, &etag).then(|| not_modified(&headers))
    }
}

/// Sends a cached response again, or 304.
pub(crate) fn finished(context: &RequestContext<'_>, finished: &CachedResponse) -> Response<Body> {
    again(context.if_none_match().as_deref(), finished)
}

/// Sends a cached response again, or 304 when `if_none_match` contains its entity tag.
pub(crate) fn again(if_none_match: Option<&str>, finished: &CachedResponse) -> Response<Body> {
    if let Some(etag) = &finished.etag
        && if_none_match.is_some_and(|known| conditional::matches(known, etag))
    {
        return not_modified(&finished.headers);
    }
    let mut response = exit::reply(finished.status, Body::Full(finished.body.clone()));
    *response.headers_mut() = finished.headers.clone();
    response
}

/// Returns an error instead of a response that is known to be larger than its caller may get; one that is still being
/// made breaks off there. Unless the request `is_read`, a response that is complete is sent: it may be the only report
/// of a change.
pub(crate) fn bound(context: &RequestContext<'_>, is_read: bool, response: &mut Response<Body>) {
    let bound = context.caller.limits.response_bytes();
    if bound.most().is_none() || !response.status().is_success() {
        return;
    }
    let is_read = is_read || response.extensions().get::<Repeatable>().is_some();
    if let Err(error) = response.body_mut().bound(bound, is_read) {
        *response = refuse(context.app, context.dialect(), error);
    }
}

/// Returns 304 instead of a representation with an entity tag, to a client that has one whatever it is
/// (`If-None-Match: *`; RFC 9110, section 13.1.2).
pub(crate) fn withhold(has_any: bool, method: &Method, response: &mut Response<Body>) {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if has_any && is_read && response.status() == StatusCode::OK && response.headers().contains_key(header::ETAG) {
        *response = not_modified(response.headers());
    }
}

/// Capacity for the headers of most responses, so that they need not be reallocated.
pub(crate) const HEADERS_USUAL: usize = 12;

/// Headers that a 304 repeats from the response that is not sent again (RFC 9110, section 15.4.5).
const OF_THE_UNCHANGED: [HeaderName; 10] = [
    header::CACHE_CONTROL,
    header::CONTENT_LOCATION,
    header::ETAG,
    header::EXPIRES,
    header::VARY,
    header::CONTENT_SECURITY_POLICY,
    header::X_CONTENT_TYPE_OPTIONS,
    header::X_FRAME_OPTIONS,
    header::REFERRER_POLICY,
    security_headers::RESOURCE_POLICY,
];

/// Returns a 304 in place of a response with `headers`.
fn not_modified(headers: &HeaderMap) -> Response<Body> {
    let of_the_unchanged = OF_THE_UNCHANGED.into_iter();
    exit::not_modified(of_the_unchanged.filter_map(|name| headers.get(&name).cloned().map(|value| (name, value))))
}

/// Turns rows into a response. Small results are completed and cached, at once if all of their rows are there; large
/// ones are encoded while they are sent. A page for browsers has the first rows only, and is always complete.
pub(crate) fn rows<'a>(
    context: &'a RequestContext<'a>,
    heading: &'a Heading,
    mut rows: Rows,
    links: HeaderMap,
    flight: SingleFlight<'a>,
) -> MaybeReady<'a, Result<Response<Body>>> {
    let is_page = heading.choice.format == Format::Html;
    match std::mem::replace(&mut rows.batches, Batches::Ready(Vec::new())) {
        Batches::Ready(batches) if is_page => {
            MaybeReady::Ready(whole(context, heading, (&rows, &batches), links, flight))
        }
        Batches::Stream(stream) if is_page => MaybeReady::pending(async move {
            let batches = html_page::head(stream, rows.schema.fields().len()).await?;
            whole(context, heading, (&rows, &batches), links, flight)
        }),
        Batches::Ready(batches) if is_small(&batches) => {
            MaybeReady::Ready(whole(context, heading, (&rows, &batches), links, flight))
        }
        Batches::Ready(batches) => {
            MaybeReady::pending(streamed(context, heading, (rows, batches, None), links, flight))
        }
        Batches::Stream(stream) => MaybeReady::pending(async move {
            match first_rows(stream).await? {
                (batches, None) if is_small(&batches) => whole(context, heading, (&rows, &batches), links, flight),
                (head, rest) => streamed(context, heading, (rows, head, rest), links, flight).await,
            }
        }),
    }
}

/// Turns the few rows in `batches` into a complete response, which is cached if it is repeatable.
fn whole(
    context: &RequestContext<'_>,
    heading: &Heading,
    (rows, batches): (&Rows, &[RecordBatch]),
    links: HeaderMap,
    flight: SingleFlight<'_>,
) -> Result<Response<Body>> {
    let finished = finish(context, heading, rows, batches, links)?;
    if rows.repeatable {
        flight.complete(&context.app.cache, context.key(), &finished);
    } else {
        flight.abandon();
    }
    Ok(self::finished(context, &finished))
}

/// Turns the rows in `head`, and those that `rest` brings, into a response that is encoded while it is sent.
async fn streamed(
    context: &RequestContext<'_>,
    heading: &Heading,
    (rows, head, rest): (Rows, Vec<RecordBatch>, Option<BatchStream>),
    links: HeaderMap,
    flight: SingleFlight<'_>,
) -> Result<Response<Body>> {
    flight.abandon();
    let known: usize = head.iter().map(RecordBatch::num_rows).sum();
    Encoder::check_rows(heading.choice.format, known as u64)?;
    // Repeatable rows are those of the entry itself, which are in memory anyway.
    let share = if rest.is_none() && !rows.repeatable {
        let bytes = head.iter().map(row_size::of).sum();
        context.app.answers.take(&context.caller.holder(), bytes)?
    } else {
        None
    };
    let encoding =
        Encoding { time: Some(context.query_ms()), ..context.encoding(heading.choice.format, &heading.title) };
    let headers = head_of(heading, &rows, links, encoding.coding);
    let mut body = body::stream(rows.schema, head, rest, share, encoding, observed(context.app));
    body.begun().await?;
    let mut response = exit::reply(StatusCode::OK, body);
    *response.headers_mut() = headers;
    Ok(response)
}

/// Turns bytes that a door made itself into a response, which is cached when `read` names the data that it was made
/// from.
pub(crate) async fn document(
    context: &RequestContext<'_>,
    media_type: &'static str,
    body: Vec<u8>,
    version: Version,
    made_from: Option<Vec<(Name, Version)>>,
) -> Result<(Arc<CachedResponse>, Response<Body>)> {
    let mut headers = HeaderMap::with_capacity(HEADERS_USUAL);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    let etag = made_from.is_some().then(|| conditional::etag(version));
    let (body, coding) = compressed(context.coding(), body).await?;
    describe(&mut headers, etag.as_ref(), coding);
    security_headers::add(&mut headers, context.app.options.cors);
    let finished = Arc::new(CachedResponse {
        status: StatusCode::OK,
        headers,
        etag,
        body: body.into(),
        read: made_from.unwrap_or_default(),
        generation: AtomicU64::new(u64::MAX),
    });
    let response = self::finished(context, &finished);
    Ok((finished, response))
}

fn finish(
    context: &RequestContext<'_>,
    heading: &Heading,
    rows: &Rows,
    batches: &[RecordBatch],
    links: HeaderMap,
) -> Result<Arc<CachedResponse>> {
    let mut encoding = context.encoding(heading.choice.format, &heading.title);
    let is_page = heading.choice.format == Format::Html;
    let plain = if is_page {
        let shown = html_page::fitted(batches, (&rows.schema, heading.ways.as_deref()), &mut encoding.style);
        encode(encoding.format, &rows.schema, &shown, &encoding.style)?
    } else {
        encode(encoding.format, &rows.schema, batches, &encoding.style)?
    };
    let (body, coding) = compress(encoding.coding, plain);
    let mut headers = head_of(heading, rows, links, coding);
    security_headers::add_to_rows(&mut headers, is_page, context.app.options.cors);
    Ok(Arc::new(CachedResponse {
        status: StatusCode::OK,
        etag: headers.get(header::ETAG).cloned(),
        headers,
        body: body.into(),
        read: rows.read.clone(),
        generation: AtomicU64::new(u64::MAX),
    }))
}

fn head_of(heading: &Heading, rows: &Rows, links: HeaderMap, coding: Coding) -> HeaderMap {
    let mut headers = links;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(heading.choice.media_type));
    let etag = rows.repeatable.then(|| conditional::etag(heading.version));
    describe(&mut headers, etag.as_ref(), coding);
    headers
}

fn describe(headers: &mut HeaderMap, etag: Option<&HeaderValue>, coding: Coding) {
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    if coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
    }
    match etag {
        Some(etag) => {
            headers.insert(header::ETAG, etag.clone());
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        None => {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
}

/// Does the same as [`compress`], a longer body on another thread.
pub(crate) async fn compressed(coding: Coding, plain: Vec<u8>) -> Result<(Vec<u8>, Coding)> {
    if coding == Coding::Identity || plain.len() <= INLINE_BYTES {
        return Ok(compress(coding, plain));
    }
    let packed = tokio::task::spawn_blocking(move || compress(coding, plain)).await;
    packed.map_err(|broken| Error::internal("the compressor broke down").with_source(broken))
}

/// Compresses a body for the client and returns it with its content coding; it stays plain when compression saves
/// nothing.
pub(crate) fn compress(coding: Coding, plain: Vec<u8>) -> (Vec<u8>, Coding) {
    if coding == Coding::Identity || plain.len() < COMPRESSED_BYTES_MIN {
        return (plain, Coding::Identity);
    }
    match coding.compress(&plain) {
        Ok(packed) if packed.len() < plain.len() => (packed, coding),
        // Also when the encoder failed: the plain body is correct, and labelled as such.
        _ => (plain, Coding::Identity),
    }
}

/// Reads from the stream until it ends or there are too many rows to complete the response before sending it.
async fn first_rows(mut stream: BatchStream) -> Result<(Vec<RecordBatch>, Option<BatchStream>)> {
    let mut head = Vec::new();
    while let Some(batch) = stream.next().await {
        head.push(batch?);
        if !is_small(&head) {
            return Ok((head, Some(stream)));
        }
    }
    Ok((head, None))
}

/// Returns whether the rows are few and small enough to be encoded before the first byte is sent.
fn is_small(batches: &[RecordBatch]) -> bool {
    batches.iter().map(RecordBatch::num_rows).sum::<usize>() <= READY_ROWS_MAX
        && batches.iter().map(row_size::of).sum::<usize>() <= READY_BYTES_MAX
}
