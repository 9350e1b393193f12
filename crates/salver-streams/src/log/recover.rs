//! Recovery of a log from its directory after any kind of shutdown.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::Result;

use super::active::{Active, sync_dir};
use super::disk_error::unopened;
use super::frame_iterator::{Damage, FrameIterator, FrameStep};
use super::index::Index;
use super::segment::{GONE, INDEX, LOG, PARQUET, Segment};

/// Recovered state.
#[derive(Debug)]
pub(super) struct Recovered {
    /// Closed segments, oldest first.
    pub(super) closed: Vec<Arc<Segment>>,
    /// Segment to continue with.
    pub(super) active: Active,
    /// Offset behind the last event.
    pub(super) next: u64,
    /// Id of the last event; 0 when there is none.
    pub(super) last_id: u128,
    /// Offset ranges whose events are lost, between two segments or damaged, in order.
    pub(super) holes: Vec<Range<u64>>,
}

/// Reads a directory, and repairs the effects of a crash. The log is known to have had everything below `had`; missing
/// events are reported, and their offsets are not reused.
pub(super) fn recover(dir: &Path, had: u64) -> Result<Recovered> {
    let (mut bases, indexed) = list(dir).map_err(|error| unopened(dir, error))?;
    let mut had = had.max(indexed);
    let last = bases.pop();
    let mut closed = Vec::with_capacity(bases.len());
    let mut holes = Vec::new();
    for (position, base) in bases.iter().enumerate() {
        let end = bases.get(position + 1).copied().or(last).unwrap_or(u64::MAX);
        let path = path_of(dir, *base);
        let (index, damaged) = reopen_closed(&path, *base, end).map_err(|error| unopened(&path, error))?;
        // With its rows as Parquet, the table has them all the same.
        if !path.with_extension(PARQUET).exists() {
            holes.extend(damaged);
        }
        if index.end < end {
            let (from, to) = (index.end, end - 1);
            tracing::error!(path = %path.display(), "events {from} to {to} are missing at the end of a log file");
            holes.push(index.end..end);
        }
        if !index.is_empty() || index.end < end {
            closed.push(Arc::new(Segment::new(dir, index)));
        }
    }
    let mut active = match last {
        None => Active::create(dir, 0).map_err(|error| unopened(dir, error))?,
        Some(base) => {
            let (active, indexed, damaged) =
                reopen_last(dir, base).map_err(|error| unopened(&path_of(dir, base), error))?;
            had = had.max(indexed);
            holes.extend(damaged);
            active
        }
    };
    let (mut next, own_id) = active.segment.learn(|index| (index.end, index.last_id));
    let last_id = closed.last().map_or(0, |segment| segment.learn(|index| index.last_id)).max(own_id);
    if had > next {
        let path = active.segment.path().to_owned();
        tracing::error!(
            path = %path.display(),
            "events {next} to {} are missing at the end of the log: the file is shorter than it was; new events go on \
             behind them",
            had - 1
        );
        holes.push(next..had);
        active.segment.store_index();
        closed.push(Arc::clone(&active.segment));
        active = Active::create(dir, had).map_err(|error| unopened(dir, error))?;
        next = had;
    }
    sync_dir(dir).map_err(|error| unopened(dir, error))?;
    Ok(Recovered { closed, active, next, last_id, holes })
}

fn path_of(dir: &Path, base: u64) -> PathBuf {
    dir.join(format!("{base:020}.{LOG}"))
}

