//! Keeps what authentication methods fetch fresh, as long as they are in force.

use salver_http::CurrentAuth;
use tokio::task::JoinHandle;

/// Task that keeps authentication methods fresh; ends on drop.
#[derive(Debug)]
pub(crate) struct KeptFresh(JoinHandle<()>);

impl KeptFresh {
    /// Starts the task. Call it inside the runtime.
    pub(crate) fn begin(auth: &CurrentAuth) -> Self {
        let own = auth.clone();
        Self(tokio::spawn(async move { own.keep_fresh().await }))
    }
}

impl Drop for KeptFresh {
    fn drop(&mut self) {
        self.0.abort();
    }
}
