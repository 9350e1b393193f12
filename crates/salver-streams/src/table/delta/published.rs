//! A published table: its directory and its state, which commits change together.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use salver_model::limits::{PUBLISHED_CHECKPOINT_COMMITS, PUBLISHED_REMOVED_MAX};
use salver_model::{Code, Error, Result};
use serde_json::Value;

use super::AnyError;
use super::action::{Action, CommitInfo, Metadata, offsets_of, uuid};
use super::history;
use super::link::Link;
use super::state::{TableState, foreign};
use super::table_dir::{TableDir, remove};
use crate::clock::now_ms;

/// What makes commits, for their readers.
const ENGINE: &str = concat!("salver/", env!("CARGO_PKG_VERSION"));

/// What a commit does, in the words of other writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    ChangeColumns,
    Append,
    Compact,
    Delete,
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE TABLE",
            Self::ChangeColumns => "CHANGE COLUMNS",
            Self::Append => "WRITE",
            Self::Compact => "OPTIMIZE",
            Self::Delete => "DELETE",
        }
    }

    fn parameters(self) -> BTreeMap<String, String> {
        match self {
            Self::Append => [("mode".to_owned(), "Append".to_owned())].into(),
            Self::Create | Self::ChangeColumns | Self::Compact | Self::Delete => BTreeMap::new(),
        }
    }
}

/// A table that a stream publishes.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) dir: TableDir,
    pub(super) state: TableState,
    /// How long files stay that are not part of it any more, and its older versions.
    keep: Duration,
}

impl Table {
    /// Opens the table in a directory, whose stream ends at the offset `end`, and removes what a crash has left.
    /// Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the directory can't be used, and `Config` when what is in it is not the table
    /// of this stream.
    pub(super) fn open(dir: TableDir, link: &Link, keep: Duration, end: u64) -> Result<Self> {
        let state = history::load(&dir)?;
        let id = state.metadata.as_ref().map(|metadata| metadata.id.as_str());
        if state.version.is_some() && (id.is_none() || id != link.table()?.as_deref()) {
            return Err(foreign("it is not of this stream's log"));
        }
        if let Some(published) = state.published.filter(|published| *published > end) {
            // The offsets are given again, to other events. Without the link, this is known when they are.
            link.cut()?;
            return Err(foreign(&format!("it has events up to {published}, and the log ends at {end}")));
        }
        let table = Self { dir, state, keep };
        table.clear().map_err(|error| unwritten(table.dir.root(), error.into()))?;
        Ok(table)
    }

    /// Returns the schema, if there is a table.
    pub(super) fn schema(&self) -> Option<Value> {
        serde_json::from_str(&self.state.metadata.as_ref()?.schema_string).ok()
    }

    /// Creates the table, with no rows. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be written.
    pub(super) fn create(&mut self, link: &Link, name: &str, schema: &Value) -> Result<()> {
        let metadata = Metadata {
            id: uuid()?,
            name: Some(name.to_owned()),
            schema_string: schema.to_string(),
            configuration: configuration(self.keep),
            created_time: Some(now_ms()),
            ..Metadata::default()
        };
        // First, so that there is no table without it.
        link.make(&metadata.id)?;
        self.commit(Operation::Create, vec![TableState::protocol().into(), metadata.into()])
    }

    /// Returns the metadata with another schema or another time to keep; `None` when they are the same.
    pub(super) fn with_schema(&self, schema: &Value) -> Option<Metadata> {
        let own = self.state.metadata.as_ref()?;
        let mut next = own.clone();
        if self.schema().as_ref() != Some(schema) {
            next.schema_string = schema.to_string();
        }
        next.configuration.extend(configuration(self.keep));
        (next != *own).then_some(next)
    }

    /// Commits actions as the next version, all or none. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be written. The state is what the log says only after it was loaded
    /// again then.
    pub(super) fn commit(&mut self, operation: Operation, actions: Vec<Action>) -> Result<()> {
        let version = self.state.version.map_or(0, |version| version + 1);
        let info = CommitInfo {
            timestamp: now_ms(),
            operation: operation.word(),
            operation_parameters: operation.parameters(),
            is_blind_append: operation == Operation::Append,
            engine_info: ENGINE,
        };
        let info = Action { commit_info: Some(info), ..Action::default() };
        let put = || -> std::result::Result<(), AnyError> {
            let mut text = Vec::new();
            for action in std::iter::once(&info).chain(&actions) {
                serde_json::to_writer(&mut text, action)?;
                text.push(b'\n');
            }
            Ok(self.dir.put_new(&history::commit_name(version), &text)?)
        };
        put().map_err(|error| unwritten(self.dir.root(), error))?;
        for action in actions {
            self.state.apply(action)?;
        }
        self.state.version = Some(version);
        if version > 0 && version.is_multiple_of(PUBLISHED_CHECKPOINT_COMMITS) {
            let written = history::write_checkpoint(&self.dir, &self.state);
            let written = written.and_then(|()| Ok(history::forget(&self.dir, self.keep)?));
            written.map_err(|error| unwritten(self.dir.root(), error))?;
        }
        Ok(())
    }

    /// Deletes files that were removed from the table so long ago that no reader needs them. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when they can't be deleted.
    pub(super) fn vacuum(&mut self) -> Result<()> {
        let keep_ms = i64::try_from(self.keep.as_millis()).unwrap_or(i64::MAX);
        let mut before_ms = now_ms().saturating_sub(keep_ms);
        let excess = self.state.removed.len().saturating_sub(PUBLISHED_REMOVED_MAX);
        if excess > 0 {
            let mut times: Vec<_> = self.state.removed.values().map(|file| file.deletion_timestamp).collect();
            times.sort_unstable();
            before_ms = times.get(excess - 1).map_or(before_ms, |time| before_ms.max(*time));
        }
        let over = self.state.removed.values().filter(|file| file.deletion_timestamp <= before_ms);
        let over: Vec<String> = over.map(|file| file.path.clone()).collect();
        // Files of others are theirs.
        for path in over.iter().filter(|path| offsets_of(path).is_some()) {
            remove(&self.dir.root().join(path)).map_err(|error| unwritten(self.dir.root(), error.into()))?;
        }
        for path in over {
            self.state.removed.remove(&path);
        }
        Ok(())
    }

    /// Deletes files with events that no commit names, or that were removed so long ago that the log has forgotten it.
    fn clear(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(self.dir.root())? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().filter(|name| offsets_of(name).is_some()) else { continue };
            if !self.state.files.contains_key(name) && !self.state.removed.contains_key(name) {
                remove(&self.dir.root().join(name))?;
            }
        }
        Ok(())
    }
}

/// Returns what other programs need to know to leave older versions alone.
fn configuration(keep: Duration) -> BTreeMap<String, Option<String>> {
    let interval = format!("interval {} seconds", keep.as_millis().div_ceil(1_000));
    let keys = ["delta.deletedFileRetentionDuration", "delta.logRetentionDuration"];
    keys.into_iter().map(|key| (key.to_owned(), Some(interval.clone()))).collect()
}

fn unwritten(root: &Path, error: AnyError) -> Error {
    let message = format!("the table in `{}` can't be written: {error}", root.display());
    Error::new(Code::StreamUnavailable, message).with_source(error)
}
