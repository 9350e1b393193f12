//! The authentication methods in force. A reload of the settings makes others, for the requests from then on.

use std::sync::Arc;

use super::Auth;

/// The authentication methods in force; without any, every caller is admitted at no cost. Cheap to share.
#[derive(Clone, Debug, Default)]
pub struct CurrentAuth(Option<Arc<Auth>>);

impl CurrentAuth {
    /// Holds these methods.
    #[must_use]
    pub fn new(auth: Option<Auth>) -> Self {
        Self(auth.map(Arc::new))
    }

    /// Ends the sessions that depend on settings that are no longer in force, when these methods took the place of the
    /// `previous` ones, if there were any.
    pub fn begin(&self, previous: &Self) {
        match (&self.0, &previous.0) {
            (Some(auth), _) => auth.end_other_sessions(),
            (None, Some(previous)) => previous.end_sessions(),
            (None, None) => {}
        }
    }

    /// Returns them.
    #[must_use]
    pub fn load(&self) -> Option<Arc<Auth>> {
        self.0.clone()
    }

    /// Returns whether there are any.
    pub(crate) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps the keys of issuers of tokens fresh, for as long as it is polled.
    pub async fn keep_fresh(&self) {
        if let Some(auth) = &self.0 {
            auth.keep_fresh().await;
        }
    }
}
