//! The log of a table, by the names of its files: which commits and checkpoints make a version.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::fault;
use super::place::{LogFile, Place};
use salver_model::Result;

/// Digits of the version in a file's name.
const DIGITS: usize = 20;

/// The files of a log.
#[derive(Debug, Default)]
pub(super) struct Log {
    root: String,
    pub(super) commits: BTreeMap<u64, LogFile>,
    checkpoints: BTreeMap<u64, Checkpoint>,
    /// Further files of checkpoints, by their names.
    sidecars: HashMap<String, LogFile>,
}

/// What there is of a checkpoint of one version; of several kinds, any may be read.
#[derive(Debug, Default)]
struct Checkpoint {
    /// A file with everything, or with the names of sidecars: Parquet or JSON.
    single: Option<LogFile>,
    /// Its parts by their numbers, for each number of parts.
    parts: BTreeMap<u32, BTreeMap<u32, LogFile>>,
}

/// The files that make a version.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) version: u64,
    /// The files of the checkpoint that it begins with.
    pub(super) checkpoint: Vec<LogFile>,
    /// The commits after it, in order, with their versions.
    pub(super) commits: Vec<(u64, LogFile)>,
}

impl Checkpoint {
    /// Returns its files, if all are there.
    fn files(&self) -> Option<Vec<LogFile>> {
        if let Some(single) = &self.single {
            return Some(vec![single.clone()]);
        }
        let is_whole = |of: u32, parts: &BTreeMap<u32, LogFile>| {
            u32::try_from(parts.len()) == Ok(of) && parts.keys().copied().eq(1..=of)
        };
        let (_, parts) = self.parts.iter().find(|(of, parts)| is_whole(**of, parts))?;
        Some(parts.values().cloned().collect())
    }
}

/// What is read of `_last_checkpoint`.
#[derive(Deserialize)]
struct LastCheckpoint {
    version: u64,
}

impl Log {
    /// Lists the log of a table as a whole.
    pub(super) fn whole(place: &Place<'_>, root: &str) -> Result<Self> {
        let log = Self::of(root, place.log(None)?)?;
        if log.commits.is_empty() && log.last_checkpoint().is_none() {
            return Err(fault::no_table(root));
        }
        Ok(log)
    }

    /// Lists what the latest version is made of, and of a directory everything.
    pub(super) fn latest(place: &Place<'_>, root: &str) -> Result<Self> {
        if let Some(hint) = hinted(place)? {
            let log = Self::of(root, place.log(Some(hint))?)?;
            if log.last_checkpoint().is_some() {
                return Ok(log);
            }
        }
        Self::whole(place, root)
    }

    fn of(root: &str, files: Vec<LogFile>) -> Result<Self> {
        let mut log = Self { root: root.to_owned(), ..Self::default() };
        for file in files {
            if let Some(name) = file.name.strip_prefix("_sidecars/") {
                if !file.is_regular {
                    continue;
                }
                log.sidecars.insert(name.to_owned(), file);
                continue;
            }
            let Some((version, rest)) = numbered(&file.name) else { continue };
            let rest: Vec<&str> = rest.split('.').collect();
            if !file.is_regular && matches!(rest[..], ["json"] | ["checkpoint", ..]) {
                return Err(fault::damaged(file.label(), "it is not a regular file"));
            }
            match rest[..] {
                ["json"] => {
                    log.commits.insert(version, file);
                }
                ["checkpoint", "parquet"] | ["checkpoint", _, "parquet" | "json"] => {
                    log.checkpoints.entry(version).or_default().single = Some(file);
                }
                ["checkpoint", part, of, "parquet"] => {
                    if let (Ok(part), Ok(of)) = (part.parse(), of.parse()) {
                        log.checkpoints.entry(version).or_default().parts.entry(of).or_default().insert(part, file);
                    }
                }
                _ => {}
            }
        }
        log.leave_unwritten();
        Ok(log)
    }

    /// Leaves out a last commit without a byte: its writer has made the file, and has not written it yet.
    fn leave_unwritten(&mut self) {
        if let Some(last) = self.commits.last_entry().filter(|last| last.get().bytes == 0) {
            last.remove();
        }
    }

    fn last_checkpoint(&self) -> Option<u64> {
        self.checkpoints.iter().rev().find(|(_, found)| found.files().is_some()).map(|(version, _)| *version)
    }

    /// Returns the latest version.
    pub(super) fn last(&self) -> u64 {
        let commit = self.commits.last_key_value().map(|(version, _)| *version);
        commit.max(self.last_checkpoint()).unwrap_or(0)
    }

    /// Returns the first version that can be read.
    pub(super) fn first(&self) -> u64 {
        if self.commits.contains_key(&0) {
            return 0;
        }
        let whole = self.checkpoints.iter().find(|(_, found)| found.files().is_some());
        whole.map_or_else(|| self.commits.keys().next().copied().unwrap_or(0), |(version, _)| *version)
    }

    /// Returns the files that make a version.
    pub(super) fn segment(&self, version: u64) -> Result<Segment> {
        let (first, last) = (self.first(), self.last());
        if version < first || version > last {
            return Err(fault::no_version(&self.root, version, first, last));
        }
        let before = self.checkpoints.range(..=version).rev();
        let checkpoint = before.filter_map(|(version, found)| Some((*version, found.files()?))).next();
        let (start, checkpoint) = match checkpoint {
            Some((at, files)) => (at + 1, files),
            None => (0, Vec::new()),
        };
        let commits = (start..=version).map(|number| match self.commits.get(&number) {
            Some(file) => Ok((number, file.clone())),
            None => Err(fault::gap(&self.root, version, number)),
        });
        Ok(Segment { version, checkpoint, commits: commits.collect::<Result<_>>()? })
    }

    /// Returns a further file of a checkpoint.
    pub(super) fn sidecar(&self, path: &str) -> Result<&LogFile> {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.sidecars.get(name).ok_or_else(|| {
            fault::damaged(
                format!("{}/_delta_log", self.root),
                format!("`_sidecars/{name}` of a checkpoint is missing"),
            )
        })
    }
}

/// Returns the version of a recent checkpoint, if the table says one.
fn hinted(place: &Place<'_>) -> Result<Option<u64>> {
    let Some(file) = place.last_checkpoint()? else { return Ok(None) };
    if file.bytes > 1024 * 1024 {
        return Ok(None);
    }
    let whole = place.whole(&file)?;
    // It only says where to look first.
    let text = std::fs::read(&whole.path).unwrap_or_default();
    Ok(serde_json::from_slice::<LastCheckpoint>(&text).ok().map(|last| last.version))
}

/// Splits `00000000000000000010.json` into the version and what follows its dot.
fn numbered(name: &str) -> Option<(u64, &str)> {
    let (digits, rest) = name.split_once('.')?;
    let is_version = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_version)?, rest))
}
