//! The headers that let pages of other origins send requests and read responses (CORS).

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use super::Gate;
use crate::body::Body;
use crate::exit;
use crate::options::OriginOptions;

/// Request headers that PHP-CRUD-API does not know.
const OWN_HEADERS: [&str; 17] = [
    "Authorization",
    "X-API-Key",
    "X-Requested-With",
    "Range",
    "If-Match",
    "If-None-Match",
    "Idempotency-Key",
    "Accept",
    "Content-Encoding",
    "Last-Event-ID",
    "Prefer",
    "Salver-Key",
    "Salver-Id",
    "Salver-Partition",
    "Salver-Time",
    "X-Callback-Url",
    "X-Request-Id",
];

/// Headers that pages of any origin may read.
const EXPOSED: &str = "accept-ranges, content-range, etag, link, location, preference-applied, salver-crc32, \
    salver-next, salver-offset, salver-rows, x-exception-message, x-request-id, x-total-count";

/// The result of admission at a records door, for the headers of the response. It is small, because most are empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct CorsGrant {
    /// Origin of the page that may read the response.
    pub(super) origin: Option<Box<HeaderValue>>,
    /// Cookie with a new token, for a client that has none yet.
    pub(super) cookie: Option<Box<HeaderValue>>,
}

impl CorsGrant {
    /// Returns whether it adds nothing to the response.
    pub(crate) fn is_empty(&self) -> bool {
        self.origin.is_none() && self.cookie.is_none()
    }
}

impl Gate {
    /// Adds the CORS headers and the token to a response of the records doors.
    pub(crate) fn apply_cors(&self, pass: CorsGrant, headers: &mut HeaderMap) {
        if let (Some(origins), Some(origin)) = (&self.origins, pass.origin) {
            if origins.allow_credentials {
                headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
            }
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, *origin);
            put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &exposed(&origins.expose_headers));
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
        if let Some(cookie) = pass.cookie {
            headers.append(header::SET_COOKIE, *cookie);
        }
    }

    /// Adds the CORS headers for pages of any origin to a response of any door, if the options let them read it.
    pub(crate) fn apply_cors_all(&self, headers: &mut HeaderMap) {
        if self.cors && !headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }

    /// Adds the CORS headers for the page that sent `asked` to a response of any door, if the options name its origin.
    /// They permit more than those for any origin.
    pub(crate) fn apply_cors_named(&self, asked: &HeaderMap, headers: &mut HeaderMap) {
        let told = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        if self.origins.is_none() || told.is_some_and(|told| told != "*") {
            return;
        }
        let origin = asked.get(header::ORIGIN).filter(|origin| self.is_named(origin)).cloned().map(Box::new);
        self.apply_cors(CorsGrant { origin, cookie: None }, headers);
    }

    /// Returns the response to a CORS preflight request; `None` if the options name no origins.
    pub(crate) fn preflight(&self, asked: &HeaderMap) -> Option<Response<Body>> {
        let origins = self.origins.as_ref()?;
        let mut response = exit::empty(StatusCode::OK);
        let headers = response.headers_mut();
        put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &allow_headers(origins, asked));
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, &origins.allow_methods);
        if origins.allow_credentials {
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(origins.max_age_s));
        Some(response)
    }
}

/// Returns the headers that a page may read: those of the options, and Salver's own.
fn exposed(options: &str) -> String {
    let named = |name: &str| options.split(',').any(|option| option.trim().eq_ignore_ascii_case(name));
    let own = EXPOSED.split(", ").filter(|name| !named(name));
    let options = Some(options.trim()).filter(|options| !options.is_empty());
    options.into_iter().chain(own).collect::<Vec<_>>().join(", ")
}

/// Returns the headers that a page may send: those of the options, and those of Salver's own that it asks for.
fn allow_headers(origins: &OriginOptions, asked: &HeaderMap) -> String {
    let mut allowed = origins.allow_headers.clone();
    let asked = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok()).unwrap_or("");
    for name in asked.split(',').map(str::trim) {
        let is_allowed = allowed.split(',').any(|other| other.trim().eq_ignore_ascii_case(name));
        if let Some(own) = OWN_HEADERS.iter().find(|own| !is_allowed && own.eq_ignore_ascii_case(name)) {
            let comma = if allowed.is_empty() { "" } else { ", " };
            allowed.push_str(comma);
            allowed.push_str(own);
        }
    }
    allowed
}

fn put(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let (false, Ok(value)) = (text.is_empty(), HeaderValue::from_str(text)) {
        headers.insert(name, value);
    }
}
