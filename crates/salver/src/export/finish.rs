//! Makes one file of the streams, in their order; it gets its name when it is whole and on the disk.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use salver_model::{Code, Error};

use super::batch::Layout;
use super::sink::Sink;
use super::state::State;
use crate::failure::Failure;

/// Bytes that are read at a time.
const READ_BYTES: usize = 1024 * 1024;

/// Makes `output`, and takes away what was beside it.
pub(super) fn finish(state: &mut State, layout: Layout, output: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::writing(&format!("`{}`", output.display()), error);
    let is_there = std::fs::metadata(output).is_ok_and(|about| about.len() == state.joined.1);
    if layout.is_text() && state.joined.0 == state.streams() && is_there && !state.part(0).exists() {
        // A run that was killed here was done but for this.
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
    // The name is on the disk when its directory is; where that can't be asked for, the file is there all the same.
    let directory = output.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    state.finish();
    Ok(())
}

/// Appends each stream to the first one. A run that is killed here goes on behind the last that was noted.
fn join(state: &mut State) -> Result<PathBuf, Failure> {
    let whole = state.part(0);
    let failed = |error| Failure::writing(&format!("`{}`", whole.display()), error);
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

/// Reads the rows of all streams and writes them into one file.
fn encode(state: &State, layout: Layout) -> Result<PathBuf, Failure> {
    let whole = state.whole();
    let name = format!("`{}`", whole.display());
    let failed = |error| Failure::writing(&name, error);
    let mut sink = Sink::new(layout, File::create(&whole).map_err(failed)?, &name);
    for stream in 0..state.streams() {
        let mut part = BufReader::with_capacity(READ_BYTES, File::open(state.part(stream)).map_err(failed)?);
        // Each batch is an Arrow stream of its own.
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
