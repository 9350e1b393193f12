//! The actions of a log, as commits and checkpoints have them. What readers don't need is passed over.

use std::collections::HashMap;

use serde::Deserialize;

/// One line of a commit, or one row of a checkpoint: one of these is there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Action {
    pub(super) add: Option<Add>,
    pub(super) remove: Option<Remove>,
    pub(super) meta_data: Option<Metadata>,
    pub(super) protocol: Option<Protocol>,
    pub(super) sidecar: Option<Sidecar>,
    pub(super) commit_info: Option<CommitInfo>,
}

/// A file becomes part of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Add {
    /// Its path, relative to the table, as in a URL.
    pub(super) path: String,
    /// The values of the partition columns, by their names in files.
    #[serde(default)]
    pub(super) partition_values: Option<HashMap<String, Option<String>>>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default)]
    pub(super) modification_time: i64,
    deletion_vector: Option<VectorDescriptor>,
}

impl Add {
    /// Returns where the rows are told that are deleted from it.
    pub(super) fn vector(&self) -> Option<&VectorDescriptor> {
        said(self.deletion_vector.as_ref())
    }
}

/// A file is no part of the table any more.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remove {
    pub(super) path: String,
    deletion_vector: Option<VectorDescriptor>,
}

impl Remove {
    /// Returns the deletion vector that the file had.
    pub(super) fn vector(&self) -> Option<&VectorDescriptor> {
        said(self.deletion_vector.as_ref())
    }
}

/// Some writers of checkpoints write a vector of nulls for none.
fn said(vector: Option<&VectorDescriptor>) -> Option<&VectorDescriptor> {
    vector.filter(|vector| !vector.storage_type.is_empty())
}

/// Where a deletion vector is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct VectorDescriptor {
    /// `u` for a file of the table, `p` for a file anywhere, `i` for one that is written here.
    pub(super) storage_type: String,
    pub(super) path_or_inline_dv: String,
    /// Where it begins in its file.
    pub(super) offset: Option<u64>,
    pub(super) size_in_bytes: u64,
    /// Number of rows that are deleted.
    pub(super) cardinality: u64,
}

impl VectorDescriptor {
    /// Returns whether it is written in the log.
    pub(super) fn is_inline(&self) -> bool {
        self.storage_type == "i"
    }

    /// Returns what tells it from all others.
    pub(super) fn unique_id(&self) -> String {
        let Self { storage_type, path_or_inline_dv, offset, .. } = self;
        match offset {
            Some(offset) => format!("{storage_type}{path_or_inline_dv}@{offset}"),
            None => format!("{storage_type}{path_or_inline_dv}"),
        }
    }
}

/// What the table is.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) format: Format,
    /// The columns, as JSON.
    pub(super) schema_string: String,
    #[serde(default)]
    pub(super) partition_columns: Option<Vec<String>>,
    #[serde(default)]
    pub(super) configuration: Option<HashMap<String, Option<String>>>,
}

impl Metadata {
    /// Returns the bytes of its texts.
    pub(super) fn bytes(&self) -> u64 {
        let columns: usize = self.partition_columns.iter().flatten().map(String::len).sum();
        let pair = |(key, value): (&String, &Option<String>)| key.len() + value.as_ref().map_or(0, String::len);
        let configuration: usize = self.configuration.iter().flatten().map(pair).sum();
        (self.schema_string.len() + columns + configuration) as u64
    }
}

/// The format of the table's files.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Format {
    #[serde(default)]
    pub(super) provider: Option<String>,
}

/// What readers must support.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Protocol {
    pub(super) min_reader_version: i32,
    #[serde(default)]
    pub(super) reader_features: Option<Vec<String>>,
}

/// A further file of a checkpoint, in `_sidecars`.
#[derive(Debug, Deserialize)]
pub(super) struct Sidecar {
    pub(super) path: String,
}

/// What a commit says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CommitInfo {
    /// When it was made, in milliseconds since 1970, if the table keeps this in its log.
    pub(super) in_commit_timestamp: Option<i64>,
}
