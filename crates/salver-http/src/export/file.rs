//! Sends a file as it is, when it is what was asked for already.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use salver_formats::Format;
use salver_model::limits::STALL_MS_MAX;
use salver_model::ports::{FileKind, Held, HeldFile};
use salver_model::{Code, Error, Result};

use super::ask::Ask;
use super::outlet::observed;
use crate::app::App;
use crate::body::{self, Body, Broken, Outlet, off_the_loop};

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

/// A body of the bytes of `file`, which is that of `held`, from `first` to before `end`.
pub(super) fn body(app: &App, held: &Arc<dyn Held>, file: &HeldFile, first: u64, end: u64) -> Body {
    let (held, file) = (Arc::clone(held), file.clone());
    body::made(Some(end - first), observed(app), move |outlet| send(held, file, first, end, outlet))
}

async fn send(held: Arc<dyn Held>, file: HeldFile, first: u64, end: u64, mut outlet: Outlet) -> Result<(), Broken> {
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
        // A file that was written over must not look like a whole one.
        held.check()?;
        outlet.send(piece);
        outlet.room(Duration::from_millis(STALL_MS_MAX)).await.map_err(|_| Broken::Gone)?;
    }
    outlet.end(None);
    Ok(())
}

fn unreadable(error: std::io::Error) -> Error {
    Error::new(Code::Source, "the file can't be read on").with_source(error)
}
