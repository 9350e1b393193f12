//! API keys of the settings.

use std::sync::Arc;

use ahash::AHashMap;
use salver_model::Principal;
use salver_model::spec::Secret;

use super::hmac::{Tag, Tagger};
use super::{Identity, proved_by};

/// The API keys, by their hashes.
#[derive(Debug)]
pub(super) struct ApiKeys {
    by_tag: AHashMap<Tag, Identity>,
    names: Vec<String>,
    tagger: Arc<Tagger>,
}

impl ApiKeys {
    pub(super) fn new(keys: &[(Option<String>, Secret)], tagger: Arc<Tagger>) -> Self {
        let identity = |place: usize, name: &Option<String>| match name {
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
        let names = keys.iter().filter_map(|(name, _)| name.clone()).collect();
        let tagged = |(place, (name, key)): (usize, &(Option<String>, Secret))| {
            (tagger.tag(&[key.reveal()]), identity(place, name))
        };
        Self { by_tag: keys.iter().enumerate().map(tagged).collect(), names, tagger }
    }

    /// Returns the names of the keys.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the identity that belongs to a key.
    pub(super) fn find(&self, key: &str) -> Option<Identity> {
        if self.by_tag.is_empty() {
            return None;
        }
        self.by_tag.get(&self.tagger.tag(&[key])).cloned()
    }
}
