//! API keys of the settings, and of a file of hashed keys.
//!
//! Keys are looked up by their SHA-256 hashes: the time that takes depends on the hash, which tells nothing about the
//! key.

use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use ahash::AHashMap;
use salver_model::limits::API_KEYS_FILE_BYTES_MAX;
use salver_model::spec::api_key::digest_of;
use salver_model::spec::{ApiKey, ApiKeySpec, AuthSpec, Secret};
use salver_model::{Code, Error, Principal, Result};

use super::watched_file::WatchedFile;
use super::{Identity, proved_by};

/// Keys by their hashes.
type Keys = AHashMap<[u8; 32], KnownKey>;

/// The API keys.
#[derive(Debug)]
pub(super) struct ApiKeys {
    declared: Keys,
    /// The keys that are written out and have a name, by it.
    written: AHashMap<String, Secret>,
    file: Option<WatchedFile<Keys>>,
}

/// What a key proves, and until when.
#[derive(Clone, Debug)]
struct KnownKey {
    name: Option<String>,
    identity: Identity,
    expires: Option<SystemTime>,
}

/// The result of looking a key up.
#[derive(Debug)]
pub(super) enum FoundKey {
    /// The key is valid; who has it.
    Valid(Identity),
    /// The key was valid once.
    Expired,
}

impl ApiKeys {
    /// Returns the keys of `spec`.
    ///
    /// # Errors
    /// `Config` for a file that can't be read or has something else than hashed keys.
    pub(super) fn new(spec: &AuthSpec) -> Result<Self> {
        let declared = spec.api_keys.iter().enumerate().map(|(place, key)| known(place, key)).collect();
        let file = spec.api_keys_file.clone().map(|path| WatchedFile::open(path, read)).transpose()?;
        let written = spec.api_keys.iter().filter_map(|own| match (&own.name, &own.key) {
            (Some(name), ApiKey::Plain(key)) => Some((name.clone(), key.clone())),
            _ => None,
        });
        Ok(Self { declared, written: written.collect(), file })
    }

    /// Returns whether some key's name satisfies `is`.
    pub(super) fn has_name(&self, is: &dyn Fn(&str) -> bool) -> bool {
        let has = |keys: &Keys| keys.values().any(|key| key.name.as_deref().is_some_and(is));
        has(&self.declared) || self.file.as_ref().is_some_and(|file| has(&file.content()))
    }

    /// Returns the key of this name, if it is written out.
    pub(super) fn written(&self, name: &str) -> Option<String> {
        self.written.get(name).map(|key| key.reveal().to_owned())
    }

    /// Returns whether some key of a name is written out.
    pub(super) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// Returns who has a key, if it is valid.
    pub(super) fn valid(&self, key: &str) -> Option<Identity> {
        match self.find(key)? {
            FoundKey::Valid(identity) => Some(identity),
            FoundKey::Expired => None,
        }
    }

    /// Looks a key up.
    pub(super) fn find(&self, key: &str) -> Option<FoundKey> {
        if self.declared.is_empty() && self.file.is_none() {
            return None;
        }
        let digest = digest_of(key);
        let in_file = || self.file.as_ref().and_then(|file| file.content().get(&digest).cloned());
        let known = self.declared.get(&digest).cloned().or_else(in_file)?;
        let is_over = known.expires.is_some_and(|end| end <= SystemTime::now());
        Some(if is_over { FoundKey::Expired } else { FoundKey::Valid(known.identity) })
    }
}

/// Returns what the key at this position of the settings proves.
fn known(place: usize, spec: &ApiKeySpec) -> ([u8; 32], KnownKey) {
    let identity = match &spec.name {
        Some(name) => {
            let mut identity = proved_by("api_key", Some(name));
            identity.push(("user".to_owned(), name.clone()));
            identity
        }
        // Two keys without a name are still two callers.
        None => {
            let number = (place + 1).to_string();
            let mut identity = proved_by("api_key", None);
            identity.push((Principal::IDENTITY.to_owned(), format!("api_key#{number}")));
            identity.push(("api_key".to_owned(), number));
            identity
        }
    };
    (spec.key.digest(), KnownKey { name: spec.name.clone(), identity, expires: spec.key.expires() })
}

/// Reads a file of keys: one a line, as `NAME:sha256:HASH`.
fn read(path: &Path) -> Result<Keys> {
    let shown = path.display();
    let unreadable = |why: String| {
        Error::new(Code::Config, format!("the file of API keys `{shown}` {why}"))
            .with_hint("`salver key new NAME --file FILE` makes one")
    };
    let mut text = String::new();
    let opened = std::fs::File::open(path).map_err(|error| unreadable(format!("can't be read: {error}")))?;
    let mut opened = opened.take(API_KEYS_FILE_BYTES_MAX + 1);
    opened.read_to_string(&mut text).map_err(|error| unreadable(format!("can't be read: {error}")))?;
    if text.len() as u64 > API_KEYS_FILE_BYTES_MAX {
        return Err(unreadable(format!("has more than {API_KEYS_FILE_BYTES_MAX} bytes")));
    }
    let mut keys = Keys::new();
    // Some editors begin a file with a byte order mark.
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| {
            Error::new(Code::Config, format!("line {} of the file of API keys `{shown}` {why}", index + 1))
                .with_hint("`salver key new NAME` makes a key and such a line")
        };
        let (name, key) = line.split_once(':').ok_or_else(|| wrong("is not NAME:sha256:HASH"))?;
        let (name, key) = (name.trim(), key.trim());
        if name.is_empty() || name == "sha256" {
            return Err(wrong("has no name"));
        }
        match ApiKey::parse(key).map_err(|error| wrong(&format!("is wrong: {}", error.message)))? {
            // A file of keys in the clear would be worth stealing.
            ApiKey::Plain(_) => return Err(wrong("has no hash of a key")),
            key @ ApiKey::Hashed { .. } => {
                let (digest, known) = known(index, &ApiKeySpec { name: Some(name.to_owned()), key });
                keys.insert(digest, known);
            }
        }
    }
    Ok(keys)
}
