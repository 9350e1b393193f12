//! A stream as a table: closed segments are read from Parquet, the rest from frames.
//!
//! `layout` defines the columns, `decode` and `members` build them from events, `frame_rows` reads the log's own files.
//! `sidecar` is the Parquet file of a closed segment, `compact` the task that writes it, `delta` publishes the rows for
//! other programs. `held_rows` is a snapshot of the rows in parts, each of which `part_reader` reads. `part_stream` has
//! it read ahead of the consumer, as far as `reader_slots` allows.

mod compact;
mod decode;
mod delta;
mod frame_rows;
mod generation;
mod held_rows;
mod json_numbers;
mod layout;
mod part_reader;
mod part_stream;
mod reader_slots;
mod sidecar;
#[cfg(test)]
mod tests;
mod text_builder;

use std::sync::Arc;

use salver_model::ports::{Held, Scan};
use salver_model::{Name, Result, Version};

pub(crate) use self::delta::Publication;

use self::compact::Compactor;
use self::delta::Publisher;
use self::generation::RowGenerations;
use self::held_rows::HeldEvents;
use crate::event::LiveShape;
use crate::log::Log;

/// Most rows of a batch.
const BATCH_ROWS: usize = 8_192;
/// Bytes of events that complete a batch of fewer rows.
const BATCH_BYTES: usize = 1024 * 1024;

/// Scan of a log whose events are JSON objects.
#[derive(Debug)]
pub(crate) struct EventScan {
    name: Name,
    log: Arc<Log>,
    shape: Arc<LiveShape>,
    eras: RowGenerations,
    compactor: Compactor,
    publisher: Option<Publisher>,
}

impl EventScan {
    /// Opens the rows of `log` as the entry `name`, with the columns of a shape that covers every event in it. Starts
    /// writing closed segments as Parquet, and publishing the rows if that is wanted. Call it inside the runtime.
    ///
    /// # Errors
    /// None at present.
    pub(crate) fn open(
        name: Name,
        log: Arc<Log>,
        shape: Arc<LiveShape>,
        publication: Option<Publication>,
    ) -> Result<Arc<Self>> {
        let compactor = Compactor::start(&log, &shape);
        let publish = |publication| Publisher::start(&name, &log, &shape, compactor.sidecars(), publication);
        let publisher = publication.map(publish);
        Ok(Arc::new(Self { name, log, shape, eras: RowGenerations::default(), compactor, publisher }))
    }

    /// Stops writing Parquet, so that the process can exit without delay. Rows can still be read. Blocks for a moment.
    pub(crate) fn close(&self) {
        self.compactor.stop();
        if let Some(publisher) = &self.publisher {
            publisher.stop();
        }
    }
}

impl Scan for EventScan {
    fn hold(&self) -> Arc<dyn Held> {
        // Read the shape after the log, so that it covers everything held.
        let log = self.log.hold();
        let era = self.eras.now(&log, &self.shape.newest());
        let end = log.ends.next;
        Arc::new(HeldEvents::new(&self.name, log, &era, end, self.compactor.sidecars()))
    }

    fn hold_at(&self, version: Version) -> Option<Arc<dyn Held>> {
        let log = self.log.hold();
        // Registers the current era, in case the version refers to it.
        self.eras.now(&log, &self.shape.newest());
        let (era, end) = self.eras.at(version)?;
        let is_there = era.first == log.ends.first && (era.first..=log.ends.next).contains(&end);
        is_there.then(|| -> Arc<dyn Held> {
            Arc::new(HeldEvents::new(&self.name, log, &era, end, self.compactor.sidecars()))
        })
    }
}
