//! Converts documents to responses: status, entity tag, compression, and XML on request.

use futures::StreamExt;
use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::Coding;
use salver_model::Result;
use salver_model::limits::COMPRESSED_BYTES_MIN;
use salver_model::ports::MaybeReady;
use salver_model::records::{Changed, Document, DocumentBody};

use super::response_headers::{NO_CACHE, encoded, head};
use crate::body::{self, Body};
use crate::dialect::php::{self, XML, XmlWriter, as_php};
use crate::exit;
use crate::offload::INLINE_BYTES;
use crate::refuse::observed;
use crate::request_context::RequestContext;
use crate::respond;

/// Converts a document to a response, at once unless a large one is compressed. `tag` is its entity tag, if it has one.
pub(super) fn document<'a>(
    context: &RequestContext<'a>,
    document: Document,
    xml: bool,
    tag: Option<HeaderValue>,
) -> MaybeReady<'a, Result<Response<Body>>> {
    match in_format(document, xml) {
        Ok(document) => formatted(context, document, xml, tag),
        Err(error) => MaybeReady::Ready(Err(error)),
    }
}

/// Converts a document to XML, if that is requested.
///
/// # Errors
/// `Internal` when the document is malformed.
pub(super) fn in_format(document: Document, xml: bool) -> Result<Document> {
    if !xml {
        return Ok(document);
    }
    let body = match document.body {
        DocumentBody::Whole(bytes) => DocumentBody::Whole(XmlWriter::whole(&bytes)?),
        DocumentBody::Stream(stream) => DocumentBody::Stream(XmlWriter::stream(stream).boxed()),
    };
    Ok(Document { body, ..document })
}

/// Converts a document that is in the requested format to a response.
pub(super) fn formatted<'a>(
    context: &RequestContext<'a>,
    document: Document,
    xml: bool,
    tag: Option<HeaderValue>,
) -> MaybeReady<'a, Result<Response<Body>>> {
    let about = About { xml, tag };
    let coding = coding(context, &document.body);
    let bytes = match document.body {
        DocumentBody::Whole(bytes) => bytes,
        DocumentBody::Stream(stream) => {
            let body = body::pieces(stream, coding, Some(context.query_ms()), observed(context.app));
            return MaybeReady::Ready(Ok(about.reply(body, coding)));
        }
    };
    if coding == Coding::Identity || bytes.len() <= INLINE_BYTES {
        let (bytes, coding) = respond::compress(coding, bytes);
        return MaybeReady::Ready(Ok(about.reply(Body::Full(bytes.into()), coding)));
    }
    MaybeReady::pending(async move {
        let (bytes, coding) = respond::compressed(coding, bytes).await?;
        Ok(about.reply(Body::Full(bytes.into()), coding))
    })
}

/// Returns the content coding that a body may get. Small ones are not compressed, so the client's encodings need not be
/// parsed for them.
pub(super) fn coding(context: &RequestContext<'_>, body: &DocumentBody) -> Coding {
    let is_small = matches!(body, DocumentBody::Whole(bytes) if bytes.len() < COMPRESSED_BYTES_MIN);
    if is_small { Coding::Identity } else { context.coding() }
}

/// The properties of a response beside its body.
struct About {
    xml: bool,
    tag: Option<HeaderValue>,
}

impl About {
    fn reply(self, body: Body, coding: Coding) -> Response<Body> {
        let mut response = exit::reply(StatusCode::OK, body);
        let headers = response.headers_mut();
        *headers = head(self.tag);
        if self.xml {
            headers.insert(header::CONTENT_TYPE, XML);
        }
        encoded(headers, coding);
        response
    }
}

/// Converts the outcome of changes to a response; `hints` says whether errors are written with their hints.
pub(super) async fn changed(
    context: &RequestContext<'_>,
    changed: Changed,
    xml: bool,
    hints: bool,
) -> Result<Response<Body>> {
    let parts = match changed {
        Changed::Done(body) => return document(context, Document::whole(body), xml, None).await,
        Changed::Undone(parts) => parts,
    };
    let mut body = Vec::with_capacity(64 * parts.len());
    php::write_parts(&parts, hints, &mut body);
    let mut response = document(context, Document::whole(body), xml, None).await?;
    *response.status_mut() = StatusCode::FAILED_DEPENDENCY;
    php::tell(parts.iter().flatten(), response.headers_mut());
    Ok(response)
}

/// Converts JSON text to a response.
pub(super) async fn text(context: &RequestContext<'_>, json: &str, xml: bool) -> Result<Response<Body>> {
    document(context, Document::whole(as_php(json).into_bytes()), xml, None).await
}

/// Returns 304 with `tag`.
pub(super) fn not_modified(tag: HeaderValue) -> Response<Body> {
    exit::not_modified([(header::ETAG, tag), (header::CACHE_CONTROL, NO_CACHE)])
}
