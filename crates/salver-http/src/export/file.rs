//! Sends a file unchanged when it already has the requested columns and format.

use std::sync::Arc;
use std::time::Duration;

use salver_formats::Format;
use salver_model::Result;
use salver_model::limits::STALL_MS_MAX;
use salver_model::ports::{FileKind, Held, HeldFile};

use super::params::ExportParams;
use crate::app::App;
use crate::body::{self, Body, Broken, Outlet, off_the_loop};
use crate::refuse::observed;

/// Bytes per read.
const PIECE_BYTES: u64 = 256 * 1024;

/// Returns the file that answers `ask`, if there is one.
pub(super) async fn of(held: &Arc<dyn Held>, ask: &ExportParams) -> Result<Option<Arc<dyn HeldFile>>> {
    let kind = match ask.choice.format {
        Format::Parquet if ask.is_all => FileKind::Parquet,
        Format::ArrowFile if ask.is_all => FileKind::ArrowFile,
        _ => return Ok(None),
    };
    let held = Arc::clone(held);
    off_the_loop(move || Ok(held.file(kind))).await
}

/// Returns a body of the bytes `first..end` of `file`.
pub(super) fn body(app: &App, file: &Arc<dyn HeldFile>, first: u64, end: u64) -> Body {
    let file = Arc::clone(file);
    body::made(Some(end - first), observed(app), move |outlet| send(file, first, end, outlet))
}

async fn send(file: Arc<dyn HeldFile>, first: u64, end: u64, mut outlet: Outlet) -> Result<(), Broken> {
    let mut at = first;
    while at < end {
        let (file, bytes) = (Arc::clone(&file), (end - at).min(PIECE_BYTES));
        let mut piece = outlet.buffer();
        let read = off_the_loop(move || {
            piece.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            file.read(&mut piece, at)?;
            Ok(piece)
        });
        let piece = read.await?;
        at += bytes;
        outlet.send(piece);
        outlet.room(Duration::from_millis(STALL_MS_MAX)).await.map_err(|_| Broken::Gone)?;
    }
    outlet.end(None);
    Ok(())
}
