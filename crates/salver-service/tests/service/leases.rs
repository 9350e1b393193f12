//! Leases: who has what, for how long, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use salver_model::limits::YIELD_MS;
use salver_model::{Code, Holder};
use salver_service::exports::{Lease, LeaseError, Leases};

/// Counts how often it was parked and dropped.
#[derive(Debug, Default)]
struct Counts {
    parked: AtomicUsize,
    dropped: AtomicUsize,
}

#[derive(Debug)]
struct Thing(Arc<Counts>);

impl Lease for Thing {
    fn park(&mut self) {
        self.0.parked.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

const LONG: Duration = Duration::from_secs(3_600);

async fn until(done: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < patience, "waited in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn one_has_it_at_a_time() {
    let counts = Arc::new(Counts::default());
    let leases = Leases::new("leases", 2);
    let id = leases.open(&Holder::Server, Thing(Arc::clone(&counts)), LONG).unwrap();
    let other = leases.open(&Holder::Server, Thing(Arc::clone(&counts)), LONG).unwrap();
    assert_ne!(other, id);
    assert_eq!(leases.open(&Holder::Server, Thing(Arc::default()), LONG).unwrap_err().code, Code::Overloaded);
    let taken = leases.take(id).unwrap();
    assert_eq!(taken.id(), id);
    assert_eq!(leases.take(id).unwrap_err(), LeaseError::Busy);
    assert_eq!(leases.touch(id, |_| ()), Err(LeaseError::Busy));
    assert!(leases.take(other).is_ok());
    drop(taken);
    assert_eq!(leases.touch(id, |thing| Arc::ptr_eq(&thing.0, &counts)), Ok(true));
    leases.take(id).unwrap().end();
    assert_eq!(leases.take(id).unwrap_err(), LeaseError::Unknown);
    assert_eq!(leases.remove(id), Err(LeaseError::Unknown));
    leases.remove(other).unwrap();
    assert_eq!((leases.count(), leases.expired(), counts.dropped.load(Ordering::Relaxed)), (0, 0, 2));
}

#[tokio::test]
async fn what_is_removed_while_it_is_taken_goes_when_it_would_come_back() {
    let counts = Arc::new(Counts::default());
    let leases = Leases::new("leases", 9);
    let id = leases.open(&Holder::Server, Thing(Arc::clone(&counts)), LONG).unwrap();
    let taken = leases.take(id).unwrap();
    leases.remove(id).unwrap();
    assert_eq!((leases.count(), counts.dropped.load(Ordering::Relaxed)), (0, 0));
    drop(taken);
    assert_eq!(counts.dropped.load(Ordering::Relaxed), 1);
    assert_eq!(leases.take(id).unwrap_err(), LeaseError::Unknown);
}

#[tokio::test]
async fn nobody_comes() {
    let counts = Arc::new(Counts::default());
    let leases = Leases::new("leases", 10_000);
    let short = Duration::from_millis(1);
    let kept = leases.open(&Holder::Server, Thing(Arc::clone(&counts)), LONG).unwrap();
    let ids: Vec<u64> =
        (0..1_000).map(|_| leases.open(&Holder::Server, Thing(Arc::clone(&counts)), short).unwrap()).collect();
    until(|| leases.expired() == 1_000).await;
    assert_eq!((leases.count(), counts.dropped.load(Ordering::Relaxed)), (1, 1_000));
    for id in ids {
        assert_eq!(leases.take(id).unwrap_err(), LeaseError::Expired);
        assert_eq!(leases.remove(id), Err(LeaseError::Expired));
    }
    assert_eq!(leases.take(kept + 1_000_000).unwrap_err(), LeaseError::Unknown);
    // What is kept longer is parked meanwhile, once in a pause.
    until(|| counts.parked.load(Ordering::Relaxed) == 1).await;
    drop(leases.take(kept).unwrap());
    until(|| counts.parked.load(Ordering::Relaxed) == 2).await;
    drop(leases);
    until(|| counts.dropped.load(Ordering::Relaxed) == 1_001).await;
}

/// Whoever comes again and again keeps it, however short its time.
#[tokio::test]
async fn taking_renews() {
    let leases = Leases::new("leases", 9);
    let ttl = Duration::from_millis(500);
    let id = leases.open(&Holder::Server, Thing(Arc::default()), ttl).unwrap();
    let gauge = leases.open(&Holder::Server, Thing(Arc::default()), ttl).unwrap();
    while leases.expired() == 0 {
        drop(leases.take(id).unwrap());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(leases.take(gauge).unwrap_err(), LeaseError::Expired);
    // What is taken does not expire, however long it takes.
    let taken = leases.take(id).unwrap();
    let gauge = leases.open(&Holder::Server, Thing(Arc::default()), ttl).unwrap();
    until(|| leases.expired() == 2).await;
    assert_eq!(leases.take(gauge).unwrap_err(), LeaseError::Expired);
    drop(taken);
    assert!(leases.take(id).is_ok());
}

#[tokio::test]
async fn the_idlest_of_who_has_most_makes_room() {
    let (many, few) = (Holder::Identity("many".into()), Holder::Identity("few".into()));
    let leases = Leases::new("leases", 4);
    let open = |holder: &Holder| leases.open(holder, Thing(Arc::default()), LONG);
    let ids: Vec<u64> = (0..3).map(|_| open(&many).unwrap()).collect();
    assert_eq!(open(&many).unwrap_err().code, Code::Overloaded, "the last is for others");
    let own = open(&few).unwrap();
    assert_eq!(open(&few).unwrap_err().code, Code::Overloaded, "all were used a moment ago");
    tokio::time::sleep(Duration::from_millis(YIELD_MS + 100)).await;
    leases.touch(ids[0], |_| ()).unwrap();
    let other = open(&few).unwrap();
    let left: Vec<_> = ids.iter().filter(|id| leases.peek(**id, |_| ()).is_ok()).collect();
    assert_eq!((left.len(), left[0]), (2, &ids[0]), "one that was idle went");
    let gone = ids.iter().find(|id| !left.contains(id)).unwrap();
    assert_eq!(leases.take(*gone).unwrap_err(), LeaseError::Expired);
    assert_eq!(open(&many).unwrap_err().code, Code::Overloaded, "who has as many as others gets none of theirs");
    assert!(leases.peek(own, |_| ()).is_ok() && leases.peek(other, |_| ()).is_ok());
}
