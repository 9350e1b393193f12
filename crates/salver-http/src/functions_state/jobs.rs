//! Jobs: asynchronous calls, kept with their results until these expire.
//!
//! Jobs are kept in memory and lost on a restart. When there is no room, the jobs that are done the longest are
//! evicted; a queued or running job is never evicted.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ahash::AHashMap;
use salver_model::limits::CALLBACKS_MAX;
use salver_model::{Caller, Code, Error, Limits, Result, Share, Shares, seal};
use tokio::sync::{Semaphore, SetOnce};
use tokio::task::AbortHandle;

use crate::idempotency::Kept;
use crate::tokens::Owner;

/// Approximate overhead of a job beside its texts, in bytes.
const JOB_BYTES: u64 = 1_024;

/// Unit in which the memory of jobs is counted, in bytes.
const KIB: u64 = 1_024;

fn no_room() -> Error {
    Error::new(Code::Overloaded, "there is no room for another job")
        .with_hint("try again later, when some are done; `limits` in the settings says how many may be")
}

/// An asynchronous call.
#[derive(Debug)]
pub(crate) struct Job {
    /// The id, which can't be guessed.
    pub(crate) id: String,
    /// The name of the function.
    pub(crate) function: String,
    /// The caller who created it, and the only one who can see it.
    owner: Owner,
    /// The time at which it was created.
    pub(crate) created: SystemTime,
    /// The time at which a worker began with the call.
    pub(crate) begun: Arc<OnceLock<SystemTime>>,
    /// The outcome, once it is done.
    pub(crate) outcome: SetOnce<JobOutcome>,
    /// The callback to notify.
    pub(crate) callback: Option<Callback>,
    /// The bytes of memory that it is counted with.
    bytes: AtomicU64,
    /// The permits it holds of its caller's share.
    place: Mutex<Option<(Share, Share)>>,
    task: OnceLock<AbortHandle>,
}

/// The outcome of a job.
#[derive(Debug)]
pub(crate) struct JobOutcome {
    /// The time at which it was done.
    pub(crate) at: SystemTime,
    /// Whether the response is an error in place of the function's answer.
    pub(crate) is_failure: bool,
    /// The response that a synchronous call would have got.
    pub(crate) answer: Kept,
}

/// The callback that is notified when a job is done.
#[derive(Debug)]
pub(crate) struct Callback {
    /// The URL.
    pub(crate) address: String,
    /// Whether it was delivered; empty while attempts are made.
    pub(crate) told: OnceLock<bool>,
}

impl Job {
    /// Releases its permits.
    fn leave(&self) {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(place);
    }

    /// Sets the task that runs the job, which is aborted with it.
    pub(crate) fn is_done_by(&self, task: AbortHandle) {
        // Set once, when the job is opened.
        let _ = self.task.set(task);
    }
}

/// All jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    slots: Mutex<Slots>,
    /// Permits of queued and running jobs, and of the memory of their requests, in KiB.
    places: [Arc<Shares>; 2],
    jobs_max: usize,
    bytes_max: u64,
    ttl: Duration,
    /// Permits of callbacks in progress.
    pub(crate) callbacks: Semaphore,
}

#[derive(Debug, Default)]
struct Slots {
    by_id: AHashMap<String, Arc<Job>>,
    /// The jobs that are done, oldest first; some may have been removed.
    done: VecDeque<(Instant, String)>,
    bytes: u64,
}

