//! The doors of a running server, whose service and options a reload replaces as a whole.
//!
//! A request ends with what it began with; connections stay open, and ask for what is in force with each request.

use std::fmt;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use salver_service::Service;
use tokio::sync::SetOnce;

use crate::app::App;
use crate::in_force::InForce;
use crate::options::HttpOptions;

/// The doors of a server, for whoever replaces what is behind them. Cheap to share.
#[derive(Clone, Default)]
pub struct Doors(Arc<SetOnce<Weak<ArcSwap<InForce>>>>);

impl Doors {
    /// Puts another service and other options in force, for every request that arrives from now on. What belongs to the
    /// listener stays: its TLS, its addresses, and the key of tokens. Waits until the server listens.
    pub async fn replace(&self, service: Arc<Service>, options: HttpOptions) {
        let Some(current) = self.0.wait().await.upgrade() else { return };
        let next = current.load().app.successor(service, options);
        let limits = next.service.limits();
        let shared_out = !next.options.reverse_proxy;
        next.connections.rebound(limits.connections_max, limits.connections_per_address_max, shared_out);
        current.store(Arc::new(InForce::new(next)));
    }

    /// Returns what is in force; `None` before the server listens, and when it has ended.
    pub(crate) fn app(&self) -> Option<Arc<App>> {
        let current = self.0.get()?.upgrade()?;
        Some(Arc::clone(&current.load().app))
    }

    /// Opens the doors of a server. A second server does not change what the first one opened.
    pub(crate) fn open(&self, current: &Arc<ArcSwap<InForce>>) {
        let _ = self.0.set(Arc::downgrade(current));
    }
}

impl fmt::Debug for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Doors").field(&self.0.initialized()).finish()
    }
}
