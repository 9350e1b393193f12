//! Consumer groups: where each goes on, in one small file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use salver_model::{Code, Error, Result};

use super::active::sync_dir;
use super::lock::lock;
use crate::private;

const FILE: &str = "groups.json";

type Offsets = BTreeMap<String, u64>;

/// The groups of a log.
#[derive(Debug)]
pub(super) struct Groups {
    dir: PathBuf,
    state: Mutex<State>,
    /// The number of the last change in the file; held while the file is written.
    written: Mutex<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// What is in the file.
    kept: Offsets,
    /// Changes that are not, each with its number.
    wanted: BTreeMap<String, (u64, u64)>,
    changes: u64,
}

impl Groups {
    /// Reads the file of a directory, if there is one.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let unreadable = |why: String| {
            Error::new(
                Code::Source,
                format!("the offsets of consumer groups in `{}` can't be read: {why}", path.display()),
            )
            .with_hint("mend the file, or move it away to let every group begin anew")
        };
        let kept = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Offsets::new(),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        Ok(Self { dir: dir.to_owned(), state: Mutex::new(State { kept, ..State::default() }), written: Mutex::new(0) })
    }

    pub(super) fn committed(&self, group: &str) -> Option<u64> {
        lock(&self.state).kept.get(group).copied()
    }

    pub(super) fn all(&self) -> Vec<(String, u64)> {
        lock(&self.state).kept.iter().map(|(group, offset)| (group.clone(), *offset)).collect()
    }

    /// Remembers an offset. Who comes while the file is written waits, and is then written together with all the
    /// others.
    pub(super) fn commit(&self, group: &str, offset: u64) -> Result<()> {
        let change = {
            let mut state = lock(&self.state);
            state.changes += 1;
            let change = state.changes;
            state.wanted.insert(group.to_owned(), (offset, change));
            change
        };
        let mut written = lock(&self.written);
        if *written >= change {
            return Ok(());
        }
        let (offsets, last) = {
            let state = lock(&self.state);
            let mut offsets = state.kept.clone();
            offsets.extend(state.wanted.iter().map(|(group, (offset, _))| (group.clone(), *offset)));
            (offsets, state.changes)
        };
        self.write(&offsets).map_err(|error| {
            Error::new(
                Code::StreamUnavailable,
                format!("the offset of `{group}` can't be written to `{}`: {error}", self.dir.join(FILE).display()),
            )
            .with_hint("look after the disk, and commit again")
            .with_source(error)
        })?;
        *written = last;
        let mut state = lock(&self.state);
        state.kept = offsets;
        state.wanted.retain(|_, (_, change)| *change > last);
        Ok(())
    }

    fn write(&self, offsets: &Offsets) -> io::Result<()> {
        let (path, new) = (self.dir.join(FILE), self.dir.join(format!("{FILE}.tmp")));
        let mut file = private::create(&new)?;
        file.write_all(&serde_json::to_vec(offsets)?)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        sync_dir(&self.dir)
    }
}
