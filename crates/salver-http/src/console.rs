//! The console: its page at each of its paths, and its files. They are the same for everybody, and hold no data: what
//! is shown there comes from the API, for whoever asks.

use std::sync::LazyLock;

use ahash::AHashMap;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use salver_console::Asset;
use salver_formats::Coding;
use salver_model::{Code, Error, Result};

use crate::body::Body;
use crate::request_context::RequestContext;
use crate::{exit, respond, security_headers};

/// Beginning of the paths of files, below the console's own.
const FILES: &str = "assets/";

/// Files, compressed for all clients once. They are few and small, and most clients want most of them.
static PACKED: LazyLock<AHashMap<&str, Bytes>> = LazyLock::new(|| {
    let packed = salver_console::assets().filter_map(|(name, asset)| {
        let (bytes, coding) = respond::compress(Coding::Gzip, asset.bytes.to_vec());
        (coding == Coding::Gzip).then(|| (name, Bytes::from(bytes)))
    });
    packed.collect()
});

/// Responds with the file at this path below `/console/`, or with the page.
///
/// # Errors
/// `NotFound` for a file that there is not.
pub(crate) fn answer(context: &RequestContext<'_>, path: &str) -> Result<Response<Body>> {
    let Some(name) = path.strip_prefix(FILES) else { return Ok(page(context)) };
    let Asset { bytes, media_type } = salver_console::asset(name).ok_or_else(|| {
        let hint = "the page may be from an earlier version of the server; load it again";
        Error::new(Code::NotFound, format!("the console has no file `{name}`")).with_hint(hint)
    })?;
    let packed = PACKED.get(name).filter(|_| context.coding() != Coding::Identity && accepts_gzip(context));
    let body = packed.cloned().unwrap_or(Bytes::from_static(bytes));
    let mut response = exit::reply(StatusCode::OK, Body::Full(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    // The name of a file changes with its content.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Coding::Gzip.token()));
    }
    security_headers::of_console(headers);
    Ok(response)
}

/// Returns whether the client takes gzip, which every browser does.
fn accepts_gzip(context: &RequestContext<'_>) -> bool {
    context.header_list(header::ACCEPT_ENCODING).is_some_and(|list| list.to_ascii_lowercase().contains("gzip"))
}

fn page(context: &RequestContext<'_>) -> Response<Body> {
    let page = salver_console::page(&context.app.options.base_path);
    let mut response = exit::reply(StatusCode::OK, Body::Full(page.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    // It names the files of this version; the path `/` is the index for programs, too.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    security_headers::of_console(headers);
    response
}
