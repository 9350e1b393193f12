//! Who is let in: the one way of every request to a door, whatever its row. In this order: from where it comes, over
//! TLS or not, for which host, from which page, a browser that only asks what it may, and who asks. Only here an
//! [`Admitted`] is made, and no door can be asked without one.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, Uri, Version, header};
use salver_model::{Caller, Code, Error, Result};

use crate::app::App;
use crate::asked::{Asked, below_base, does, is_of_streams};
use crate::auth::Identity;
use crate::body::Body;
use crate::gate::{Pass, Said};
use crate::routes::records::Target as RecordsTarget;
use crate::routes::{Family, Found, Target, arangodb, own};

/// That a request is let in, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    caller: Caller,
    family: Family,
    pass: Pass,
}

impl Admitted {
    /// Who asks, and from where.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whose doors are asked.
    pub(crate) fn family(&self) -> Family {
        self.family
    }

    /// What the page that asked is told.
    pub(crate) fn into_pass(self) -> Pass {
        self.pass
    }
}

/// Where nobody needs to say who they are, by whatever method.
const OPEN: [&str; 4] = ["/health", "/ready", "/api/version", "/_open/auth"];

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Admission {
    /// A door may answer it.
    In(Admitted),
    /// It is answered.
    Answered(Response<Body>),
    /// It is refused; the page is told all the same what it may know.
    Refused(Error, Pass),
}

/// The head of a request, as far as it is looked at here.
#[derive(Clone, Copy, Debug)]
struct Head<'h> {
    method: &'h Method,
    uri: &'h Uri,
    version: Version,
    headers: &'h HeaderMap,
}

/// Lets a request in, or says why not.
///
/// # Errors
/// `Blocked`, `HostForbidden`, `UnsupportedMediaType`, `OriginForbidden`, `XsrfToken`, `Forbidden`; what it says that
/// the caller is nobody known.
pub(crate) async fn admit(app: &App, head: &Parts, peer: IpAddr, asked: &Asked<'_, '_>) -> Result<Admission> {
    let said = Said::of(&head.headers);
    let seen = Head { method: &head.method, uri: &head.uri, version: head.version, headers: &head.headers };
    let redirected = app.gate.enter(peer, seen.uri, seen.headers)?;
    screen(app, seen, &said, asked)?;
    if let Some(response) = redirected {
        return Ok(Admission::Answered(response));
    }
    let family = asked.family();
    let pass = pass(app, seen, family)?;
    if let Some(response) = preflight(app, seen, family) {
        return Ok(Admission::Answered(release(app, pass, response)));
    }
    // Browsers ask what they may without saying for whom; user code that answers that itself is user code.
    let only_asks = head.method == Method::OPTIONS && !asked.is_of_user_code();
    let proved = if is_open(asked) || only_asks {
        Identity::new()
    } else {
        match &app.auth {
            None => Identity::new(),
            Some(auth) => {
                let address = app.gate.address(peer, &head.headers);
                match Box::pin(auth.identify(&app.service, address, &head.headers)).await {
                    Err(_) if lets_strangers_in(app, asked) => Identity::new(),
                    Err(error) => return Ok(Admission::Refused(error, pass)),
                    Ok(proved) => proved,
                }
            }
        }
    };
    Ok(Admission::In(Admitted { caller: app.gate.caller(peer, &head.headers, &proved), family, pass }))
}

/// Lets in what can be let in at once; `None` leaves it to [`admit`], which says the same of it.
pub(crate) fn admit_now<B>(
    app: &App,
    request: &Request<B>,
    said: &Said<'_>,
    peer: IpAddr,
    asked: &Asked<'_, '_>,
) -> Option<Admitted> {
    let seen =
        Head { method: request.method(), uri: request.uri(), version: request.version(), headers: request.headers() };
    let family = asked.family();
    let minds = app.gate.minds_everybody()
        || family == Family::Records && app.gate.minds_pages()
        || said.of_page && app.gate.minds_origins();
    if minds {
        return None;
    }
    screen(app, seen, said, asked).ok()?;
    let proved = match &app.auth {
        Some(auth) if !is_open(asked) => auth.identify_now(seen.headers)?.ok()?,
        _ => Identity::new(),
    };
    Some(Admitted { caller: app.gate.caller(peer, seen.headers, &proved), family, pass: Pass::default() })
}

/// What an answer tells the page that asked, as the request was let in.
pub(crate) fn release(app: &App, pass: Pass, mut response: Response<Body>) -> Response<Body> {
    app.gate.release(pass, response.headers_mut());
    response
}

/// For which host the request is, and whether the page that it comes from may send it.
fn screen(app: &App, head: Head<'_>, said: &Said<'_>, asked: &Asked<'_, '_>) -> Result<()> {
    // Probes tell nothing, and know no name.
    if below_base(app, head.uri.path()) != Some("/health") {
        app.gate.admit_host(head.version, said)?;
    }
    if let Some(packed) = said.packed {
        let packed = String::from_utf8_lossy(packed.as_bytes());
        return Err(Error::new(Code::UnsupportedMediaType, format!("the body comes as `{packed}`"))
            .with_hint("`Transfer-Encoding` is `chunked` here; say `Content-Encoding: gzip` where a page takes that"));
    }
    if !said.of_page {
        return Ok(());
    }
    app.gate.admit_page(head.method, head.headers, does(app, head.method, head.uri, asked))
}

/// What the doors of records ask of pages beside, and of origins those of streams too.
fn pass(app: &App, head: Head<'_>, family: Family) -> Result<Pass> {
    match family {
        Family::Records if *head.method == Method::OPTIONS && !app.gate.minds_origins() => Ok(Pass::default()),
        Family::Records => app.gate.admit(head.method, head.headers),
        // Tokens and the like are asked of scripts of pages by the doors of records alone.
        family if is_of_streams(family) && app.gate.minds_origins() => app.gate.admit(&Method::GET, head.headers),
        _ => Ok(Pass::default()),
    }
}

/// The answer to a page that asks what it may do, where the options name pages.
fn preflight(app: &App, head: Head<'_>, family: Family) -> Option<Response<Body>> {
    if *head.method != Method::OPTIONS {
        return None;
    }
    let is_asked = head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let always = family == Family::Records || is_of_streams(family);
    if is_asked || always { app.gate.preflight(head.headers) } else { None }
}

/// Whether nobody needs to say who they are: probes prove nothing, and who is about to can't have done so.
fn is_open(asked: &Asked<'_, '_>) -> bool {
    match asked {
        Asked::Table(Found::Row(_, Target::Own(target))) => {
            matches!(target, own::Target::Health | own::Target::Ready | own::Target::Version)
        }
        Asked::Table(Found::Row(_, Target::ArangoDb(target))) => target.asked == arangodb::Asked::Login,
        Asked::Table(Found::OtherMethod(place)) => OPEN.contains(&place.path),
        _ => false,
    }
}

/// Whether the path is one by which callers become known, who may have said something wrong of themselves before.
fn lets_strangers_in(app: &App, asked: &Asked<'_, '_>) -> bool {
    let is_account = match asked {
        Asked::Table(Found::Row(_, target)) => matches!(target, Target::Records(RecordsTarget::Account(_))),
        Asked::Table(Found::OtherMethod(place)) => place.is_account,
        _ => false,
    };
    is_account && app.has_accounts()
}
