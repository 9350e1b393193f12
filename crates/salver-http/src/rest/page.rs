//! Paging headers: `Link: <...>; rel="next"` (RFC 8288) and `X-Total-Count`.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use salver_model::{Error, Result, Rows};

use crate::request_context::RequestContext;
use crate::respond;

const TOTAL: HeaderName = HeaderName::from_static("x-total-count");

/// Returns the paging headers of `rows`.
pub(super) fn links(context: &RequestContext<'_>, rows: &Rows) -> Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(respond::HEADERS_USUAL);
    if let Some(total) = rows.total {
        headers.insert(TOTAL, HeaderValue::from(total));
    }
    if let Some(next) = &rows.next {
        let mut link = format!("<{}{}?", context.app.options.base_path, context.path);
        for pair in context.query.split('&') {
            let name = pair.split_once('=').map_or(pair, |(name, _)| name);
            if !matches!(name, "" | "after" | "offset" | "page") {
                link.push_str(pair);
                link.push('&');
            }
        }
        link.push_str("after=");
        link.push_str(&next.encode());
        link.push_str(">; rel=\"next\"");
        let value = HeaderValue::from_str(&link)
            .map_err(|error| Error::internal("the link to the next page can't be written").with_source(error))?;
        headers.insert(header::LINK, value);
    }
    Ok(headers)
}
