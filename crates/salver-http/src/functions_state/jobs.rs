//! Jobs: calls whose caller does not wait, kept with what they answered until that is fetched too late.
//!
//! They are kept in memory, and not over a restart. When there is no room those go first that are done longest; a job
//! that waits or runs is never forgotten.

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

/// What a job costs beside its texts, in bytes, near enough.
const JOB_BYTES: u64 = 1_024;

/// Bytes of what memory of jobs is counted in.
const KIB: u64 = 1_024;

fn no_room() -> Error {
    Error::new(Code::Overloaded, "there is no room for another job")
        .with_hint("try again later, when some are done; `limits` in the settings says how many may be")
}

/// A call whose caller does not wait.
#[derive(Debug)]
pub(crate) struct Job {
    /// What it is called, which nobody can guess.
    pub(crate) id: String,
    /// What was called, in words.
    pub(crate) function: String,
    /// Who asked; nobody else sees it.
    owner: Owner,
    /// When it was asked for.
    pub(crate) created: SystemTime,
    /// When its call got a worker.
    pub(crate) begun: Arc<OnceLock<SystemTime>>,
    /// What became of it.
    pub(crate) outcome: SetOnce<Outcome>,
    /// Who is told.
    pub(crate) callback: Option<Callback>,
    /// The memory it counts for.
    bytes: AtomicU64,
    /// Its place among those of its caller.
    place: Mutex<Option<(Share, Share)>>,
    task: OnceLock<AbortHandle>,
}

/// What became of a job.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// When it was over.
    pub(crate) at: SystemTime,
    /// There is no answer of the function, but an error in its place.
    pub(crate) is_failure: bool,
    /// What who waits would have been answered.
    pub(crate) answer: Kept,
}

/// Who is told when a job is over.
#[derive(Debug)]
pub(crate) struct Callback {
    /// Where.
    pub(crate) address: String,
    /// Whether that could be done; empty while it is being tried.
    pub(crate) told: OnceLock<bool>,
}

impl Job {
    /// Gives its place to others.
    fn leave(&self) {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(place);
    }

    /// Says what does the work, and ends with the job.
    pub(crate) fn is_done_by(&self, task: AbortHandle) {
        // Set once, by who opened the job.
        let _ = self.task.set(task);
    }
}

/// All jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    slots: Mutex<Slots>,
    /// Places of jobs that wait or run, and the memory they are asked with, in KiB.
    places: [Arc<Shares>; 2],
    jobs_max: usize,
    bytes_max: u64,
    ttl: Duration,
    /// Places of callbacks that are under way.
    pub(crate) callbacks: Semaphore,
}

#[derive(Debug, Default)]
struct Slots {
    by_id: AHashMap<String, Arc<Job>>,
    /// Those that are done, oldest first; some may be gone.
    done: VecDeque<(Instant, String)>,
    bytes: u64,
}

impl Jobs {
    /// Room for jobs within `limits`.
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

    /// A new job of `caller`, asked with so many `bytes`.
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
        // Only what waits or runs: what is done makes room for others.
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

    /// Places of jobs, and of their memory.
    pub(crate) fn places(&self) -> &[Arc<Shares>] {
        &self.places
    }

    /// The job is over.
    pub(crate) fn finish(&self, job: &Job, outcome: Outcome) {
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
        // Nobody else finishes it.
        let _ = job.outcome.set(outcome);
    }

    /// The job called `id`, when it is `caller`'s.
    ///
    /// # Errors
    /// `NotFound`, also for others, who can't tell the two apart.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Result<Arc<Job>> {
        let (slots, owner) = (self.lock(), Owner::of(caller));
        let found = slots.by_id.get(id).filter(|job| job.owner == owner);
        found.cloned().ok_or_else(|| {
            Error::new(Code::NotFound, "there is no such job")
                .with_hint("jobs are forgotten some time after they are done, and when the server is restarted")
        })
    }

    /// Forgets a job; one that waits or runs is ended.
    pub(crate) fn remove(&self, job: &Job) {
        self.lock().remove(&job.id);
        job.leave();
        if let Some(task) = job.task.get() {
            task.abort();
        }
    }

    /// Locked, and without those whose time is over.
    fn lock(&self) -> MutexGuard<'_, Slots> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, id)) = slots.done.pop_front_if(|(since, _)| since.elapsed() >= self.ttl) {
            slots.remove(&id);
        }
        slots
    }
}

/// A random UUID (RFC 9562, version 4).
fn new_id() -> Result<String> {
    let mut bytes: [u8; 16] = seal::random()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        // Writing to a text never fails.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}

impl Slots {
    /// Forgets the job that is done longest; `false` when none is done.
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
    use salver_model::{Caller, Code, Limits};

    use super::{Job, Jobs, Outcome};
    use crate::body::Body;
    use crate::idempotency::Kept;

    fn jobs(set: impl FnOnce(&mut Limits)) -> Jobs {
        let mut limits = Limits::default();
        set(&mut limits);
        Jobs::new(&limits)
    }

    fn caller(user: &str) -> Caller {
        Caller { attributes: vec![("user".to_owned(), user.to_owned())], ..Caller::default() }
    }

    fn open(jobs: &Jobs, bytes: usize) -> salver_model::Result<Arc<Job>> {
        jobs.open("f".to_owned(), &caller("a"), None, bytes)
    }

    fn finish(jobs: &Jobs, job: &Job, bytes: usize) {
        let answer = Kept::of(&crate::exit::reply(StatusCode::OK, Body::Full(Bytes::from(vec![0; bytes])))).unwrap();
        jobs.finish(job, Outcome { at: SystemTime::now(), is_failure: false, answer });
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
