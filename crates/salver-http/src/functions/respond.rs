//! Converts the answers of user code to HTTP responses.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use salver_formats::Coding;
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::records::DocumentStream;
use salver_model::{Code, Error, Result};
use salver_service::FunctionFile;
use tokio::io::AsyncReadExt;

use super::refusal;
use crate::app::App;
use crate::body::{self, Body};
use crate::dialect::Refusal;
use crate::exit;
use crate::refuse::observed;
use crate::request_context::RequestContext;
use crate::security_headers;

/// Bytes per read of a file.
const PIECE_BYTES: usize = 256 * 1024;

/// Header fields of the connection, which are not part of the response.
const OF_THE_CONNECTION: [HeaderName; 4] =
    [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION, header::UPGRADE];

/// Calls `file` and returns its response.
pub(super) async fn ask(
    context: &RequestContext<'_>,
    file: &FunctionFile,
    call: Call,
) -> Result<Response<Body>, Refusal> {
    let answered = file.call(context.caller, call).await.and_then(|answer| self::answer(context.app, answer));
    answered.map_err(refusal::of_call)
}

/// Converts an answer to a response.
///
/// # Errors
/// `FunctionFailed` for a status or a header field that is invalid in HTTP.
pub(super) fn answer(app: &Arc<App>, answer: Answer) -> Result<Response<Body>> {
    let not_http = |what: String| {
        Error::new(Code::FunctionFailed, format!("the function answers {what}, which HTTP does not allow"))
            .with_hint("see what the function sets on its response")
    };
    let status = StatusCode::from_u16(answer.status).map_err(|_| not_http(format!("status {}", answer.status)))?;
    let body = match answer.body {
        AnswerBody::Whole(bytes) => Body::Full(bytes),
        AnswerBody::Stream(pieces) => streamed(app, Box::pin(pieces.map(|piece| piece.map(|bytes| bytes.to_vec())))),
        AnswerBody::File { path, temporary } => streamed(app, file(path, temporary)?),
    };
    let mut response = exit::reply(status, body);
    let headers = response.headers_mut();
    for (name, value) in &answer.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_bytes(value.as_bytes()).ok());
        let (name, value) = parsed.ok_or_else(|| not_http(format!("the header field `{name}`")))?;
        if !OF_THE_CONNECTION.contains(&name) {
            headers.append(name, value);
        }
    }
    security_headers::of_user_code(headers, app.options.cors);
    Ok(response)
}

/// Buffers a body.
///
/// # Errors
/// `AnswerTooLarge` for more than `bytes_max`, and errors of the body itself.
pub(super) async fn whole(body: AnswerBody, bytes_max: u64) -> Result<Bytes> {
    let too_large = || {
        Error::new(Code::AnswerTooLarge, format!("the function answers more than {bytes_max} bytes"))
            .with_hint("let it answer less, or raise `limits.job_bytes_max`")
    };
    let mut pieces: DocumentStream = match body {
        AnswerBody::Whole(bytes) if bytes.len() as u64 <= bytes_max => return Ok(bytes),
        AnswerBody::Whole(_) => return Err(too_large()),
        AnswerBody::Stream(pieces) => Box::pin(pieces.map(|piece| piece.map(|bytes| bytes.to_vec()))),
        AnswerBody::File { path, temporary } => file(path, temporary)?,
    };
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        whole.extend_from_slice(&piece?);
        if whole.len() as u64 > bytes_max {
            return Err(too_large());
        }
    }
    Ok(whole.into())
}

/// Returns a body that is sent while it is produced.
fn streamed(app: &App, pieces: DocumentStream) -> Body {
    body::pieces(pieces, Coding::Identity, None, observed(app))
}

/// Returns the content of a file. A temporary file is unlinked once it is open.
fn file(path: PathBuf, temporary: bool) -> Result<DocumentStream> {
    let unreadable = |error: std::io::Error, path: &PathBuf| {
        Error::new(Code::FunctionFailed, "the file that the function answers can't be read")
            .with_source(format!("{}: {error}", path.display()))
    };
    let opened = std::fs::File::open(&path).map_err(|error| unreadable(error, &path))?;
    if temporary && let Err(error) = std::fs::remove_file(&path) {
        tracing::warn!(%error, path = %path.display(), "a temporary file of a function can't be removed");
    }
    let opened = tokio::fs::File::from_std(opened);
    let pieces = stream::try_unfold((opened, path), move |(mut opened, path)| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let count = opened.read(&mut piece).await.map_err(|error| unreadable(error, &path))?;
        piece.truncate(count);
        Ok((count > 0).then_some((piece, (opened, path))))
    });
    Ok(Box::pin(pieces))
}
