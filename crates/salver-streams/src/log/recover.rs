//! Finding a log again, in whatever state its directory was left.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::Result;

use super::active::{Active, sync_dir};
use super::fault::unopened;
use super::index::Index;
use super::segment::{GONE, INDEX, LOG, PARQUET, Segment};
use super::walk::{Damage, Step, Walk};

/// What was found.
#[derive(Debug)]
pub(super) struct Recovered {
    /// The closed segments, oldest first.
    pub(super) closed: Vec<Arc<Segment>>,
    /// The one to go on with.
    pub(super) active: Active,
    /// The offset behind the last event.
    pub(super) next: u64,
    /// The id of the last event; 0 when there is none.
    pub(super) last_id: u128,
}

/// Reads a directory, and repairs what a sudden end left in it.
pub(super) fn recover(dir: &Path) -> Result<Recovered> {
    let mut bases = list(dir).map_err(|error| unopened(dir, error))?;
    let last = bases.pop();
    let mut closed = Vec::with_capacity(bases.len());
    for (position, base) in bases.iter().enumerate() {
        let end = bases.get(position + 1).copied().or(last).unwrap_or(u64::MAX);
        let path = path_of(dir, *base);
        let index = reopen_closed(&path, *base, end).map_err(|error| unopened(&path, error))?;
        if index.end < end {
            let (from, to) = (index.end, end - 1);
            tracing::error!(path = %path.display(), "events {from} to {to} are missing at the end of a log file");
        }
        if !index.is_empty() {
            closed.push(Arc::new(Segment::new(dir, index)));
        }
    }
    let active = match last {
        None => Active::create(dir, 0).map_err(|error| unopened(dir, error))?,
        Some(base) => reopen_last(dir, base).map_err(|error| unopened(&path_of(dir, base), error))?,
    };
    sync_dir(dir).map_err(|error| unopened(dir, error))?;
    let (next, own_id) = active.segment.learn(|index| (index.end, index.last_id));
    let last_id = closed.last().map_or(0, |segment| segment.learn(|index| index.last_id)).max(own_id);
    Ok(Recovered { closed, active, next, last_id })
}

fn path_of(dir: &Path, base: u64) -> PathBuf {
    dir.join(format!("{base:020}.{LOG}"))
}

/// The bases of the log files, in order. What belongs to none of them goes.
fn list(dir: &Path) -> io::Result<Vec<u64>> {
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
    for (base, path) in beside {
        if path.extension() == Some(OsStr::new(GONE)) || bases.binary_search(&base).is_err() {
            fs::remove_file(&path)?;
        }
    }
    Ok(bases)
}

/// A segment that ends where the next one begins.
fn reopen_closed(path: &Path, base: u64, end: u64) -> io::Result<Index> {
    let file = File::open(path)?;
    let file_bytes = file.metadata()?.len();
    let index_path = path.with_extension(INDEX);
    // One that ends too early may be from before the segment was gone on with.
    let is_good = |index: &Index| index.base == base && index.end == end && index.bytes <= file_bytes;
    if let Some(index) = Index::load(&index_path).filter(is_good) {
        return Ok(index);
    }
    let seen = look_through(file, base, file_bytes, Some(end))?;
    for (damage, _) in &seen.damages {
        tell(path, damage);
    }
    seen.index.store(&index_path);
    Ok(seen.index)
}

/// The last segment, up to the last write that came onto the disk as a whole.
fn reopen_last(dir: &Path, base: u64) -> io::Result<Active> {
    let path = path_of(dir, base);
    let file = OpenOptions::new().read(true).write(true).open(&path)?;
    let file_bytes = file.metadata()?.len();
    let is_whole = |index: &Index| index.base == base && index.bytes == file_bytes;
    let index = match Index::load(&path.with_extension(INDEX)).filter(is_whole) {
        Some(index) => index,
        None => {
            let seen = look_through(file.try_clone()?, base, file_bytes, None)?;
            seen.without_torn_tail(&path)
        }
    };
    // Also what a later write could not reach: it must not be found again once that has been overwritten.
    file.set_len(index.bytes)?;
    file.sync_all()?;
    let at = index.bytes;
    Ok(Active::resume(Segment::new(dir, index), file, at))
}

/// What is in a file.
struct Seen {
    index: Index,
    /// Damage, each with the index of what comes before it.
    damages: Vec<(Damage, Index)>,
    /// Everything below was on disk at some time.
    synced: u64,
}

fn look_through(file: File, base: u64, file_bytes: u64, end: Option<u64>) -> io::Result<Seen> {
    let mut walk = Walk::new(file, 0, base, file_bytes, end);
    let mut seen = Seen { index: Index::new(base), damages: Vec::new(), synced: base };
    loop {
        match walk.step()? {
            Step::Frame(at, frame) => {
                seen.index.add(at, &frame.head);
                seen.synced = seen.synced.max(frame.head.offset.saturating_sub(u64::from(frame.head.unsynced)));
            }
            Step::Damage(damage) if end == Some(damage.to) => return Ok(seen),
            Step::Damage(damage) => seen.damages.push((damage, seen.index.clone())),
            Step::End => return Ok(seen),
        }
    }
}

impl Seen {
    /// Cuts off a write that did not come onto the disk as a whole, and nobody was promised. Damage to what had been on
    /// disk already is something else: nothing behind it is given up.
    fn without_torn_tail(self, path: &Path) -> Index {
        for (damage, before) in self.damages {
            if damage.from >= self.synced {
                tracing::warn!(path = %path.display(), "a torn write was cut off at byte {}", damage.at);
                return before;
            }
            tell(path, &damage);
        }
        self.index
    }
}

fn tell(path: &Path, damage: &Damage) {
    let (from, to) = (damage.from, damage.to.saturating_sub(1));
    tracing::error!(path = %path.display(), "events {from} to {to} are damaged at byte {}", damage.at);
}
