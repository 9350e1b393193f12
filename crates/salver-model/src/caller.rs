//! The caller of a request: what is known of it, and what it may do.

use std::ops::Deref;
use std::sync::Arc;

use crate::access::{CallerLimits, Grants, Permission};
use crate::principal::Principal;

/// Caller of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// What is known of the caller.
    pub principal: Principal,
    /// What the caller may do; `None` where the settings have no access rules, and for the server itself.
    pub grants: Option<Arc<Grants>>,
    /// How much the caller may ask for, within the general limits.
    pub limits: CallerLimits,
}

impl Caller {
    /// Returns whether the caller may do this with the entry.
    #[must_use]
    pub fn may(&self, permission: Permission, entry: &str) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.decide(permission, entry).is_some())
    }
}

impl From<Principal> for Caller {
    /// Creates a caller that may do everything.
    fn from(principal: Principal) -> Self {
        Self { principal, grants: None, limits: CallerLimits::default() }
    }
}

impl Deref for Caller {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.principal
    }
}
