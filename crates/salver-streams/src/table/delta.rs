//! Publishes the rows of a stream as a table of Delta Lake, which other programs read.
//!
//! `turn` says what is to change, `published` commits it. `table_dir` and `history` are the table's directory and its
//! log, `state` what the log adds up to, `action` and `checkpoint` its words. `rows` reads the log, `columns` and
//! `schema` say what becomes of its columns, `event_file` and `statistics` make a file. `link` tells whose table it is.

mod action;
mod checkpoint;
mod columns;
mod crash;
mod event_file;
mod history;
mod link;
mod published;
mod rows;
mod schema;
mod state;
mod statistics;
mod table_dir;
#[cfg(test)]
mod tests;
mod turn;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use salver_model::spec::PublishedTable;
use salver_model::{Code, Error, Name, Result};
use tokio::task::JoinHandle;

use self::columns::Columns;
use self::crash::CrashPoints;
use self::link::Link;
use self::published::Table;
use self::rows::EventRows;
use self::table_dir::TableDir;
use self::turn::Turn;
use super::layout::Layout;
use super::part_reader::Sidecars;
use crate::event::LiveShape;
use crate::log::Log;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// What is published, and where.
#[derive(Clone, Debug)]
pub(crate) struct Publication {
    table: PublishedTable,
    /// Directory of the log.
    log_dir: PathBuf,
    crash: CrashPoints,
}

impl Publication {
    /// Creates the publication of the log in `log_dir`.
    pub(crate) fn new(table: PublishedTable, log_dir: &Path) -> Self {
        Self { table, log_dir: log_dir.to_owned(), crash: CrashPoints::default() }
    }
}

/// Handle of the running task. The task stops when it is dropped.
#[derive(Debug)]
pub(super) struct Publisher {
    work: Arc<Publishing>,
    task: JoinHandle<()>,
}

/// State of the task.
#[derive(Debug)]
struct Publishing {
    name: Name,
    log: Arc<Log>,
    shape: Arc<LiveShape>,
    sidecars: Arc<Sidecars>,
    publication: Publication,
    link: Link,
    stop: AtomicBool,
    /// Table; `None` when its log must be read first. Locked during a turn.
    table: Mutex<Option<Table>>,
}

impl Publisher {
    /// Starts the task.
    pub(super) fn start(
        name: &Name,
        log: &Arc<Log>,
        shape: &Arc<LiveShape>,
        sidecars: &Arc<Sidecars>,
        publication: Publication,
    ) -> Self {
        let work = Arc::new(Publishing {
            name: name.clone(),
            log: Arc::clone(log),
            shape: Arc::clone(shape),
            sidecars: Arc::clone(sidecars),
            link: Link::of(&publication.log_dir),
            publication,
            stop: AtomicBool::new(false),
            table: Mutex::default(),
        });
        Self { task: tokio::spawn(run(Arc::clone(&work))), work }
    }

    /// Stops the task, and waits until nothing is written any more: another process may own the table then. Blocks for
    /// the time of a batch.
    pub(super) fn stop(&self) {
        self.abort();
        drop(self.work.table.lock());
    }

    fn abort(&self) {
        self.work.stop.store(true, Ordering::SeqCst);
        self.task.abort();
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.abort();
    }
}

async fn run(work: Arc<Publishing>) {
    let every = work.publication.table.every;
    let mut told = None;
    loop {
        let own = Arc::clone(&work);
        match tokio::task::spawn_blocking(move || own.turn()).await {
            Ok(Ok(())) => told = None,
            // The same failure is told once.
            Ok(Err(error)) if told.as_ref() == Some(&error.message) => {}
            Ok(Err(error)) => {
                let hint = error.hint.as_deref();
                tracing::warn!(stream = %work.name, hint, "events are not published: {}", error.message);
                told = Some(error.message);
            }
            Err(error) => {
                tracing::error!(stream = %work.name, %error, "publishing has ended until the next start");
                return;
            }
        }
        tokio::time::sleep(every).await;
    }
}

impl Publishing {
    /// Brings the table up to date. Blocks.
    fn turn(&self) -> Result<()> {
        let mut opened = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::SeqCst) {
            return Ok(());
        }
        // Taken out: after a failure, the log says what the table is.
        let mut table = match opened.take() {
            Some(table) => table,
            None => self.open()?,
        };
        let done = loop {
            match self.step(&mut table) {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(error) => break Err(error),
            }
        };
        if done.is_ok() {
            *opened = Some(table);
        }
        match done {
            Err(_) if self.stop.load(Ordering::SeqCst) => Ok(()),
            done => done,
        }
    }

    /// Brings the table closer to the log; returns whether it is up to date.
    fn step(&self, table: &mut Table) -> Result<bool> {
        // Read in this order, so that the shape covers everything held, and that is durable.
        let durable = self.log.durable_end();
        let held = Arc::new(self.log.hold());
        let layout = Arc::new(Layout::new(self.shape.newest()));
        let columns = Columns::new(&layout);
        if table.state.version.is_none() {
            table.create(&self.link, self.name.as_str(), &columns.json())?;
        }
        let sidecars = Arc::clone(&self.sidecars);
        let rows = EventRows { log: &self.log, held, layout, columns: &columns, sidecars, stop: &self.stop };
        Turn { rows: &rows, durable }.run(table)
    }

    fn open(&self) -> Result<Table> {
        let root = &self.publication.table.dir;
        let dir = TableDir::open(root, self.publication.crash.clone()).map_err(|error| {
            let message = format!("the directory `{}` of a table can't be used: {error}", root.display());
            Error::new(Code::StreamUnavailable, message).with_source(error)
        })?;
        Table::open(dir, &self.link, self.publication.table.keep, self.log.durable_end())
    }
}
