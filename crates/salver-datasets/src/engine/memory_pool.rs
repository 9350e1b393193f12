//! The memory of queries, shared by their operators.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// Divisor of the memory that operators which can spill leave to those which can't.
const RESERVE: usize = 8;

/// A pool that gives each operator which can spill an equal share, as DataFusion's `FairSpillPool` does, and keeps a
/// reserve for operators that can't.
///
/// Without a reserve, a sort that begins before the others takes all there is, and the merge behind it, which can't
/// spill, finds nothing: whether a query succeeds would depend on which partition starts first.
#[derive(Debug)]
pub(super) struct SharedMemory {
    bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of operators that can spill.
    spillers: usize,
    /// Bytes that they hold.
    spillable: usize,
    /// Bytes that others hold.
    unspillable: usize,
}

impl SharedMemory {
    /// Creates a pool of `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryPool for SharedMemory {
    fn name(&self) -> &str {
        "shared"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.state().spillers += usize::from(consumer.can_spill());
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        let mut state = self.state();
        state.spillers = state.spillers.saturating_sub(usize::from(consumer.can_spill()));
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        *self.state().held_by(reservation) += additional;
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let mut state = self.state();
        let held = state.held_by(reservation);
        *held = held.saturating_sub(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let mut state = self.state();
        let reserve = self.bytes / RESERVE;
        let (held, most) = match reservation.consumer().can_spill() {
            true => {
                let shared = self.bytes.saturating_sub(state.unspillable.max(reserve));
                (reservation.size(), shared / state.spillers.max(1))
            }
            false => (state.unspillable, self.bytes.saturating_sub(state.spillable).max(reserve)),
        };
        if held.saturating_add(additional) > most {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} holds {} bytes and asks for {additional} more; {held} of {most} bytes are taken",
                reservation.consumer().name(),
                reservation.size(),
            )));
        }
        *state.held_by(reservation) += additional;
        Ok(())
    }

    fn reserved(&self) -> usize {
        let state = self.state();
        state.spillable + state.unspillable
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.bytes)
    }
}

impl State {
    /// The bytes of all operators of the same kind.
    fn held_by(&mut self, reservation: &MemoryReservation) -> &mut usize {
        match reservation.consumer().can_spill() {
            true => &mut self.spillable,
            false => &mut self.unspillable,
        }
    }
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shared({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_merge_finds_room_behind_a_sort_that_came_first() {
        let pool: Arc<dyn MemoryPool> = Arc::new(SharedMemory::new(800));
        let first = MemoryConsumer::new("first").with_can_spill(true).register(&pool);
        assert!(first.try_grow(700).is_ok() && first.try_grow(1).is_err());
        let second = MemoryConsumer::new("second").with_can_spill(true).register(&pool);
        assert!(second.try_grow(350).is_ok() && second.try_grow(1).is_err());
        let merge = MemoryConsumer::new("merge").register(&pool);
        assert!(merge.try_grow(100).is_ok() && merge.try_grow(1).is_err());
        assert_eq!(pool.reserved(), 1150);
        drop((first, second));
        assert!(merge.try_grow(700).is_ok() && merge.try_grow(1).is_err());
        let third = MemoryConsumer::new("third").with_can_spill(true).register(&pool);
        assert!(third.try_grow(1).is_err());
        drop(merge);
        assert!(third.try_grow(700).is_ok());
        drop(third);
        assert_eq!(pool.reserved(), 0);
    }
}
