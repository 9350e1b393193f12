//! `GET /api/kv/{store}/{key}`: a single value, bare, in the format of ROAPI.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use salver_formats::json::ColumnWriter;
use salver_model::{Batches, Code, Error, Result, Rows};

use crate::body::Body;
use crate::cache::{CachedResponse, SingleFlight};
use crate::conditional;
use crate::request_context::RequestContext;
use crate::respond;
use crate::security_headers;

/// Responds with the value of `key`.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    store: &str,
    key: &str,
    flight: SingleFlight<'_>,
) -> Result<Response<Body>> {
    let service = &context.app.service;
    let snapshot = service.snapshot_for_store(context.caller, store).await;
    let mut rows = service.look_up(context.caller, &snapshot, store, key).await?;
    let Some(text) = value(&mut rows).await? else {
        return Err(Error::new(Code::NotFound, format!("key {key} not found")));
    };
    let version = rows.read.first().map_or(snapshot.content(), |(_, version)| *version);
    let etag = conditional::etag(context.answer_version(version, "text/plain"));
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    headers.insert(header::ETAG, etag.clone());
    security_headers::add(&mut headers, context.app.options.cors);
    let finished = Arc::new(CachedResponse {
        status: StatusCode::OK,
        headers,
        etag: Some(etag),
        body: text.into(),
        read: rows.read,
        generation: AtomicU64::new(u64::MAX),
    });
    flight.complete(&context.app.cache, context.key(), &finished);
    Ok(respond::finished(context, &finished))
}

/// Returns the single value as text; `None` when there is no row.
async fn value(rows: &mut Rows) -> Result<Option<String>> {
    let batches = match std::mem::replace(&mut rows.batches, Batches::Ready(Vec::new())) {
        Batches::Ready(batches) => batches,
        Batches::Stream(stream) => stream.try_collect().await?,
    };
    let Some(batch) = batches.iter().find(|batch| batch.num_rows() > 0) else { return Ok(None) };
    let column = batch.column(0);
    if column.data_type().is_nested() || column.data_type().is_floating() {
        // The same conversion as at every other door: JSON, with its format of floats.
        let mut text = Vec::new();
        ColumnWriter::new(column)?.write(0, &mut text);
        let text = String::from_utf8(text).map_err(|error| Error::internal("JSON is not text").with_source(error))?;
        // Values that JSON can't represent are written below, and so is null.
        if text != "null" {
            return Ok(Some(text));
        }
    }
    let unreadable = |error| Error::internal("the value can't be written as text").with_source(error);
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column.as_ref(), &options).map_err(unreadable)?;
    formatter.value(0).try_to_string().map(Some).map_err(unreadable)
}
