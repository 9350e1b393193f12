//! Open connections: how many there may be, which client holds them, and which one yields when another arrives.
//!
//! A connection that waits for its client (for the head of a request, for a body, for the client to take a response)
//! can be closed in favour of a new one when all places are taken; one whose request the server is working on can't. So
//! a client that opens connections and sends nothing locks nobody out. When every connection is working, further ones
//! are still accepted, into the lobby: there `/health` is answered, and everything else gets 503 at once.

mod timer;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use salver_model::Holder;
use salver_model::limits::{CONNECTION_YIELD_MS, LOBBY_MAX, SHARE_OF_FREE};
use tokio::task::AbortHandle;

pub(crate) use self::timer::HeadTimer;
use crate::peer;

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    state: Mutex<ConnectionTable>,
    began: Instant,
    /// Milliseconds from `began` to the last look at the clock.
    now_ms: AtomicU64,
    /// Interval at which the clock is looked at.
    look_every: Duration,
}

/// How many there may be.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    connections_max: usize,
    /// Most connections of one client; `None` where all come from one address, that of a proxy.
    of_one_max: Option<NonZeroUsize>,
}

impl Bounds {
    fn new(connections_max: usize, per_address_max: usize, shared_out: bool) -> Self {
        let connections_max = connections_max.max(1);
        let share = (connections_max * SHARE_OF_FREE).div_ceil(SHARE_OF_FREE + 1);
        let of_one_max = if per_address_max == 0 { share } else { share.min(per_address_max) };
        Self { connections_max, of_one_max: NonZeroUsize::new(of_one_max).filter(|_| shared_out) }
    }
}

#[derive(Debug)]
struct ConnectionTable {
    bounds: Bounds,
    open: AHashMap<u64, Arc<Connection>>,
    peers: AHashMap<Holder, Arc<Peer>>,
    lobby: AHashMap<u64, Arc<Connection>>,
    next: u64,
}

/// A client, for the counting of connections.
#[derive(Debug)]
struct Peer {
    holder: Holder,
    open: AtomicUsize,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    peer: Arc<Peer>,
    all: Arc<Connections>,
    number: u64,
    is_in_lobby: bool,
    /// Whether it is there because its client has as many connections as one may have.
    is_beyond_share: bool,
    /// Number of requests without a complete response.
    open: AtomicI32,
    /// Number of these that the server is working on, rather than waiting for the client.
    working: AtomicI32,
    /// Time of the client's last activity.
    used_ms: AtomicU64,
    closing: AtomicBool,
    task: OnceLock<AbortHandle>,
    /// Deadline for the head of the next request.
    head_due: timer::Due,
}

/// The number of connections per client.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) connections_max: usize,
    pub(crate) open: usize,
    /// The clients and their connections, largest number first.
    pub(crate) holders: Vec<(Holder, usize)>,
}

impl Connections {
    /// Creates room for `connections_max` connections, and for `per_address_max` of one client, unless that is 0.
    /// Clients share them if `shared_out` is set, which does not fit behind a proxy. The caller must call
    /// [`Connections::tick`] every `look_every`.
    pub(crate) fn new(
        connections_max: usize,
        per_address_max: usize,
        shared_out: bool,
        look_every: Duration,
    ) -> Arc<Self> {
        let table = ConnectionTable {
            bounds: Bounds::new(connections_max, per_address_max, shared_out),
            open: AHashMap::new(),
            peers: AHashMap::new(),
            lobby: AHashMap::new(),
            next: 0,
        };
        Arc::new(Self { state: Mutex::new(table), began: Instant::now(), now_ms: AtomicU64::new(0), look_every })
    }

    /// Makes room for other numbers of connections than [`Connections::new`] did. Open ones stay.
    pub(crate) fn rebound(&self, connections_max: usize, per_address_max: usize, shared_out: bool) {
        self.lock().bounds = Bounds::new(connections_max, per_address_max, shared_out);
    }

