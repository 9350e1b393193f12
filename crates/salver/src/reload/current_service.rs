//! The service in force, for those who outlive it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use salver_service::Service;

/// The service in force, and those before it that are still in use. Keeps none of them. Cheap to share.
#[derive(Clone, Debug)]
pub(crate) struct CurrentService(Arc<Mutex<Vec<Weak<Service>>>>);

impl CurrentService {
    /// Puts the first one in force.
    pub(crate) fn new(service: &Arc<Service>) -> Self {
        Self(Arc::new(Mutex::new(vec![Arc::downgrade(service)])))
    }

    /// Puts the next one in force.
    pub(super) fn set(&self, service: &Arc<Service>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(service));
    }

    /// Returns the one in force; `None` if the server ends.
    pub(crate) fn get(&self) -> Option<Arc<Service>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last()?.upgrade()
    }

    /// Returns all that are in use.
    pub(super) fn users(&self) -> Vec<Weak<Service>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
