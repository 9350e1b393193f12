//! The engine's threads. They are few, and all queries share them. When work that can't be interrupted blocks some of
//! them, a new set of threads replaces them, so that this costs threads and not availability.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use salver_model::limits::ENGINE_LANES_MAX;
use salver_model::{Code, Error, Result};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::time_slice::{EngineThreads, SlicedTask};

/// Stack size of the engine's threads, in bytes: statements are planned there, and their trees are walked recursively.
pub(crate) const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Time for which a task of [`Lanes::on_each_idle`] keeps its thread.
const SEATED_FOR: Duration = Duration::from_millis(2);

/// Sets of threads, of which one takes new tasks.
#[derive(Debug)]
pub(super) struct Lanes {
    threads: usize,
    /// `None` after the engine has been shut down.
    lanes: Mutex<Option<Vec<Lane>>>,
}

#[derive(Debug)]
struct Lane {
    runtime: Runtime,
    seats: EngineThreads,
}

impl Lane {
    fn start(threads: usize) -> Result<Self> {
        let seats = EngineThreads::default();
        let theirs = seats.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("salver-engine")
            .thread_stack_size(STACK_BYTES)
            .on_thread_start(move || theirs.sit())
            .enable_all()
            .build()
            .map_err(|error| Error::internal("can't start the engine's threads").with_source(error))?;
        Ok(Self { runtime, seats })
    }

    fn is_idle(&self) -> bool {
        self.seats.stuck() == 0 && self.runtime.metrics().num_alive_tasks() == 0
    }
}

impl Lanes {
    /// Starts the threads.
    pub(super) fn start(threads: usize) -> Result<Self> {
        Ok(Self { threads, lanes: Mutex::new(Some(vec![Lane::start(threads)?])) })
    }

    /// Spawns a task.
    ///
    /// # Errors
    /// `Overloaded` when all allowed threads are blocked by work that can't be interrupted.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        self.with_lane(|lane| lane.runtime.spawn(SlicedTask::of(work)))
    }

    /// Spawns work that may block its thread.
    ///
    /// # Errors
    /// As [`Lanes::spawn`].
    pub(super) fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        self.with_lane(|lane| lane.runtime.spawn_blocking(work))
    }

    /// Ends threads that are no longer needed, and has every other do `work` if all of its set are idle: a task sits on
    /// its thread for a moment, so that another thread takes the next one.
    pub(super) fn on_each_idle(&self, work: fn()) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lanes) = lanes.as_mut() else { return };
        Self::retire(lanes);
        for lane in lanes.iter().filter(|lane| lane.is_idle()) {
            for _ in 0..self.threads {
                lane.runtime.spawn(async move {
                    work();
                    std::thread::sleep(SEATED_FOR);
                });
            }
        }
    }

    /// Ends all threads without waiting for them.
    pub(super) fn shut_down(&self) {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last reference may be dropped in a task of another runtime, where blocking is not allowed.
        lanes.into_iter().flatten().for_each(|lane| lane.runtime.shutdown_background());
    }

    fn with_lane<T>(&self, start: impl FnOnce(&Lane) -> T) -> Result<T> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes = lanes.as_mut().ok_or_else(|| Error::internal("the engine has been shut down"))?;
        Self::retire(lanes);
        let free = lanes.iter().position(|lane| lane.seats.stuck() == 0);
        let chosen = match free {
            Some(free) => free,
            None if lanes.len() < ENGINE_LANES_MAX => {
                tracing::warn!(
                    lanes = lanes.len() + 1,
                    "a query holds a thread of the engine and can't be interrupted; others take its place"
                );
                lanes.push(Lane::start(self.threads)?);
                lanes.len() - 1
            }
            None => lanes.iter().position(|lane| lane.seats.stuck() < self.threads).ok_or_else(Self::overloaded)?,
        };
        lanes.get(chosen).map(start).ok_or_else(|| Error::internal("the engine has no threads"))
    }

    /// Ends additional sets of threads that are no longer needed.
    fn retire(lanes: &mut Vec<Lane>) {
        while lanes.len() > 1 && lanes[0].seats.stuck() == 0 {
            let Some(idle) = lanes.iter().skip(1).position(Lane::is_idle) else { break };
            lanes.remove(idle + 1).runtime.shutdown_background();
        }
    }

    fn overloaded() -> Error {
        Error::new(Code::Overloaded, "all threads for queries are held by queries that can't be interrupted")
            .with_hint("try again in a few seconds")
    }
}
