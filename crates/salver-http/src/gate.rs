//! Admission of requests at every door: by host, client address, origin and TLS; and the further checks of pages at the
//! records doors.

mod cors;
mod host;
mod origin;

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header};
use salver_model::network::Network;
use salver_model::spec::matches_host;
use salver_model::{Code, Error, Principal, Result};

pub(crate) use self::cors::CorsGrant;
use self::host::Hosts;
pub(crate) use self::host::settle;
use crate::auth;
use crate::body::Body;
use crate::conditional;
use crate::cookie;
use crate::exit;
use crate::options::{HttpOptions, OriginOptions};
use crate::peer::Peer;
use crate::request_record::REQUEST_ID;
use crate::routes::Does;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const XSRF_HEADER: HeaderName = HeaderName::from_static("x-xsrf-token");
const XSRF_COOKIE: &str = "XSRF-TOKEN";
const REQUESTED_WITH: HeaderName = HeaderName::from_static("x-requested-with");
const AJAX: &str = "XMLHttpRequest";

/// Headers that matter to the checks of every request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckedHeaders<'h> {
    /// The `Host` header.
    host: Option<&'h HeaderValue>,
    /// Whether there is more than one `Host` header.
    hosts: bool,
    /// Whether a browser sent the request on behalf of a page; [`Gate::check_page`] checks no other requests.
    pub(crate) of_page: bool,
    /// Whether the client waits for 100 (Continue) before it sends the body (RFC 9110, section 10.1.1).
    pub(crate) expects: bool,
    /// Transfer coding of the body beside being chunked once (RFC 9112, section 6.1).
    pub(crate) packed: Option<&'h HeaderValue>,
    /// Whether the client sent an ID for the request, valid or not.
    pub(crate) request_id: bool,
    /// Whether the client wants no representation that there is, whatever its tag (`If-None-Match: *`).
    pub(crate) has_any: bool,
    /// Whether the client wants a part of a representation.
    pub(crate) has_range: bool,
    /// Whether the request is recorded in a trace.
    pub(crate) is_traced: bool,
}

impl<'h> CheckedHeaders<'h> {
    /// Extracts them from `headers` in a single pass, which costs less than separate lookups.
    pub(crate) fn of(headers: &'h HeaderMap) -> Self {
        let mut said = Self::default();
        let mut is_coded = false;
        for (name, value) in headers {
            if *name == header::HOST {
                said.hosts = said.host.is_some();
                said.host = Some(value);
            } else if *name == header::ORIGIN || *name == origin::FETCH_SITE {
                said.of_page = true;
            } else if *name == header::TRANSFER_ENCODING {
                // A second line is a second coding, and chunked twice is none that is allowed.
                if is_coded || !value.as_bytes().eq_ignore_ascii_case(b"chunked") {
                    said.packed = Some(value);
                }
                is_coded = true;
            } else if *name == header::EXPECT {
                said.expects = true;
            } else if *name == header::IF_NONE_MATCH {
                said.has_any |= conditional::asks_for_any(value);
            } else if *name == REQUEST_ID {
                said.request_id = true;
            } else if *name == header::RANGE {
                said.has_range = true;
            }
        }
        said
    }
}

/// The options about admission, preprocessed.
#[derive(Debug)]
pub(crate) struct Gate {
    base_path: String,
    hosts: Hosts,
    /// The hosts of the address that `/metrics` has for itself.
    metrics_hosts: Option<Hosts>,
    cors: bool,
    reverse_proxy: bool,
    caller_headers: Vec<(String, HeaderName)>,
    firewall: Option<Vec<Network>>,
    /// Whether the listener speaks TLS.
    tls: bool,
    ssl_redirect: bool,
    xsrf: bool,
    ajax_only: bool,
    origins: Option<OriginOptions>,
}

