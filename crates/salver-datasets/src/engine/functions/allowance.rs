//! What functions and operators may make: reserved from the queries' memory before it is made, and held as long as any
//! of it lives.

use std::sync::Arc;

use arrow::array::{Array, ArrayData, ArrayRef, make_array};
use arrow::buffer::Buffer;
use bytes::Bytes;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use salver_model::limits::{COLUMN_BYTES_MAX, VALUE_BYTES_MAX};
use salver_model::{Code, Error};

use super::measure::held_bytes;

/// Least bytes that are accounted: what is smaller costs more to count than it is worth.
const ACCOUNTED_BYTES_MIN: u64 = 256 * 1024;
/// What a call may always give.
const SMALL_BYTES: u64 = 8 * 1024 * 1024;

/// The memory of queries, for what is made outside of the operators that reserve their own.
#[derive(Debug)]
pub(crate) struct Allowance {
    pool: Arc<dyn MemoryPool>,
    bytes_max: u64,
}

impl Allowance {
    /// What may be made of a pool of `bytes_max` bytes.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { pool: Arc::clone(pool), bytes_max })
    }

    /// Most bytes of one value: what is made of it is made beside it, and so is its text.
    pub(crate) fn value_bytes_max(&self) -> u64 {
        (self.bytes_max / 4).min(VALUE_BYTES_MAX)
    }

    /// Most bytes of the values of one column of a batch.
    pub(crate) fn column_bytes_max(&self) -> u64 {
        (self.bytes_max / 2).min(COLUMN_BYTES_MAX)
    }

    /// Bytes of values that need no thought.
    pub(crate) fn small_bytes(&self) -> u64 {
        (self.bytes_max / 32).min(SMALL_BYTES)
    }

    /// Takes `bytes` for what `what` makes.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn reserve(&self, what: &str, bytes: u64) -> Result<MemoryReservation> {
        let reservation = MemoryConsumer::new(what).register(&self.pool);
        self.resize(&reservation, bytes)?;
        Ok(reservation)
    }

    /// Takes as much more as makes it `bytes`, or gives back what is above.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn resize(&self, reservation: &MemoryReservation, bytes: u64) -> Result<()> {
        if bytes > self.bytes_max {
            // There will never be so much, however long one waits for others.
            let what = reservation.consumer().name();
            let most = shown(self.bytes_max);
            return Err(too_large(format!("{what} needs {} to be made, and {most} is all there is", shown(bytes))));
        }
        // The query is tried again with a few rows at a time, which need less.
        reservation.try_resize(usize::try_from(bytes).unwrap_or(usize::MAX)).map_err(|_| {
            let what = reservation.consumer().name();
            too_large(format!("{what} needs {} to be made, more than is left of the memory of queries", shown(bytes)))
        })
    }

    /// An array that holds its own size of the memory of queries as long as any part of it lives.
    ///
    /// # Errors
    /// When there is not that much left.
    pub(crate) fn account(&self, what: &str, array: ArrayRef) -> Result<ArrayRef> {
        let bytes = held_bytes(&array);
        if bytes < ACCOUNTED_BYTES_MIN {
            return Ok(array);
        }
        let held = Arc::new(self.reserve(what, bytes)?);
        Ok(make_array(holding(array.to_data(), &held)?))
    }
}

/// Bytes of a buffer, with the memory that is reserved for them.
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

/// A refusal: what would be made is more than a query may ever have.
pub(crate) fn too_large(message: String) -> DataFusionError {
    let error = Error::new(Code::QueryTooLarge, message)
        .with_hint("ask for smaller values, or for fewer of them; or raise `limits.memory_bytes_max`");
    DataFusionError::External(Box::new(error))
}

/// Bytes for people.
pub(crate) fn shown(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    match bytes {
        0..MIB => format!("{} KiB", bytes.div_ceil(1024)),
        MIB..0x1_0000_0000 => format!("{} MiB", bytes.div_ceil(MIB)),
        _ => format!("{} GiB", bytes.div_ceil(1024 * MIB)),
    }
}
