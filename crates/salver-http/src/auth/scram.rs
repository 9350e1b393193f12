//! Users who show that they know their password, or the key of their name, without sending it (SCRAM-SHA-256). That
//! takes a password that is kept as a verifier, or a key that is written out: other hashes are of no use for it.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use salver_model::Result;
use salver_model::spec::ScramVerifier;
use salver_service::reception::ScramLogin;

use super::{Auth, Identity};

/// Bytes of the salt of a key.
const SALT_BYTES: usize = 16;

impl Auth {
    /// Returns what it takes for the client at `address` to show that it is `user`, and counts an attempt.
    ///
    /// # Errors
    /// `TooManyAttempts`, `Overloaded`.
    pub(crate) async fn scram(&self, address: IpAddr, user: &str, is_hidden: bool) -> Result<Option<ScramLogin>> {
        let hash = self.basic.as_ref().and_then(|basic| basic.hash_of(user));
        if let Some(verifier) = hash.as_deref().and_then(ScramVerifier::parse) {
            self.attempts.begin(address, Some(user))?;
            let state = hash.map(|hash| self.scram_state(user, &hash));
            return Ok(Some(ScramLogin { verifier, state }));
        }
        let key = self.api_keys.written(user).filter(|_| hash.is_none());
        if key.is_none() && !(is_hidden && self.has_scram()) {
            return Ok(None);
        }
        self.attempts.begin(address, Some(user))?;
        let state = key.as_ref().map(|key| self.scram_state(user, key));
        // The salt of a name is always the same, also where there is no such user: it tells nothing.
        let salt = self.sessions.tagger.tag(&["scram salt", user])[..SALT_BYTES].to_vec();
        let nobodys = || URL_SAFE_NO_PAD.encode(self.sessions.tagger.tag(&["scram nobody", user]));
        let verifier = self.passwords.scram_verifier(key.unwrap_or_else(nobodys), salt).await?;
        Ok(Some(ScramLogin { verifier, state }))
    }

    /// Identifies the user who has shown to be `user`, provided that the password or the key has not changed since.
    pub(super) fn shown(&self, user: &str, state: &str) -> Option<Identity> {
        let is_same = |content: &str| self.scram_state(user, content) == state;
        if let Some(hash) = self.basic.as_ref().and_then(|basic| basic.hash_of(user)) {
            return is_same(&hash).then(|| super::basic::identity(user.to_owned()));
        }
        let key = self.api_keys.written(user).filter(|key| is_same(key))?;
        self.api_keys.valid(&key)
    }

    /// Returns whether anybody can show it.
    fn has_scram(&self) -> bool {
        self.api_keys.has_written() || self.basic.as_ref().is_some_and(super::basic::Basic::has_verifiers)
    }

    /// Returns a value that changes with the content and tells nothing about it.
    fn scram_state(&self, user: &str, content: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.sessions.tagger.tag(&["scram", user, content]))
    }
}

impl super::password::Passwords {
    /// Returns the verifier of a password with this salt.
    ///
    /// # Errors
    /// `Overloaded`.
    async fn scram_verifier(&self, password: String, salt: Vec<u8>) -> Result<ScramVerifier> {
        self.work(move || Ok(ScramVerifier::with_salt(&password, salt))).await
    }
}
