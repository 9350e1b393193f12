//! Validates how the object store, or the Google Sheets API, of a `[[dataset]]` is reached.

use std::path::PathBuf;

use salver_model::spec::{DatasetSpec, GoogleSheetSource, ObjectStoreKind, ObjectStoreSpec, Secret};

use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::setting_place::SettingPlace;

/// The settings, each with the schemes of the sources that it is for.
const SETTINGS: [(&str, &[&str]); 11] = {
    const S3: &str = "s3";
    const GOOGLE: &str = "gs";
    const AZURE: &str = "az";
    const SHEETS: &str = GoogleSheetSource::SCHEME;
    [
        ("store_endpoint", &[S3, GOOGLE, AZURE, SHEETS]),
        ("store_region", &[S3]),
        ("store_key_id", &[S3]),
        ("store_secret", &[S3, AZURE]),
        ("store_token", &[S3, GOOGLE, AZURE, SHEETS]),
        ("store_api_key", &[SHEETS]),
        ("store_account", &[AZURE]),
        ("store_credentials_file", &[S3, GOOGLE, SHEETS]),
        ("store_profile", &[S3]),
        ("store_anonymous", &[S3, GOOGLE, AZURE]),
        ("store_path_style", &[S3]),
    ]
};

/// Returns the settings of the store.
pub(super) fn check(table: &Table, findings: &mut Findings) -> ObjectStoreSpec {
    let text = |key: &str| table.text(key).filter(|text| !text.is_empty());
    let secret = |key: &str| text(key).map(Secret::new);
    let endpoint = text("store_endpoint").map(|address| address.trim_end_matches('/').to_owned());
    if let Some(address) = &endpoint {
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or_default();
        if rest.is_empty() || rest.starts_with('/') || rest.contains(['@', '?', '#', ' ']) {
            let message = "`store_endpoint` is not the address of an object store";
            let hint =
                "write scheme and host, like \"https://minio.example:9000\"; credentials have settings of their own";
            findings.mistake(Mistake::new(table.place_of("store_endpoint"), message.to_owned()).with_hint(hint));
        }
    }
    let has_key = text("store_key_id").is_some();
    if has_key && text("store_secret").is_none() {
        let mistake = Mistake::new(table.place_of("store_key_id"), "`store_key_id` has no `store_secret`");
        findings.mistake(mistake.with_hint("add store_secret = \"${AWS_SECRET_ACCESS_KEY}\""));
    }
    ObjectStoreSpec {
        endpoint,
        region: text("store_region").map(str::to_owned),
        profile: text("store_profile").map(str::to_owned),
        account: text("store_account").map(str::to_owned),
        key_id: secret("store_key_id"),
        secret: secret("store_secret"),
        token: secret("store_token"),
        api_key: secret("store_api_key"),
        credentials_file: text("store_credentials_file").map(PathBuf::from),
        anonymous: table.bool("store_anonymous"),
        path_style: table.bool("store_path_style"),
    }
}

/// Warns of settings that none of the dataset's sources uses.
pub(super) fn warn_of_idle(table: &Table, spec: &DatasetSpec, findings: &mut Findings) {
    let schemes: Vec<&str> = spec.sources.iter().filter_map(|source| scheme_of(source)).collect();
    for (key, heard_by) in SETTINGS {
        let is_written = table.get(key).is_some_and(|written| written.place != SettingPlace::Default);
        if is_written && !schemes.iter().any(|scheme| heard_by.contains(scheme)) {
            let heard_by: Vec<String> = heard_by.iter().map(|scheme| format!("`{scheme}://`")).collect();
            let message = format!(
                "`{key}` of `{}` has no effect: it is for {}, and no source is that",
                spec.name,
                heard_by.join(", ")
            );
            findings.warning(Mistake::new(table.place_of(key), message).with_hint(format!("remove `{key}`")));
        }
    }
}

/// Returns the scheme of a source that is reached with these settings.
fn scheme_of(source: &str) -> Option<&'static str> {
    if GoogleSheetSource::is_meant(source) {
        return Some(GoogleSheetSource::SCHEME);
    }
    ObjectStoreKind::of_source(source).map(|(kind, _)| kind.scheme())
}
