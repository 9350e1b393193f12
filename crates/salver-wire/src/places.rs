//! How many connections of a wire there may be, in all and of one address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use salver_model::Holder;

/// Places for connections.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    most_of_one: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    by_holder: HashMap<Holder, usize>,
}

/// The place of a connection, which it has until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    holder: Option<Holder>,
    taken: Arc<Mutex<Taken>>,
}

impl Places {
    /// Returns `most` places, of which one address may have `most_of_one`; 0 is no bound on that.
    pub(crate) fn new(most: usize, most_of_one: usize) -> Self {
        Self { most, most_of_one, taken: Arc::default() }
    }

    /// Takes a place for a connection from `address`; `None` if there is none left.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Place> {
        // Programs on this machine are not told apart by their address.
        let holder = (self.most_of_one > 0 && !address.is_loopback()).then(|| Holder::of_address(address));
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.most {
            return None;
        }
        if let Some(holder) = &holder {
            let own = taken.by_holder.entry(holder.clone()).or_default();
            if *own >= self.most_of_one {
                return None;
            }
            *own += 1;
        }
        taken.all += 1;
        Some(Place { holder, taken: Arc::clone(&self.taken) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(holder) = &self.holder
            && let Some(own) = taken.by_holder.get_mut(holder)
        {
            *own -= 1;
            if *own == 0 {
                taken.by_holder.remove(holder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn places_run_out_and_come_back() {
        let places = Places::new(3, 2);
        let [one, other, here] = ["192.0.2.1", "192.0.2.2", "127.0.0.1"].map(|text| text.parse().unwrap());
        let first = places.take(one).unwrap();
        let _second = places.take(one).unwrap();
        assert!(places.take(one).is_none(), "as many as one address may have");
        let third = places.take(other).unwrap();
        assert!(places.take(here).is_none(), "as many as there are");
        drop(third);
        let _here = places.take(here).unwrap();
        drop(first);
        assert!(places.take(one).is_some());
    }
}
