//! The port by which wires other than HTTP let their callers in: identity, address, limits and what is told of failures
//! are decided in one place for all of them.

use std::any::Any;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use salver_model::{Caller, Code, Error, Result};

use crate::service::Service;

/// Who asks by a wire.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// Address of the client.
    pub address: Option<IpAddr>,
    /// Name in the certificate that the client showed and the server checked.
    pub certificate: Option<Arc<str>>,
    /// What the client says of itself; `None` if it proves nothing.
    pub login: Option<Arc<WireLogin>>,
}

/// What a client says of itself when its connection begins.
pub struct WireLogin {
    /// Name of the user.
    pub user: String,
    /// Password of the user, an API key, or a token.
    pub secret: String,
}

impl fmt::Debug for WireLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireLogin").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A visitor who was let in, for one request.
pub struct Welcome {
    /// The service in force.
    pub service: Arc<Service>,
    /// The caller.
    pub caller: Caller,
    /// Counts the request among those of its caller until it is dropped.
    pub running: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for Welcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Welcome").field("caller", &self.caller).finish_non_exhaustive()
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Time until it was answered.
    pub took: Duration,
    /// Why it was refused; `None` if it was not.
    pub refused: Option<Code>,
}

/// Lets the callers of a wire in.
///
/// Contract: every request asks again, so that what is in force after a reload, an expired key and a limit hold at
/// once.
pub trait Reception: Send + Sync + fmt::Debug {
    /// Returns whether callers can prove who they are with a password, a key or a token.
    fn asks_for_proof(&self) -> bool;

    /// Lets a request of `visitor` in.
    ///
    /// # Errors
    /// `Blocked`, `AuthenticationRequired`, `AuthenticationFailed`, `TooManyAttempts`, `TooManyRequests`; the errors of
    /// the database of users.
    fn admit<'a>(&'a self, visitor: &'a Visitor) -> BoxFuture<'a, Result<Welcome>>;

    /// Returns what the client may read of `error`. A failure of the server is reported to the operator.
    fn disclose(&self, error: Error) -> Error;

    /// Counts a request of the wire of this name.
    fn count(&self, wire: &'static str, outcome: Outcome);
}
