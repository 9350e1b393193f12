//! Where the bytes of an export go: to a client, or nowhere when only their number is wanted; all of them, or a part.

use std::sync::Arc;
use std::time::Duration;

use salver_formats::{Coding, Compressor};
use salver_model::limits::{PARK_MS, STALL_MS_MAX};
use salver_model::observation::Observation;
use salver_model::{Error, Result};

use crate::app::App;
use crate::body::{Broken, Outlet, compressor, off_the_loop};
use crate::export_state::{Marks, Measured};

/// Bytes of a piece that nobody takes.
const PIECE_BYTES: usize = 512 * 1024;

/// How it stands after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// There is room for more.
    Going,
    /// The client takes nothing: whoever makes the pieces may let go of what that needs.
    Stalled,
    /// Everything that was asked for is there.
    Enough,
}

/// Who hears of an error in the middle of a body.
pub(super) fn observed(app: &App) -> impl FnOnce(&Error) + Send + 'static {
    let service = Arc::clone(&app.service);
    move |error| service.observer().observe(&Observation::RequestFailed { error })
}

/// Where the bytes go.
pub(super) struct Sink {
    outlet: Option<Outlet>,
    compressor: Option<Compressor>,
    /// Bytes that are left out first, and how many are wanted then.
    skip: u64,
    wanted: u64,
    /// Bytes that were made, left out or not, before they are compressed.
    made: u64,
    marks: Marks,
}

impl Sink {
    /// All bytes to a client.
    ///
    /// # Errors
    /// When the compressor can't be made.
    pub(super) fn whole(outlet: Outlet, coding: Coding) -> Result<Self> {
        Ok(Self { outlet: Some(outlet), compressor: compressor(coding)?, ..Self::counting() })
    }

    /// The same without the first `skip` bytes.
    pub(super) fn without(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// To a client `wanted` bytes behind the first `skip`.
    pub(super) fn part(outlet: Outlet, skip: u64, wanted: u64) -> Self {
        Self { outlet: Some(outlet), skip, wanted, ..Self::counting() }
    }

    /// To nobody.
    pub(super) fn counting() -> Self {
        Self { outlet: None, compressor: None, skip: 0, wanted: u64::MAX, made: 0, marks: Marks::default() }
    }

    /// How many bytes the next piece should have.
    pub(super) fn piece_bytes(&self) -> usize {
        self.outlet.as_ref().map_or(PIECE_BYTES, Outlet::piece_bytes)
    }

    /// Takes a piece, and waits until there is room for the next, for as long as `patience` lasts.
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

    /// All rows so far, `rows` of them, end at the last byte that was put.
    pub(super) fn mark(&mut self, rows: u64) {
        self.marks.note(self.made, rows);
    }

    /// Waits for a client that stalled.
    ///
    /// # Errors
    /// `Gone` when the client took nothing for as long as anybody may.
    pub(super) async fn settle(&mut self) -> Result<(), Broken> {
        let Some(outlet) = &mut self.outlet else { return Ok(()) };
        outlet.trim();
        let patience = Duration::from_millis(STALL_MS_MAX.saturating_sub(PARK_MS));
        outlet.room(patience).await.map_err(|_| Broken::Gone)
    }

    /// The last piece was put: hands out what the compressor has left, and tells what the body was.
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
