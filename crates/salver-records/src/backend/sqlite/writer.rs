//! The writer thread: SQLite has one writer at a time, so there is one here, with a queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use rusqlite::wal::CheckpointMode;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::connections::{Connections, Writer, lock};
use super::fault::{commit_fault, fault, spoils};
use super::job::Job;
use super::program::execute;
use super::{fill, group};

/// Jobs that wait for the writer; further callers wait to enqueue theirs.
const QUEUE_CAPACITY: usize = 4_096;
/// Pages in the log after which they are checkpointed into the file.
const CHECKPOINT_PAGES: u32 = 1_000;

/// The queue of the writer.
pub(super) struct Queue {
    connections: Arc<Connections>,
    ms_max: u64,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Queue {
    pub(super) fn new(connections: Arc<Connections>, ms_max: u64) -> Self {
        Self { connections, ms_max, jobs: Mutex::default() }
    }

    /// Returns the path beside which rows may be spooled; none for a database in memory.
    pub(super) fn beside(&self) -> Option<PathBuf> {
        self.connections.path()
    }

    /// Enqueues a job.
    pub(super) async fn put(&self, job: Job) -> Result<()> {
        if !self.connections.is_writable() {
            return Err(Error::new(
                Code::ReadOnly,
                format!("the database `{}` is served for reading only", self.connections.name),
            )
            .with_hint("set `writable = true` in its entry"));
        }
        self.sender()?.send(job).await.map_err(|_| Error::internal("the writer has ended"))
    }

    /// Returns the sender of the queue; starts the thread when there is none.
    fn sender(&self) -> Result<Sender<Job>> {
        let mut jobs = lock(&self.jobs);
        if let Some(sender) = jobs.as_ref()
            && !sender.is_closed()
        {
            return Ok(sender.clone());
        }
        let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
        let (connections, ms_max) = (Arc::clone(&self.connections), self.ms_max);
        std::thread::Builder::new()
            .name(format!("sqlite {}", connections.name))
            .spawn(move || work(&connections, receiver, ms_max))
            .map_err(|error| Error::internal("the writer's thread can't be started").with_source(error))?;
        Ok(jobs.insert(sender).clone())
    }
}

/// Runs the thread: works until every sender is gone.
fn work(connections: &Connections, mut jobs: Receiver<Job>, ms_max: u64) {
    let mut next = None;
    while let Some(job) = next.take().or_else(|| jobs.blocking_recv()) {
        let mut slot = lock(&connections.writer);
        // Checked for each job: a change of a file that is no longer at its path would be acknowledged and lost.
        connections.look();
        if slot.as_ref().is_some_and(|writer| writer.era.is_over()) {
            *slot = None;
        }
        if slot.is_none() {
            match connections.open_writer() {
                Ok(writer) => *slot = Some(writer),
                Err(error) => {
                    job.refuse(error);
                    continue;
                }
            }
        }
        let Some(writer) = slot.as_mut() else { continue };
        // The caller of a job that panics sees its response channel close.
        let done = catch_unwind(AssertUnwindSafe(|| one(writer, job, &mut jobs, ms_max)));
        let spoiled = match done {
            Ok((following, spoiled)) => {
                next = following;
                spoiled
            }
            Err(_) => true,
        };
        connections.note_log(&writer.era);
        if spoiled || writer.era.is_over() {
            *slot = None;
        } else {
            checkpoint(writer);
        }
    }
}

/// Runs `job`. Returns the job after it, if it took one, and whether the connection is spoiled.
fn one(writer: &mut Writer, job: Job, jobs: &mut Receiver<Job>, ms_max: u64) -> (Option<Job>, bool) {
    match job {
        Job::Program(first) => {
            let ended = group::run(writer, first, jobs, ms_max);
            (ended.next, ended.spoiled)
        }
        Job::Define { statements, answer } => {
            let result = define(writer, &statements, ms_max);
            let spoiled = !writer.connection.is_autocommit();
            let _ = answer.send(result);
            (None, spoiled)
        }
        Job::Load { load, rows, run, answer } => {
            let result = fill::run(writer, &load, rows, run, ms_max);
            let spoiled = !writer.connection.is_autocommit();
            let _ = answer.send(result);
            (None, spoiled)
        }
    }
}

/// Changes the schema, in one transaction.
fn define(writer: &Writer, statements: &[String], ms_max: u64) -> Result<()> {
    let connection = &writer.connection;
    writer.watch.begin(0, 0);
    execute(connection, "BEGIN IMMEDIATE").map_err(fault)?;
    for statement in statements {
        writer.watch.begin(0, ms_max);
        if let Err(error) = connection.execute_batch(statement) {
            let error = writer.watch.explain(error);
            writer.watch.begin(0, 0);
            let _ = execute(connection, "ROLLBACK");
            return Err(error);
        }
    }
    writer.watch.begin(0, 0);
    execute(connection, "COMMIT").map_err(|error| {
        let _ = execute(connection, "ROLLBACK");
        commit_fault(error)
    })
}

/// Checkpoints the log into the file, after the waiting callers were answered.
fn checkpoint(writer: &mut Writer) {
    let pages = writer.log_pages.load(Ordering::Relaxed);
    if pages < writer.log_pages_checked {
        // The log was reset.
        writer.log_pages_checked = 0;
    }
    // A long reader keeps the log from being reset; not each commit after that tries again.
    if pages < writer.log_pages_checked.saturating_add(CHECKPOINT_PAGES) {
        return;
    }
    writer.log_pages_checked = pages;
    writer.watch.begin(0, 0);
    match writer.connection.wal_checkpoint_v2(Some("main"), CheckpointMode::PASSIVE) {
        Ok(_) => {}
        // The log's content is durable; if the disk is failing, the next commit will report it.
        Err(error) => tracing::warn!(%error, spoils = spoils(&error), "the log could not be brought into the database"),
    }
}