impl Gate {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        let networks = || options.firewall.iter().filter_map(|text| Network::parse(text)).collect();
        let header = |(name, header): &(String, String)| Some((name.clone(), header.parse().ok()?));
        Self {
            base_path: options.base_path.clone(),
            hosts: Hosts::new(options),
            metrics_hosts: options.metrics.as_ref().map(|places| Hosts::of_metrics(options, places)),
            cors: options.cors,
            reverse_proxy: options.reverse_proxy,
            caller_headers: options.caller_headers.iter().filter_map(header).collect(),
            // A firewall without a valid entry admits no address: the operator meant to block some.
            firewall: (!options.firewall.is_empty()).then(networks),
            tls: options.tls.is_some(),
            ssl_redirect: options.ssl_redirect && (options.reverse_proxy || options.tls.is_some()),
            xsrf: options.xsrf,
            ajax_only: options.ajax_only,
            origins: options.origins.clone(),
        }
    }

    /// Returns the address of the client. The operator's own proxy appends the address that it sees; anything before
    /// that is unverified input from the client.
    /// `None` for one who comes through a Unix socket.
    pub(crate) fn address(&self, peer: &Peer, headers: &HeaderMap) -> Option<IpAddr> {
        if !self.is_behind_proxy(peer) {
            return peer.address();
        }
        let last = headers.get_all(FORWARDED_FOR).iter().next_back().and_then(|line| line.to_str().ok());
        let said = last.and_then(|line| line.rsplit(',').next()).map(str::trim);
        // Some proxies add the port.
        let address = |text: &str| text.parse().ok().or_else(|| host::address(host::without_port(text)));
        said.and_then(address).map_or(peer.address(), |address| Some(address.to_canonical()))
    }

    /// Returns whether a peer is the operator's own proxy.
    fn is_behind_proxy(&self, peer: &Peer) -> bool {
        self.reverse_proxy && !peer.is_at_metrics()
    }

    /// Returns what is known of the caller. Attributes from authentication precede those from the proxy's headers.
    ///
    /// The certificate on a proxy's connection is the proxy's own. It stands for its callers only where the proxy does
    /// not name them.
    pub(crate) fn principal(&self, peer: &Peer, headers: &HeaderMap, proved: &[(String, String)]) -> Principal {
        let address = self.address(peer, headers);
        let is_proxys = self.is_behind_proxy(peer) && auth::is_by_certificate(proved) && self.names_user(headers);
        let attributes = if is_proxys { Vec::new() } else { proved.to_vec() };
        let mut caller = Principal { address, attributes, local_user: peer.user() };
        if self.is_behind_proxy(peer) {
            for (name, header) in &self.caller_headers {
                // A proxy that appends its own value to the client's means the last.
                let last = headers.get_all(header).iter().next_back().filter(|value| !value.is_empty());
                if let Some(value) = last.and_then(|value| std::str::from_utf8(value.as_bytes()).ok()) {
                    caller.attributes.push((name.clone(), value.to_owned()));
                }
            }
            if let Some(user) = caller.attribute("user").filter(|_| caller.attribute(Principal::IDENTITY).is_none()) {
                caller.attributes.push((Principal::IDENTITY.to_owned(), format!("proxy:{user}")));
            }
        }
        caller
    }

    /// Returns whether the proxy says which user its client is.
    fn names_user(&self, headers: &HeaderMap) -> bool {
        let mut named = self.caller_headers.iter().filter(|(name, _)| name == "user");
        named.any(|(_, header)| headers.get_all(header).iter().next_back().is_some_and(|value| !value.is_empty()))
    }

    /// Returns whether [`Gate::check_address`] checks anything.
    pub(crate) fn applies_to_reads(&self) -> bool {
        self.firewall.is_some() || self.ssl_redirect
    }

    /// Checks the address of the client, and TLS; every door is behind this check. `Some` is a redirect, sent instead
    /// of the door's response.
    ///
    /// # Errors
    /// `Blocked`.
    pub(crate) fn check_address(
        &self,
        peer: &Peer,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Option<Response<Body>>> {
        if !self.applies_to_reads() {
            return Ok(None);
        }
        let address = self.address(peer, headers);
        let below = uri.path().strip_prefix(self.base_path.as_str());
        let is_probe = matches!(below, Some("/health" | "/ready"));
        // Probes from the server's own machine are not blocked.
        if !(is_probe && address.is_none_or(|address| address.is_loopback())) {
            self.check_firewall(address)?;
        }
        // Probes come from beside the server, past the proxy.
        if self.ssl_redirect && !is_probe && !peer.is_at_metrics() && !self.is_secure(headers) {
            return Ok(secured(method, uri, headers));
        }
        Ok(None)
    }

    /// Checks the address of a client.
    ///
    /// # Errors
    /// `Blocked`.
    pub(crate) fn check_firewall(&self, address: Option<IpAddr>) -> Result<()> {
        let is_in = |networks: &Vec<Network>| {
            address.is_some_and(|address| networks.iter().any(|network| network.holds(address)))
        };
        if self.firewall.as_ref().is_none_or(is_in) {
            return Ok(());
        }
        Err(Error::new(Code::Blocked, "Temporary or permanently blocked"))
    }

    /// Returns the response to a request without TLS at a listener with it: a redirect, if there are any.
    ///
    /// # Errors
    /// `InvalidRequest` where such requests are not redirected; the errors of [`Gate::check_host`] and
    /// [`Gate::check_address`].
    pub(crate) fn without_tls<B>(&self, request: &Request<B>, peer: &Peer) -> Result<Response<Body>> {
        self.check_host(request.version(), &CheckedHeaders::of(request.headers()), peer)?;
        let redirect = self.check_address(peer, request.method(), request.uri(), request.headers())?;
        redirect.ok_or_else(|| {
            Error::new(Code::InvalidRequest, "this port speaks TLS, and the request came without it")
                .with_hint("ask for the same address with `https://`")
        })
    }

    /// Says in the headers of a request that came over TLS what a proxy would say. Behind a proxy, that one knows what
    /// its client used.
    pub(crate) fn says_tls(&self, headers: &mut HeaderMap) {
        if !self.reverse_proxy {
            headers.insert(FORWARDED_PROTO, HeaderValue::from_static("https"));
        }
    }

    /// Returns whether the client used TLS, according to the proxy or the own listener. Without either, the header is
    /// the client's, and says nothing.
    pub(crate) fn is_secure(&self, headers: &HeaderMap) -> bool {
        let says_https = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"https");
        (self.reverse_proxy || self.tls) && headers.get(FORWARDED_PROTO).is_some_and(says_https)
    }

    /// Returns the URL of the server without a path, as the client or its proxy names it; `None` if it does not.
    pub(crate) fn own_url(&self, headers: &HeaderMap) -> Option<String> {
        origin::own_url(headers, self.reverse_proxy, self.is_secure(headers))
    }

    /// Returns whether [`Gate::check_origin_and_csrf`] checks anything.
    pub(crate) fn checks_pages(&self) -> bool {
        self.origins.is_some() || self.xsrf || self.ajax_only
    }

    /// Returns whether the options restrict the origins of pages at the records doors.
    pub(crate) fn checks_origins(&self) -> bool {
        self.origins.is_some()
    }

    /// Checks that the page that sent the request has an allowed origin, where the options name origins.
    ///
    /// # Errors
    /// `OriginForbidden`.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<CorsGrant> {
        let mut pass = CorsGrant::default();
        if self.origins.is_some()
            && let Some(origin) = headers.get(header::ORIGIN)
        {
            if self.is_named(origin) {
                pass.origin = Some(Box::new(origin.clone()));
            } else if !self.is_own(origin, headers) && !origin::is_said_to_be_own(headers) {
                return Err(forbidden(headers));
            }
        }
        Ok(pass)
    }

    /// Makes the further checks of the records doors: pages must have an allowed origin, and writes must carry the XSRF
    /// token.
    ///
    /// # Errors
    /// `OriginForbidden`, `XsrfToken`, `Forbidden` for a write that is not an AJAX request.
    pub(crate) fn check_origin_and_csrf(&self, method: &Method, headers: &HeaderMap) -> Result<CorsGrant> {
        let mut pass = self.check_origin(headers)?;
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let writes = !matches!(*method, Method::OPTIONS | Method::GET | Method::HEAD);
        if self.xsrf {
            let token = cookie::only(headers, XSRF_COOKIE).ok().flatten();
            if token.is_none() {
                pass.cookie = Some(Box::new(fresh_cookie(self.is_secure(headers))?));
            }
            if writes && (token.is_none() || token != text(&XSRF_HEADER)) {
                return Err(Error::new(Code::XsrfToken, "Bad or missing XSRF token"));
            }
        }
        if self.ajax_only && writes && text(&REQUESTED_WITH) != Some(AJAX) {
            return Err(Error::new(Code::Forbidden, format!("Only AJAX requests allowed for '{method}'")));
        }
        Ok(pass)
    }

    /// Checks that the request is for one of the server's hosts.
    ///
    /// # Errors
    /// `InvalidRequest` for none or several, `HostForbidden`.
    pub(crate) fn check_host(&self, version: Version, said: &CheckedHeaders<'_>, peer: &Peer) -> Result<()> {
        let metrics = self.metrics_hosts.as_ref().filter(|_| peer.is_at_metrics());
        metrics.unwrap_or(&self.hosts).admit(version, said)
    }

    /// Checks that a page may send this request: a page of another site may read what the options allow, and must not
    /// change or run anything unless they permit it. So a page can't abuse a server on its visitor's machine.
    ///
    /// # Errors
    /// `OriginForbidden`.
    pub(crate) fn check_page(&self, method: &Method, headers: &HeaderMap, does: Does) -> Result<()> {
        let writes = !matches!(*method, Method::OPTIONS | Method::GET | Method::HEAD);
        let is_let_in = match does {
            Does::Reads => true,
            Does::Runs | Does::Asks => self.cors,
            Does::Changes => false,
        };
        if is_let_in || !self.is_of_foreign_page(headers, writes || does == Does::Asks) {
            Ok(())
        } else {
            Err(forbidden(headers))
        }
    }

    /// Returns whether the request comes from a page of another site whose origin is not allowed by name, and so must
    /// not change anything.
    pub(crate) fn is_foreign(&self, headers: &HeaderMap) -> bool {
        CheckedHeaders::of(headers).of_page && self.is_of_foreign_page(headers, true)
    }

    fn is_of_foreign_page(&self, headers: &HeaderMap, writes: bool) -> bool {
        if origin::is_said_to_be_own(headers) {
            return false;
        }
        let mut origins = headers.get_all(header::ORIGIN).iter().peekable();
        if origins.peek().is_none() {
            return origin::is_from_elsewhere(headers, writes);
        }
        !origins.all(|origin| self.is_named(origin) || self.is_own(origin, headers))
    }

    /// Returns whether the options name this origin. `null` stands for pages without an origin, and matches no pattern.
    fn is_named(&self, origin: &HeaderValue) -> bool {
        let Some(origins) = &self.origins else { return false };
        let origin = origin.to_str().unwrap_or_default().to_lowercase();
        let mut allowed = origins.allowed_origins.iter().map(|allowed| allowed.trim().to_lowercase());
        allowed.any(|allowed| if origin == "null" { allowed == origin } else { matches_host(&allowed, &origin) })
    }

    /// Returns whether the page is the server's own. A server that speaks TLS has no pages without it: such a page is
    /// somebody's on the way.
    fn is_own(&self, origin: &HeaderValue, headers: &HeaderMap) -> bool {
        let is_possible = |origin: &str| !self.tls || origin.starts_with("https://");
        let is_own = |origin: &str| origin::is_own(origin, headers, self.reverse_proxy);
        origin.to_str().is_ok_and(|origin| is_possible(origin) && is_own(origin))
    }
}

