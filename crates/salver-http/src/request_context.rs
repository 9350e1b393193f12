//! A request as handlers see it, and the parts of it that several handlers read.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::AsHeaderName;
use http::{HeaderMap, HeaderName, Method, header};
use salver_formats::{Choice, Coding, Format, Nulls, Style, negotiate};
use salver_model::access::Bound;
use salver_model::limits::PARAMETERS_MAX;
use salver_model::{Caller, Code, Error, Result, Version, suggest};
use salver_text::form;

use crate::app::App;
use crate::body::Encoding;
use crate::dialect::Dialect;
use crate::policy::Admitted;
use crate::routes::Family;
use crate::{conditional, header_lines};

/// Headers that influence the response.
static SHAPING: [HeaderName; 3] = [header::ACCEPT, header::ACCEPT_ENCODING, header::CONTENT_TYPE];

/// A request.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    /// State shared by all requests.
    pub(crate) app: &'a Arc<App>,
    /// Proof that the request was admitted.
    pub(crate) admitted: &'a Admitted,
    /// Identity and address of the caller.
    pub(crate) caller: &'a Caller,
    /// Family of the handler, which determines the protocol of the response.
    pub(crate) family: Family,
    /// Method of the request.
    pub(crate) method: &'a Method,
    /// Path relative to the base path, undecoded.
    pub(crate) path: &'a str,
    /// Query string, undecoded; empty for none.
    pub(crate) query: &'a str,
    /// The headers.
    pub(crate) headers: &'a HeaderMap,
    /// Body, if the handler needs it as a whole; else empty.
    pub(crate) body: Bytes,
    /// Cached result of [`RequestContext::key`].
    key: OnceLock<Vec<u8>>,
    /// Cached result of [`RequestContext::coding`].
    coding: OnceLock<Coding>,
}

impl<'a> RequestContext<'a> {
    /// Creates the view of an admitted request for `path` with `query`.
    pub(crate) fn new(
        app: &'a Arc<App>,
        admitted: &'a Admitted,
        method: &'a Method,
        (path, query): (&'a str, &'a str),
        headers: &'a HeaderMap,
    ) -> Self {
        let (caller, family) = (admitted.caller(), admitted.family());
        let (key, coding) = (OnceLock::new(), OnceLock::new());
        Self { app, admitted, caller, family, method, path, query, headers, body: Bytes::new(), key, coding }
    }

    /// Adds the body.
    pub(crate) fn with_body(self, body: Bytes) -> Self {
        Self { body, key: OnceLock::new(), ..self }
    }

    /// Returns the same request with another query string and other headers.
    pub(crate) fn changed<'b>(&self, query: &'b str, headers: &'b HeaderMap) -> RequestContext<'b>
    where
        'a: 'b,
    {
        RequestContext::new(self.app, self.admitted, self.method, (self.path, query), headers)
    }

    /// Returns the dialect in which the request is refused.
    pub(crate) fn dialect(&self) -> Dialect {
        self.family.dialect(self.query)
    }

    /// Returns the address of the client.
    pub(crate) fn address(&self) -> IpAddr {
        self.caller.address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
    }

    /// Returns how many of the `asked` rows, of which the client can ask for more, one answer may have.
    pub(crate) fn rows_of_part(&self, asked: usize) -> usize {
        let most = self.rows_max().map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        most.map_or(asked, |most| asked.min(most))
    }

    /// Returns how many rows one answer may have; `None` for any number.
    pub(crate) fn rows_max(&self) -> Option<u64> {
        self.caller.limits.rows(self.app.service.limits().rows_max).most()
    }

    /// Returns the key of the request in the response cache.
    pub(crate) fn key(&self) -> &[u8] {
        self.key.get_or_init(|| {
            let mut key = Vec::with_capacity(64 + self.path.len() + self.query.len() + self.body.len());
            key.push(if *self.method == Method::POST { b'P' } else { b'G' });
            // What another may have whole, a caller may get too much of.
            if let Some(rows_max) = self.caller.limits.rows(0).most() {
                key.push(b'R');
                key.extend_from_slice(&rows_max.to_be_bytes());
            }
            for part in [self.path.as_bytes(), self.query.as_bytes()] {
                key.extend_from_slice(part);
                key.push(0);
            }
            // One pass over all headers costs less than three lookups.
            let mut said = [None; 3];
            let mut repeats = false;
            for (name, value) in self.headers {
                if let Some(at) = SHAPING.iter().position(|own| own == name) {
                    repeats |= said[at].replace(value).is_some();
                }
            }
            for (name, value) in SHAPING.iter().zip(said) {
                let all = repeats.then(|| self.headers.get_all(name));
                for value in all.iter().flatten().chain(value.filter(|_| !repeats)) {
                    key.extend_from_slice(value.as_bytes());
                    key.push(b',');
                }
                key.push(0);
            }
            key.extend_from_slice(&self.body);
            if let Some(grants) = &self.caller.grants {
                key.push(0);
                key.extend_from_slice(&grants.id().to_be_bytes());
            }
            key
        })
    }

