//! The actions of a table's log, as far as they are written or needed here.

use std::collections::BTreeMap;
use std::ops::Range;

use salver_model::{Error, Result};
use serde::{Deserialize, Serialize};

/// Name under which the position in the stream is kept in the table.
pub(super) const APPLICATION: &str = "salver";

/// Beginning of the names of files with events.
const FILE_PREFIX: &str = "events-";
/// End of the names of files with events.
const FILE_SUFFIX: &str = ".parquet";
/// Digits of an offset in such a name.
const OFFSET_DIGITS: usize = 20;

/// One line of a commit, or one row of a checkpoint: one of these is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Action {
    /// What a commit says of itself. That of others may be anything, and is not read.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub(super) commit_info: Option<CommitInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<Protocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta_data: Option<Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) txn: Option<Transaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) add: Option<Add>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remove: Option<Remove>,
}

/// What a commit says of itself.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommitInfo {
    pub(super) timestamp: i64,
    pub(super) operation: &'static str,
    pub(super) operation_parameters: BTreeMap<String, String>,
    pub(super) is_blind_append: bool,
    pub(super) engine_info: &'static str,
}

/// What readers and writers must support.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Protocol {
    pub(super) min_reader_version: i32,
    pub(super) min_writer_version: i32,
}

/// What the table is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) format: Format,
    /// The columns, as JSON.
    pub(super) schema_string: String,
    pub(super) partition_columns: Vec<String>,
    pub(super) configuration: BTreeMap<String, Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_time: Option<i64>,
}

/// The format of the table's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Format {
    pub(super) provider: String,
    pub(super) options: BTreeMap<String, Option<String>>,
}

impl Default for Format {
    fn default() -> Self {
        Self { provider: "parquet".to_owned(), options: BTreeMap::new() }
    }
}

/// How far an application is with what it writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Transaction {
    pub(super) app_id: String,
    pub(super) version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_updated: Option<i64>,
}

/// A file becomes part of the table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Add {
    pub(super) path: String,
    pub(super) partition_values: BTreeMap<String, Option<String>>,
    pub(super) size: i64,
    pub(super) modification_time: i64,
    pub(super) data_change: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stats: Option<String>,
}

/// A file is no part of the table any more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Remove {
    pub(super) path: String,
    pub(super) deletion_timestamp: i64,
    pub(super) data_change: bool,
    pub(super) extended_file_metadata: bool,
    pub(super) partition_values: BTreeMap<String, Option<String>>,
    pub(super) size: i64,
}

impl From<Protocol> for Action {
    fn from(protocol: Protocol) -> Self {
        Self { protocol: Some(protocol), ..Self::default() }
    }
}

impl From<Metadata> for Action {
    fn from(metadata: Metadata) -> Self {
        Self { meta_data: Some(metadata), ..Self::default() }
    }
}

impl From<Transaction> for Action {
    fn from(txn: Transaction) -> Self {
        Self { txn: Some(txn), ..Self::default() }
    }
}

impl From<Add> for Action {
    fn from(add: Add) -> Self {
        Self { add: Some(add), ..Self::default() }
    }
}

impl From<Remove> for Action {
    fn from(remove: Remove) -> Self {
        Self { remove: Some(remove), ..Self::default() }
    }
}

/// Returns a new name for a file with the events at these offsets. Names sort by the first offset.
///
/// # Errors
/// Fails when the system has no random numbers.
pub(super) fn file_name(offsets: &Range<u64>) -> Result<String> {
    let Range { start, end } = offsets;
    Ok(format!("{FILE_PREFIX}{start:0OFFSET_DIGITS$}-{end:0OFFSET_DIGITS$}-{}{FILE_SUFFIX}", uuid()?))
}

/// Returns the offsets that the name of a file tells; `None` for files of others, and for paths to elsewhere.
pub(super) fn offsets_of(name: &str) -> Option<Range<u64>> {
    let rest = name.strip_prefix(FILE_PREFIX)?.strip_suffix(FILE_SUFFIX)?;
    let (start, rest) = rest.split_once('-')?;
    let (end, id) = rest.split_once('-')?;
    if !id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        return None;
    }
    let offset = |text: &str| (text.len() == OFFSET_DIGITS).then(|| text.parse().ok()).flatten();
    Some(offset(start)?..offset(end)?).filter(|offsets| offsets.start < offsets.end)
}

/// Returns a random UUID of version 4.
///
/// # Errors
/// Fails when the system has no random numbers.
pub(super) fn uuid() -> Result<String> {
    let bytes = salver_model::seal::random::<16>()
        .map_err(|error| Error::internal("the system has no random numbers").with_source(error))?;
    let number = u128::from_be_bytes(bytes) & !(0xf000 << 64) & !(0xc000 << 48);
    Ok(crate::id::text(number | 0x4000 << 64 | 0x8000 << 48))
}

#[cfg(test)]
mod tests {
    use super::{Action, file_name, offsets_of, uuid};

    #[test]
    fn names() {
        let name = file_name(&(7..1_000)).expect("a name");
        assert!(name.starts_with("events-00000000000000000007-00000000000000001000-"), "{name}");
        assert_eq!(offsets_of(&name), Some(7..1_000));
        let elsewhere = name.replace(".parquet", "/../../x.parquet");
        for other in ["events-1-2-a.parquet", "part-00000-a.parquet", "events-.parquet", &elsewhere] {
            assert_eq!(offsets_of(other), None, "{other}");
        }
        let uuid = uuid().expect("an id");
        assert_eq!((&uuid[14..15], uuid.len()), ("4", 36), "{uuid}");
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"), "{uuid}");
    }

    #[test]
    fn actions_of_others_are_read() {
        let line = r#"{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":2,"dataChange":true,"x":1}}"#;
        let action: Action = serde_json::from_str(line).expect("an action");
        assert_eq!(action.add.map(|add| (add.path, add.size)), Some(("a".to_owned(), 1)));
        let action: Action = serde_json::from_str(r#"{"commitInfo":{"operation":7}}"#).expect("an action");
        assert_eq!(serde_json::to_string(&action).expect("text"), "{}");
    }
}
