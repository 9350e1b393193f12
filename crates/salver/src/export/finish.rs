//! Joins the streams into one file, in order; it gets its final name when it is complete and durable.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use salver_model::{Code, Error};

use super::batch::Layout;
use super::resume_state::ExportState;
use super::sink::Sink;
use crate::failure::CommandFailure;

/// Bytes read at a time.
const READ_BYTES: usize = 1024 * 1024;

/// Creates `output`, and removes the temporary files.
pub(super) fn finish(state: &mut ExportState, layout: Layout, output: &Path) -> Result<(), CommandFailure> {
    let failed = |error| CommandFailure::writing(&format!("`{}`", output.display()), error);
    let is_there = std::fs::metadata(output).is_ok_and(|about| about.len() == state.joined.1);
    if layout.is_text() && state.joined.0 == state.streams() && is_there && !state.part(0).exists() {
        // A run that was killed here had only this left to do.
        state.finish();
        return Ok(());
    }
    let whole = match layout {
        Layout::Text(_) => join(state)?,
        Layout::Rows(_) => encode(state, layout)?,
    };
    let file = OpenOptions::new().write(true).open(&whole).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    std::fs::rename(&whole, output).map_err(failed)?;
    // The rename is durable when its directory is synced; where that fails, the file exists all the same.
    let directory = output.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    state.finish();
    Ok(())
}

/// Appends each stream to the first one. A killed run resumes behind the last stream recorded.
fn join(state: &mut ExportState) -> Result<PathBuf, CommandFailure> {
    let whole = state.part(0);
    let failed = |error| CommandFailure::writing(&format!("`{}`", whole.display()), error);
    let mut first = OpenOptions::new().write(true).open(&whole).map_err(failed)?;
    let (joined, mut bytes) = match state.joined {
        (0, _) => (1, state.progress(0).bytes),
        joined => joined,
    };
    state.join(joined, bytes)?;
    first.set_len(bytes).map_err(failed)?;
    first.seek(SeekFrom::Start(bytes)).map_err(failed)?;
    for stream in joined..state.streams() {
        let path = state.part(stream);
        let mut part = File::open(&path).map_err(failed)?;
        bytes += io::copy(&mut part, &mut first).map_err(failed)?;
        state.join(stream + 1, bytes)?;
        std::fs::remove_file(&path).map_err(failed)?;
    }
    Ok(whole)
}

/// Re-encodes the rows of all streams into one file.
fn encode(state: &ExportState, layout: Layout) -> Result<PathBuf, CommandFailure> {
    let whole = state.whole();
    let name = format!("`{}`", whole.display());
    let failed = |error| CommandFailure::writing(&name, error);
    let mut sink = Sink::new(layout, File::create(&whole).map_err(failed)?, &name);
    for stream in 0..state.streams() {
        let mut part = BufReader::with_capacity(READ_BYTES, File::open(state.part(stream)).map_err(failed)?);
        // Each batch is a separate Arrow stream.
        while !part.fill_buf().map_err(failed)?.is_empty() {
            sink.rows(&mut part)?;
        }
    }
    let (rows, expected) = (sink.rows, state.rows());
    sink.finish()?.flush().map_err(failed)?;
    if rows != expected {
        return Err(Error::new(Code::Source, format!("{expected} rows were fetched, but {rows} are in the files"))
            .with_hint("begin anew with `--restart`")
            .into());
    }
    Ok(whole)
}
