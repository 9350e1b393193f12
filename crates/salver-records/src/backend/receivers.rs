//! Whether the rows of a read have a receiver.

use tokio::sync::mpsc::Sender;

/// Completes when nobody takes the rows any more; never without a receiver.
pub(crate) async fn unwanted<T>(out: Option<Sender<T>>) {
    match out {
        Some(out) => out.closed().await,
        None => std::future::pending().await,
    }
}

/// Returns whether nobody takes the rows any more.
pub(crate) fn is_unwanted<T>(out: Option<&Sender<T>>) -> bool {
    out.is_some_and(Sender::is_closed)
}
