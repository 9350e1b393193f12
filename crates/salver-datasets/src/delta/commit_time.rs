//! The version of a table at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use chrono::{DateTime, SecondsFormat};
use salver_model::limits::DELTA_LINE_BYTES_MAX;
use salver_model::{Code, Error, Result};

use super::action::Action;
use super::log::Log;
use super::place::{LogFile, Place};
use super::{fault, replay};

/// Returns the latest version that was there at a time, in milliseconds since 1970. A commit is as old as its log says
/// or, where it says nothing, as its file; of two files the later commit is the younger one, whatever their times.
pub(super) fn version_at(place: &Place<'_>, log: &Log, root: &str, at: i64) -> Result<u64> {
    let first = log.first();
    let commits: Vec<(u64, &LogFile)> = log.commits.range(first..).map(|(version, file)| (*version, file)).collect();
    let Some((_, last)) = commits.last() else {
        return Err(Error::new(Code::Source, format!("`{root}` has no commit that would tell a time"))
            .with_hint(format!("read its version by number: `?version={first}`")));
    };
    let told = |index: usize| told_time(place, commits[index].1);
    let silent = |index: usize| fault::damaged(commits[index].1.label(), "it tells no time, and commits before it do");
    let is_told = told_time(place, last)?.is_some();
    let end = commits.len() - 1;
    // Only a commit that changes what the table is stops telling times.
    if !is_told && end > 0 && told(end - 1)?.is_some() && !changes_table(place, last)? {
        return Err(silent(end));
    }
    let times = (!is_told).then(|| file_times(&commits));
    let time = |index: usize| -> Result<i64> {
        match &times {
            Some(times) => Ok(times[index]),
            None => match told(index)? {
                Some(time) => Ok(time),
                // The table may tell times since a later commit only, but not with gaps.
                None if index > 0 && (told(0)?.is_some() || told(index - 1)?.is_some()) => Err(silent(index)),
                None => Ok(commits[index].1.modified_ms),
            },
        }
    };
    // Times only grow, so that few commits are opened.
    let (mut low, mut high) = (0, commits.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if time(middle)? <= at { low = middle + 1 } else { high = middle }
    }
    match low.checked_sub(1) {
        Some(found) => Ok(commits[found].0),
        None => Err(Error::new(Code::Source, format!("`{root}` had no version at {}", shown(at)))
            .with_hint(format!("its first one, {first}, is of {}", shown(time(0)?)))),
    }
}

/// Returns the times of files, each later than the one before.
fn file_times(commits: &[(u64, &LogFile)]) -> Vec<i64> {
    let mut before = i64::MIN;
    let later = commits.iter().map(|(_, file)| {
        before = file.modified_ms.max(before.saturating_add(1));
        before
    });
    later.collect()
}

/// Returns the time that a commit itself tells: it is in the first line, if the table has it.
fn told_time(place: &Place<'_>, commit: &LogFile) -> Result<Option<i64>> {
    let whole = place.whole(commit)?;
    let unreadable = |cause: std::io::Error| crate::location::unreadable(&whole.path, &cause);
    let file = File::open(&whole.path).map_err(unreadable)?;
    let mut line = Vec::new();
    BufReader::new(file).take(DELTA_LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(unreadable)?;
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let first: Action = serde_json::from_slice(&line)
        .map_err(|cause| fault::damaged(commit.label(), format!("line 1, column {}: {cause}", cause.column())))?;
    Ok(first.commit_info.and_then(|info| info.in_commit_timestamp))
}

/// Returns whether a commit has a `metaData`.
fn changes_table(place: &Place<'_>, commit: &LogFile) -> Result<bool> {
    let (whole, mut is_changed) = (place.whole(commit)?, false);
    replay::lines(&whole.path, &commit.label(), &mut |action| {
        is_changed |= action.meta_data.is_some();
        Ok(())
    })?;
    Ok(is_changed)
}

fn shown(at: i64) -> String {
    DateTime::from_timestamp_millis(at)
        .map_or_else(|| at.to_string(), |time| time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
}
