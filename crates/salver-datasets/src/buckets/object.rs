//! An object as a file on disk, as long as the object and with holes where nothing was fetched yet.

use std::ops::Range;
use std::path::Path;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt, stream};
use salver_model::limits::OBJECT_REQUESTS_MAX;
use salver_model::{Code, Error, Result};

use super::byte_ranges::ByteRanges;
use super::cache::{CacheDirectory, unwritable};
use super::client::BucketClient;
use super::fault;
use super::fetch::{self, PART_BYTES};
use super::io_threads;
use super::listed_object::ListedObject;
use super::object_parts::ObjectParts;
use super::parts_list;

/// Parts that are there and lie between two that are not are fetched again up to this length.
const GAP_BYTES: u64 = 16 * 1024;
/// Bytes at the end of a Parquet file that are fetched at first: most footers are shorter.
const TAIL_BYTES: u64 = 64 * 1024;
/// Length of the very end of a Parquet file: the length of its footer, and `PAR1`.
const END_BYTES: u64 = 8;

/// An object of which some parts are on disk.
#[derive(Debug)]
pub(crate) struct CachedObject {
    listed: Arc<ListedObject>,
    client: Arc<BucketClient>,
    directory: Arc<CacheDirectory>,
    name: String,
    parts: Arc<ObjectParts>,
    /// Held by who fetches parts, so that no part is fetched twice.
    filling: tokio::sync::Mutex<()>,
}

/// What is wanted of several objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Everything.
    Whole,
    /// What a reader of Parquet reads first.
    Footer,
}

/// Keeps the parts of an object on disk.
#[derive(Debug)]
pub(crate) struct Pinned(Arc<CachedObject>);

impl Drop for Pinned {
    fn drop(&mut self) {
        self.0.parts.pins.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for CachedObject {
    fn drop(&mut self) {
        self.directory.close(&self.name, &self.parts);
    }
}

impl CachedObject {
    /// Returns an object of which `parts` are there.
    pub(super) fn new(
        client: Arc<BucketClient>,
        listed: &Arc<ListedObject>,
        directory: Arc<CacheDirectory>,
        name: String,
        parts: Arc<ObjectParts>,
    ) -> Self {
        let filling = tokio::sync::Mutex::new(());
        Self { listed: Arc::clone(listed), client, directory, name, parts, filling }
    }

    /// Returns its address, for messages.
    pub(crate) fn label(&self) -> String {
        self.listed.address.to_string()
    }

    /// Returns the last part of its key, for messages that clients read.
    pub(crate) fn name(&self) -> &str {
        self.listed.address.key.rsplit('/').next().unwrap_or_default()
    }

    /// Returns its length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.listed.bytes
    }

    /// Returns the path of the file with its parts. Only what was fetched may be read there, and only while it is
    /// pinned.
    pub(crate) fn path(&self) -> &Path {
        self.parts.path()
    }

    /// Fetches all that is missing and keeps it on disk as long as the result lives. Blocks.
    ///
    /// # Errors
    /// If a part can't be had, or if there is no room for the object.
    pub(crate) fn whole(self: &Arc<Self>) -> Result<Pinned> {
        self.kept(0..self.bytes())
    }

    /// Fetches what is missing of the footer of a Parquet file, and keeps it on disk as long as the result lives.
    /// Blocks.
    pub(crate) fn footer(self: &Arc<Self>) -> Result<Pinned> {
        let pinned = self.pin();
        let object = Arc::clone(self);
        match io_threads::wait(async move { object.fill_footer().await })?? {
            true => Ok(pinned),
            false => Err(self.no_room()),
        }
    }

    /// Returns whether the file does not end as Parquet does: it may be compressed. Its footer was fetched.
    pub(crate) fn is_packed(self: &Arc<Self>) -> Result<bool> {
        let Some(start) = self.bytes().checked_sub(4) else { return Ok(false) };
        let end = self.read(start..self.bytes())?;
        Ok(!matches!(&end[..], b"PAR1" | b"PARE"))
    }

    fn kept(self: &Arc<Self>, range: Range<u64>) -> Result<Pinned> {
        let pinned = self.pin();
        match self.has(&range) || self.fill_and_wait(vec![range])? {
            true => Ok(pinned),
            false => Err(self.no_room()),
        }
    }

    /// Returns the bytes of a range, and fetches what is missing of it; what there is no room for is not kept. Blocks.
    ///
    /// # Errors
    /// If a part can't be had.
    pub(crate) fn read(self: &Arc<Self>, range: Range<u64>) -> Result<Bytes> {
        let _pinned = self.pin();
        if !self.has(&range) && !self.fill_and_wait(vec![range.clone()])? {
            let object = Arc::clone(self);
            return io_threads::wait(async move { object.unkept(range).await })?;
        }
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(usize::MAX)];
        self.parts.read(&mut bytes, range.start).map_err(|cause| unwritable(self.path(), cause))?;
        Ok(bytes.into())
    }

