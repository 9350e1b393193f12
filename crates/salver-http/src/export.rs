//! The handlers of exports: all rows of an entry, either in one body that can be resumed, or in streams that are read
//! by offset from one snapshot.
//!
//! `whole` is `GET /api/export/{name}`; `range` parses its `Range` header, `work` describes the rows to encode,
//! `encode` encodes them, and `file` copies a file that is already in the requested format. A session has N streams:
//! `open` opens it, `batch` reads a stream, `state` reports its state and ends it, and `revive` resolves its token.
//! State kept between requests is in `export_state`.

mod ask;
mod batch;
mod encode;
mod file;
mod open;
mod outlet;
mod range;
mod revive;
mod source;
mod state;
mod whole;
mod work;

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use salver_model::{Code, Error, Result};

use crate::app::App;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exchange::Exchange;
use crate::exit;
use crate::export_state::{Token, damaged};
use crate::routes::exports::Target;
use crate::tokens::Owner;

/// Handles a request for an export.
pub(crate) async fn answer(
    app: &Arc<App>,
    exchange: &Exchange<'_>,
    target: Target<'_>,
) -> Result<Response<Body>, Refusal> {
    let read = |text: &str| Token::read(text, &app.tokens, &Owner::of(exchange.caller));
    let answered = match target {
        Target::Open => open::answer(app, exchange).await,
        Target::One(text) => match read(&text) {
            Some(token) if !names_entry(app, &text) => state::answer(app, exchange.caller, &text, &token).await,
            _ => {
                return whole::answer(app, exchange, &text).await.map_err(|refusal| match refusal.error.code {
                    // A damaged token, or a token of another caller.
                    Code::UnknownEntry if Token::is_like(&text) => damaged(&text).into(),
                    _ => refusal,
                });
            }
        },
        Target::End(text) => match read(&text) {
            Some(token) => state::end(app, &token),
            None if Token::is_like(&text) => Err(damaged(&text)),
            None => Err(Error::new(Code::NotFound, format!("`{text}` is no session of an export"))
                .with_hint("entries are not deleted; a session is, by its token")),
        },
        Target::Stream(text, stream) => match read(&text) {
            Some(token) => batch::answer(app, exchange, &token, &stream).await,
            None => Err(damaged(&text)),
        },
    };
    Ok(answered?)
}

fn names_entry(app: &App, text: &str) -> bool {
    app.service.catalog().peek().entry(text).is_some()
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
