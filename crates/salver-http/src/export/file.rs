//! Sends a file as it is, when it is what was asked for already.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::Duration;

use salver_formats::Format;
use salver_model::limits::STALL_MS_MAX;
use salver_model::ports::{FileKind, Held, HeldFile};
use salver_model::{Code, Error, Result};

use super::ask::Ask;
use super::outlet::{self, Broken};
use super::work::off_the_loop;
use crate::app::App;
use crate::body::{Body, Outlet};

/// Bytes that are read at a time.
const PIECE_BYTES: u64 = 256 * 1024;

/// The file that answers `ask`, if there is one.
pub(super) fn of(held: &dyn Held, ask: &Ask) -> Option<HeldFile> {
    let wanted = match ask.choice.format {
        Format::Parquet => FileKind::Parquet,
        Format::ArrowFile => FileKind::ArrowFile,
        _ => return None,
    };
    if ask.is_all { held.file().filter(|file| file.kind == wanted) } else { None }
}

/// A body of the bytes of `file` from `first` to before `end`.
pub(super) fn body(app: &App, file: HeldFile, first: u64, end: u64) -> Body {
    let (outlet, body) = Outlet::new(Some(end - first));
    outlet::spawn(app, outlet, |outlet| send(file, first, end, outlet));
    body
}

async fn send(file: HeldFile, first: u64, end: u64, mut outlet: Outlet) -> Result<(), Broken> {
    let stamp = stamp(&file)?;
    let mut at = first;
    while at < end {
        let (source, bytes) = (Arc::clone(&file.file), (end - at).min(PIECE_BYTES));
        let mut piece = outlet.buffer();
        let read = off_the_loop(move || {
            piece.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            source.read_exact_at(&mut piece, at).map_err(unreadable)?;
            Ok(piece)
        });
        let piece = read.await?;
        at += bytes;
        // Before the last byte: a file that was written over must not look like a whole one.
        if at == end && self::stamp(&file)? != stamp {
            return Err(changed().into());
        }
        outlet.send(piece);
        outlet.room(Duration::from_millis(STALL_MS_MAX)).await.map_err(|_| Broken::Gone)?;
    }
    outlet.end(None);
    Ok(())
}

/// What tells that a file was written to.
fn stamp(file: &HeldFile) -> Result<(u64, i64, i64)> {
    let about = File::metadata(&file.file).map_err(unreadable)?;
    if about.len() != file.bytes {
        return Err(changed());
    }
    Ok((about.len(), about.mtime(), about.mtime_nsec()))
}

fn changed() -> Error {
    Error::new(Code::Source, "the file was written over while it was sent").with_hint("replace files by renaming")
}

fn unreadable(error: std::io::Error) -> Error {
    Error::new(Code::Source, "the file can't be read on").with_source(error)
}
