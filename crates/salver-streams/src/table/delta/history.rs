//! The log of a table: commits, the newest checkpoint, and what of it is old.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, SystemTime};

use salver_model::{Code, Error, Result};

use super::AnyError;
use super::action::Action;
use super::checkpoint;
use super::state::{TableState, foreign};
use super::table_dir::{TableDir, remove};

/// Digits of a version in the name of a file.
const DIGITS: usize = 20;
/// End of the name of a commit.
const COMMIT: &str = ".json";
/// End of the name of a checkpoint.
const CHECKPOINT: &str = ".checkpoint.parquet";
/// File that names the newest checkpoint.
const LAST_CHECKPOINT: &str = "_last_checkpoint";

/// Versions that have a file in the log, in order.
#[derive(Debug, Default)]
struct Versions {
    commits: Vec<u64>,
    checkpoints: Vec<u64>,
}

impl Versions {
    fn of(dir: &TableDir) -> io::Result<Self> {
        let mut found = Self::default();
        for entry in fs::read_dir(dir.log())? {
            let name = entry?.file_name();
            let Some((version, rest)) = name.to_str().and_then(|name| name.split_at_checked(DIGITS)) else { continue };
            let Ok(version) = version.parse() else { continue };
            match rest {
                COMMIT => found.commits.push(version),
                CHECKPOINT => found.checkpoints.push(version),
                _ => {}
            }
        }
        found.commits.sort_unstable();
        found.checkpoints.sort_unstable();
        Ok(found)
    }
}

/// Returns the name of a commit.
pub(super) fn commit_name(version: u64) -> String {
    format!("{version:0DIGITS$}{COMMIT}")
}

fn checkpoint_name(version: u64) -> String {
    format!("{version:0DIGITS$}{CHECKPOINT}")
}

/// Returns the state of the table in a directory, as its log tells. Blocks.
///
/// # Errors
/// Returns `StreamUnavailable` when the log can't be read, and `Config` when the table can't be continued.
pub(super) fn load(dir: &TableDir) -> Result<TableState> {
    let unreadable = |error: AnyError| {
        let message = format!("the log of the table in `{}` can't be read: {error}", dir.root().display());
        Error::new(Code::StreamUnavailable, message).with_source(error)
    };
    let versions = Versions::of(dir).map_err(|error| unreadable(error.into()))?;
    let mut state = TableState::default();
    if let Some(version) = versions.checkpoints.last().copied() {
        let path = dir.log().join(checkpoint_name(version));
        let mut failed = None;
        let each = &mut |action| {
            state.apply(action).map_err(|error| {
                failed = Some(error);
                AnyError::from("an action can't be applied")
            })
        };
        if let Err(error) = checkpoint::read(&path, each) {
            return Err(failed.unwrap_or_else(|| unreadable(error)));
        }
        state.version = Some(version);
    }
    let known = state.version;
    for version in versions.commits.into_iter().filter(|own| known.is_none_or(|known| *own > known)) {
        let expected = state.version.map_or(0, |known| known + 1);
        if version != expected {
            return Err(foreign(&format!("its commit {expected} is missing")));
        }
        for action in commit(&dir.log().join(commit_name(version))).map_err(unreadable)? {
            state.apply(action)?;
        }
        state.version = Some(version);
    }
    Ok(state)
}

fn commit(path: &Path) -> std::result::Result<Vec<Action>, AnyError> {
    let lines = BufReader::new(File::open(path)?).lines();
    let mut actions = Vec::new();
    for line in lines {
        let line = line?;
        if !line.trim().is_empty() {
            actions.push(serde_json::from_str(&line)?);
        }
    }
    Ok(actions)
}

/// Writes a checkpoint of the state, and names it as the newest. Blocks.
///
/// # Errors
/// Fails when it can't be written; what was there before stays.
pub(super) fn write_checkpoint(dir: &TableDir, state: &TableState) -> std::result::Result<(), AnyError> {
    let Some(version) = state.version else { return Ok(()) };
    let (bytes, count) = checkpoint::encode(state.actions())?;
    dir.replace(&checkpoint_name(version), &bytes)?;
    let last = serde_json::json!({ "version": version, "size": count });
    Ok(dir.replace(LAST_CHECKPOINT, last.to_string().as_bytes())?)
}

/// Deletes the commits and checkpoints of versions older than `keep`: those before a checkpoint that is older itself.
/// Blocks.
///
/// # Errors
/// Errors of the file system.
pub(super) fn forget(dir: &TableDir, keep: Duration) -> io::Result<()> {
    let versions = Versions::of(dir)?;
    // The newest one is needed whatever its age, and is none that would be deleted.
    let is_old = |version: &&u64| {
        let made = fs::metadata(dir.log().join(commit_name(**version))).and_then(|commit| commit.modified());
        made.is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age > keep))
    };
    let Some(oldest) = versions.checkpoints.iter().rev().find(is_old).copied() else { return Ok(()) };
    for version in versions.commits.into_iter().filter(|own| *own < oldest) {
        remove(&dir.log().join(commit_name(version)))?;
    }
    for version in versions.checkpoints.into_iter().filter(|own| *own < oldest) {
        remove(&dir.log().join(checkpoint_name(version)))?;
    }
    Ok(())
}
