//! Consumer groups: the committed offset of each, in one small file.
//!
//! The file has one line per group with a checksum, and a last line with their number, so that damage to a line loses
//! only its own group.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use memchr::memmem;
use salver_model::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use super::active::sync_dir;
use super::lock::lock;
use crate::private_files;

const FILE: &str = "groups.json";
/// Name under which a damaged file is kept for inspection.
const DAMAGED: &str = "groups.json.damaged";
/// Beginning of each line.
const LINE_START: &[u8] = b"{\"group";

type Offsets = BTreeMap<String, u64>;

/// Serialized form of a group.
#[derive(Serialize, Deserialize)]
struct Line {
    group: String,
    offset: u64,
    sum: u32,
}

/// Last line of the file.
#[derive(Serialize, Deserialize)]
struct Total {
    groups: u64,
    sum: u32,
}

/// Consumer groups of a log.
#[derive(Debug)]
pub(super) struct Groups {
    dir: PathBuf,
    state: Mutex<GroupState>,
    /// Number of the last change in the file; locked while the file is written.
    written: Mutex<u64>,
}

#[derive(Debug, Default)]
struct GroupState {
    /// Offsets in the file.
    kept: Offsets,
    /// Changes not yet in the file, each with its number.
    wanted: BTreeMap<String, (u64, u64)>,
    changes: u64,
}

impl Groups {
    /// Reads the file of a directory, if it exists.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let kept = match fs::read(&path) {
            Ok(text) => read(&text).unwrap_or_else(|(kept, lost)| {
                let _ = fs::copy(&path, dir.join(DAMAGED));
                tracing::error!(
                    path = %path.display(),
                    "offsets of consumer groups are damaged: {lost}; the file as it was is in `{DAMAGED}`"
                );
                kept
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Offsets::new(),
            Err(error) => {
                let message = format!("the offsets of consumer groups in `{}` can't be read: {error}", path.display());
                return Err(Error::new(Code::Source, message)
                    .with_hint("see that it is a file the server may read")
                    .with_source(error));
            }
        };
        Ok(Self {
            dir: dir.to_owned(),
            state: Mutex::new(GroupState { kept, ..GroupState::default() }),
            written: Mutex::new(0),
        })
    }

    /// Returns the greatest offset of a group: the log had everything below it.
    pub(super) fn most(&self) -> u64 {
        lock(&self.state).kept.values().copied().max().unwrap_or(0)
    }

    pub(super) fn committed(&self, group: &str) -> Option<u64> {
        lock(&self.state).kept.get(group).copied()
    }

    pub(super) fn all(&self) -> Vec<(String, u64)> {
        lock(&self.state).kept.iter().map(|(group, offset)| (group.clone(), *offset)).collect()
    }

    /// Stores an offset. Calls during a write wait, and are then written together.
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
        let mut file = private_files::create(&new)?;
        file.write_all(&written(offsets)?)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        sync_dir(&self.dir)
    }
}

/// Returns the content of the file.
fn written(offsets: &Offsets) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    for (group, offset) in offsets {
        let line = Line { group: group.clone(), offset: *offset, sum: sum(group, *offset) };
        serde_json::to_writer(&mut out, &line)?;
        out.push(b'\n');
    }
    let groups = offsets.len() as u64;
    serde_json::to_writer(&mut out, &Total { groups, sum: sum("", groups) })?;
    out.push(b'\n');
    Ok(out)
}

fn sum(group: &str, number: u64) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&number.to_le_bytes());
    sum.update(group.as_bytes());
    sum.finalize()
}

/// Parses the file; if it is damaged, returns the remaining groups and a description of the loss.
fn read(text: &[u8]) -> Result<Offsets, (Offsets, String)> {
    // Older format, without checksums.
    if let Ok(offsets) = serde_json::from_slice(text) {
        return Ok(offsets);
    }
    let mut offsets = Offsets::new();
    let (mut damaged, mut total) = (Vec::new(), None);
    // Lines are not split at their ends only, since an end or a beginning may be damaged.
    let ends = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
    let mut starts: Vec<_> = memmem::find_iter(text, LINE_START).chain(ends).chain([0]).collect();
    starts.sort_unstable();
    starts.dedup();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        let piece = text[*start..end].trim_ascii();
        if piece.is_empty() {
            continue;
        }
        let line = serde_json::from_slice::<Line>(piece).ok().filter(|line| line.sum == sum(&line.group, line.offset));
        match (line, serde_json::from_slice::<Total>(piece)) {
            (Some(line), _) => _ = offsets.insert(line.group, line.offset),
            (None, Ok(last)) if last.sum == sum("", last.groups) => total = Some(last.groups),
            _ => damaged.push(String::from_utf8_lossy(&piece[..piece.len().min(200)]).into_owned()),
        }
    }
    match total {
        Some(groups) if groups == offsets.len() as u64 => Ok(offsets),
        Some(groups) => {
            let lost = groups.saturating_sub(offsets.len() as u64);
            Err((offsets, format!("{lost} of {groups} groups begin anew ({})", damaged.join(", "))))
        }
        None => Err((offsets, format!("the end of the file is not there ({})", damaged.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::{Offsets, read, written};

    #[test]
    fn damage_costs_one_group() {
        let offsets: Offsets = (0..20_u64).map(|n| (format!("group \"{n}\""), n * 1_000)).collect();
        let text = written(&offsets).unwrap();
        assert_eq!(read(&text), Ok(offsets.clone()));
        let is_right = |found: &Offsets| found.iter().all(|(group, offset)| offsets.get(group) == Some(offset));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut text = text.clone();
                text[at] ^= 1 << bit;
                let found = match read(&text) {
                    // White space that is another one.
                    Ok(found) => found,
                    Err((found, lost)) => {
                        assert!(!lost.is_empty());
                        found
                    }
                };
                assert!(is_right(&found) && found.len() >= 19, "{} at {at}", found.len());
            }
            let (Ok(found) | Err((found, _))) = read(&text[..at]);
            assert!(is_right(&found));
            assert!(read(&text[..at]).is_err() || found.len() == 20, "cut at {at}");
        }
        assert_eq!(read(b"{\"a\":7}"), Ok(Offsets::from([("a".to_owned(), 7)])));
    }
}
