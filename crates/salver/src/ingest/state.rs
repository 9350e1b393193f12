//! What an interrupted run leaves beside a file, so that the same command goes on where it ended.
//!
//! Each batch is sent under the run's name and its number. A batch whose answer was lost is sent again by the next run
//! under the same name, and the server knows its events for as long as the stream's `dedupe` says.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

use salver_model::Error;
use serde_json::{Value, json};

use super::batches::Batch;
use super::sender::Counts;
use super::source::{Source, unreadable};
use crate::cli::IngestArguments;
use crate::failure::Failure;
use crate::output;

/// Bytes at the beginning of a file by which it is known again.
const HEAD_BYTES: u64 = 4096;

/// How far a run has come with a file.
#[derive(Debug)]
pub(crate) struct State {
    /// The run's name.
    pub(crate) run: String,
    /// The number of the first batch that is not known to be there.
    pub(crate) next: u64,
    /// Where that one begins in the text.
    pub(crate) offset: u64,
    /// What became of the events before it.
    pub(crate) counts: Counts,
    /// Where this is kept; `None` for standard input, or where nothing can be written.
    path: Option<PathBuf>,
    /// What must be the same for the batches to be the same.
    about: Value,
    /// How many bytes at the beginning of the file were looked at, and their hash: a file may grow, and what was not
    /// sent yet may be mended, between two runs.
    head: (u64, u64),
    /// Batches that are there already behind one that is not, by number: where they end, and what became of them.
    ahead: BTreeMap<u64, (u64, Counts)>,
}

impl State {
    /// What an earlier run left of `source`, or a new run's.
    pub(crate) fn begin(arguments: &IngestArguments, source: &Source) -> Result<Self, Failure> {
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
        // Kept before the first batch goes out, whose answer may be lost.
        if let Err(error) = state.save() {
            let path = state.path.take().unwrap_or_default();
            output::note(&format!(
                "warning: can't write {} ({error}): if this is interrupted, the next run begins anew",
                path.display()
            ));
        }
        Ok(state)
    }

    /// Goes on with an earlier run, if it was one of the same file.
    fn take_up(&mut self, source: &Source) {
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

    /// A batch is there.
    pub(crate) fn done(&mut self, batch: &Batch, counts: &Counts) -> Result<(), Failure> {
        self.ahead.insert(batch.number, (batch.end, counts.clone()));
        while let Some((end, counts)) = self.ahead.remove(&self.next) {
            (self.next, self.offset) = (self.next + 1, end);
            self.counts.add(&counts);
        }
        self.save().map_err(|error| Error::internal(format!("can't keep how far this has come: {error}")).into())
    }

    /// Everything is there: nothing is left to go on with.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        match self.path.as_ref().map(std::fs::remove_file) {
            Some(Err(error)) => Err(Error::internal(format!("can't remove the note of this run: {error}")).into()),
            _ => Ok(()),
        }
    }

    /// Whether no batch is there yet.
    pub(crate) fn is_new(&self) -> bool {
        self.next == 0 && self.ahead.is_empty()
    }

    /// Whether a later run can go on.
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
        // Under another name until it is whole.
        let part = path.with_extension("ingest.part");
        std::fs::write(&part, kept.to_string())?;
        std::fs::rename(part, path)
    }
}

/// The number and the hash of the first bytes of a file, of `bytes_max` at most.
fn head(path: &Path, bytes_max: u64) -> std::io::Result<(u64, u64)> {
    let mut head = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut head)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&head);
    Ok((head.len() as u64, hasher.finish()))
}

/// `clicks.ndjson` into `events` is noted in `clicks.ndjson.events.ingest`.
fn beside(path: &Path, stream: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{stream}.ingest"));
    PathBuf::from(name)
}

/// A name that no other run has.
fn name_of_run() -> String {
    let random = || {
        // The standard library seeds these from the system.
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u32(std::process::id());
        hasher.finish()
    };
    format!("{:016x}{:016x}", random(), random())
}
