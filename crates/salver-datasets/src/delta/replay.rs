//! Replays the log of a table up to a version: what the table is then, and the files that are its rows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use salver_model::limits::{
    DATASET_FILES_MAX, DELTA_KEPT_BYTES_MAX, DELTA_LINE_BYTES_MAX, DELTA_LOG_BYTES_MAX, DELTA_PATH_BYTES_MAX,
};
use salver_model::{Code, Error, Result};

use super::action::{Action, Add, Metadata, Protocol, Sidecar, VectorDescriptor};
use super::log::{Log, Segment};
use super::place::{LogFile, Place};
use super::{checkpoint, fault};

/// A table at a version.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) protocol: Protocol,
    pub(super) metadata: Metadata,
    /// Its files: those that were made first come first, in an order that does not depend on how the log tells of them.
    pub(super) files: Vec<Add>,
}

/// What tells a file from others: the same data with another deletion vector is another one.
type FileKey = (String, Option<String>);

/// What was read so far.
#[derive(Debug)]
struct Replay<'a> {
    root: &'a str,
    protocol: Option<Protocol>,
    metadata: Option<Metadata>,
    files: HashMap<FileKey, Add>,
    sidecars: Vec<String>,
    bytes_left: u64,
    /// Bytes of what is kept.
    kept: u64,
}

/// Reads the files of a log that make a version. Blocks.
pub(super) fn snapshot(place: &Place<'_>, log: &Log, root: &str, segment: &Segment) -> Result<Snapshot> {
    let mut replay = Replay {
        root,
        protocol: None,
        metadata: None,
        files: HashMap::new(),
        sidecars: Vec::new(),
        bytes_left: DELTA_LOG_BYTES_MAX,
        kept: 0,
    };
    for file in &segment.checkpoint {
        replay.read(place, file)?;
    }
    for path in std::mem::take(&mut replay.sidecars) {
        replay.read(place, log.sidecar(&path)?)?;
    }
    if let Some(file) = segment.checkpoint.first()
        && (replay.protocol.is_none() || replay.metadata.is_none())
    {
        return Err(fault::damaged(file.label(), "it has no `protocol` or no `metaData`"));
    }
    for (_, commit) in &segment.commits {
        replay.read(place, commit)?;
    }
    replay.finish(segment.version)
}

impl Replay<'_> {
    fn read(&mut self, place: &Place<'_>, file: &LogFile) -> Result<()> {
        self.bytes_left = self.bytes_left.checked_sub(file.bytes).ok_or_else(|| fault::long_log(self.root))?;
        let (whole, label) = (place.whole(file)?, file.label());
        match label.ends_with(".json") {
            true => lines(&whole.path, &label, &mut |action| self.apply(action)),
            false => {
                let (root, mut left) = (self.root, self.bytes_left);
                checkpoint::actions(&whole.path, &label, &mut |action, bytes| {
                    left = left.checked_sub(bytes).ok_or_else(|| fault::long_log(root))?;
                    self.apply(action)
                })?;
                self.bytes_left = left;
                Ok(())
            }
        }
    }

    fn apply(&mut self, action: Action) -> Result<()> {
        let Action { add, remove, meta_data, protocol, sidecar, .. } = action;
        if let Some(add) = add {
            self.check_path(&add.path, add.vector())?;
            self.kept = self.kept.saturating_add(bytes_of(&add));
            let key = (add.path.clone(), add.vector().map(VectorDescriptor::unique_id));
            if let Some(before) = self.files.insert(key, add) {
                self.kept = self.kept.saturating_sub(bytes_of(&before));
            }
            if self.files.len() > DATASET_FILES_MAX {
                let message = format!("`{}` has more than {DATASET_FILES_MAX} files", self.root);
                return Err(Error::new(Code::Source, message).with_hint("compact the table with `OPTIMIZE`"));
            }
        }
        if let Some(remove) = remove {
            let vector = remove.vector().map(VectorDescriptor::unique_id);
            if let Some(before) = self.files.remove(&(remove.path, vector)) {
                self.kept = self.kept.saturating_sub(bytes_of(&before));
            }
        }
        if let Some(Sidecar { path }) = sidecar {
            self.check_path(&path, None)?;
            self.kept = self.kept.saturating_add((path.len() + size_of::<String>()) as u64);
            self.sidecars.push(path);
        }
        if let Some(metadata) = meta_data {
            self.kept = self.kept.saturating_add(metadata.bytes());
            if let Some(before) = self.metadata.replace(metadata) {
                self.kept = self.kept.saturating_sub(before.bytes());
            }
        }
        self.protocol = protocol.or_else(|| self.protocol.take());
        if self.kept > DELTA_KEPT_BYTES_MAX {
            let message = format!("the files of `{}` take more than {DELTA_KEPT_BYTES_MAX} bytes to name", self.root);
            return Err(Error::new(Code::Source, message).with_hint("compact the table with `OPTIMIZE`"));
        }
        Ok(())
    }

    fn check_path(&self, path: &str, vector: Option<&VectorDescriptor>) -> Result<()> {
        let of_vector = vector.filter(|vector| !vector.is_inline()).map_or(0, |vector| vector.path_or_inline_dv.len());
        if path.len().max(of_vector) <= DELTA_PATH_BYTES_MAX {
            return Ok(());
        }
        let why = format!("a path in it has more than {DELTA_PATH_BYTES_MAX} bytes");
        Err(fault::damaged(format!("{}/_delta_log", self.root), why))
    }

    fn finish(self, version: u64) -> Result<Snapshot> {
        let missing = |what: &str| {
            fault::damaged(format!("{}/_delta_log", self.root), format!("it has no `{what}` up to version {version}"))
        };
        let mut files: Vec<Add> = self.files.into_values().collect();
        files.sort_by(|a, b| (a.modification_time, &a.path).cmp(&(b.modification_time, &b.path)));
        Ok(Snapshot {
            protocol: self.protocol.ok_or_else(|| missing("protocol"))?,
            metadata: self.metadata.ok_or_else(|| missing("metaData"))?,
            files,
        })
    }
}

/// Returns the bytes of what is kept of a file.
fn bytes_of(add: &Add) -> u64 {
    let vector = add.vector().map_or(0, |vector| vector.path_or_inline_dv.len());
    let value = |(key, value): (&String, &Option<String>)| {
        size_of::<(String, Option<String>)>() + key.len() + value.as_ref().map_or(0, String::len)
    };
    let values: usize = add.partition_values.iter().flatten().map(value).sum();
    (add.path.len() + vector + values) as u64
}

/// Passes the actions of a file, one a line, to `each`.
pub(super) fn lines(path: &Path, label: &str, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<()> {
    let unreadable = |cause: std::io::Error| crate::location::unreadable(path, &cause);
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if (&mut file).take(DELTA_LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        if line.len() as u64 == DELTA_LINE_BYTES_MAX && !line.ends_with(b"\n") {
            return Err(fault::damaged(label, format!("line {number} has more than {DELTA_LINE_BYTES_MAX} bytes")));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let action = serde_json::from_slice(&line)
            .map_err(|cause| fault::damaged(label, format!("line {number}, column {}: {cause}", cause.column())))?;
        each(action)?;
    }
    Ok(())
}
