//! Logins of clients, each under the token that its handshake gave: from then on the token stands for the password.
//! Each call proves the caller again with what the token stands for.

use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::{FLIGHT_LOGIN_TTL_S, FLIGHT_LOGINS_MAX};
use salver_model::{Code, Error, Holder, Result, seal};
use salver_service::exports::{Lease, Leases};
use salver_service::reception::WireLogin;

/// Beginning of the tokens, by which they are told from keys.
const BEGINNING: &str = "flight_";
/// Digits of the number of a login, and of its secret.
const ID_DIGITS: usize = 16;
const SECRET_DIGITS: usize = 32;

/// The logins.
#[derive(Debug)]
pub(super) struct Logins(Leases<KeptLogin>);

struct KeptLogin {
    secret: u128,
    login: Arc<WireLogin>,
}

impl Lease for KeptLogin {}

impl Default for Logins {
    fn default() -> Self {
        Self(Leases::new("logins of Arrow Flight", FLIGHT_LOGINS_MAX))
    }
}

impl Logins {
    /// Keeps a login, and returns its token.
    ///
    /// # Errors
    /// `Overloaded` if there are too many.
    pub(super) fn keep(&self, holder: &Holder, login: Arc<WireLogin>) -> Result<String> {
        let secret = u128::from_le_bytes(seal::random()?);
        let kept = KeptLogin { secret, login };
        let id = self.0.open(holder, kept, Duration::from_secs(FLIGHT_LOGIN_TTL_S))?;
        Ok(format!("{BEGINNING}{id:0ID_DIGITS$x}{secret:0SECRET_DIGITS$x}"))
    }

    /// Returns the login of a token; `None` for a text that is no token of a handshake.
    ///
    /// # Errors
    /// `AuthenticationFailed` for one that no longer holds.
    pub(super) fn find(&self, token: &str) -> Option<Result<Arc<WireLogin>>> {
        let digits = token.strip_prefix(BEGINNING)?;
        if digits.len() != ID_DIGITS + SECRET_DIGITS || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let id = u64::from_str_radix(&digits[..ID_DIGITS], 16).ok()?;
        let secret = u128::from_str_radix(&digits[ID_DIGITS..], 16).ok()?;
        let found = self.0.touch(id, |kept| (kept.secret == secret).then(|| Arc::clone(&kept.login)));
        Some(found.ok().flatten().ok_or_else(|| {
            Error::new(Code::AuthenticationFailed, "the login has ended").with_hint("connect again, and log in")
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use salver_model::Holder;
    use salver_service::reception::{Proof, WireLogin};

    use super::Logins;

    #[tokio::test]
    async fn a_token_stands_for_its_login_alone() {
        let logins = Logins::default();
        let login =
            |user: &str| Arc::new(WireLogin { user: user.to_owned(), proof: Proof::Secret("secret".to_owned()) });
        let [ann, ben] = ["ann", "ben"].map(|user| logins.keep(&Holder::Server, login(user)).unwrap());
        assert_eq!(logins.find(&ann).unwrap().unwrap().user, "ann");
        assert_eq!(logins.find(&ben).unwrap().unwrap().user, "ben");
        let mixed = format!("{}{}", &ann[..23], &ben[23..]);
        assert!(logins.find(&mixed).unwrap().is_err(), "the number of one and the secret of another");
        for other in ["", "flight_", "a key", &ann[..ann.len() - 1], &ann.replace("flight_", "flight-")] {
            assert!(logins.find(other).is_none(), "{other}");
        }
    }
}
