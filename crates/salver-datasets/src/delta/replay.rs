//! Replays the log of a table up to a version: what the table is then, and the files that are its rows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use salver_model::limits::{DATASET_FILES_MAX, DELTA_LINE_BYTES_MAX, DELTA_LOG_BYTES_MAX};
use salver_model::{Code, Error, Result};

use super::action::{Action, Add, Metadata, Protocol, VectorDescriptor};
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
    };
    for file in &segment.checkpoint {
        replay.read(place, file)?;
    }
    for path in std::mem::take(&mut replay.sidecars) {
        replay.read(place, log.sidecar(&path)?)?;
    }
    for (_, commit) in &segment.commits {
        replay.read(place, commit)?;
    }
    replay.finish(segment.version)
}

impl Replay<'_> {
    fn read(&mut self, place: &Place<'_>, file: &LogFile) -> Result<()> {
        self.bytes_left = self.bytes_left.checked_sub(file.bytes).ok_or_else(|| {
            let message = format!("the log of `{}` has more than {DELTA_LOG_BYTES_MAX} bytes to read", self.root);
            Error::new(Code::Source, message).with_hint("have the writer of the table make a checkpoint")
        })?;
        let (whole, label) = (place.whole(file)?, file.label());
        match label.ends_with(".json") {
            true => lines(&whole.path, &label, &mut |action| self.apply(action)),
            false => checkpoint::actions(&whole.path, &label, &mut |action| self.apply(action)),
        }
    }

    fn apply(&mut self, action: Action) -> Result<()> {
        let Action { add, remove, meta_data, protocol, sidecar, .. } = action;
        if let Some(add) = add {
            let key = (add.path.clone(), add.vector().map(VectorDescriptor::unique_id));
            self.files.insert(key, add);
            if self.files.len() > DATASET_FILES_MAX {
                let message = format!("`{}` has more than {DATASET_FILES_MAX} files", self.root);
                return Err(Error::new(Code::Source, message).with_hint("compact the table with `OPTIMIZE`"));
            }
        }
        if let Some(remove) = remove {
            let vector = remove.vector().map(VectorDescriptor::unique_id);
            self.files.remove(&(remove.path, vector));
        }
        self.sidecars.extend(sidecar.map(|sidecar| sidecar.path));
        self.metadata = meta_data.or_else(|| self.metadata.take());
        self.protocol = protocol.or_else(|| self.protocol.take());
        Ok(())
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

/// Passes the actions of a file, one a line, to `each`.
fn lines(path: &Path, label: &str, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<()> {
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
        let action = serde_json::from_slice(&line).map_err(|cause| {
            fault::damaged(label, format!("line {number}, column {}: {cause}", cause.column())).with_source(cause)
        })?;
        each(action)?;
    }
    Ok(())
}
