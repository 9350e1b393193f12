//! The authentication methods in force, which a reload of the settings replaces without touching open connections.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::Notify;

use super::Auth;

/// The authentication methods in force; without any, every caller is admitted at no cost. Cheap to share.
#[derive(Clone, Default)]
pub struct CurrentAuth(Arc<Slot>);

#[derive(Default)]
struct Slot {
    auth: ArcSwapOption<Auth>,
    replaced: Notify,
}

impl CurrentAuth {
    /// Puts these methods in force.
    #[must_use]
    pub fn new(auth: Option<Auth>) -> Self {
        let current = Self::default();
        current.replace(auth);
        current
    }

    /// Puts other methods in force, for every request that arrives from now on. Sessions that depend on settings that
    /// are no longer in force end.
    pub fn replace(&self, auth: Option<Auth>) {
        let auth = auth.map(Arc::new);
        let previous = self.0.auth.swap(auth.clone());
        match (auth, previous) {
            (Some(auth), _) => auth.end_other_sessions(),
            (None, Some(previous)) => previous.end_sessions(),
            (None, None) => {}
        }
        self.0.replaced.notify_one();
    }

    /// Returns those in force.
    #[must_use]
    pub fn load(&self) -> Option<Arc<Auth>> {
        self.0.auth.load_full()
    }

    /// Returns whether there are any.
    pub(crate) fn is_some(&self) -> bool {
        self.0.auth.load().is_some()
    }

    /// Keeps the keys of issuers of tokens fresh, for ever.
    pub async fn keep_fresh(&self) {
        loop {
            let auth = self.load();
            let keeping = async {
                if let Some(auth) = &auth {
                    auth.keep_fresh().await;
                }
                // Without such keys there is nothing to do until the methods are replaced.
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = keeping => {}
                () = self.0.replaced.notified() => {}
            }
        }
    }
}

impl fmt::Debug for CurrentAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CurrentAuth").field(&self.load()).finish()
    }
}
