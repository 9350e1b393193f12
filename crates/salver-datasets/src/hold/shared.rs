//! Large byte ranges of a file that concurrent readers share. The engine reads the column chunks of a whole row group
//! before it decodes them; a hundred queries over the same rows then have them in memory once, not a hundred times.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use parquet::errors::ParquetError;

/// Shorter ranges are not shared, in bytes.
const SHARED_BYTES: u64 = 256 * 1024;

/// The ranges of one file that are in use.
#[derive(Debug, Default)]
pub(super) struct SharedRanges(Mutex<Vec<Piece>>);

#[derive(Debug)]
struct Piece {
    range: Range<u64>,
    /// Locked while it is read, so that other readers wait for it.
    bytes: Arc<Mutex<Weak<Bytes>>>,
}

impl SharedRanges {
    /// Returns the bytes of `range`; calls `read` if they are not in memory. Blocks.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn get(
        &self,
        range: &Range<u64>,
        read: impl FnOnce() -> Result<Bytes, ParquetError>,
    ) -> Result<Bytes, ParquetError> {
        if range.end.saturating_sub(range.start) < SHARED_BYTES {
            return read();
        }
        let place = self.place(range);
        let mut known = place.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = match known.upgrade() {
            Some(bytes) => bytes,
            None => {
                let bytes = Arc::new(read()?);
                *known = Arc::downgrade(&bytes);
                bytes
            }
        };
        Ok(Bytes::from_owner(Shared(bytes)))
    }

    fn place(&self, range: &Range<u64>) -> Arc<Mutex<Weak<Bytes>>> {
        let mut pieces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Drops ranges that are neither in use, being read nor waited for.
        pieces.retain(|piece| {
            Arc::strong_count(&piece.bytes) > 1 || piece.bytes.try_lock().is_ok_and(|bytes| bytes.strong_count() > 0)
        });
        if let Some(piece) = pieces.iter().find(|piece| piece.range == *range) {
            return Arc::clone(&piece.bytes);
        }
        let bytes = Arc::default();
        pieces.push(Piece { range: range.clone(), bytes: Arc::clone(&bytes) });
        bytes
    }
}

/// Bytes that are shared until the last reader drops them.
struct Shared(Arc<Bytes>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use bytes::Bytes;

    use super::{SHARED_BYTES, SharedRanges};

    #[test]
    fn who_comes_while_another_has_them_reads_nothing() {
        let (ranges, reads) = (SharedRanges::default(), AtomicUsize::new(0));
        let get = |from: u64, length: u64| {
            let read = || {
                reads.fetch_add(1, Relaxed);
                Ok(Bytes::from(vec![from as u8; length as usize]))
            };
            ranges.get(&(from..from + length), read).unwrap()
        };
        let first = get(1, SHARED_BYTES);
        let second = get(1, SHARED_BYTES);
        assert_eq!((reads.load(Relaxed), first.as_ptr()), (1, second.as_ptr()));
        let other = get(2, SHARED_BYTES);
        assert_eq!((reads.load(Relaxed), other[0], ranges.0.lock().unwrap().len()), (2, 2, 2));
        drop((first, second));
        assert_eq!(get(1, SHARED_BYTES)[0], 1);
        assert_eq!(reads.load(Relaxed), 3);
        drop(other);
        get(3, SHARED_BYTES - 1);
        get(3, SHARED_BYTES - 1);
        assert_eq!(reads.load(Relaxed), 5);
        get(4, SHARED_BYTES);
        assert_eq!(ranges.0.lock().unwrap().len(), 1);
    }
}
