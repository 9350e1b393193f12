//! The sink of an export's bytes: a client, or a counter when only the length is needed; the whole body, or a part of
//! it.

use std::time::Duration;

use salver_formats::{Coding, Compressor};
use salver_model::Result;
use salver_model::limits::{PARK_MS, STALL_MS_MAX};

use crate::body::{Broken, Outlet, compressor, off_the_loop};
use crate::export_state::{Marks, Measured};

/// Size of a piece when the bytes are only counted.
const PIECE_BYTES: usize = 512 * 1024;

/// The state of the sink after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// There is room for more.
    Going,
    /// The client stopped reading: the producer may release its resources.
    Stalled,
    /// All requested bytes were taken.
    Enough,
}

/// The sink of a body's bytes.
pub(super) struct Sink {
    outlet: Option<Outlet>,
    compressor: Option<Compressor>,
    /// Number of bytes to skip first, and number of bytes to send after that.
    skip: u64,
    wanted: u64,
    /// Number of bytes produced, skipped or not, before compression.
    made: u64,
    marks: Marks,
}

impl Sink {
    /// A sink that sends all bytes to a client.
    ///
    /// # Errors
    /// An error when the compressor can't be created.
    pub(super) fn whole(outlet: Outlet, coding: Coding) -> Result<Self> {
        Ok(Self { outlet: Some(outlet), compressor: compressor(coding)?, ..Self::counting() })
    }

    /// Skips the first `skip` bytes.
    pub(super) fn without(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// A sink that sends `wanted` bytes after the first `skip` to a client.
    pub(super) fn part(outlet: Outlet, skip: u64, wanted: u64) -> Self {
        Self { outlet: Some(outlet), skip, wanted, ..Self::counting() }
    }

    /// A sink that only counts.
    pub(super) fn counting() -> Self {
        Self { outlet: None, compressor: None, skip: 0, wanted: u64::MAX, made: 0, marks: Marks::default() }
    }

    /// Returns the preferred size of the next piece, in bytes.
    pub(super) fn piece_bytes(&self) -> usize {
        self.outlet.as_ref().map_or(PIECE_BYTES, Outlet::piece_bytes)
    }

    /// Takes a piece, then waits up to `patience` for room for the next.
    pub(super) async fn put(&mut self, mut piece: Vec<u8>, patience: Duration) -> Result<Flow, Broken> {
        self.made += piece.len() as u64;
        if self.outlet.is_none() {
            return Ok(Flow::Going);
        }
        if self.skip > 0 {
            let left_out = self.skip.min(piece.len() as u64);
            self.skip -= left_out;
            piece.drain(..usize::try_from(left_out).unwrap_or(usize::MAX).min(piece.len()));
        }
        piece.truncate(usize::try_from(self.wanted).unwrap_or(usize::MAX).min(piece.len()));
        self.wanted -= piece.len() as u64;
        if let Some(mut compressor) = self.compressor.take() {
            let (back, packed) = off_the_loop(move || {
                let packed = compressor.write(&piece, false)?;
                Ok((compressor, packed))
            })
            .await?;
            (self.compressor, piece) = (Some(back), packed);
        }
        self.send(piece);
        if self.wanted == 0 {
            return Ok(Flow::Enough);
        }
        self.room(patience).await
    }

    /// Records that all `rows` rows so far end at the last byte that was put.
    pub(super) fn mark(&mut self, rows: u64) {
        self.marks.note(self.made, rows);
    }

    /// Waits for a client that stopped reading.
    ///
    /// # Errors
    /// `Gone` when the client read nothing until the stall timeout.
    pub(super) async fn settle(&mut self) -> Result<(), Broken> {
        let Some(outlet) = &mut self.outlet else { return Ok(()) };
        outlet.trim();
        let patience = Duration::from_millis(STALL_MS_MAX.saturating_sub(PARK_MS));
        outlet.room(patience).await.map_err(|_| Broken::Gone)
    }

    /// Flushes the compressor after the last piece, and returns the measures of the body.
    pub(super) async fn finish(mut self) -> Result<(Option<Outlet>, Measured), Broken> {
        if let Some(compressor) = self.compressor.take() {
            let rest = off_the_loop(move || compressor.finish()).await?;
            self.send(rest);
        }
        Ok((self.outlet, self.marks.finish(self.made)))
    }

    fn send(&mut self, piece: Vec<u8>) {
        if let Some(outlet) = &mut self.outlet
            && !piece.is_empty()
        {
            outlet.send(piece);
        }
    }

    async fn room(&mut self, patience: Duration) -> Result<Flow, Broken> {
        let Some(outlet) = &mut self.outlet else { return Ok(Flow::Going) };
        Ok(if outlet.room(patience).await.is_ok() { Flow::Going } else { Flow::Stalled })
    }
}