/// Lists the bases of the log files, in order, and the end of those that are missing. Files that belong to none are
/// removed.
fn list(dir: &Path) -> io::Result<(Vec<u64>, u64)> {
    let mut bases = Vec::new();
    let mut beside = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let base = path.file_stem().and_then(OsStr::to_str).filter(|stem| stem.len() == 20);
        let Some(base) = base.and_then(|stem| stem.parse::<u64>().ok()) else { continue };
        match path.extension().and_then(OsStr::to_str) {
            Some(LOG) => bases.push(base),
            Some(GONE | INDEX | PARQUET) => beside.push((base, path)),
            _ => {}
        }
    }
    bases.sort_unstable();
    let mut indexed = 0;
    for (base, path) in beside {
        if path.extension() == Some(OsStr::new(GONE)) || bases.binary_search(&base).is_err() {
            indexed = Index::load(&path).map_or(indexed, |index| indexed.max(index.end));
            match fs::remove_file(&path) {
                // The previous owner of the log may still be deleting files it released.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok((bases, indexed))
}

/// Opens a segment that ends where the next one begins; returns the offsets in it that are damaged, if it was looked
/// through.
fn reopen_closed(path: &Path, base: u64, end: u64) -> io::Result<(Index, Vec<Range<u64>>)> {
    let file = File::open(path)?;
    let file_bytes = file.metadata()?.len();
    let index_path = path.with_extension(INDEX);
    // An index that ends too early may predate the last appends to the segment.
    let is_good = |index: &Index| {
        index.base == base
            && index.bytes <= file_bytes
            && (index.end == end || index.end < end && index.bytes == file_bytes)
    };
    if let Some(index) = Index::load(&index_path).filter(is_good) {
        return Ok((index, Vec::new()));
    }
    let seen = look_through(file, base, file_bytes, Some(end))?;
    for (damage, _) in &seen.damages {
        tell(path, damage);
    }
    seen.index.store(&index_path);
    let damaged = seen.damages.iter().map(|(damage, _)| damage.from..damage.to).collect();
    Ok((seen.index, damaged))
}

/// Opens the last segment, up to the last complete write, and returns the offset up to which it is known to have been
/// durable, and the offsets in it that are damaged.
fn reopen_last(dir: &Path, base: u64) -> io::Result<(Active, u64, Vec<Range<u64>>)> {
    let path = path_of(dir, base);
    let file = OpenOptions::new().read(true).write(true).open(&path)?;
    let file_bytes = file.metadata()?.len();
    // The index is from the last clean shutdown: everything in it was durable.
    let stored = Index::load(&path.with_extension(INDEX)).filter(|index| index.base == base);
    let known = stored.as_ref().map_or(base, |index| index.end);
    let (index, damaged) = match stored.filter(|index| index.bytes == file_bytes) {
        Some(index) => (index, Vec::new()),
        None => {
            let mut seen = look_through(file.try_clone()?, base, file_bytes, None)?;
            seen.synced = seen.synced.max(known);
            seen.without_torn_tail(&path)
        }
    };
    // Also cut off data that a later write would not overwrite, so that no recovery finds it again.
    file.set_len(index.bytes)?;
    file.sync_all()?;
    let at = index.bytes;
    Ok((Active::resume(Segment::new(dir, index), file, at), known, damaged))
}

/// Content of a file.
struct SegmentContent {
    index: Index,
    /// Damaged places, each with the index of the frames before it.
    damages: Vec<(Damage, Index)>,
    /// Offset below which everything was durable at some time.
    synced: u64,
}

fn look_through(file: File, base: u64, file_bytes: u64, end: Option<u64>) -> io::Result<SegmentContent> {
    let mut walk = FrameIterator::new(file, 0, base, file_bytes, end);
    let mut seen = SegmentContent { index: Index::new(base), damages: Vec::new(), synced: base };
    loop {
        match walk.step()? {
            FrameStep::Frame(at, frame) => {
                seen.index.add(at, &frame.head);
                seen.synced = seen.synced.max(frame.head.offset.saturating_sub(u64::from(frame.head.unsynced)));
            }
            FrameStep::Damage(damage) if end == Some(damage.to) => return Ok(seen),
            FrameStep::Damage(damage) => seen.damages.push((damage, seen.index.clone())),
            FrameStep::End => return Ok(seen),
        }
    }
}

impl SegmentContent {
    /// Cuts off a torn write, which was never acknowledged. Damage to data that was already durable is different:
    /// nothing behind it is discarded.
    fn without_torn_tail(self, path: &Path) -> (Index, Vec<Range<u64>>) {
        let mut damaged = Vec::new();
        for (damage, before) in self.damages {
            if damage.from >= self.synced {
                tracing::warn!(path = %path.display(), "a torn write was cut off at byte {}", damage.at);
                return (before, damaged);
            }
            tell(path, &damage);
            damaged.push(damage.from..damage.to);
        }
        (self.index, damaged)
    }
}

fn tell(path: &Path, damage: &Damage) {
    let (from, to) = (damage.from, damage.to.saturating_sub(1));
    tracing::error!(path = %path.display(), "events {from} to {to} are damaged at byte {}", damage.at);
}
