//! A process that has loaded a file, as whoever uses it sees it.

use std::sync::Arc;

use salver_model::functions::{Endpoint, Interface};
use tokio::sync::mpsc::UnboundedSender;

/// What a zygote is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Fork so many workers.
    Fork(usize),
    /// Kill the worker with this process id.
    Kill(u32),
}

/// A loaded file. Its processes end when the last one who has it lets go.
#[derive(Debug)]
pub(crate) struct Zygote {
    /// Which one it is: later ones have higher numbers.
    pub(crate) number: u64,
    /// What the file offers.
    pub(crate) interface: Arc<Interface>,
    orders: UnboundedSender<Order>,
}

impl Zygote {
    pub(crate) fn new(number: u64, interface: Arc<Interface>, orders: UnboundedSender<Order>) -> Self {
        Self { number, interface, orders }
    }

    /// Tells it something. When whoever speaks with it is gone, so are its processes, and nothing is to be done.
    pub(crate) fn tell(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    /// Where the endpoint is here that is number `endpoint` of `known`: the file may have been loaded again since it
    /// was looked up.
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
