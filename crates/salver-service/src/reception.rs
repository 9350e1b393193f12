//! The port by which wires other than HTTP let their callers in: identity, address, limits and what is told of failures
//! are decided in one place for all of them.

use std::any::Any;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use salver_model::spec::ScramVerifier;
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
    /// What the client proves it with.
    pub proof: Proof,
}

/// What a client proves with who it is.
pub enum Proof {
    /// Password of the user, an API key, or a token.
    Secret(String),
    /// The client has shown that it knows the user's password, or the key of that name, without sending it; the state
    /// of [`ScramLogin`].
    Scram(String),
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Secret(_) => "Secret",
            Self::Scram(_) => "Scram",
        })
    }
}

/// What it takes to let a client show that it knows a password without sending it (SCRAM-SHA-256).
#[derive(Debug)]
pub struct ScramLogin {
    /// What is known of the password.
    pub verifier: ScramVerifier,
    /// Proof of who has shown it; changes with the password. `None` for a user that there is not, or whose password is
    /// kept in another way: nothing shows it, and the client can't tell why.
    pub state: Option<String>,
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

    /// Returns what it takes for the client at this address to show that it knows the password of `user`, and counts an
    /// attempt; `None` if the user's password is kept so that it must be sent. If `is_hidden`, the password can't be
    /// sent, and every user has a verifier if any has one.
    ///
    /// # Errors
    /// `TooManyAttempts`, `Overloaded`.
    fn scram<'a>(
        &'a self,
        visitor: &'a Visitor,
        user: &'a str,
        is_hidden: bool,
    ) -> BoxFuture<'a, Result<Option<ScramLogin>>>;

    /// Takes back the attempt of a client that has shown it.
    fn forgive(&self, visitor: &Visitor, user: &str);

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