    /// Admits a connection of `client`, closing another if need be; it gets a place in the lobby if none can be closed.
    /// `is_proxy` says that it comes from a proxy, which stands for many.
    pub(crate) fn enter(self: &Arc<Self>, client: &peer::Peer, is_proxy: bool) -> Arc<Connection> {
        let now = self.look();
        let mut state = self.lock();
        let holder = client.holder();
        let known = state.peers.get(&holder).cloned();
        let peer = known.unwrap_or_else(|| Arc::new(Peer { holder, open: AtomicUsize::new(0) }));
        // The loopback address stands for many programs, so it is not limited like a client.
        let Bounds { connections_max, of_one_max } = state.bounds;
        let own_max = of_one_max.filter(|_| !is_proxy && !client.is_many()).map_or(usize::MAX, NonZeroUsize::get);
        let has_enough = peer.open.load(Ordering::Relaxed) >= own_max;
        let mut gone = None;
        let is_in_lobby = if has_enough || state.open.len() >= connections_max {
            gone = state.yielding(now, |other| !has_enough || Arc::ptr_eq(&other.peer, &peer));
            gone.is_none()
        } else {
            false
        };
        state.next += 1;
        let number = state.next;
        let connection = Arc::new(Connection {
            peer,
            all: Arc::clone(self),
            number,
            is_in_lobby,
            is_beyond_share: is_in_lobby && has_enough,
            open: AtomicI32::new(0),
            working: AtomicI32::new(0),
            used_ms: AtomicU64::new(now),
            closing: AtomicBool::new(false),
            task: OnceLock::new(),
            head_due: timer::Due::default(),
        });
        if is_in_lobby {
            if state.lobby.len() >= LOBBY_MAX
                && let Some(oldest) = state.lobby.keys().min().copied()
            {
                gone = state.lobby.remove(&oldest);
            }
            state.lobby.insert(number, Arc::clone(&connection));
        } else {
            connection.peer.open.fetch_add(1, Ordering::Relaxed);
            state.peers.insert(connection.peer.holder.clone(), Arc::clone(&connection.peer));
            state.open.insert(number, Arc::clone(&connection));
        }
        drop(state);
        if let Some(gone) = gone {
            gone.close();
        }
        connection
    }

    /// Closes a connection that waits for its client, because the system has no room for another; returns whether there
    /// was one.
    pub(crate) fn make_room(&self) -> bool {
        let now = self.look();
        let gone = self.lock().yielding(now, |_| true);
        gone.inspect(|gone| gone.close()).is_some()
    }

    /// Reads the clock and stores the time, so that requests need not read it.
    pub(crate) fn look(&self) -> u64 {
        let now = self.ms_at(Instant::now());
        self.now_ms.store(now, Ordering::Release);
        now
    }

    /// Reads the clock and wakes the connections whose deadline for a request head has passed.
    pub(crate) fn tick(&self) {
        let now = self.look();
        let state = self.lock();
        let all = state.open.values().chain(state.lobby.values());
        let over: Vec<_> = all.filter(|connection| connection.head_due.is_over(now)).cloned().collect();
        drop(state);
        over.iter().for_each(|connection| connection.head_due.wake());
    }

    /// Returns the time of the last look at the clock.
    fn seen(&self) -> Instant {
        self.began + Duration::from_millis(self.now_ms.load(Ordering::Relaxed))
    }

    fn ms_at(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.began).as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the number of connections per client.
    pub(crate) fn counted(&self) -> Counted {
        let state = self.lock();
        let (open, connections_max) = (state.open.len(), state.bounds.connections_max);
        let count = |peer: &Arc<Peer>| (peer.holder.clone(), peer.open.load(Ordering::Relaxed));
        let mut holders: Vec<_> = state.peers.values().map(count).collect();
        drop(state);
        holders.sort_by_key(|(_, open)| std::cmp::Reverse(*open));
        Counted { connections_max, open, holders }
    }