impl Jobs {
    /// Creates the store with the limits of `limits`.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            slots: Mutex::default(),
            places: [
                Shares::new("jobs", limits.jobs_max),
                Shares::new("job memory (KiB)", usize::try_from(limits.job_bytes_max / KIB).unwrap_or(usize::MAX / 4)),
            ],
            jobs_max: limits.jobs_max,
            bytes_max: limits.job_bytes_max,
            ttl: Duration::from_millis(limits.job_ttl_ms),
            callbacks: Semaphore::new(CALLBACKS_MAX),
        }
    }

    /// Creates a job of `caller`, whose request has this number of `bytes`.
    ///
    /// # Errors
    /// `Overloaded` when there is no room.
    pub(crate) fn open(
        &self,
        function: String,
        caller: &Caller,
        callback: Option<Callback>,
        bytes: usize,
    ) -> Result<Arc<Job>> {
        let bytes = JOB_BYTES + bytes as u64;
        let holder = caller.holder();
        let [jobs, memory] = &self.places;
        let kib = usize::try_from(bytes.div_ceil(KIB)).unwrap_or(usize::MAX);
        // Counts queued and running jobs only, since finished ones are evicted.
        let place = jobs.try_take(&holder).zip(memory.try_take_many(&holder, kib)).ok_or_else(no_room)?;
        let job = Arc::new(Job {
            id: new_id()?,
            function,
            owner: Owner::of(caller),
            created: SystemTime::now(),
            begun: Arc::default(),
            outcome: SetOnce::new(),
            callback,
            bytes: AtomicU64::new(bytes),
            place: Mutex::new(Some(place)),
            task: OnceLock::new(),
        });
        let mut slots = self.lock();
        let is_full = |slots: &Slots| slots.by_id.len() >= self.jobs_max || slots.bytes + bytes > self.bytes_max;
        while is_full(&slots) {
            if bytes > self.bytes_max || !slots.forget_oldest() {
                return Err(no_room());
            }
        }
        slots.bytes += bytes;
        slots.by_id.insert(job.id.clone(), Arc::clone(&job));
        Ok(job)
    }

    /// Returns the permits of jobs, and of their memory.
    pub(crate) fn places(&self) -> &[Arc<Shares>] {
        &self.places
    }

    /// Records the outcome of a job.
    pub(crate) fn finish(&self, job: &Job, outcome: JobOutcome) {
        job.leave();
        let bytes = JOB_BYTES + outcome.answer.bytes() as u64;
        let mut slots = self.lock();
        if !slots.by_id.contains_key(&job.id) {
            return;
        }
        slots.bytes = slots.bytes + bytes - job.bytes.swap(bytes, Ordering::Relaxed);
        while slots.bytes > self.bytes_max && slots.forget_oldest() {}
        slots.done.push_back((Instant::now(), job.id.clone()));
        drop(slots);
        // A job is finished only once.
        let _ = job.outcome.set(outcome);
    }

    /// Returns the job `id`, if it belongs to `caller`.
    ///
    /// # Errors
    /// `NotFound`, also for the jobs of other callers, so that their existence is not revealed.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Result<Arc<Job>> {
        let (slots, owner) = (self.lock(), Owner::of(caller));
        let found = slots.by_id.get(id).filter(|job| job.owner == owner);
        found.cloned().ok_or_else(|| {
            Error::new(Code::NotFound, "there is no such job")
                .with_hint("jobs are forgotten some time after they are done, and when the server is restarted")
        })
    }

    /// Removes a job, and aborts it if it is queued or running.
    pub(crate) fn remove(&self, job: &Job) {
        self.lock().remove(&job.id);
        job.leave();
        if let Some(task) = job.task.get() {
            task.abort();
        }
    }

    /// Locks the store, and removes expired jobs.
    fn lock(&self) -> MutexGuard<'_, Slots> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, id)) = slots.done.pop_front_if(|(since, _)| since.elapsed() >= self.ttl) {
            slots.remove(&id);
        }
        slots
    }
}

