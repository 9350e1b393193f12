//! What stands beside the output while it is not whole: how far each stream is, so that the same command goes on.
//!
//! `rows.csv` is noted in `rows.csv.salver-part`, and its streams lie in `rows.csv.salver-part.0` and so on.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use salver_model::Error;
use serde_json::{Value, json};

use super::batch::Layout;
use super::session::Session;
use super::target::Target;
use crate::claim::Lock;
use crate::cli::ExportArguments;
use crate::failure::Failure;
use crate::output;

/// How far a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Rows that are there.
    pub(super) rows: u64,
    /// Bytes of them.
    pub(super) bytes: u64,
    /// Their checksum.
    pub(super) sum: u32,
    /// Whether that are all.
    pub(super) is_done: bool,
}

/// How far an export is.
#[derive(Debug)]
pub(super) struct State {
    /// The export, when one was opened.
    pub(super) session: Option<Session>,
    path: PathBuf,
    /// While it is there no other command writes the same output.
    _lock: Lock,
    /// What must be the same for the streams to be the same.
    about: Value,
    streams: Mutex<Vec<Progress>>,
    /// How many streams were put together, and how long the first one's file is then.
    pub(super) joined: (usize, u64),
    /// Most rows of one request.
    pub(super) batch_rows: u64,
}

impl State {
    /// What an earlier run left of `output`, or a new one's.
    pub(super) fn begin(
        arguments: &ExportArguments,
        target: &Target,
        layout: Layout,
        output: &Path,
    ) -> Result<Self, Failure> {
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
                let rows = crate::serve::thousands(state.rows());
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

    /// Goes on with an earlier run, if it was one of the same.
    fn take_up(&mut self, kept: &Value, streams: Option<u64>) -> Option<()> {
        let session = Session::read(&kept["session"]).filter(|_| kept["about"] == self.about)?;
        if streams.is_some_and(|streams| streams != session.streams.len() as u64) {
            return None;
        }
        let all: Option<Vec<Progress>> = kept["streams"].as_array()?.iter().map(read).collect();
        let all = all.filter(|all| all.len() == session.streams.len())?;
        self.joined = (usize::try_from(kept["joined"][0].as_u64()?).ok()?, kept["joined"][1].as_u64()?);
        self.session = Some(session);
        *self.lock() = all;
        Some(())
    }

    /// A new export was opened.
    pub(super) fn set_session(&mut self, session: Session) -> Result<(), Failure> {
        *self.lock() = vec![Progress::default(); session.streams.len()];
        self.session = Some(session);
        self.save(&self.lock())
    }

    /// The file of a stream.
    pub(super) fn part(&self, stream: usize) -> PathBuf {
        beside(&self.path, &format!(".{stream}"))
    }

    /// The file that is made of all streams.
    pub(super) fn whole(&self) -> PathBuf {
        beside(&self.path, ".whole")
    }

    /// The note while it is written.
    fn new_path(&self) -> PathBuf {
        beside(&self.path, ".new")
    }

    /// How far a stream is.
    pub(super) fn progress(&self, stream: usize) -> Progress {
        self.lock().get(stream).copied().unwrap_or_default()
    }

    /// How many streams there are.
    pub(super) fn streams(&self) -> usize {
        self.lock().len()
    }

    /// How many rows are there.
    pub(super) fn rows(&self) -> u64 {
        self.lock().iter().map(|stream| stream.rows).sum()
    }

    /// Whether all streams are there.
    pub(super) fn is_fetched(&self) -> bool {
        self.joined.0 > 0 || self.lock().iter().all(|stream| stream.is_done)
    }

    /// A stream is so far.
    pub(super) fn done(&self, stream: usize, now: Progress) -> Result<(), Failure> {
        let mut streams = self.lock();
        if let Some(progress) = streams.get_mut(stream) {
            *progress = now;
        }
        self.save(&streams)
    }

    /// Streams were put together.
    pub(super) fn join(&mut self, streams: usize, bytes: u64) -> Result<(), Failure> {
        self.joined = (streams, bytes);
        self.save(&self.lock())
    }

    /// Everything is in the output: nothing is left to go on with.
    pub(super) fn finish(&self) {
        self.remove(self.streams());
    }

    /// Removes the note first: files without it are taken for nothing.
    fn remove(&self, streams: usize) {
        let _ = std::fs::remove_file(&self.path);
        for stream in 0..streams {
            let _ = std::fs::remove_file(self.part(stream));
        }
        let _ = std::fs::remove_file(self.whole());
        let _ = std::fs::remove_file(self.new_path());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Progress>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, streams: &[Progress]) -> Result<(), Failure> {
        let streams: Vec<Value> = streams
            .iter()
            .map(|Progress { rows, bytes, sum, is_done }| {
                json!({ "rows": rows, "bytes": bytes, "crc32": sum, "done": is_done })
            })
            .collect();
        let kept = json!({
            "about": self.about,
            "session": self.session.as_ref().map(Session::write),
            "streams": streams,
            "joined": [self.joined.0, self.joined.1],
        });
        // Under another name until it is whole.
        let new = self.new_path();
        std::fs::write(&new, kept.to_string()).and_then(|()| std::fs::rename(&new, &self.path)).map_err(|error| {
            let shown = self.path.display();
            Error::internal(format!("can't keep in `{shown}` how far this has come: {error}")).into()
        })
    }
}

/// The file that is called as `path` with `suffix`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn read(kept: &Value) -> Option<Progress> {
    Some(Progress {
        rows: kept["rows"].as_u64()?,
        bytes: kept["bytes"].as_u64()?,
        sum: u32::try_from(kept["crc32"].as_u64()?).ok()?,
        is_done: kept["done"].as_bool()?,
    })
}