    fn leave(&self, connection: &Connection) {
        let mut state = self.lock();
        state.remove(connection.number);
        state.lobby.remove(&connection.number);
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    /// Removes the connection that should yield first, among those that `may` yield: one of the client with the most
    /// connections, preferably one without a request in progress, and of these the one that has been inactive for
    /// longest.
    fn yielding(&mut self, now: u64, may: impl Fn(&Connection) -> bool) -> Option<Arc<Connection>> {
        loop {
            let rank = |connection: &Arc<Connection>| {
                let in_request = connection.open.load(Ordering::SeqCst) > 0;
                let used = connection.used_ms.load(Ordering::Relaxed);
                let is_idle = now.saturating_sub(used) >= CONNECTION_YIELD_MS;
                let waits = connection.working.load(Ordering::SeqCst) <= 0;
                let most = std::cmp::Reverse(connection.peer.open.load(Ordering::Relaxed));
                (may(connection) && waits && (!in_request || is_idle)).then_some((most, in_request, used))
            };
            let ranked = self.open.values().filter_map(|connection| Some((rank(connection)?, connection.number)));
            let (_, number) = ranked.min()?;
            let chosen = Arc::clone(self.open.get(&number)?);
            chosen.closing.store(true, Ordering::SeqCst);
            if chosen.working.load(Ordering::SeqCst) <= 0 {
                self.remove(number);
                return Some(chosen);
            }
            // A request arrived in between.
            chosen.closing.store(false, Ordering::SeqCst);
        }
    }

    fn remove(&mut self, number: u64) {
        if let Some(gone) = self.open.remove(&number)
            && gone.peer.open.fetch_sub(1, Ordering::Relaxed) == 1
        {
            self.peers.remove(&gone.peer.holder);
        }
    }
}

impl Connection {
    /// Returns whether the connection is in the lobby, where hardly anything is answered.
    pub(crate) fn is_in_lobby(&self) -> bool {
        self.is_in_lobby
    }

    /// Returns whether it is there because its client has as many connections as one may have.
    pub(crate) fn is_beyond_share(&self) -> bool {
        self.is_beyond_share
    }

    /// Returns whether the connection is about to be closed, so that no request may begin.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Records activity of the client, without reading the clock.
    pub(crate) fn used(&self) {
        self.used_ms.store(self.all.now_ms.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Sets the task that serves the connection.
    pub(crate) fn is_served_by(&self, task: AbortHandle) {
        // Set only once, by the code that spawned the task.
        let _ = self.task.set(task);
        // If it was closed before, there was no task to abort.
        if self.is_closing() {
            self.close();
        }
    }

    /// Returns the client to which work on this connection is charged.
    pub(crate) fn holder(&self) -> &Holder {
        &self.peer.holder
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }

    fn works(&self, by: i32) {
        self.working.fetch_add(by, Ordering::SeqCst);
        self.used();
    }
}

/// Holds the place of a connection until dropped.
#[derive(Debug)]
pub(crate) struct Seat(pub(crate) Arc<Connection>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.all.leave(&self.0);
    }
}

/// A request that is being answered.
pub(crate) struct Turn {
    connection: Arc<Connection>,
    works: bool,
}

impl Turn {
    /// Begins a request on `connection`, with the server working on it.
    pub(crate) fn begin(connection: &Arc<Connection>) -> Self {
        connection.open.fetch_add(1, Ordering::SeqCst);
        connection.works(1);
        Self { connection: Arc::clone(connection), works: true }
    }

    /// Returns the connection that the request came from.
    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// Records that the server is working again.
    pub(crate) fn work(&mut self) {
        if !std::mem::replace(&mut self.works, true) {
            self.connection.works(1);
        }
    }

    /// Records that the server has sent what it has, and is waiting for the client.
    pub(crate) fn wait(&mut self) {
        if std::mem::take(&mut self.works) {
            self.connection.works(-1);
        } else {
            self.connection.used();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.wait();
        self.connection.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Turn(works: {})", self.works)
    }
}

/// Marks a request as waiting for its client in the middle, until dropped.
#[derive(Debug)]
pub(crate) struct BodyWait {
    connection: Arc<Connection>,
    is_set: bool,
}

impl BodyWait {
    pub(crate) fn of(connection: &Arc<Connection>) -> Self {
        Self { connection: Arc::clone(connection), is_set: false }
    }

    /// Returns the client to which its uploads are charged.
    pub(crate) fn holder(&self) -> &Holder {
        self.connection.holder()
    }

