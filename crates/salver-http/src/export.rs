//! The handlers of exports: all rows of an entry, either in one body that can be resumed, or in streams that are read
//! by offset from one snapshot.
//!
//! `full_body` is `GET /api/export/{name}`; `range` parses its `Range` header, `body_encoder` describes the rows to
//! encode, `encode` encodes them, and `file` copies a file that is already in the requested format. A session has N
//! streams: `open` opens it, `batch` reads a stream, `state` reports its state and ends it, and `resume` resolves its
//! token. State kept between requests is in `export_state`.

mod batch;
mod body_encoder;
mod encode;
mod file;
mod full_body;
mod open;
mod outlet;
mod params;
mod range;
mod resume;
mod source;
mod state;

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use salver_formats::Format;
use salver_model::{Code, Error, Permission, Result};
use salver_service::Entry;

use crate::app::App;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exit;
use crate::export_state::{ExportToken, damaged};
use crate::request_context::RequestContext;
use crate::routes::exports::ExportsTarget;
use crate::tokens::Owner;

/// Handles a request for an export.
pub(crate) async fn answer(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    target: ExportsTarget<'_>,
) -> Result<Response<Body>, Refusal> {
    let read = |text: &str| ExportToken::read(text, &app.tokens, &Owner::of(context.caller));
    let answered = match target {
        ExportsTarget::Open => open::answer(app, context).await,
        ExportsTarget::One(text) => match read(&text) {
            Some(token) if !names_entry(context, &text) => state::answer(app, context, &text, &token).await,
            _ => {
                return full_body::answer(app, context, &text).await.map_err(|refusal| match refusal.error.code {
                    // A damaged token, or a token of another caller.
                    Code::UnknownEntry if ExportToken::is_like(&text) => damaged(&text).into(),
                    _ => refusal,
                });
            }
        },
        ExportsTarget::End(text) => match read(&text) {
            Some(token) => state::end(app, &token),
            None if ExportToken::is_like(&text) => Err(damaged(&text)),
            None => Err(Error::new(Code::NotFound, format!("`{text}` is not a session of an export"))
                .with_hint("entries are not deleted; a session is, by its token")),
        },
        ExportsTarget::Stream(text, stream) => match read(&text) {
            Some(token) => batch::answer(app, context, &token, &stream).await,
            None => Err(damaged(&text)),
        },
    };
    Ok(answered?)
}

/// Returns whether a request for the rows of an entry asks for a file, or for a part of one. Programs that read files
/// by ranges, as polars does, and those that go on with a download, need bytes that are the same from one request to
/// the next: an export has such.
pub(crate) fn is_file(context: &RequestContext<'_>, target: &str) -> bool {
    let is_asked = matches!(*context.method, Method::GET | Method::HEAD) && context.query.is_empty();
    is_asked && {
        let snapshot = context.app.service.peek(context.caller, Permission::Export);
        let (name, suffix) = params::split(&snapshot, target);
        let table = snapshot.entry(name).and_then(Entry::table);
        matches!(suffix, Some(Format::Parquet | Format::ArrowFile))
            && table.is_some_and(|table| table.describe().kind.is_fixed())
    }
}

/// Answers with a file of all rows of an entry, or with a part of it.
pub(crate) async fn file(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    target: &str,
) -> Result<Response<Body>, Refusal> {
    full_body::answer(app, context, target).await
}

fn names_entry(context: &RequestContext<'_>, text: &str) -> bool {
    context.app.service.peek(context.caller, Permission::Export).entry(text).is_some()
}

/// Builds a JSON response that must not be cached.
fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    exit::unstored(status, HeaderValue::from_static("application/json"), Body::Full(body.into()))
}

/// Sets a header to a number.
fn count_header(headers: &mut HeaderMap, name: &'static str, count: u64) {
    headers.insert(name, HeaderValue::from(count));
}

/// Parses an unsigned integer.
fn number(name: &str, text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        Error::new(Code::InvalidNumber, format!("`{name}` is not a whole number from 0: `{text}`"))
            .with_hint(format!("write it like `{name}=1000`"))
    })
}
