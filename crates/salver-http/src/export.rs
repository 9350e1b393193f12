//! The doors of exports: everything an entry has, in one body that can be gone on with, or in streams that are read by
//! offset from one snapshot.
//!
//! `whole` is `GET /api/export/{name}`; `range` says which part of it is asked for, `work` makes bytes and `file`
//! copies them. A session has N streams: `open` begins one, `batch` reads it, `state` tells of it and ends it; `revive`
//! finds it by its token. What is kept between requests is in `export_state`.

mod ask;
mod batch;
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

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_model::{Code, Error, Result};

use crate::app::App;
use crate::body::Body;
use crate::exchange::Exchange;
use crate::export_state::{Token, damaged};
use crate::segment::segment;
use crate::tokens::Owner;

/// What a path names.
#[derive(Debug, PartialEq)]
pub(crate) enum Target {
    /// `POST /api/export`: a session is opened.
    Open,
    /// `/api/export/{name}`: an entry, or a session.
    One(String),
    /// `/api/export/{token}/{stream}`
    Stream(String, String),
}

impl Target {
    /// What `path`, below the base path, names for `method`; `None` where it is for other doors.
    pub(crate) fn of(method: &Method, path: &str, query: &str) -> Option<Self> {
        let rest = path.strip_prefix("/api/export")?;
        if rest.is_empty() || rest == "/" {
            let names_collection = query.split('&').any(|pair| pair.split('=').next() == Some("collection"));
            return (*method == Method::POST && !names_collection).then_some(Self::Open);
        }
        let rest = rest.strip_prefix('/')?;
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        match rest.split_once('/') {
            None if is_read => Some(Self::One(segment(rest))),
            // What is no session's is another door's.
            None => (*method == Method::DELETE && Token::is_like(rest)).then(|| Self::One(segment(rest))),
            Some((token, stream)) => (is_read && !token.is_empty() && !stream.is_empty() && !stream.contains('/'))
                .then(|| Self::Stream(segment(token), segment(stream))),
        }
    }
}

/// Answers a request of these doors.
pub(crate) async fn answer(app: &Arc<App>, exchange: &Exchange<'_>, target: Target) -> Result<Response<Body>> {
    let ends = *exchange.method == Method::DELETE;
    let read = |text: &str| Token::read(text, &app.tokens, &Owner::of(exchange.caller));
    match target {
        Target::Open => open::answer(app, exchange).await,
        Target::One(text) => match read(&text) {
            Some(token) if ends => state::end(app, &token),
            Some(token) if !names_entry(app, &text) => state::answer(app, exchange.caller, &text, &token).await,
            None if ends => Err(damaged(&text)),
            _ => whole::answer(app, exchange, &text).await.map_err(|error| match error.code {
                // Somebody else's token, or a damaged one.
                Code::UnknownEntry if Token::is_like(&text) => damaged(&text),
                _ => error,
            }),
        },
        Target::Stream(text, stream) => match read(&text) {
            Some(token) => batch::answer(app, exchange, &token, &stream).await,
            None => Err(damaged(&text)),
        },
    }
}

fn names_entry(app: &App, text: &str) -> bool {
    app.service.catalog().peek().entry(text).is_some()
}

/// A finished answer in JSON that is another at the next moment.
fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::Full(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Sets a header to a number.
fn count_header(headers: &mut HeaderMap, name: &'static str, count: u64) {
    headers.insert(name, HeaderValue::from(count));
}

/// A whole number from 0.
fn number(name: &str, text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        Error::new(Code::InvalidNumber, format!("`{name}` is not a whole number from 0: `{text}`"))
            .with_hint(format!("write it like `{name}=1000`"))
    })
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::Target;

    #[test]
    fn paths() {
        assert_eq!(Target::of(&Method::POST, "/api/export", ""), Some(Target::Open));
        assert_eq!(Target::of(&Method::GET, "/api/export/a%20b.csv", ""), Some(Target::One("a b.csv".into())));
        assert_eq!(Target::of(&Method::HEAD, "/api/export/x/0", ""), Some(Target::Stream("x".into(), "0".into())));
        for (method, path) in [
            (Method::GET, "/api/export"),
            (Method::POST, "/api/export"),
            (Method::PUT, "/api/export/12"),
            (Method::DELETE, "/api/export/12"),
            (Method::GET, "/api/export/a/b/c"),
            (Method::GET, "/api/exports/a"),
        ] {
            assert_eq!(Target::of(&method, path, "collection=a"), None, "{method} {path}");
        }
    }
}
