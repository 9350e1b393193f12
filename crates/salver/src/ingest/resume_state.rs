//! Progress of an interrupted run, stored beside the file so that the same command resumes.
//!
//! Each batch is sent under the run's name and its number. A batch whose response was lost is resent by the next run
//! under the same name, and the server deduplicates its events within the stream's `dedupe` window.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

use salver_model::Error;
use serde_json::{Value, json};

use super::batches::EventBatch;
use super::sender::Counts;
use super::source::{EventSource, unreadable};
use crate::cli::IngestArguments;
use crate::failure::CommandFailure;
use crate::output;

/// Bytes at the beginning of a file that identify it.
const HEAD_BYTES: u64 = 4096;

/// Progress of a run with a file.
#[derive(Debug)]
pub(crate) struct IngestState {
    /// Name of the run.
    pub(crate) run: String,
    /// Number of the first batch that is not known to be stored.
    pub(crate) next: u64,
    /// Offset of that batch in the text.
    pub(crate) offset: u64,
    /// Outcome of the events before it.
    pub(crate) counts: Counts,
    /// Path of the state file; `None` for standard input, or if it cannot be written.
    path: Option<PathBuf>,
    /// Parameters that must be unchanged for the batches to be the same.
    about: Value,
    /// Number of hashed bytes at the beginning of the file, and their hash. Between two runs a file may grow, and
    /// unsent events may be corrected.
    head: (u64, u64),
    /// Batches stored ahead of a missing one, by number, with their ends and outcomes.
    ahead: BTreeMap<u64, (u64, Counts)>,
}

impl IngestState {
    /// Loads the state of an earlier run with `source`, or creates a new one.
    pub(crate) fn begin(arguments: &IngestArguments, source: &EventSource) -> Result<Self, CommandFailure> {
        let about = json!({
            "stream": arguments.stream,
            "url": arguments.url,
            "batch_bytes": arguments.batch_bytes,
        });
        let path = source.path.as_deref().filter(|_| source.bytes.is_some());
        let mut state = Self {
            run: name_of_run(),
            next: 0,
            offset: 0,
            counts: Counts::default(),
            path: path.map(|path| beside(path, &arguments.stream)),
            about,
            head: path.map_or(Ok((0, 0)), |path| head(path, HEAD_BYTES)).map_err(|e| unreadable(&source.name, e))?,
            ahead: BTreeMap::new(),
        };
        if !arguments.work.restart {
            state.take_up(source);
        }
        // Saved before the first batch is sent, whose response may be lost.
        if let Err(error) = state.save() {
            let path = state.path.take().unwrap_or_default();
            output::note(&format!(
                "warning: can't write {} ({error}): if this is interrupted, the next run begins anew",
                path.display()
            ));
        }
        Ok(state)
    }

    /// Resumes an earlier run, if the file is the same.
    fn take_up(&mut self, source: &EventSource) {
        let Some(text) = self.path.as_ref().and_then(|path| std::fs::read_to_string(path).ok()) else { return };
        let kept: Value = serde_json::from_str(&text).unwrap_or_default();
        let head = (kept["head"][0].as_u64().unwrap_or(0), kept["head"][1].as_u64().unwrap_or(0));
        let is_same = source.path.as_deref().is_some_and(|path| self::head(path, head.0).is_ok_and(|now| now == head));
        if !is_same || kept["about"] != self.about {
            output::note(&format!(
                "{}: an earlier run had another file, server or size of batches; this one begins anew",
                source.name
            ));
            return;
        }
        self.head = head;
        let number = |key: &str| kept[key].as_u64();
        if let (Some(run), Some(next), Some(offset)) = (kept["run"].as_str(), number("next"), number("offset")) {
            (self.run, self.next, self.offset) = (run.to_owned(), next, offset);
            self.counts = Counts {
                taken: number("taken").unwrap_or(0),
                duplicates: number("duplicates").unwrap_or(0),
                quarantined: number("quarantined").unwrap_or(0),
                reason: kept["reason"].as_str().map(str::to_owned),
            };
        }
    }

    /// Records a stored batch.
    pub(crate) fn done(&mut self, batch: &EventBatch, counts: &Counts) -> Result<(), CommandFailure> {
        self.ahead.insert(batch.number, (batch.end, counts.clone()));
        while let Some((end, counts)) = self.ahead.remove(&self.next) {
            (self.next, self.offset) = (self.next + 1, end);
            self.counts.add(&counts);
        }
        self.save().map_err(|error| Error::internal(format!("can't keep how far this has come: {error}")).into())
    }

    /// Removes the state after everything is stored.
    pub(crate) fn finish(&self) -> Result<(), CommandFailure> {
        match self.path.as_ref().map(std::fs::remove_file) {
            Some(Err(error)) => Err(Error::internal(format!("can't remove the note of this run: {error}")).into()),
            _ => Ok(()),
        }
    }

    /// Returns whether no batch is stored yet.
    pub(crate) fn is_new(&self) -> bool {
        self.next == 0 && self.ahead.is_empty()
    }

    /// Returns whether a later run can resume.
    pub(crate) fn is_kept(&self) -> bool {
        self.path.is_some()
    }

    fn save(&self) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let kept = json!({
            "about": self.about,
            "head": self.head,
            "run": self.run,
            "next": self.next,
            "offset": self.offset,
            "taken": self.counts.taken,
            "duplicates": self.counts.duplicates,
            "quarantined": self.counts.quarantined,
            "reason": self.counts.reason,
        });
        // Renamed when complete.
        let part = path.with_extension("ingest.part");
        std::fs::write(&part, kept.to_string())?;
        std::fs::rename(part, path)
    }
}

/// Returns the number and the hash of the first bytes of a file, at most `bytes_max`.
fn head(path: &Path, bytes_max: u64) -> std::io::Result<(u64, u64)> {
    let mut head = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut head)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&head);
    Ok((head.len() as u64, hasher.finish()))
}

/// Returns the path of the state file: `clicks.ndjson.events.ingest` for `clicks.ndjson` into `events`.
fn beside(path: &Path, stream: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{stream}.ingest"));
    PathBuf::from(name)
}

/// Returns a unique name for a run.
fn name_of_run() -> String {
    let random = || {
        // The standard library seeds these from the system.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    };
    format!("{:016x}{:016x}", random(), random())
}
