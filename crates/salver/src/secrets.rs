//! Directories and secrets of the server, which must be hidden from clients and the log.

use std::path::{Path, PathBuf};

use salver_config::{Checked, HiddenText};
use salver_model::limits::MASKED_SECRET_BYTES_MIN;
use salver_model::secrecy::{is_secret_name, password_of};
use salver_model::spec::{ApiKey, ApiKeySpec};

/// Returns the directories of all entries, and the server's own.
pub(crate) fn of(checked: &Checked) -> Vec<PathBuf> {
    let parent = |path: &Path| path.parent().map(Path::to_owned);
    let sources = checked.datasets.iter().flat_map(|spec| &spec.sources);
    let sources = sources.filter(|source| !source.contains("://")).map(|source| PathBuf::from(source.as_str()));
    // For a glob, the path before it.
    let fixed = |path: PathBuf| {
        let is_fixed = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        path.components().take_while(is_fixed).collect::<PathBuf>()
    };
    let databases = checked.databases.iter().filter_map(|spec| spec.url.strip_prefix("sqlite:")).map(PathBuf::from);
    let files = checked.functions.iter().map(|spec| spec.file.clone());
    let mut directories: Vec<PathBuf> =
        sources.map(fixed).chain(databases).chain(files).filter_map(|path| parent(&path)).collect();
    directories.extend(checked.streams.iter().filter_map(|spec| parent(&spec.dir)));
    directories.extend(checked.server.data_dir.clone());
    directories.extend([std::env::temp_dir()]);
    directories.extend(std::env::current_dir());
    directories.extend(std::env::current_exe().ok().as_deref().and_then(parent));
    directories.retain(|directory| !directory.as_os_str().is_empty());
    directories
}

/// Returns every secret of the settings.
pub(crate) fn secrets(checked: &Checked) -> Vec<String> {
    let mut secrets: Vec<String> = checked.databases.iter().filter_map(|spec| password_of(&spec.url)).collect();
    for password in secrets.clone() {
        let decoded = percent_encoding::percent_decode_str(&password).decode_utf8_lossy().into_owned();
        secrets.push(decoded);
    }
    let headers = checked.datasets.iter().flat_map(|spec| &spec.headers);
    let kafka = checked.streams.iter().filter_map(|spec| spec.kafka.as_ref()).flat_map(|kafka| &kafka.properties);
    let environment = checked.functions.iter().flat_map(|spec| &spec.environment);
    let named = headers.chain(kafka).chain(environment).filter(|(name, _)| is_secret_name(name));
    secrets.extend(named.map(|(_, value)| value.clone()));
    if let Some(auth) = &checked.auth {
        let plain = |own: &'_ ApiKeySpec| match &own.key {
            ApiKey::Plain(secret) => Some(secret.clone()),
            ApiKey::Hashed { .. } => None,
        };
        let keys = auth.api_keys.iter().filter_map(plain);
        let keys = keys.chain(auth.jwt.secrets.iter().map(|(_, secret)| secret.clone()));
        let keys = keys.chain(auth.oidc.iter().filter_map(|oidc| oidc.client_secret.clone()));
        let hashes = auth.basic_users.iter().map(|(_, secret)| secret.clone());
        let told = keys.chain(hashes).map(|secret| secret.reveal().to_owned());
        secrets.extend(told.filter(|secret| !secret.trim_start().starts_with("-----BEGIN ")));
    }
    secrets.extend(from_outside(checked));
    told_apart(secrets)
}

/// Returns what environment variables and files put into texts of the settings, without common words.
pub(crate) fn from_outside(checked: &Checked) -> Vec<String> {
    let hidden = checked.hidden.iter().filter(|hidden| hidden.is_masked_everywhere()).map(HiddenText::reveal);
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    told_apart(hidden.flat_map(|text| [text.to_owned(), decoded(text)]).collect())
}

/// Returns the secrets that do not occur in other texts by chance, the longest first: one may contain another.
fn told_apart(mut secrets: Vec<String>) -> Vec<String> {
    secrets.retain(|secret| secret.len() >= MASKED_SECRET_BYTES_MIN);
    secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    secrets.dedup();
    secrets
}
