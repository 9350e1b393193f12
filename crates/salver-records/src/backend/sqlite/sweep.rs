//! Ends idle read transactions of lanes, which would keep the log from being reset.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::connections::Connections;
use super::reader::Reader;

/// Idle time, up to twice of which passes before a transaction is ended.
const IDLE_MS: u64 = 20;

/// Starts to end idle transactions, until there are none.
pub(super) fn sweep(connections: &Arc<Connections>) {
    let Ok(runtime) = Handle::try_current() else {
        connections.release_lanes(|_| true);
        return;
    };
    if connections.sweeping.swap(true, Ordering::AcqRel) {
        return;
    }
    let connections = Arc::downgrade(connections);
    runtime.spawn(async move {
        loop {
            sleep(Duration::from_millis(IDLE_MS)).await;
            let Some(connections) = connections.upgrade() else { return };
            if connections.release_lanes(|reader| !reader.take_used()) > 0 {
                continue;
            }
            connections.sweeping.store(false, Ordering::Release);
            // A transaction may have been kept in between by a reader that found the sweeper running.
            if connections.release_lanes(|_| false) == 0 || connections.sweeping.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    });
}

impl Connections {
    /// Ends the transactions of those lanes for which `idle` returns true; returns how many are left open.
    fn release_lanes(&self, mut idle: impl FnMut(&mut Reader) -> bool) -> usize {
        let mut left = 0;
        self.each_lane(|reader| {
            if reader.keeps() && idle(reader) {
                reader.release();
            }
            left += usize::from(reader.keeps());
        });
        left
    }
}