    /// Fetches what is missing of some ranges, all at a time, and keeps it on disk as long as the result lives. What
    /// there is no room for is fetched when it is read. Blocks.
    ///
    /// # Errors
    /// If a part can't be had.
    pub(crate) fn prepare(self: &Arc<Self>, ranges: &[Range<u64>]) -> Result<Pinned> {
        let pinned = self.pin();
        if !ranges.iter().all(|range| self.has(range)) {
            self.fill_and_wait(ranges.to_vec())?;
        }
        Ok(pinned)
    }

    fn fill_and_wait(self: &Arc<Self>, ranges: Vec<Range<u64>>) -> Result<bool> {
        let object = Arc::clone(self);
        io_threads::wait(async move { object.fill(&ranges).await })?
    }

    fn pin(self: &Arc<Self>) -> Pinned {
        self.directory.used(&self.name, || self.parts.pins.fetch_add(1, Ordering::AcqRel));
        Pinned(Arc::clone(self))
    }

    /// Returns whether a range is on disk.
    pub(crate) fn has(&self, range: &Range<u64>) -> bool {
        self.parts.present().has(range)
    }

    /// Fetches what is missing of some ranges, and returns whether there is room for it. It is pinned.
    async fn fill(self: &Arc<Self>, ranges: &[Range<u64>]) -> Result<bool> {
        let _filling = self.filling.lock().await;
        let (missing, bytes) = {
            let present = self.parts.present();
            let mut wanted = ByteRanges::default();
            ranges.iter().for_each(|range| wanted.insert(range.clone()));
            let missing: Vec<Range<u64>> =
                wanted.as_slice().iter().flat_map(|range| present.missing(range.clone(), GAP_BYTES)).collect();
            let mut then = present.clone();
            missing.iter().for_each(|part| then.insert(part.clone()));
            (missing, then.bytes() - present.bytes())
        };
        if missing.is_empty() {
            return Ok(true);
        }
        if !self.directory.reserve(&self.name, bytes) {
            return Ok(false);
        }
        let before = self.parts.present().bytes();
        let parts = missing.into_iter().flat_map(pieces);
        let fetched = stream::iter(parts.map(Ok))
            .try_for_each_concurrent(OBJECT_REQUESTS_MAX, |part| async move {
                let bytes = self.part(part.clone()).await?;
                self.parts.write(part, &bytes).map_err(|cause| unwritable(self.path(), cause))
            })
            .await;
        let parts = self.parts.present().clone();
        self.directory.release(&self.name, bytes - (parts.bytes() - before));
        // Without the list the parts are fetched again after a restart.
        if let Err(cause) = parts_list::write(self.path(), self.bytes(), parts.as_slice()) {
            tracing::warn!(%cause, path = %self.path().display(), "the list of an object's parts can't be written");
        }
        fetched.map(|()| true)
    }

    async fn part(&self, range: Range<u64>) -> Result<Bytes> {
        let permit = self.directory.requests.acquire().await;
        let _permit = permit.map_err(|cause| Error::internal("no requests are made any more").with_source(cause))?;
        match fetch::part(&self.client.current(), &self.listed, range.clone()).await {
            Err(error) if fault::is_refused(&error) && self.client.renew() => {
                fetch::part(&self.client.current(), &self.listed, range).await
            }
            other => other,
        }
    }

    async fn unkept(&self, range: Range<u64>) -> Result<Bytes> {
        let mut bytes = BytesMut::new();
        for piece in pieces(range) {
            bytes.extend_from_slice(&self.part(piece).await?);
        }
        Ok(bytes.freeze())
    }

    async fn fill_footer(self: &Arc<Self>) -> Result<bool> {
        let bytes = self.bytes();
        if !self.fill(from_ref(&(bytes.saturating_sub(TAIL_BYTES)..bytes))).await? {
            return Ok(false);
        }
        let Some(at) = bytes.checked_sub(END_BYTES) else { return Ok(true) };
        let mut end = [0; 4];
        self.parts.read(&mut end, at).map_err(|cause| unwritable(self.path(), cause))?;
        let start = at.saturating_sub(u32::from_le_bytes(end).into());
        // The length of what is no Parquet file may be anything, and its reader says what is wrong.
        if start >= 4 { self.fill(from_ref(&(start..bytes))).await } else { Ok(true) }
    }

    fn no_room(&self) -> Error {
        let message = format!("there is no room on disk for the {} bytes of `{}`", self.bytes(), self.label());
        Error::new(Code::Source, message).with_hint("raise `limits.object_cache_bytes_max`")
    }
}

/// Cuts a range into those of requests.
fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> + Send {
    let count = (range.end - range.start).div_ceil(PART_BYTES);
    (0..count).map(move |number| {
        let start = range.start + number * PART_BYTES;
        start..range.end.min(start + PART_BYTES)
    })
}

/// Fetches what is wanted of `objects`, several at a time. What there is no room for is fetched when it is read.
pub(super) async fn fetch_all(objects: Vec<Arc<CachedObject>>, wanted: Wanted) -> Result<()> {
    stream::iter(objects)
        .map(|object| async move {
            let _pinned = object.pin();
            match wanted {
                Wanted::Whole => object.fill(from_ref(&(0..object.bytes()))).await,
                Wanted::Footer => object.fill_footer().await,
            }
        })
        .buffer_unordered(OBJECT_REQUESTS_MAX)
        .try_for_each(|_| async { Ok(()) })
        .await
}
