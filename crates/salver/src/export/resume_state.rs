//! Progress of an incomplete export, stored beside the output so that the same command resumes.
//!
//! For `rows.csv` the progress is in `rows.csv.salver-part`, and the streams are in `rows.csv.salver-part.0` and so on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use salver_model::Error;
use serde_json::{Value, json};

use super::batch::Layout;
use super::session::ExportSession;
use super::target::ExportTarget;
use crate::cli::ExportArguments;
use crate::failure::CommandFailure;
use crate::output;
use crate::output_lock::Lock;

/// Progress of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StreamProgress {
    /// Number of rows fetched.
    pub(super) rows: u64,
    /// Number of bytes.
    pub(super) bytes: u64,
    /// Checksum of the bytes.
    pub(super) sum: u32,
    /// Whether the stream is complete.
    pub(super) is_done: bool,
}

/// Progress of an export.
#[derive(Debug)]
pub(super) struct ExportState {
    /// Export on the server, once opened.
    pub(super) session: Option<ExportSession>,
    path: PathBuf,
    /// Lock that keeps other commands from writing the same output.
    _lock: Lock,
    /// Parameters that must be unchanged for a run to be resumed.
    about: Value,
    streams: Mutex<Vec<StreamProgress>>,
    /// Number of streams joined so far, and the resulting length of the first one's file.
    pub(super) joined: (usize, u64),
    /// Maximum number of rows of one request.
    pub(super) batch_rows: u64,
}

impl ExportState {
    /// Loads the state of an earlier run for `output`, or creates a new one.
    pub(super) fn begin(
        arguments: &ExportArguments,
        target: &ExportTarget,
        layout: Layout,
        output: &Path,
    ) -> Result<Self, CommandFailure> {
        let about = json!({
            "url": target.base,
            "entry": target.entry.as_str(),
            "columns": target.columns,
            "format": layout.format().suffix(),
        });
        let (path, batch_rows) = (beside(output, ".salver-part"), arguments.batch_rows);
        let lock = Lock::take(beside(&path, ".lock"), output)?;
        let streams = Mutex::default();
        let mut state = Self { session: None, path, _lock: lock, about, streams, joined: (0, 0), batch_rows };
        let kept = std::fs::read_to_string(&state.path).ok();
        let kept: Option<Value> = kept.and_then(|text| serde_json::from_str(&text).ok());
        match kept {
            Some(kept) if !arguments.work.restart && state.take_up(&kept, arguments.streams).is_some() => {
                let rows = crate::grouped_digits::thousands(state.rows());
                output::note(&format!("{}: goes on behind {rows} rows of an earlier run", output.display()));
            }
            Some(kept) => {
                if !arguments.work.restart {
                    output::note(&format!(
                        "{}: an earlier run had another server, entry, format or streams; this one begins anew",
                        output.display()
                    ));
                }
                state.session = None;
                *state.lock() = Vec::new();
                state.joined = (0, 0);
                let streams = kept["streams"].as_array().map_or(0, Vec::len);
                state.remove(streams);
            }
            None => {}
        }
        Ok(state)
    }

    /// Resumes an earlier run, if its parameters are the same.
    fn take_up(&mut self, kept: &Value, streams: Option<u64>) -> Option<()> {
        let session = ExportSession::read(&kept["session"]).filter(|_| kept["about"] == self.about)?;
        if streams.is_some_and(|streams| streams != session.streams.len() as u64) {
            return None;
        }
        let all: Option<Vec<StreamProgress>> = kept["streams"].as_array()?.iter().map(read).collect();
        let all = all.filter(|all| all.len() == session.streams.len())?;
        self.joined = (usize::try_from(kept["joined"][0].as_u64()?).ok()?, kept["joined"][1].as_u64()?);
        self.session = Some(session);
        *self.lock() = all;
        Some(())
    }

    /// Stores a newly opened export.
    pub(super) fn set_session(&mut self, session: ExportSession) -> Result<(), CommandFailure> {
        *self.lock() = vec![StreamProgress::default(); session.streams.len()];
        self.session = Some(session);
        self.save(&self.lock())
    }

    /// Returns the file of a stream.
    pub(super) fn part(&self, stream: usize) -> PathBuf {
        beside(&self.path, &format!(".{stream}"))
    }

    /// Returns the file for the joined streams.
    pub(super) fn whole(&self) -> PathBuf {
        beside(&self.path, ".whole")
    }

    /// Returns the temporary name of the state file.
    fn new_path(&self) -> PathBuf {
        beside(&self.path, ".new")
    }

    /// Returns the progress of a stream.
    pub(super) fn progress(&self, stream: usize) -> StreamProgress {
        self.lock().get(stream).copied().unwrap_or_default()
    }

    /// Returns the number of streams.
    pub(super) fn streams(&self) -> usize {
        self.lock().len()
    }

    /// Returns the number of rows fetched.
    pub(super) fn rows(&self) -> u64 {
        self.lock().iter().map(|stream| stream.rows).sum()
    }

    /// Returns whether all streams are complete.
    pub(super) fn is_fetched(&self) -> bool {
        self.joined.0 > 0 || self.lock().iter().all(|stream| stream.is_done)
    }

    /// Records the progress of a stream.
    pub(super) fn done(&self, stream: usize, now: StreamProgress) -> Result<(), CommandFailure> {
        let mut streams = self.lock();
        if let Some(progress) = streams.get_mut(stream) {
            *progress = now;
        }
        self.save(&streams)
    }

    /// Records joined streams.
    pub(super) fn join(&mut self, streams: usize, bytes: u64) -> Result<(), CommandFailure> {
        self.joined = (streams, bytes);
        self.save(&self.lock())
    }

    /// Removes the state after the output is complete.
    pub(super) fn finish(&self) {
        self.remove(self.streams());
    }

    /// Removes the state file first: the other files are ignored without it.
    fn remove(&self, streams: usize) {
        let _ = std::fs::remove_file(&self.path);
        for stream in 0..streams {
            let _ = std::fs::remove_file(self.part(stream));
        }
        let _ = std::fs::remove_file(self.whole());
        let _ = std::fs::remove_file(self.new_path());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StreamProgress>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, streams: &[StreamProgress]) -> Result<(), CommandFailure> {
        let streams: Vec<Value> = streams
            .iter()
            .map(|StreamProgress { rows, bytes, sum, is_done }| {
                json!({ "rows": rows, "bytes": bytes, "crc32": sum, "done": is_done })
            })
            .collect();
        let kept = json!({
            "about": self.about,
            "session": self.session.as_ref().map(ExportSession::write),
            "streams": streams,
            "joined": [self.joined.0, self.joined.1],
        });
        // Renamed when complete.
        let new = self.new_path();
        std::fs::write(&new, kept.to_string()).and_then(|()| std::fs::rename(&new, &self.path)).map_err(|error| {
            let shown = self.path.display();
            Error::internal(format!("can't keep in `{shown}` how far this has come: {error}")).into()
        })
    }
}

/// Returns `path` with `suffix` appended.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn read(kept: &Value) -> Option<StreamProgress> {
    Some(StreamProgress {
        rows: kept["rows"].as_u64()?,
        bytes: kept["bytes"].as_u64()?,
        sum: u32::try_from(kept["crc32"].as_u64()?).ok()?,
        is_done: kept["done"].as_bool()?,
    })
}
