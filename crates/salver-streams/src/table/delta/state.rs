//! What the log of a table adds up to.

use std::collections::BTreeMap;
use std::ops::Range;

use salver_model::limits::PUBLISHED_FILES_MAX;
use salver_model::{Code, Error, Result};
use serde_json::Value;

use super::action::{APPLICATION, Action, Add, Metadata, Protocol, Remove, Transaction, offsets_of};

/// The version of the protocol that readers must know.
const READER_VERSION: i32 = 1;
/// The version of the protocol that writers must know.
const WRITER_VERSION: i32 = 2;
/// What can be done about a table that can't be continued.
const BUILD_ANEW: &str = "end the server, move the table's directory away, and start it: the table is built anew from \
                          what the log has";

/// State of a table.
#[derive(Debug, Default)]
pub(super) struct TableState {
    /// Number of the newest commit; `None` where there is no table yet.
    pub(super) version: Option<u64>,
    pub(super) metadata: Option<Metadata>,
    /// Files with events, by their names, which sort by offset.
    pub(super) files: BTreeMap<String, Add>,
    /// Files that are no longer part of the table and still there, by their names.
    pub(super) removed: BTreeMap<String, Remove>,
    /// Offset below which everything was added once.
    pub(super) published: Option<u64>,
}

/// File with the events of a range of offsets.
#[derive(Clone, Debug)]
pub(super) struct EventFile {
    pub(super) path: String,
    pub(super) offsets: Range<u64>,
    size: i64,
}

impl EventFile {
    fn of(add: &Add) -> Option<Self> {
        Some(Self { path: add.path.clone(), offsets: offsets_of(&add.path)?, size: add.size })
    }

    /// Returns the action that removes the file; `changes_data` unless another file gets its rows.
    pub(super) fn removed(&self, now_ms: i64, changes_data: bool) -> Remove {
        Remove {
            path: self.path.clone(),
            deletion_timestamp: now_ms,
            data_change: changes_data,
            extended_file_metadata: true,
            partition_values: BTreeMap::new(),
            size: self.size,
        }
    }
}

impl TableState {
    /// Returns the protocol of tables that are made here.
    pub(super) fn protocol() -> Protocol {
        Protocol { min_reader_version: READER_VERSION, min_writer_version: WRITER_VERSION }
    }

    /// Applies an action of the log.
    ///
    /// # Errors
    /// Returns `Config` for a table that another writer has changed, or that has too many files.
    pub(super) fn apply(&mut self, action: Action) -> Result<()> {
        let Action { commit_info: _, protocol, meta_data, txn, add, remove } = action;
        if let Some(Protocol { min_reader_version, min_writer_version }) = protocol
            && (min_reader_version > READER_VERSION || min_writer_version > WRITER_VERSION)
        {
            return Err(foreign("another writer has turned on features of it"));
        }
        if let Some(metadata) = meta_data {
            self.metadata = Some(metadata);
        }
        if let Some(txn) = txn.filter(|txn| txn.app_id == APPLICATION) {
            self.published = u64::try_from(txn.version).ok();
        }
        if let Some(add) = add {
            if offsets_of(&add.path).is_none() {
                return Err(foreign(&format!("another writer has added `{}` to it", add.path)));
            }
            self.removed.remove(&add.path);
            self.files.insert(add.path.clone(), add);
            if self.files.len() > PUBLISHED_FILES_MAX {
                let message = format!("the table has more than {PUBLISHED_FILES_MAX} files");
                return Err(Error::new(Code::Config, message).with_hint("raise `segment_bytes`, or set `retain`"));
            }
        }
        if let Some(remove) = remove {
            self.files.remove(&remove.path);
            self.removed.insert(remove.path.clone(), remove);
        }
        Ok(())
    }

    /// Returns the files with events, by offset.
    pub(super) fn event_files(&self) -> impl Iterator<Item = EventFile> {
        self.files.values().filter_map(EventFile::of)
    }

    /// Returns the number of rows of a file, as far as it is known.
    pub(super) fn rows(&self, file: &EventFile) -> u64 {
        let stats = self.files.get(&file.path).and_then(|add| add.stats.as_deref());
        let rows = stats.and_then(|stats| serde_json::from_str::<Value>(stats).ok()?.get("numRecords")?.as_u64());
        rows.unwrap_or(file.offsets.end - file.offsets.start)
    }

    /// Returns actions that add up to this state.
    pub(super) fn actions(&self) -> impl Iterator<Item = Action> {
        let txn = self.published.map(|published| Transaction {
            app_id: APPLICATION.to_owned(),
            version: i64::try_from(published).unwrap_or(i64::MAX),
            last_updated: None,
        });
        let head = [Some(Self::protocol().into()), self.metadata.clone().map(Action::from), txn.map(Action::from)];
        let files = self.files.values().cloned().map(Action::from);
        head.into_iter().flatten().chain(files).chain(self.removed.values().cloned().map(Action::from))
    }
}

/// Returns the error for a table that can't be continued.
pub(super) fn foreign(why: &str) -> Error {
    Error::new(Code::Config, format!("the table can't be continued: {why}")).with_hint(BUILD_ANEW)
}

#[cfg(test)]
mod tests {
    use super::super::action::{Action, Add, Protocol, file_name};
    use super::TableState;

    fn add(offsets: std::ops::Range<u64>) -> Add {
        let stats = Some(r#"{"numRecords":7}"#.to_owned());
        Add { path: file_name(&offsets).expect("a name"), stats, ..Add::default() }
    }

    #[test]
    fn actions_add_up() {
        let mut state = TableState::default();
        let (first, second) = (add(0..10), add(10..20));
        for action in [Action::from(second), first.clone().into()] {
            state.apply(action).expect("an action");
        }
        let file = state.event_files().next().expect("a file");
        assert_eq!((file.offsets.clone(), state.rows(&file)), (0..10, 7));
        state.apply(file.removed(7, true).into()).expect("an action");
        let mut again = TableState::default();
        for action in state.actions() {
            again.apply(action).expect("an action");
        }
        for state in [state, again] {
            let files: Vec<_> = state.event_files().map(|file| (file.offsets.start, file.offsets.end)).collect();
            assert_eq!((files, state.removed.len()), (vec![(10, 20)], 1));
        }
    }

    #[test]
    fn tables_of_others_are_left_alone() {
        let mut state = TableState::default();
        let other = Add { path: "part-00000.parquet".to_owned(), ..Add::default() };
        assert!(state.apply(other.into()).expect_err("another writer").message.contains("part-00000.parquet"));
        let protocol = Protocol { min_reader_version: 3, min_writer_version: 7 };
        assert!(state.apply(protocol.into()).expect_err("another writer").message.contains("features"));
    }
}
