//! Connections held by responses and loads whose clients are slow. Callers share them, one connection always stays free
//! for short work, and idle holders yield to waiters.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::DATABASE_SHARE_S_MAX;
use salver_model::shares::{Share, Shares};
use salver_model::{Code, Error, Holder, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

/// Interval at which a waiter looks for an idle connection.
const LOOK: Duration = Duration::from_millis(100);
/// Longest wait for a share among responses and loads.
const WAIT: Duration = Duration::from_secs(DATABASE_SHARE_S_MAX);

/// Returns the shares of responses and loads, given the number of connections: one stays for short work where there are
/// more than two.
pub(crate) fn places(connections: usize) -> Arc<Shares> {
    Shares::new("database connections", if connections > 2 { connections - 1 } else { connections })
}

/// Takes a share for a response or a load of `holder`.
pub(crate) async fn take(places: &Arc<Shares>, holder: &Holder) -> Result<Share> {
    places.take_within(holder, WAIT, sleep).await.ok_or_else(|| {
        let taken = places.taken();
        Error::new(
            Code::DatabaseUnavailable,
            format!("out of connections: {} of this database are busy with long answers and loads", taken.taken),
        )
        .with_hint("take answers as they come, or raise `connections_max` of the database")
    })
}

/// Waits for a connection's permit, and makes idle responses and loads yield if there is none.
pub(crate) async fn wait(
    free: &Arc<Semaphore>,
    lying: &Arc<Shares>,
    patience: Duration,
) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(free).try_acquire_owned() {
        return Some(place);
    }
    let end = Instant::now() + patience;
    let mut turn = pin!(Arc::clone(free).acquire_owned());
    loop {
        lying.make_room(&Holder::Server);
        let left = end.saturating_duration_since(Instant::now());
        match timeout(left.min(LOOK), turn.as_mut()).await {
            Ok(place) => return place.ok(),
            Err(_) if left.is_zero() => return None,
            Err(_) => {}
        }
    }
}