/// Returns a random UUID (RFC 9562, version 4).
fn new_id() -> Result<String> {
    let mut bytes: [u8; 16] = seal::random()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        // Writing to a string never fails.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

impl Slots {
    /// Evicts the job that is done the longest; `false` when none is done.
    fn forget_oldest(&mut self) -> bool {
        while let Some((_, id)) = self.done.pop_front() {
            if self.remove(&id) {
                return true;
            }
        }
        false
    }

    fn remove(&mut self, id: &str) -> bool {
        let removed = self.by_id.remove(id);
        self.bytes -= removed.as_ref().map_or(0, |job| job.bytes.load(Ordering::Relaxed));
        removed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use bytes::Bytes;
    use http::StatusCode;
    use salver_model::{Caller, Code, Limits, Principal};

    use super::{Job, JobOutcome, Jobs};
    use crate::body::Body;
    use crate::idempotency::Kept;

    fn jobs(set: impl FnOnce(&mut Limits)) -> Jobs {
        let mut limits = Limits::default();
        set(&mut limits);
        Jobs::new(&limits)
    }

    fn caller(user: &str) -> Caller {
        Caller::from(Principal { attributes: vec![("user".to_owned(), user.to_owned())], ..Principal::default() })
    }

    fn open(jobs: &Jobs, bytes: usize) -> salver_model::Result<Arc<Job>> {
        jobs.open("f".to_owned(), &caller("a"), None, bytes)
    }

    fn finish(jobs: &Jobs, job: &Job, bytes: usize) {
        let answer = Kept::of(&crate::exit::reply(StatusCode::OK, Body::Full(Bytes::from(vec![0; bytes])))).unwrap();
        jobs.finish(job, JobOutcome { at: SystemTime::now(), is_failure: false, answer });
    }

    fn is_there(jobs: &Jobs, job: &Job) -> bool {
        jobs.find(&job.id, &caller("a")).is_ok()
    }

    #[test]
    fn only_who_asked_sees_it() {
        let jobs = jobs(|_| {});
        let (one, other) = (open(&jobs, 0).unwrap(), open(&jobs, 0).unwrap());
        assert_eq!((one.id.len(), &one.id[14..15]), (36, "4"));
        assert_ne!(one.id, other.id);
        assert!(is_there(&jobs, &one));
        assert_eq!(jobs.find(&one.id, &caller("b")).unwrap_err().code, Code::NotFound);
        assert_eq!(jobs.find(&one.id, &Caller::default()).unwrap_err().code, Code::NotFound);
        jobs.remove(&one);
        assert!(!is_there(&jobs, &one) && is_there(&jobs, &other));
    }

    #[test]
    fn what_is_done_makes_room() {
        let jobs = jobs(|limits| limits.jobs_max = 2);
        let (first, second) = (open(&jobs, 0).unwrap(), open(&jobs, 0).unwrap());
        assert_eq!(open(&jobs, 0).unwrap_err().code, Code::Overloaded);
        finish(&jobs, &second, 10);
        let third = open(&jobs, 0).unwrap();
        assert!(is_there(&jobs, &first) && is_there(&jobs, &third) && !is_there(&jobs, &second));
    }

    #[test]
    fn memory_is_bounded() {
        let jobs = jobs(|limits| limits.job_bytes_max = 100_000);
        assert_eq!(open(&jobs, 100_000).unwrap_err().code, Code::Overloaded);
        let large: Vec<_> = (0..3).map(|_| open(&jobs, 0).unwrap()).collect();
        for job in &large {
            finish(&jobs, job, 40_000);
        }
        assert!(!is_there(&jobs, &large[0]) && is_there(&jobs, &large[1]) && is_there(&jobs, &large[2]));
        let asked = open(&jobs, 50_000).unwrap();
        assert!(!is_there(&jobs, &large[1]) && is_there(&jobs, &large[2]));
        jobs.remove(&asked);
        jobs.remove(&large[2]);
        assert_eq!(jobs.lock().bytes, 0);
    }

    #[test]
    fn time_is_over_some_time() {
        let jobs = jobs(|limits| limits.job_ttl_ms = 0);
        let job = open(&jobs, 0).unwrap();
        assert!(is_there(&jobs, &job), "it is not done");
        finish(&jobs, &job, 0);
        assert!(!is_there(&jobs, &job));
    }
}