    pub(crate) fn set(&mut self, waits: bool) {
        if std::mem::replace(&mut self.is_set, waits) != waits {
            self.connection.works(if waits { -1 } else { 1 });
        }
    }
}

impl Drop for BodyWait {
    fn drop(&mut self) {
        self.set(false);
    }
}

/// Returns the interval at which to read the clock, given the timeout for a request head.
pub(crate) fn look_every(head_ms_max: u64) -> Duration {
    Duration::from_millis((head_ms_max / 4).clamp(10, 500))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::{BodyWait, Connections, Seat, Turn};
    use crate::peer::Peer;

    const LOOK: std::time::Duration = std::time::Duration::from_millis(500);

    fn address(last: u8) -> Peer {
        Peer::at(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn one_client_leaves_a_quarter() {
        let all = Connections::new(8, 0, true, LOOK);
        let seats: Vec<_> = (0..6).map(|_| Seat(all.enter(&address(1), false))).collect();
        let turns: Vec<_> = seats.iter().map(|seat| Turn::begin(&seat.0)).collect();
        assert!(all.enter(&address(1), false).is_in_lobby(), "its share is used up, and all of it works");
        assert!(!all.enter(&address(2), false).is_in_lobby());
        drop(turns);
        let seventh = all.enter(&address(1), false);
        assert!(!seventh.is_in_lobby(), "one of its own went");
        assert_eq!(seats.iter().filter(|seat| seat.0.is_closing()).count(), 1);
        assert_eq!(all.counted().holders[0].1, 6);
    }

    #[test]
    fn who_waits_yields_and_who_works_does_not() {
        let all = Connections::new(3, 0, true, LOOK);
        let works = Seat(all.enter(&Peer::at(IpAddr::from([127, 0, 0, 1])), false));
        let _turn = Turn::begin(&works.0);
        let idle = Seat(all.enter(&address(1), false));
        let sends = Seat(all.enter(&address(2), false));
        let _sending = Turn::begin(&sends.0);
        let mut waiting = BodyWait::of(&sends.0);
        waiting.set(true);
        let next = Seat(all.enter(&address(3), false));
        assert!(!next.0.is_in_lobby() && idle.0.is_closing(), "who has no request goes first");
        let _next_turn = Turn::begin(&next.0);
        assert!(all.enter(&address(4), false).is_in_lobby(), "a body may pause for a moment");
        std::thread::sleep(std::time::Duration::from_millis(super::CONNECTION_YIELD_MS + 10));
        assert!(!all.enter(&address(4), false).is_in_lobby() && sends.0.is_closing());
        assert!(!works.0.is_closing() && !next.0.is_closing());
    }

    #[test]
    fn the_lobby_is_bounded() {
        let all = Connections::new(1, 0, true, LOOK);
        let seat = Seat(all.enter(&address(1), false));
        let _turn = Turn::begin(&seat.0);
        let lobby: Vec<_> = (0..=super::LOBBY_MAX).map(|_| Seat(all.enter(&address(2), false))).collect();
        assert!(lobby[0].0.is_closing() && lobby[1..].iter().all(|seat| !seat.0.is_closing()));
        drop((lobby, seat));
        assert_eq!((all.counted().open, all.lock().peers.len()), (0, 0));
    }

    #[test]
    fn an_address_has_a_limit_of_its_own() {
        let all = Connections::new(100, 2, true, LOOK);
        let seats: Vec<_> = (0..2).map(|_| Seat(all.enter(&address(1), false))).collect();
        let turns: Vec<_> = seats.iter().map(|seat| Turn::begin(&seat.0)).collect();
        let beyond = Seat(all.enter(&address(1), false));
        assert!(beyond.0.is_in_lobby() && beyond.0.is_beyond_share());
        // Others are not concerned, nor are those who stand for many.
        let local = Peer::at(IpAddr::from([127, 0, 0, 1]));
        let others: Vec<_> = (0..3)
            .flat_map(|_| {
                [all.enter(&address(2), true), all.enter(&local, false), all.enter(&Peer::local(None), false)]
            })
            .map(Seat)
            .collect();
        assert!(others.iter().all(|seat| !seat.0.is_in_lobby() && !seat.0.is_closing()));
        let user: Vec<_> = (0..3).map(|_| Seat(all.enter(&Peer::local(Some(7)), false))).collect();
        assert!(user[0].0.is_closing() && !user[2].0.is_in_lobby(), "one of its own went");
        drop(turns);
        assert!(!all.enter(&address(1), false).is_in_lobby());
        assert_eq!(seats.iter().filter(|seat| seat.0.is_closing()).count(), 1);
    }
}
