//! Clients of S3, Google Cloud Storage and Azure. What the settings of a dataset leave open is taken from the
//! environment, under the names that the systems' own tools read.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureConfigKey, MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorage, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig, StaticCredentialProvider};
use salver_model::limits::{OBJECT_CONNECT_S_MAX, OBJECT_REQUEST_S_MAX};
use salver_model::spec::{ObjectStoreKind, ObjectStoreSpec, Secret};
use salver_model::{Code, Error, Result};

use super::{Client, Listing};
use crate::buckets::address::Address;
use crate::buckets::aws_profile::{self, Profile};
use crate::buckets::environment::variable;

/// Attempts of the client itself, which are for what it asks on the way, such as credentials; requests for objects are
/// repeated above it.
const OWN_RETRIES: usize = 1;

/// Returns a client for the bucket of `address`.
pub(in crate::buckets) fn open(spec: &ObjectStoreSpec, address: &Address) -> Result<Client> {
    let failed = |cause: object_store::Error| {
        Error::new(Code::Source, format!("`{address}` can't be read: {}", first_line(&cause.to_string())))
            .with_hint("check the settings of the store (`store_...`) and the variables of its tools")
            .with_source(cause)
    };
    Ok(match address.kind {
        ObjectStoreKind::S3 => of(s3(spec, address)?.build().map_err(failed)?),
        ObjectStoreKind::Google => of(google(spec, address).build().map_err(failed)?),
        ObjectStoreKind::Azure => of(azure(spec, address).build().map_err(failed)?),
    })
}

/// What both lists and reads.
trait Both: object_store::ObjectStore + object_store::list::PaginatedListStore {}
impl Both for AmazonS3 {}
impl Both for GoogleCloudStorage {}
impl Both for MicrosoftAzure {}

fn of(store: impl Both) -> Client {
    let store = Arc::new(store);
    Client { objects: Arc::clone(&store) as _, listing: Listing(store) }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn retries() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(1), base: 2.0 };
    RetryConfig { backoff, max_retries: OWN_RETRIES, retry_timeout: Duration::from_secs(OBJECT_REQUEST_S_MAX) }
}

/// Returns the settings of the connection, as keys and values.
fn connection(endpoint: Option<&str>) -> Vec<(ClientConfigKey, String)> {
    let mut settings = vec![
        (ClientConfigKey::ConnectTimeout, format!("{OBJECT_CONNECT_S_MAX}s")),
        (ClientConfigKey::Timeout, format!("{OBJECT_REQUEST_S_MAX}s")),
        (ClientConfigKey::UserAgent, concat!("salver/", env!("CARGO_PKG_VERSION")).to_owned()),
    ];
    // Whoever writes `http://` wants it.
    if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
        settings.push((ClientConfigKey::AllowHttp, "true".to_owned()));
    }
    settings
}

fn first_variable(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| variable(name))
}

fn s3(spec: &ObjectStoreSpec, address: &Address) -> Result<AmazonS3Builder> {
    let endpoint = spec.endpoint.clone().or_else(|| first_variable(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]));
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(&address.bucket)
        .with_retry(retries())
        .with_virtual_hosted_style_request(!spec.path_style);
    let profile = match spec.anonymous {
        true => Profile::default(),
        false => aws_profile::of(spec)?,
    };
    let named = || first_variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
    let region = spec.region.clone().or_else(named).or(profile.region);
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &endpoint {
        // In the host's name, the bucket is part of the address.
        let address = match (spec.path_style, endpoint.split_once("://")) {
            (false, Some((scheme, host))) => format!("{scheme}://{}.{host}", address.bucket),
            _ => endpoint.clone(),
        };
        builder = builder.with_config(AmazonS3ConfigKey::S3Endpoint, address);
    }
    for (key, value) in connection(endpoint.as_deref()) {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    if spec.anonymous {
        return Ok(builder.with_skip_signature(true));
    }
    let own = spec.key_id.as_ref().zip(spec.secret.as_ref()).map(|(key_id, secret)| AwsCredential {
        key_id: key_id.reveal().to_owned(),
        secret_key: secret.reveal().to_owned(),
        token: spec.token.as_ref().map(|token| token.reveal().to_owned()),
    });
    let profile = profile.key.map(|key| AwsCredential { key_id: key.id, secret_key: key.secret, token: key.token });
    Ok(match own.or(profile) {
        Some(credential) => builder.with_credentials(Arc::new(StaticCredentialProvider::new(credential))),
        None => builder,
    })
}

fn google(spec: &ObjectStoreSpec, address: &Address) -> GoogleCloudStorageBuilder {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&address.bucket).with_retry(retries());
    if let Some(endpoint) = &spec.endpoint {
        builder = builder.with_base_url(endpoint.trim_end_matches('/'));
    }
    for (key, value) in connection(spec.endpoint.as_deref()) {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    let bearer = |token: &str| Arc::new(StaticCredentialProvider::new(GcpCredential { bearer: token.to_owned() }));
    match (&spec.token, &spec.credentials_file) {
        _ if spec.anonymous => builder.with_credentials(bearer("")).with_skip_signature(true),
        (Some(token), _) => builder.with_credentials(bearer(token.reveal())),
        (None, Some(file)) => builder.with_application_credentials(file.to_string_lossy()),
        (None, None) => builder,
    }
}

fn azure(spec: &ObjectStoreSpec, address: &Address) -> MicrosoftAzureBuilder {
    let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(&address.bucket).with_retry(retries());
    if let Some(account) = &spec.account {
        builder = builder.with_account(account);
    }
    if let Some(endpoint) = &spec.endpoint {
        builder = builder.with_endpoint(endpoint.trim_end_matches('/').to_owned());
    }
    let endpoint = spec.endpoint.clone().or_else(|| first_variable(&["AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"]));
    for (key, value) in connection(endpoint.as_deref()) {
        builder = builder.with_config(AzureConfigKey::Client(key), value);
    }
    match (spec.secret.as_ref().map(Secret::reveal), spec.token.as_ref().map(Secret::reveal)) {
        _ if spec.anonymous => builder.with_skip_signature(true),
        (Some(key), _) => builder.with_access_key(key),
        // A shared access signature is a query with its parts.
        (None, Some(token)) if token.contains("sig=") => builder.with_config(AzureConfigKey::SasKey, token),
        (None, Some(token)) => builder.with_bearer_token_authorization(token),
        (None, None) => builder,
    }
}
