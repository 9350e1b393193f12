//! Who a client of another wire is: by the one secret that it gives as its password, or that it has shown to know
//! without sending it.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use salver_model::{Code, Result};
use salver_service::Service;
use salver_service::reception::{Proof, WireLogin};

use super::{Auth, CredentialCheck, Credentials, Identity, failed};

impl Auth {
    /// Identifies a client by its address, the name in its certificate, and its login. The password is an API key, a
    /// token, or that of the user: each method that is configured is asked in turn.
    ///
    /// # Errors
    /// `AuthenticationRequired`, `AuthenticationFailed`, `TooManyAttempts`; the errors of the database.
    pub(crate) async fn identify_login(
        &self,
        service: &Service,
        from: (IpAddr, Option<&str>),
        login: Option<&WireLogin>,
    ) -> Result<Identity> {
        let Some(WireLogin { user, proof }) = login else { return self.of_connection(from.1) };
        let secret = match proof {
            Proof::Secret(secret) => secret,
            // After a change of the password or the key it has to be shown again.
            Proof::Scram(state) => return self.shown(user, state).ok_or_else(|| failed(user)),
        };
        if self.jwt.is_some() && secret.bytes().filter(|byte| *byte == b'.').count() == 2 {
            return self.find(service, from, Credentials::Token(secret)).await;
        }
        if self.key_header.is_some() {
            let by_key = self.find(service, from, Credentials::Key(secret)).await;
            let has_names = self.basic.is_some() || self.users.is_some();
            match by_key {
                // Expired keys say so.
                Err(error) if error.code == Code::AuthenticationFailed && error.hint.is_none() && has_names => {}
                found => return found,
            }
        }
        if self.basic.as_ref().is_some_and(|basic| basic.has_name(&|name| name == user)) || self.users.is_none() {
            let pair = STANDARD.encode(format!("{user}:{secret}"));
            return self.find(service, from, Credentials::Password(&pair)).await;
        }
        self.of_user(service, from.0, (user, secret)).await
    }

    /// Checks a credential, by a look-up where that is needed.
    async fn find(&self, service: &Service, from: (IpAddr, Option<&str>), given: Credentials<'_>) -> Result<Identity> {
        match self.check(&given, from.1) {
            CredentialCheck::Known(identity) => identity,
            CredentialCheck::NeedsLookup => self.look_up(service, from, given).await,
        }
    }

    /// Identifies a user of the table.
    async fn of_user(&self, service: &Service, address: IpAddr, (name, password): (&str, &str)) -> Result<Identity> {
        let Some(users) = self.users.as_ref().filter(|users| users.spec.login) else { return Err(failed(name)) };
        let hash = users.login(service, name).await?.and_then(|login| login.hash);
        // With the hash: after a change of the password it is checked again.
        let tag = self.sessions.tagger.tag(&[name, password, hash.as_deref().unwrap_or_default()]);
        if self.proven.get(&tag).is_none() {
            self.attempts.begin(address, Some(name))?;
            if !users.is_right(password, hash).await? {
                return Err(failed(name));
            }
            self.attempts.forgive(address, name);
            self.proven.insert(tag, ());
        }
        self.is_free(name)?;
        let user = users.user(service, name).await?.ok_or_else(|| failed(name))?;
        Ok(user.identity)
    }
}
