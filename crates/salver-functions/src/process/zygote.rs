//! A process that has loaded a file, as seen by its users.

use std::sync::Arc;

use salver_model::functions::{Endpoint, Interface};
use tokio::sync::mpsc::UnboundedSender;

/// Order to a zygote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Fork this number of workers.
    Fork(usize),
    /// Kill the worker with this process id.
    Kill(u32),
}

/// Loaded file. Its processes end when the last reference is dropped.
#[derive(Debug)]
pub(crate) struct Zygote {
    /// Number of the zygote; later ones have higher numbers.
    pub(crate) number: u64,
    /// Interface of the file.
    pub(crate) interface: Arc<Interface>,
    orders: UnboundedSender<Order>,
}

impl Zygote {
    pub(crate) fn new(number: u64, interface: Arc<Interface>, orders: UnboundedSender<Order>) -> Self {
        Self { number, interface, orders }
    }

    /// Sends an order. If its attendant is gone, so are its processes, and nothing needs to be done.
    pub(crate) fn tell(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    /// Returns the index in this interface of the endpoint `endpoint` of `known`, since the file may have been reloaded
    /// since the lookup.
    pub(crate) fn endpoint(&self, endpoint: usize, known: Option<&Arc<Interface>>) -> Option<usize> {
        let Some(known) = known.filter(|known| !Arc::ptr_eq(known, &self.interface)) else {
            return (endpoint < self.interface.endpoints.len()).then_some(endpoint);
        };
        let meant = known.endpoints.get(endpoint)?;
        let same = |own: &Endpoint| own.function == meant.function && own.route == meant.route;
        self.interface.endpoints.iter().position(same)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use salver_model::functions::{Endpoint, Interface};

    use super::Zygote;

    #[test]
    fn an_endpoint_is_found_again() {
        let with = |functions: &[&str]| {
            let endpoint = |function: &&str| Endpoint { function: (*function).to_owned(), ..Endpoint::default() };
            Arc::new(Interface { endpoints: functions.iter().map(endpoint).collect(), ..Interface::default() })
        };
        let (old, new) = (with(&["f", "g"]), with(&["e", "f"]));
        let zygote = Zygote::new(1, Arc::clone(&new), tokio::sync::mpsc::unbounded_channel().0);
        assert_eq!(zygote.endpoint(0, Some(&old)), Some(1));
        assert_eq!(zygote.endpoint(1, Some(&old)), None);
        assert_eq!(zygote.endpoint(0, Some(&new)), Some(0));
        assert_eq!(zygote.endpoint(1, None), Some(1));
        assert_eq!(zygote.endpoint(2, None), None);
    }
}
