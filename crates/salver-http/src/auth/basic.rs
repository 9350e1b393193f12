//! Name and password with each request (RFC 7617), for users in the settings or in an `htpasswd` file.
//!
//! Checking a bcrypt hash takes tens of milliseconds on purpose. Credentials that were right are cached by a keyed
//! hash, which covers the password's bcrypt hash, too: after a change of password they are checked again.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use ahash::AHashMap;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use quick_cache::sync::Cache;
use salver_model::spec::{AuthSpec, ScramVerifier};
use salver_model::{Code, Error, Result};

use super::attempts::Attempts;
use super::hmac::{Tag, Tagger};
use super::password::Passwords;
use super::watched_file::WatchedFile;
use super::{Identity, failed, proved_by};

/// Most valid credentials that are cached.
const CACHED_CREDENTIALS: usize = 4_096;

/// Password hashes by user name.
type Hashes = AHashMap<String, String>;

/// The users with a name and password.
#[derive(Debug)]
pub(super) struct Basic {
    declared: Hashes,
    file: Option<WatchedFile<Hashes>>,
    passwords: Arc<Passwords>,
    tagger: Arc<Tagger>,
    remembered: Cache<Tag, ()>,
}

impl Basic {
    pub(super) fn new(spec: &AuthSpec, passwords: Arc<Passwords>, tagger: Arc<Tagger>) -> Result<Self> {
        let declared = spec.basic_users.iter().map(|(name, hash)| (name.clone(), hash.reveal().to_owned())).collect();
        let declared: Hashes = declared;
        let file = spec.basic_file.clone().map(|path| WatchedFile::open(path, read)).transpose()?;
        let in_file = file.iter().flat_map(|file| file.content().values().cloned().collect::<Vec<_>>());
        declared.values().cloned().chain(in_file).for_each(|hash| passwords.learn(&hash));
        Ok(Self { declared, file, passwords, tagger, remembered: Cache::new(CACHED_CREDENTIALS) })
    }

    /// Identifies the caller if the same credentials were right before.
    pub(super) fn recall(&self, credentials: &str) -> Option<Identity> {
        let (name, password) = decode(credentials)?;
        let hash = self.hash_of(&name)?;
        self.remembered.get(&self.tagger.tag(&[&name, &password, &hash]))?;
        Some(identity(name))
    }

    /// Checks credentials and identifies the caller.
    ///
    /// # Errors
    /// `AuthenticationFailed`, `TooManyAttempts`.
    pub(super) async fn prove(&self, credentials: &str, attempts: &Attempts, address: IpAddr) -> Result<Identity> {
        let Some((name, password)) = decode(credentials) else { return Err(failed("Basic")) };
        attempts.begin(address, Some(&name))?;
        let hash = self.hash_of(&name);
        let tag = self.tagger.tag(&[&name, &password, hash.as_deref().unwrap_or_default()]);
        if !self.passwords.is_right(password, hash).await? {
            return Err(failed(&name));
        }
        attempts.forgive(address, &name);
        self.remembered.insert(tag, ());
        Ok(identity(name))
    }

    /// Identifies the user who logged in as `name`, provided that the password has not changed since.
    pub(super) fn still(&self, name: String, state: &str) -> Option<Identity> {
        let hash = self.hash_of(&name)?;
        (self.state(&name, &hash) == state).then(|| identity(name))
    }

    /// Checks a name and a password, and returns the state that [`Basic::still`] compares.
    ///
    /// # Errors
    /// As [`Basic::prove`].
    pub(super) async fn log_in(
        &self,
        name: &str,
        password: &str,
        attempts: &Attempts,
        address: IpAddr,
    ) -> Result<String> {
        // A name with a colon would be parsed as a shorter one.
        if name.contains(':') {
            return Err(failed(name));
        }
        let credentials = STANDARD.encode(format!("{name}:{password}"));
        if self.recall(&credentials).is_none() {
            self.prove(&credentials, attempts, address).await?;
        }
        let hash = self.hash_of(name).ok_or_else(|| failed(name))?;
        Ok(self.state(name, &hash))
    }

    /// Returns a value that changes with the user's password and reveals nothing about it.
    fn state(&self, name: &str, hash: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.tagger.tag(&["login", name, hash]))
    }

    /// Returns whether some user's name satisfies `is`.
    pub(super) fn has_name(&self, is: &dyn Fn(&str) -> bool) -> bool {
        self.declared.keys().any(|name| is(name))
            || self.file.as_ref().is_some_and(|file| file.content().keys().any(|name| is(name)))
    }

    /// Returns whether some password is kept as a verifier.
    pub(super) fn has_verifiers(&self) -> bool {
        // All other hashes begin with this sign.
        let has = |hashes: &Hashes| hashes.values().any(|hash| !hash.starts_with('$'));
        has(&self.declared) || self.file.as_ref().is_some_and(|file| has(&file.content()))
    }

    /// Returns the hash of the user's password, or its verifier.
    pub(super) fn hash_of(&self, name: &str) -> Option<String> {
        let in_file = || self.file.as_ref().and_then(|file| file.content().get(name).cloned());
        self.declared.get(name).cloned().or_else(in_file)
    }
}

pub(super) fn identity(name: String) -> Identity {
    let mut identity = proved_by("basic", Some(&name));
    identity.push(("user".to_owned(), name));
    identity
}

fn decode(credentials: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(credentials).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

fn read(path: &Path) -> Result<Hashes> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("the file of users `{shown}` can't be read: {error}");
        Error::new(Code::Config, message).with_hint("`htpasswd -cB FILE NAME` makes one")
    })?;
    let mut hashes = Hashes::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = index + 1;
        let is_hash = |hash: &str| hash.parse::<bcrypt::HashParts>().is_ok() || ScramVerifier::parse(hash).is_some();
        let Some((name, hash)) = line.split_once(':').filter(|(_, hash)| is_hash(hash)) else {
            let message =
                format!("line {at} of the file of users `{shown}` is not NAME:HASH with a bcrypt hash or a verifier");
            let hint = "`htpasswd -B FILE NAME` writes a hash, and `salver key password NAME` a verifier";
            return Err(Error::new(Code::Config, message).with_hint(hint));
        };
        hashes.insert(name.to_owned(), hash.to_owned());
    }
    Ok(hashes)
}
