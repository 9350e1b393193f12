//! The address of an object, or of several: `s3://bucket/key`.

use std::fmt;

use salver_model::spec::ObjectStoreKind;
use salver_model::{Code, Error, Result};

/// A bucket and a key in it, a prefix of keys, or a pattern. A key is what the store calls it: nothing is decoded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    /// The system.
    pub(crate) kind: ObjectStoreKind,
    /// The bucket; in Azure, the container.
    pub(crate) bucket: String,
    /// The key, without a slash at its beginning.
    pub(crate) key: String,
}

impl Address {
    /// Parses a source.
    pub(super) fn of(source: &str) -> Result<Self> {
        let parsed = ObjectStoreKind::of_source(source).and_then(|(kind, rest)| {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '$');
            let is_bucket = !bucket.is_empty() && bucket.chars().all(is_name);
            is_bucket.then(|| Self { kind, bucket: bucket.to_owned(), key: key.to_owned() })
        });
        parsed.ok_or_else(|| {
            Error::new(Code::Source, format!("`{source}` names no bucket"))
                .with_hint("write `s3://BUCKET/KEY`; the account of Azure is set with `store_account`")
        })
    }

    /// Returns the address of another key of the same bucket.
    pub(super) fn with_key(&self, key: &str) -> Self {
        Self { kind: self.kind, bucket: self.bucket.clone(), key: key.to_owned() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/{}", self.kind.scheme(), self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses() {
        for (source, bucket, key) in [
            ("s3://b/a/b c%20.csv", "b", "a/b c%20.csv"),
            ("gs://b.example", "b.example", ""),
            ("az://$root/", "$root", ""),
        ] {
            let address = Address::of(source).unwrap();
            assert_eq!((address.bucket.as_str(), address.key.as_str()), (bucket, key));
        }
        for source in ["s3://", "s3:///a", "s3://a b/c", "s3://user@b/c", "ftp://b/c"] {
            assert!(Address::of(source).is_err(), "{source}");
        }
    }
}
