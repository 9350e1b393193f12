//! Admission of requests: every request passes through here on its way to a door, whatever its route. The checks are
//! made in this order: client address, TLS, host, origin of the page, CORS preflight, identity of the caller, and how
//! many requests it may send. An [`Admitted`] is only created here, and no door can be called without one.

use std::net::{IpAddr, Ipv4Addr};

use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, Uri, Version, header};
use salver_model::ports::MaybeReady;
use salver_model::{Caller, Code, Error, Result};

use crate::app::App;
use crate::auth::Identity;
use crate::body::Body;
use crate::browser;
use crate::caller_accounts::Charge;
use crate::gate::{CheckedHeaders, CorsGrant};
use crate::peer::Peer;
use crate::request_target::{RequestTarget, does, is_of_streams};
use crate::routes::records::RecordsTarget;
use crate::routes::{Family, Found, RouteTarget, arangodb, own};

/// Proof that a request was admitted, and for which caller.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    caller: Caller,
    family: Family,
    pass: CorsGrant,
}

impl Admitted {
    /// Returns identity and address of the caller.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the family of the handler.
    pub(crate) fn family(&self) -> Family {
        self.family
    }

    /// Returns whether the response gets headers for the page that sent the request.
    pub(crate) fn has_pass(&self) -> bool {
        !self.pass.is_empty()
    }

    /// Returns the headers for the page that sent the request.
    pub(crate) fn into_pass(self) -> CorsGrant {
        self.pass
    }
}

/// Paths that need no authentication, whatever the method.
const OPEN: [&str; 4] = ["/health", "/ready", "/api/version", "/_open/auth"];

/// What stands for callers without an address where wrong passwords are counted.
pub(crate) const NO_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The outcome of admission.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The request may be handled.
    In(Admitted),
    /// The request is already answered.
    Answered(Box<Response<Body>>),
    /// The request is refused; the response still gets the headers for the page. With the caller, if it is known.
    Refused(Box<Error>, CorsGrant, Option<Box<Caller>>),
}

/// The parts of a request's head that admission reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'h> {
    method: &'h Method,
    uri: &'h Uri,
    version: Version,
    headers: &'h HeaderMap,
}

impl<'h> Head<'h> {
    /// Returns those of a request.
    pub(crate) fn of<B>(request: &'h Request<B>) -> Self {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        Self { method, uri, version: request.version(), headers }
    }

    /// Returns those of a request without its body.
    pub(crate) fn of_parts(parts: &'h Parts) -> Self {
        Self { method: &parts.method, uri: &parts.uri, version: parts.version, headers: &parts.headers }
    }
}

/// Admits a request or refuses it; at once, unless credentials have to be looked up. It is charged to its caller,
/// unless `charge` says that it was. Refusals are `Blocked`, `HostForbidden`, `UnsupportedMediaType`,
/// `OriginForbidden`, `XsrfToken`, `Forbidden`, `TooManyRequests`, and those of
/// [`Auth::identify`](crate::auth::Auth::identify).
pub(crate) fn admit<'a>(
    app: &'a App,
    head: Head<'a>,
    said: &CheckedHeaders<'_>,
    peer: &'a Peer,
    asked: &RequestTarget<'_>,
    charge: &'a mut Charge,
) -> MaybeReady<'a, Admission> {
    let family = asked.family();
    let pass = match checked(app, head, said, peer, asked) {
        Ok(Checked::Passed(pass)) => pass,
        Ok(Checked::Answered(response)) => return MaybeReady::Ready(Admission::Answered(response)),
        Err(error) => return MaybeReady::Ready(Admission::Refused(Box::new(error), CorsGrant::default(), None)),
    };
    // Preflight requests of browsers carry no credentials; user code that handles OPTIONS itself is treated as user
    // code.
    let only_asks = head.method == Method::OPTIONS && !asked.is_of_user_code();
    let is_free = only_asks || is_liveness(asked);
    let mut admitted = move |proved: &Identity, pass| {
        let caller = app.service.caller(app.gate.principal(peer, head.headers, proved));
        match if is_free { Ok(()) } else { charge.settle(&app.callers, &caller) } {
            Ok(()) => Admission::In(Admitted { caller, family, pass }),
            Err(error) => Admission::Refused(Box::new(error), pass, Some(Box::new(caller))),
        }
    };
    // Which methods a path has may depend on the caller, if it says who it is.
    let asks_as_caller = only_asks && asked.is_of_entries();
    let is_anyone = only_asks && !asks_as_caller || is_open(asked) || is_of_console(asked, head.headers);
    let Some(auth) = app.auth.load().filter(|_| !is_anyone) else {
        return MaybeReady::Ready(admitted(&Identity::new(), pass));
    };
    let lets_in = asks_as_caller || lets_strangers_in(app, asked);
    let address = app.gate.address(peer, head.headers).unwrap_or(NO_ADDRESS);
    let proved = auth.identify(&app.service, (address, peer.certificate()), head.headers);
    proved.then(move |proved| {
        MaybeReady::Ready(match proved {
            Ok(proved) => admitted(&proved, pass),
            Err(_) if lets_in => admitted(&Identity::new(), pass),
            Err(error) => Admission::Refused(Box::new(error), pass, None),
        })
    })
}

/// The outcome of the checks before the identity of the caller.
enum Checked {
    /// The request may go on; with the headers for the page that sent it.
    Passed(CorsGrant),
    /// The request is already answered.
    Answered(Box<Response<Body>>),
}