    /// Returns a header as text; `None` when it is absent or not text.
    pub(crate) fn header(&self, name: impl AsHeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns all lines of a header as one list; `None` when there is none.
    pub(crate) fn header_list(&self, name: HeaderName) -> Option<Cow<'a, str>> {
        header_lines::list(self.headers, name)
    }

    /// Returns the client's `If-None-Match`, which has a meaning for GET and HEAD only.
    pub(crate) fn if_none_match(&self) -> Option<Cow<'a, str>> {
        conditional::if_none_match(self.headers).filter(|_| *self.method != Method::POST)
    }

    /// Chooses the format of rows: the suffix, else `format=`, else `Accept`, else the server's default.
    ///
    /// # Errors
    /// `UnknownFormat` for a `format` that does not exist.
    pub(crate) fn choose(&self, suffix: Option<Format>, named: Option<&str>) -> Result<Choice> {
        self.choose_or(suffix, named, self.app.options.default_format)
    }

    /// Chooses the format in the same way, with another default.
    ///
    /// # Errors
    /// As [`RequestContext::choose`].
    pub(crate) fn choose_or(&self, suffix: Option<Format>, named: Option<&str>, default: Format) -> Result<Choice> {
        let format = match (suffix, named) {
            (Some(format), _) => Some(format),
            (None, Some(name)) => Some(format_named(name)?),
            (None, None) => None,
        };
        Ok(match format {
            Some(format) => Choice { format, media_type: format.media_type() },
            None => negotiate(self.header_list(header::ACCEPT).as_deref(), default),
        })
    }

    /// Returns the bound on the time of a query, and of writing its response.
    pub(crate) fn query_ms(&self) -> Bound {
        self.caller.limits.query_ms(self.app.service.limits().query_ms_max)
    }

    /// Returns the encoding of rows for this client, without a time limit.
    pub(crate) fn encoding(&self, format: Format, title: &str) -> Encoding {
        let nulls = if self.app.options.omit_nulls { Nulls::Omit } else { Nulls::Write };
        let title = if format == Format::Html { title.to_owned() } else { String::new() };
        Encoding { format, style: Style { nulls, title, ..Style::default() }, coding: self.coding(), time: None }
    }

    /// Returns the content coding that the client accepts.
    pub(crate) fn coding(&self) -> Coding {
        *self.coding.get_or_init(|| Coding::negotiate(self.header_list(header::ACCEPT_ENCODING).as_deref()))
    }

    /// Returns the version of the response, which covers the data it is made from, the request, and everything else
    /// that its bytes depend on.
    pub(crate) fn answer_version(&self, content: Version, media_type: &str) -> Version {
        let options = &self.app.options;
        let request = (self.path, self.query, &self.body[..], self.header(header::CONTENT_TYPE));
        let shape = (media_type, self.coding().token(), options.omit_nulls, &options.base_path);
        Version::of(&(env!("CARGO_PKG_VERSION"), content, request, shape))
    }
}

fn format_named(name: &str) -> Result<Format> {
    Format::of_suffix(name).ok_or_else(|| {
        Error::new(Code::UnknownFormat, format!("no format `{name}`"))
            .with_hint_if(suggest::hint(name, Format::ALL.iter().map(|format| format.suffix())))
    })
}

/// Parses the parameters of a query string (or a form), decoded, in order and with repeats.
///
/// # Errors
/// `InvalidRequest` when a part is not UTF-8 after decoding, or there are too many.
pub(crate) fn parameters(query: &str) -> Result<Vec<(String, String)>> {
    let all: Vec<_> = form::pairs(query)
        .take(PARAMETERS_MAX + 1)
        .map(|(name, value)| Ok((decode(name)?, decode(value)?)))
        .collect::<Result<_>>()?;
    if all.len() > PARAMETERS_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("there are more than {PARAMETERS_MAX} parameters"))
            .with_hint("send fewer, or the values in a body of JSON"));
    }
    Ok(all)
}

fn decode(text: &str) -> Result<String> {
    form::decode(text).map(Cow::into_owned).map_err(|error| {
        Error::new(Code::InvalidRequest, format!("`{text}` in the query string is not UTF-8 when decoded"))
            .with_hint("percent-encode the UTF-8 bytes of each character")
            .with_source(error)
    })
}

/// Returns the `wanted` header fields for user code. Invalid UTF-8 in them is replaced.
pub(crate) fn header_fields(headers: &HeaderMap, wanted: impl Fn(&HeaderName) -> bool) -> Vec<(String, String)> {
    let wanted = headers.iter().filter(|(name, _)| wanted(name));
    wanted
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect()
}
