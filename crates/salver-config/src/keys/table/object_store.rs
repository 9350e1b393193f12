//! How the object store, or the Google Sheets API, of a dataset is reached.

use super::new_row;
use crate::keys::{Section, Setting, SettingKind};

pub(super) const ROWS: &[Setting] = &[
    new_row(
        Section::Dataset,
        "store_endpoint",
        SettingKind::Text,
        ["", r#""http://minio:9000""#],
        "Address of the object store of `s3://`, `gs://` and `az://` sources, or of the Google Sheets API of \
            `gsheets://` ones, if it is not the system's own. With `http://` nothing is encrypted.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_region",
        SettingKind::Text,
        ["", r#""eu-central-1""#],
        "S3: the region of the bucket; `AWS_REGION` or that of the profile when not given, else `us-east-1`.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_key_id",
        SettingKind::Text,
        ["", r#""${AWS_ACCESS_KEY_ID}""#],
        "S3: the id of the access key; needs `store_secret`. When not given, what AWS's tools would take.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_secret",
        SettingKind::Text,
        ["", r#""${AWS_SECRET_ACCESS_KEY}""#],
        "S3: the secret of the access key. Azure: the key of the account.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_token",
        SettingKind::Text,
        ["", r#""${STORE_TOKEN}""#],
        "S3: the token of a session, beside `store_key_id`. Google: a bearer token. Azure: a bearer token or a shared \
            access signature.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_api_key",
        SettingKind::Text,
        ["", r#""${GOOGLE_API_KEY}""#],
        "Google Sheets: an API key, for spreadsheets that everybody with the link may read.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_account",
        SettingKind::Text,
        ["", r#""sales""#],
        "Azure: the storage account; `AZURE_STORAGE_ACCOUNT_NAME` when not given.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_credentials_file",
        SettingKind::Location,
        ["", r#""/etc/salver/service.json""#],
        "Google: the file of a service account or, for `gs://`, of a user's credentials. S3: a file of profiles. When \
            not given, `GOOGLE_APPLICATION_CREDENTIALS` and `AWS_SHARED_CREDENTIALS_FILE`, and the files of the \
            systems' tools.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_profile",
        SettingKind::Text,
        ["", r#""reports""#],
        "S3: the profile whose key and region count; `AWS_PROFILE` when not given, else `default`.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_anonymous",
        SettingKind::Bool,
        ["false", "true"],
        "Ask without credentials, for public buckets.",
        &[],
    ),
    new_row(
        Section::Dataset,
        "store_path_style",
        SettingKind::Bool,
        ["true", "false"],
        "S3: whether the bucket stands in the path of the address; with `false` it stands in its host.",
        &[],
    ),
];
