//! Ends read transactions of lanes: idle ones, which would keep the log from being reset, and those under a rollback
//! journal, which keep writers of other processes from committing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::connections::Connections;
use super::read_connection::ReadConnection;

/// Idle time, up to twice of which passes before a transaction is ended.
const IDLE_MS: u64 = 20;
/// Longest time for which a transaction keeps writers away.
const LOCKED_MS: u64 = 2;

/// Starts to end transactions, until there are none; sooner if one keeps writers away.
pub(super) fn sweep(connections: &Arc<Connections>, keeps_writers_away: bool) {
    let Ok(runtime) = Handle::try_current() else {
        connections.release_lanes(|_| true);
        return;
    };
    if connections.sweeping.swap(true, Ordering::AcqRel) {
        return;
    }
    let connections = Arc::downgrade(connections);
    let pause = Duration::from_millis(if keeps_writers_away { LOCKED_MS } else { IDLE_MS });
    runtime.spawn(async move {
        loop {
            sleep(pause).await;
            let Some(connections) = connections.upgrade() else { return };
            if let Some(window) = &connections.lock_window {
                window.close();
            }
            if connections.release_lanes(ReadConnection::should_end) > 0 {
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
    /// Ends the transactions of those lanes for which `ends` returns true; returns how many may be left open, those of
    /// lanes in use among them.
    fn release_lanes(&self, mut ends: impl FnMut(&mut ReadConnection) -> bool) -> usize {
        let mut left = 0;
        let in_use = self.each_lane(|reader| {
            if reader.keeps() && ends(reader) {
                reader.release();
            }
            left += usize::from(reader.keeps());
        });
        left + in_use
    }
}
