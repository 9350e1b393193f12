//! Object stores as sources of datasets: which systems there are, and how one is reached. The Google Sheets API is
//! reached in the same way.

use std::path::PathBuf;

use super::Secret;

/// System of an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectStoreKind {
    /// S3 of AWS, and systems that are compatible with it.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

impl ObjectStoreKind {
    /// Returns the system that a source is in, by its scheme, and the rest behind `://`.
    #[must_use]
    pub fn of_source(source: &str) -> Option<(Self, &str)> {
        let (scheme, rest) = source.split_once("://")?;
        let kind = match scheme {
            "s3" => Self::S3,
            "gs" => Self::Google,
            "az" => Self::Azure,
            _ => return None,
        };
        Some((kind, rest))
    }

    /// Returns the scheme of its sources.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }
}

/// How the object store of a dataset is reached. What is not set is taken from the environment variables that the
/// systems' own tools read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectStoreSpec {
    /// Address of the store, if it is not the system's own. With `http://`, nothing is encrypted.
    pub endpoint: Option<String>,
    /// Region of the bucket.
    pub region: Option<String>,
    /// The profile of the credentials file of AWS.
    pub profile: Option<String>,
    /// The account of Azure.
    pub account: Option<String>,
    /// The id of the key of S3.
    pub key_id: Option<Secret>,
    /// The secret key of S3, or the key of the account of Azure.
    pub secret: Option<Secret>,
    /// The session token of S3, a bearer token of Google, or a bearer or SAS token of Azure.
    pub token: Option<Secret>,
    /// The API key for spreadsheets of Google that everybody may read.
    pub api_key: Option<Secret>,
    /// File with credentials: a service account of Google, or profiles of AWS.
    pub credentials_file: Option<PathBuf>,
    /// Whether requests are sent without credentials.
    pub anonymous: bool,
    /// Whether the bucket is part of the path and not of the host, in S3.
    pub path_style: bool,
}

impl Default for ObjectStoreSpec {
    fn default() -> Self {
        Self {
            endpoint: None,
            region: None,
            profile: None,
            account: None,
            key_id: None,
            secret: None,
            token: None,
            api_key: None,
            credentials_file: None,
            anonymous: false,
            path_style: true,
        }
    }
}

impl ObjectStoreSpec {
    /// Returns the settings without those that only say who asks: other credentials see the same objects.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            account: self.account.clone(),
            path_style: self.path_style,
            ..Self::default()
        }
    }
}