/// Checks everything but the identity of the caller.
fn checked(
    app: &App,
    head: Head<'_>,
    said: &CheckedHeaders<'_>,
    peer: &Peer,
    asked: &RequestTarget<'_>,
) -> Result<Checked> {
    let redirected = app.gate.check_address(peer, head.method, head.uri, head.headers)?;
    screen(app, head, said, (peer, asked))?;
    if let Some(response) = redirected {
        return Ok(Checked::Answered(Box::new(response)));
    }
    let family = asked.family();
    let pass = pass(app, head, family)?;
    Ok(match preflight(app, head, family) {
        Some(response) => Checked::Answered(Box::new(release(app, pass, response))),
        None => Checked::Passed(pass),
    })
}

/// Makes the checks of the records doors for a document that changes rows, which is known from its body only.
///
/// # Errors
/// `OriginForbidden`, `XsrfToken`, `Forbidden`.
pub(crate) fn admit_changes(app: &App, method: &Method, headers: &HeaderMap) -> Result<()> {
    app.gate.check_origin_and_csrf(method, headers).map(drop)
}

/// Adds the headers for the page that sent the request, as admission determined them.
pub(crate) fn release(app: &App, pass: CorsGrant, mut response: Response<Body>) -> Response<Body> {
    app.gate.apply_cors(pass, response.headers_mut());
    response
}

/// Checks the host of the request, and whether the page that sent it may do so.
fn screen(
    app: &App,
    head: Head<'_>,
    said: &CheckedHeaders<'_>,
    (peer, asked): (&Peer, &RequestTarget<'_>),
) -> Result<()> {
    // The liveness probe discloses nothing, and does not know the server's name.
    if !is_liveness(asked) {
        app.gate.check_host(head.version, said, peer)?;
    }
    if let Some(packed) = said.packed {
        let packed = String::from_utf8_lossy(packed.as_bytes());
        return Err(Error::new(Code::UnsupportedMediaType, format!("the body comes as `{packed}`")).with_hint(
            "`Transfer-Encoding` is `chunked` here, once; say `Content-Encoding: gzip` where a page takes that",
        ));
    }
    if !said.of_page {
        return Ok(());
    }
    app.gate.check_page(head.method, head.headers, does(app, head.method, head.uri, asked))
}

/// Makes the further checks of pages at the records doors; the streams doors share the check of origins.
fn pass(app: &App, head: Head<'_>, family: Family) -> Result<CorsGrant> {
    match family {
        Family::Records if *head.method == Method::OPTIONS && !app.gate.checks_origins() => Ok(CorsGrant::default()),
        Family::Records => app.gate.check_origin_and_csrf(head.method, head.headers),
        // Only the records doors check tokens and the like.
        family if is_of_streams(family) => app.gate.check_origin(head.headers),
        _ => Ok(CorsGrant::default()),
    }
}

/// Returns the response to a CORS preflight request, if the options name origins.
fn preflight(app: &App, head: Head<'_>, family: Family) -> Option<Response<Body>> {
    if *head.method != Method::OPTIONS {
        return None;
    }
    let is_asked = head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let always = family == Family::Records || is_of_streams(family);
    if is_asked || always { app.gate.preflight(head.headers) } else { None }
}

/// Returns whether the request asks whether the server is alive, which nothing limits.
pub(crate) fn is_liveness(asked: &RequestTarget<'_>) -> bool {
    matches!(asked, RequestTarget::Table(Found::Row(_, RouteTarget::Own(own::OwnTarget::Health))))
}

/// Returns whether a request needs no authentication: probes have no credentials, and a login is only about to get
/// some.
fn is_open(asked: &RequestTarget<'_>) -> bool {
    match asked {
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(target))) => {
            matches!(target, own::OwnTarget::Health | own::OwnTarget::Ready | own::OwnTarget::Version)
        }
        RequestTarget::Table(Found::Row(_, RouteTarget::ArangoDb(target))) => {
            target.asked == arangodb::ArangodbRequest::Login
        }
        RequestTarget::Table(Found::OtherMethod(place)) => OPEN.contains(&place.path),
        _ => false,
    }
}

/// Returns whether a request gets the console, which is the same for everybody and is where people log in.
fn is_of_console(asked: &RequestTarget<'_>, headers: &HeaderMap) -> bool {
    match asked {
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(own::OwnTarget::Console(_)))) => true,
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(own::OwnTarget::Index))) => browser::is_one(headers),
        _ => false,
    }
}

/// Returns whether the path is for log-in at an identity provider.
fn is_of_provider(asked: &RequestTarget<'_>) -> bool {
    match asked {
        RequestTarget::Table(Found::Row(_, target)) => matches!(target, RouteTarget::Own(own::OwnTarget::Provider(_))),
        RequestTarget::Table(Found::OtherMethod(place)) => place.path.starts_with(own::PROVIDER),
        _ => false,
    }
}

/// Returns whether invalid credentials are tolerated, because the caller is about to log in or register at this path.
fn lets_strangers_in(app: &App, asked: &RequestTarget<'_>) -> bool {
    let is_account = match asked {
        RequestTarget::Table(Found::Row(_, target)) => {
            matches!(target, RouteTarget::Records(RecordsTarget::Account(_)))
        }
        RequestTarget::Table(Found::OtherMethod(place)) => place.is_account,
        _ => false,
    };
    is_account && app.has_accounts() || is_of_provider(asked) && app.has_provider()
}
