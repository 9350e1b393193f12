//! Versions of the rows. A version has 16 bits for the era and 48 for the offset behind the last row. Within an era
//! rows are only appended; a new era begins when rows at the beginning are deleted, or columns are added.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use salver_model::Version;

use super::layout::Layout;
use crate::event::Shape;
use crate::log::HeldLog;

const OFFSET_BITS: u32 = 48;
/// Most eras that are remembered.
const ERAS_CAPACITY: usize = 64;

/// Period in which a log has the same first row and the same columns.
#[derive(Debug)]
pub(super) struct Era {
    pub(super) layout: Arc<Layout>,
    pub(super) first: u64,
    /// Id of the first event, which distinguishes a log that was recreated.
    identity: u128,
    tag: u16,
}

/// Eras of a log.
#[derive(Debug, Default)]
pub(super) struct Eras {
    newest: ArcSwapOption<Era>,
    known: Mutex<VecDeque<Arc<Era>>>,
}

impl Era {
    /// Returns the version of the rows before `end`.
    pub(super) fn version(&self, end: u64) -> Version {
        Version(u64::from(self.tag) << OFFSET_BITS | (end & ((1 << OFFSET_BITS) - 1)))
    }
}

impl Eras {
    /// Returns the era of a snapshot of the log.
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
        // Two eras with the same tag have the same columns.
        all.retain(|own| own.tag != tag);
        if all.len() >= ERAS_CAPACITY {
            all.pop_front();
        }
        all.push_back(Arc::clone(&era));
        self.newest.store(Some(Arc::clone(&era)));
        era
    }

    /// Returns the era and the end of a version.
    pub(super) fn at(&self, version: Version) -> Option<(Arc<Era>, u64)> {
        let tag = (version.0 >> OFFSET_BITS) as u16;
        let all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let era = all.iter().find(|era| era.tag == tag)?;
        Some((Arc::clone(era), version.0 & ((1 << OFFSET_BITS) - 1)))
    }
}

/// Returns the id of the first event; 0 while there is none. It is looked up once per era, mostly in memory.
fn identity(log: &HeldLog) -> u128 {
    let first = log.ends.first;
    let frames = match log.closed.first() {
        Some(segment) => segment.read(first, 1),
        None => log.open.read(first, 1),
    };
    frames.ok().and_then(|frames| frames.first().map(|frame| frame.head.id)).unwrap_or_default()
}
