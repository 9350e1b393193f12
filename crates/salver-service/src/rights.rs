//! What callers may do as a whole, and when other rights are in force.

use salver_model::Share;
use tokio::sync::watch;

/// How often what callers may do was changed as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RightsVersion {
    /// Changes of the ways to find out who a caller is.
    pub callers: u64,
    /// Changes of the access rules.
    pub rules: u64,
    /// Changes by which streams were gone.
    pub streams: u64,
}

impl RightsVersion {
    /// Returns whether something was changed after `other`.
    pub(crate) fn is_after(self, other: Self) -> bool {
        self.callers > other.callers || self.rules > other.rules || self.streams > other.streams
    }
}

/// Permit for a response that waits for events, held until it is dropped. It ends with the rights under which the
/// request was let in.
#[derive(Debug)]
pub struct WaitPermit {
    _share: Share,
    rights: RightsVersion,
    in_force: watch::Receiver<RightsVersion>,
}

impl WaitPermit {
    pub(crate) fn new(share: Share, rights: RightsVersion, in_force: watch::Receiver<RightsVersion>) -> Self {
        Self { _share: share, rights, in_force }
    }

    /// Returns once other rights are in force.
    pub async fn ended(&self) {
        let mut in_force = self.in_force.clone();
        // Without a sender there is no service any more.
        let _ = in_force.wait_for(|now| now.is_after(self.rights)).await;
    }

    /// Returns whether other rights are in force.
    pub(crate) fn is_over(&self) -> bool {
        self.in_force.borrow().is_after(self.rights)
    }
}
