//! Checks that the files of a task are those that the server loaded: executors open them later, by their names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use salver_model::{Code, Error};

/// The files of a plan, as they were when the server loaded them.
#[derive(Debug)]
pub(super) struct UnchangedFiles(Vec<FileStamp>);

#[derive(Debug, PartialEq, Eq)]
struct FileStamp {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl UnchangedFiles {
    /// Returns the files of a plan.
    ///
    /// # Errors
    /// For a plan that can't be walked.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>) -> Result<Self> {
        let mut stamps: Vec<FileStamp> = Vec::new();
        plan.apply(|node| {
            let config = node.downcast_ref::<DataSourceExec>();
            let config = config.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
            for file in config.iter().flat_map(|config| &config.file_groups).flat_map(|group| group.files()) {
                let about = &file.object_meta;
                let path = PathBuf::from(format!("/{}", about.location));
                let stamp = FileStamp { path, bytes: about.size, modified: about.last_modified.into() };
                if stamps.last() != Some(&stamp) {
                    stamps.push(stamp);
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(Self(stamps))
    }

    /// Checks that all of them are as they were. Blocks.
    ///
    /// # Errors
    /// `EntryUnavailable`.
    pub(super) fn check(&self) -> Result<()> {
        for stamp in &self.0 {
            let now = std::fs::metadata(&stamp.path);
            let is_same = |about: &std::fs::Metadata| {
                about.len() == stamp.bytes && about.modified().is_ok_and(|modified| modified == stamp.modified)
            };
            if !now.as_ref().is_ok_and(is_same) {
                let (what, hint) = match now {
                    Ok(_) => (
                        "was changed since the server loaded it",
                        "try again in a few seconds, when it has loaded the new one",
                    ),
                    Err(_) => ("is not there for an executor", "files must have the same paths on all machines"),
                };
                let error = Error::new(Code::EntryUnavailable, format!("a file of a dataset {what}"));
                return Err(DataFusionError::External(Box::new(error.with_hint(hint))));
            }
        }
        Ok(())
    }
}
