//! The console: its page at each of its paths, and its files. They are the same for everybody, and hold no data: what
//! is shown there comes from the API, for whoever asks. Only where browsers without scripts go on is told by the path.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use salver_console::Asset;
use salver_formats::Coding;
use salver_model::{Code, Error, Result};

use crate::body::Body;
use crate::request_context::RequestContext;
use crate::{exit, plain_place, security_headers};

/// Beginning of the paths of files, below the console's own.
const FILES: &str = "assets/";

/// Responds with the file at this path below `/console/`, or with the page.
///
/// # Errors
/// `NotFound` for a file that there is not.
pub(crate) fn answer(context: &RequestContext<'_>, path: &str) -> Result<Response<Body>> {
    let Some(name) = path.strip_prefix(FILES) else { return Ok(page(context, path)) };
    let Asset { bytes, gzip, media_type } = salver_console::asset(name).ok_or_else(|| {
        let hint = "the page may be from an earlier version of the server; load it again";
        Error::new(Code::NotFound, format!("the console has no file `{name}`")).with_hint(hint)
    })?;
    let is_packed = gzip.len() < bytes.len() && context.coding() != Coding::Identity && accepts_gzip(context);
    let body = if is_packed { gzip } else { bytes };
    let mut response = exit::reply(StatusCode::OK, Body::Full(Bytes::from_static(body)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    // The name of a file changes with its content.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Coding::Gzip.token()));
    }
    security_headers::of_console(headers);
    Ok(response)
}

/// Returns whether the client takes gzip, which every browser does.
fn accepts_gzip(context: &RequestContext<'_>) -> bool {
    context.header_list(header::ACCEPT_ENCODING).is_some_and(|list| list.to_ascii_lowercase().contains("gzip"))
}

fn page(context: &RequestContext<'_>, path: &str) -> Response<Body> {
    let page = salver_console::page(&context.app.options.base_path, &plain_place::of(path, context.query));
    let mut response = exit::reply(StatusCode::OK, Body::Full(page.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    // It names the files of this version; the path `/` is the index for programs, too.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    security_headers::of_console(headers);
    response
}
