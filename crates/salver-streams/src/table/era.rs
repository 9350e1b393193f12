//! Versions: which rows with which columns. A version is 16 bits for the era and 48 for the offset behind the last row.
//! Within an era only rows at the end are added; when rows at the beginning go, or columns come, a new one begins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use salver_model::Version;

use super::layout::Layout;
use crate::event::Shape;
use crate::log::HeldLog;

const OFFSET_BITS: u32 = 48;
/// Most eras that are remembered.
const ERAS_MAX: usize = 64;

/// A time in which a log had the same first row and the same columns.
#[derive(Debug)]
pub(super) struct Era {
    pub(super) layout: Arc<Layout>,
    pub(super) first: u64,
    /// What the first row is, so that a log that was made anew is another one: the id of the first event.
    identity: u128,
    tag: u16,
}

/// The eras of a log.
#[derive(Debug, Default)]
pub(super) struct Eras {
    newest: ArcSwapOption<Era>,
    known: Mutex<VecDeque<Arc<Era>>>,
}

impl Era {
    /// The version of the rows before `end`.
    pub(super) fn version(&self, end: u64) -> Version {
        Version(u64::from(self.tag) << OFFSET_BITS | (end & ((1 << OFFSET_BITS) - 1)))
    }
}

impl Eras {
    /// The era of a log as it is held.
    pub(super) fn now(&self, log: &HeldLog, shape: &Arc<Shape>) -> Arc<Era> {
        let newest = self.newest.load();
        let known = newest.as_ref().filter(|era| era.first == log.ends.first && era.identity != 0);
        if let Some(era) = known.filter(|era| Arc::ptr_eq(&era.layout.shape, shape)) {
            return Arc::clone(era);
        }
        let identity = known.map_or_else(|| identity(log), |era| era.identity);
        let layout = Arc::new(Layout::new(Arc::clone(shape)));
        let first = log.ends.first;
        let tag = Version::of(&(identity, first, layout.schema.as_ref())).0 as u16;
        let era = Arc::new(Era { layout, first, identity, tag });
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Of two with the same tag the columns are the same.
        all.retain(|own| own.tag != tag);
        if all.len() >= ERAS_MAX {
            all.pop_front();
        }
        all.push_back(Arc::clone(&era));
        self.newest.store(Some(Arc::clone(&era)));
        era
    }

    /// The era and the end that a version means.
    pub(super) fn at(&self, version: Version) -> Option<(Arc<Era>, u64)> {
        let tag = (version.0 >> OFFSET_BITS) as u16;
        let all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let era = all.iter().find(|era| era.tag == tag)?;
        Some((Arc::clone(era), version.0 & ((1 << OFFSET_BITS) - 1)))
    }
}

/// The id of the first event; 0 while there is none. Looked for once in an era, mostly in memory.
fn identity(log: &HeldLog) -> u128 {
    let first = log.ends.first;
    let frames = match log.closed.first() {
        Some(segment) => segment.read(first, 1),
        None => log.open.read(first, 1),
    };
    frames.ok().and_then(|frames| frames.first().map(|frame| frame.head.id)).unwrap_or_default()
}
