//! Lets calls in: who asks is found out from the head of a call, before any of its messages is read.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use hyper::body::Incoming;
use salver_model::{Code, Error, Owner, Result};
use salver_service::reception::{Proof, Visitor, Welcome, WireLogin};
use salver_text::base64;
use tonic::Status;
use tonic::codegen::Service;

use super::Shared;
use super::refusal;
use super::row_body;

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer {
    pub(super) address: IpAddr,
    /// Whether the connection is encrypted.
    pub(super) is_secure: bool,
}

/// A call that was let in.
#[derive(Clone, Debug)]
pub(super) struct Admitted {
    pub(super) welcome: Arc<Welcome>,
    /// Whom the tickets of the caller belong to.
    pub(super) owner: Arc<Owner>,
    /// What the caller said of itself.
    pub(super) login: Option<Arc<WireLogin>>,
}

/// Answers a call.
pub(super) async fn answer(
    mut request: Request<Incoming>,
    peer: Peer,
    shared: &Shared,
) -> std::result::Result<Response<tonic::body::Body>, Infallible> {
    match admit(request.headers(), peer, shared).await {
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            shared.service.clone().call(request).await.map(row_body::with_rows)
        }
        Err(error) => Ok(refusal::status(shared.reception.disclose(error)).into_http()),
    }
}

/// Returns what a call was let in with.
pub(super) fn admitted<T>(request: &tonic::Request<T>) -> std::result::Result<Admitted, Status> {
    let found = request.extensions().get::<Admitted>().cloned();
    found.ok_or_else(|| Status::internal("the call was not let in"))
}

async fn admit(headers: &HeaderMap, peer: Peer, shared: &Shared) -> Result<Admitted> {
    let asks_for_proof = shared.reception.asks_for_proof();
    let given = headers.get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
    if given.is_some() && asks_for_proof && !peer.is_secure && !peer.address.is_loopback() {
        let message = "passwords, keys and tokens are only taken over TLS, and from this machine";
        let hint = "connect with `grpc+tls://`; the server needs `server.tls_certificate` for it";
        return Err(Error::new(Code::AuthenticationRequired, message).with_hint(hint));
    }
    let login = match given.map(|given| login_of(given, shared)) {
        Some(Err(error)) if asks_for_proof => return Err(error),
        Some(Ok(login)) => login,
        Some(Err(_)) | None => None,
    };
    let visitor = Visitor { address: Some(peer.address), login: login.clone(), ..Visitor::default() };
    let welcome = shared.reception.admit(&visitor).await?;
    let owner = Arc::new(Owner::of(&welcome.caller));
    Ok(Admitted { welcome: Arc::new(welcome), owner, login })
}

/// Reads what a client says of itself; `None` if it is nobody in particular.
fn login_of(given: &[u8], shared: &Shared) -> Result<Option<Arc<WireLogin>>> {
    let (scheme, rest) = given.split_at(given.iter().position(|byte| *byte == b' ').unwrap_or(given.len()));
    let rest = rest.trim_ascii();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| unreadable());
    if scheme.eq_ignore_ascii_case(b"basic") {
        let pair = text(base64::decode_loosely(rest).ok_or_else(unreadable)?)?;
        let (user, secret) = pair.split_once(':').ok_or_else(unreadable)?;
        let login = || WireLogin { user: user.to_owned(), proof: Proof::Secret(secret.to_owned()) };
        return Ok((!secret.is_empty()).then(|| Arc::new(login())));
    }
    if scheme.eq_ignore_ascii_case(b"bearer") {
        let secret = text(rest.to_vec())?;
        return match shared.logins.find(&secret) {
            Some(found) => found.map(Some),
            None => Ok(Some(Arc::new(WireLogin { user: String::new(), proof: Proof::Secret(secret) }))),
        };
    }
    Err(unreadable())
}

fn unreadable() -> Error {
    Error::new(Code::AuthenticationFailed, "`authorization` can't be read")
        .with_hint("send `Basic` with user and password in Base64, or `Bearer` with a key or a token")
}
