//! Memory for the results of functions and operators: reserved from the pool of queries before a result is computed,
//! and held as long as any part of it lives.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use bytes::Bytes;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use salver_model::limits::{COLUMN_BYTES_MAX, VALUE_BYTES_MAX};
use salver_model::{Code, Error};

use super::measure::held_bytes;

/// Minimum size that is accounted, in bytes: accounting smaller arrays costs more than it gains.
const ACCOUNTED_BYTES: u64 = 256 * 1024;
/// Maximum size of a result that is always allowed, in bytes.
const SMALL_BYTES: u64 = 8 * 1024 * 1024;

/// The memory of queries, for results of code that reserves none itself.
#[derive(Debug)]
pub(crate) struct Allowance {
    pool: Arc<dyn MemoryPool>,
    bytes_max: u64,
}

impl Allowance {
    /// Creates an allowance from a pool of `bytes_max` bytes.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { pool: Arc::clone(pool), bytes_max })
    }

    /// Returns the maximum size of one value, in bytes. A value that is derived from it, and its text, need memory
    /// beside it.
    pub(crate) fn value_bytes_max(&self) -> u64 {
        (self.bytes_max / 4).min(VALUE_BYTES_MAX)
    }

    /// Returns the maximum size of the values of one column of a batch, in bytes.
    pub(crate) fn column_bytes_max(&self) -> u64 {
        (self.bytes_max / 2).min(COLUMN_BYTES_MAX)
    }

    /// Returns the size up to which values need no accounting, in bytes.
    pub(crate) fn small_bytes(&self) -> u64 {
        (self.bytes_max / 32).min(SMALL_BYTES)
    }

    /// Reserves `bytes` for the result of `what`.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn reserve(&self, what: &str, bytes: u64) -> Result<MemoryReservation> {
        let reservation = MemoryConsumer::new(what).register(&self.pool);
        self.resize(&reservation, bytes)?;
        Ok(reservation)
    }

    /// Grows or shrinks a reservation to `bytes`.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn resize(&self, reservation: &MemoryReservation, bytes: u64) -> Result<()> {
        if bytes > self.bytes_max {
            // Waiting for other queries would not help.
            let what = reservation.consumer().name();
            let most = shown(self.bytes_max);
            return Err(too_large(format!("{what} needs {} to be made, and {most} is all there is", shown(bytes))));
        }
        // The query is retried with smaller batches, which need less.
        reservation.try_resize(usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(|_| {
            let what = reservation.consumer().name();
            too_large(format!("{what} needs {} to be made, more than is left of the memory of queries", shown(bytes)))
        })
    }

    /// Returns an array that reserves its own size as long as any part of it lives.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn account(&self, what: &str, array: ArrayRef) -> Result<ArrayRef> {
        let bytes = held_bytes(&array);
        if bytes < ACCOUNTED_BYTES {
            return Ok(array);
        }
        let held = Arc::new(self.reserve(what, bytes)?);
        Ok(make_array(holding(array.to_data(), &held)?))
    }
}

/// Buffer with the memory that is reserved for it.
struct Held {
    buffer: Buffer,
    _reservation: Arc<MemoryReservation>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.buffer.as_slice()
    }
}

fn holding(data: ArrayData, reservation: &Arc<MemoryReservation>) -> Result<ArrayData> {
    let hold = |buffer: &Buffer| {
        if buffer.is_empty() {
            return buffer.clone();
        }
        let held = Held { buffer: buffer.clone(), _reservation: Arc::clone(reservation) };
        Buffer::from(Bytes::from_owner(held))
    };
    let buffers = data.buffers().iter().map(hold).collect();
    let children = data.child_data().iter().map(|child| holding(child.clone(), reservation));
    let children = children.collect::<Result<Vec<_>>>()?;
    Ok(data.into_builder().buffers(buffers).child_data(children).build()?)
}

/// Returns the error for a result that is larger than a query may have.
pub(crate) fn too_large(message: String) -> DataFusionError {
    let error = Error::new(Code::QueryTooLarge, message)
        .with_hint("ask for smaller values, or for fewer of them; or raise `limits.memory_bytes_max`");
    DataFusionError::External(Box::new(error))
}

/// Formats a number of bytes for messages.
pub(crate) fn shown(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..MIB => format!("{} KiB", bytes.div_ceil(1024)),
        MIB..0x1_0000_0000 => format!("{} MiB", bytes.div_ceil(MIB)),
        _ => format!("{} GiB", bytes.div_ceil(1024 * MIB)),
    }
}
