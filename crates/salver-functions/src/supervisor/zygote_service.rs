//! Serves a zygote that has loaded its file, and accepts the workers it forks.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use salver_model::limits::FUNCTION_FORK_MS_MAX;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::start::Started;
use crate::pool::Pool;
use crate::process::{Order, Worker, WorkerSocket, Zygote, is_member, kill_member};
use crate::wire::answer;
use crate::wire::frame::Input;

/// Longest time from the order to fork a worker to its connection.
const FORK_PATIENCE: Duration = Duration::from_millis(FUNCTION_FORK_MS_MAX);
/// Largest hello frame of a worker.
const HELLO_BYTES: usize = 64;

/// Worker that has said hello: its connection, its read buffer, and its process id.
type Hello = (WorkerSocket, Input, u32);

pub(super) struct Attendant {
    number: u64,
    zygote: Weak<Zygote>,
    pool: Arc<Pool>,
    orders: UnboundedReceiver<Order>,
    /// Deadlines of the workers that were ordered.
    due: VecDeque<Instant>,
    hellos: JoinSet<io::Result<Hello>>,
    is_alive: bool,
}

impl Attendant {
    pub(super) fn new(zygote: &Arc<Zygote>, pool: Arc<Pool>, orders: UnboundedReceiver<Order>) -> Self {
        let (number, zygote) = (zygote.number, Arc::downgrade(zygote));
        Self { number, zygote, pool, orders, due: VecDeque::new(), hellos: JoinSet::new(), is_alive: true }
    }

    /// Runs until the zygote is no longer referenced. When it ends by itself, its busy workers may still finish their
    /// calls.
    pub(super) async fn attend(mut self, started: &mut Started) {
        loop {
            let due = self.due.front().copied();
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order, started),
                    None => return,
                },
                // Accept only as many connections as workers were ordered.
                accepted = started.listener.accept(), if self.due.len() > self.hellos.len() => {
                    if let Ok((stream, _)) = accepted {
                        self.hellos.spawn(hello(stream, started.pid));
                    }
                }
                Some(said) = self.hellos.join_next() => self.welcome(said),
                () = ended(&mut started.control), if self.is_alive => self.fell(),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.miss(),
            }
        }
    }

    fn obey(&mut self, order: Order, started: &Started) {
        let (kind, number) = match order {
            Order::Fork(count) => (b'F', u32::try_from(count).unwrap_or(u32::MAX)),
            Order::Kill(pid) => (b'K', pid),
        };
        if let Order::Fork(count) = order {
            let due = Instant::now() + FORK_PATIENCE;
            self.due.extend(std::iter::repeat_n(due, count));
        } else if !self.is_alive {
            return kill_member(number, started.pid);
        }
        let mut frame = [5, 0, 0, 0, kind, 0, 0, 0, 0];
        frame[5..].copy_from_slice(&number.to_le_bytes());
        // A zygote with a full control channel has stopped working.
        let is_told = matches!(started.control.try_write(&frame), Ok(count) if count == frame.len());
        if self.is_alive && !is_told {
            kill_member(started.pid, started.pid);
            self.fell();
            self.obey(order, started);
        }
    }

    fn welcome(&mut self, said: Result<io::Result<Hello>, JoinError>) {
        match said {
            Ok(Ok((line, input, pid))) => {
                self.due.pop_front();
                if let Some(zygote) = self.zygote.upgrade() {
                    self.pool.arrived(Worker::new(line, input, pid, zygote));
                }
            }
            // The worker counts as missing after its deadline.
            Ok(Err(error)) => tracing::debug!(target: "function", %error, "a worker did not say hello"),
            Err(error) => tracing::debug!(target: "function", %error, "a worker was not received"),
        }
    }

    fn miss(&mut self) {
        let now = Instant::now();
        let count = self.due.partition_point(|due| *due <= now);
        self.due.drain(..count);
        self.pool.missing(self.number, count);
    }

    fn fell(&mut self) {
        self.is_alive = false;
        self.due.clear();
        self.pool.fell(self.number);
    }
}

/// Reads the hello of a connection, and verifies it: other processes of the same user may know the socket, but can't
/// enter the group, which is a session of its own.
async fn hello(mut stream: UnixStream, group: u32) -> io::Result<Hello> {
    let mut input = Input::default();
    let (kind, frame) = timeout(FORK_PATIENCE, input.frame(&mut stream, HELLO_BYTES)).await??;
    let pid = answer::hello(kind, &frame)?;
    let peer = stream.peer_cred()?.pid();
    if peer.and_then(|peer| u32::try_from(peer).ok()) != Some(pid) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("process {peer:?} says it is {pid}")));
    }
    if !is_member(pid, group) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("process {pid} was not forked for this")));
    }
    Ok((WorkerSocket::new(stream)?, input, pid))
}

/// Waits for the end of the control channel, on which a zygote sends nothing after its offer.
async fn ended(control: &mut UnixStream) {
    let mut room = [0; 64];
    while let Ok(1..) = control.read(&mut room).await {}
}
