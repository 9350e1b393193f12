//! Keys of the settings.

use std::sync::Arc;

use ahash::AHashMap;
use salver_model::spec::Secret;

use super::tag::{Tag, Tagger};
use super::{Identity, proved_by};

/// The keys, by their hashes.
#[derive(Debug)]
pub(super) struct ApiKeys {
    by_tag: AHashMap<Tag, Identity>,
    tagger: Arc<Tagger>,
}

impl ApiKeys {
    pub(super) fn new(keys: &[(Option<String>, Secret)], tagger: Arc<Tagger>) -> Self {
        let identity = |place: usize, name: &Option<String>| match name {
            Some(name) => vec![proved_by("api_key"), ("user".to_owned(), name.clone())],
            // Two callers without a name are two all the same.
            None => vec![proved_by("api_key"), ("api_key".to_owned(), (place + 1).to_string())],
        };
        let tagged = |(place, (name, key)): (usize, &(Option<String>, Secret))| {
            (tagger.tag(&[key.reveal()]), identity(place, name))
        };
        Self { by_tag: keys.iter().enumerate().map(tagged).collect(), tagger }
    }

    /// Whose key it is.
    pub(super) fn find(&self, key: &str) -> Option<Identity> {
        if self.by_tag.is_empty() {
            return None;
        }
        self.by_tag.get(&self.tagger.tag(&[key])).cloned()
    }
}