/// Returns a cookie with an unguessable token, for a client that has none; as long as PHP-CRUD-API's.
fn fresh_cookie(secure: bool) -> Result<HeaderValue> {
    let token = u64::from_le_bytes(salver_model::seal::random()?);
    let secure = if secure { "; Secure" } else { "" };
    HeaderValue::from_str(&format!("{XSRF_COOKIE}={token:016x}; Path=/; SameSite=Lax{secure}"))
        .map_err(|error| Error::internal("a cookie can't be written").with_source(error))
}

/// Returns the error for a page that must not send the request.
fn forbidden(headers: &HeaderMap) -> Error {
    let origin = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    let message = match origin {
        Some(origin) => format!("Origin '{origin}' is forbidden"),
        None => "pages of other sites may not ask this".to_owned(),
    };
    Error::new(Code::OriginForbidden, message).with_hint(
        "pages of another host may do so when `server.cors_origins` names them; behind a proxy, have it forward the \
             host, or send `X-Forwarded-Host` and set `server.reverse_proxy`",
    )
}

/// Returns a redirect to the same URL over TLS; `None` for a request without a host, or without a path. Clients repeat
/// a request with a body only after 308 (RFC 9110, section 15.4.9).
fn secured(method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response<Body>> {
    let named = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let host = named.or(uri.authority().map(http::uri::Authority::as_str))?;
    let is_host = !host.contains('@') && host.parse::<http::uri::Authority>().is_ok();
    let target = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    if !is_host || !target.starts_with('/') {
        return None;
    }
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let status = if reads { StatusCode::MOVED_PERMANENTLY } else { StatusCode::PERMANENT_REDIRECT };
    let mut response = exit::empty(status);
    let location = HeaderValue::from_str(&format!("https://{host}{target}")).ok()?;
    response.headers_mut().insert(header::LOCATION, location);
    Some(response)
}
