//! Reads: at once on the caller's thread, or on a thread that may block.

use std::sync::Arc;
use std::time::Instant;

use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::connections::Connections;
use super::error_codes;
use super::idle_sweep::sweep;
use super::interrupt::Watch;
use super::read_connection::ReadConnection;
use super::rows::{self, RowsEnd};
use crate::cell::RowSink;
use crate::statement::Read;

/// Longest result of a read on the caller's own thread, in bytes. SQLite counts operations and not bytes, so that few
/// of them may be many milliseconds of copying.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// The run number of a watch that is created for one run.
pub(super) const ONLY_RUN: u64 = 1;

/// Stops a run when its caller is gone.
pub(super) struct StopOnDrop {
    pub(super) watch: Arc<Watch>,
    pub(super) run: u64,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.watch.stop(self.run);
    }
}

/// Runs `work` with a connection of the pool, on a thread that may block; stops it when the future is dropped. A
/// statement in it has `ms_max` from its own beginning.
pub(super) async fn on_reader<R: Send + 'static>(
    connections: &Arc<Connections>,
    ms_max: u64,
    work: impl FnOnce(&mut ReadConnection) -> Result<R, RowsEnd> + Send + 'static,
) -> Result<R> {
    let place = connections.place(ms_max).await?;
    let watch = Arc::new(Watch::new());
    // Stopping a finished run has no effect: its watch is never used again.
    let _stop = StopOnDrop { watch: Arc::clone(&watch), run: ONLY_RUN };
    let connections = Arc::clone(connections);
    let task = tokio::task::spawn_blocking(move || {
        let result = run(&connections, &watch, ms_max, work);
        drop(place);
        result
    });
    task.await.map_err(|error| Error::internal("reading the database broke off").with_source(error))?
}

fn run<R>(
    connections: &Connections,
    watch: &Arc<Watch>,
    ms_max: u64,
    work: impl FnOnce(&mut ReadConnection) -> Result<R, RowsEnd>,
) -> Result<R> {
    if watch.is_stopped(ONLY_RUN) {
        return Err(Error::new(Code::Execution, "the caller is gone"));
    }
    let mut reader = connections.take_reader()?;
    watch.begin(ONLY_RUN, ms_max);
    reader.under(watch)?;
    let result = work(&mut reader);
    let spoiled = matches!(&result, Err(RowsEnd::Sqlite(error)) if error_codes::spoils(error));
    // A read that failed must not leave its transaction open, or the next would see old rows.
    let settled = reader.connection.is_autocommit() || reader.connection.execute_batch("ROLLBACK").is_ok();
    if spoiled {
        drop(reader);
        connections.look();
    } else if settled {
        connections.keep_reader(reader);
    }
    result.map_err(|stop| match stop {
        RowsEnd::Sqlite(error) => watch.explain(error),
        RowsEnd::Own(error) => error,
    })
}

/// Runs `reads` in one transaction, so that they see one snapshot.
pub(super) async fn read<S: RowSink>(
    connections: &Arc<Connections>,
    ms_max: u64,
    reads: Vec<Read>,
    mut sink: S,
    out: Option<Sender<Result<S::Piece>>>,
) -> Result<S> {
    on_reader(connections, ms_max, move |reader| {
        // One statement is a snapshot anyway.
        let together = reads.len() > 1;
        if together {
            reader.connection.prepare_cached("BEGIN")?.raw_execute()?;
        }
        for (index, read) in reads.iter().enumerate() {
            let watch = Arc::clone(&reader.watch);
            watch.begin(ONLY_RUN, ms_max);
            let parts = (&reader.connection, &mut reader.spare);
            match &out {
                None => rows::feed(parts, (index, read), &mut sink, |_| Ok(()))?,
                Some(out) => rows::feed(parts, (index, read), &mut sink, |sink| send(sink, out, &watch))?,
            }
        }
        if together {
            reader.connection.prepare_cached("COMMIT")?.raw_execute()?;
        }
        Ok(sink)
    })
    .await
}

/// Sends the finished pieces.
pub(super) fn send<S: RowSink>(sink: &mut S, out: &Sender<Result<S::Piece>>, watch: &Watch) -> Result<()> {
    let Some(piece) = sink.piece() else { return Ok(()) };
    let gone = || Error::new(Code::Execution, "the caller is gone");
    match out.try_send(Ok(piece)) {
        Ok(()) => Ok(()),
        Err(TrySendError::Closed(_)) => Err(gone()),
        Err(TrySendError::Full(piece)) => {
            let since = Instant::now();
            out.blocking_send(piece).map_err(|_| gone())?;
            watch.extend(since.elapsed());
            Ok(())
        }
    }
}

/// Runs one read on the calling thread; returns `None` when it takes longer, and for every failure of SQLite, which the
/// blocking path meets again and can wait for or report.
pub(super) fn read_at_once<S: RowSink>(
    connections: &Arc<Connections>,
    read: &Read,
    sink: &mut dyn FnMut() -> S,
) -> Option<Result<S>> {
    if connections.long.is_known(read) {
        return None;
    }
    let (mut begins, mut keeps_writers_away, mut is_long) = (false, false, false);
    let answer = connections.on_lane(|reader| {
        reader.watch.begin_at_once();
        let kept = reader.keeps();
        let answer = reader.keeping(|reader| {
            let (answer, was_long) = at_once(reader, read, sink());
            is_long = was_long;
            answer
        });
        begins = reader.keeps() && !kept;
        keeps_writers_away = reader.keeps_writers_away();
        answer
    });
    if begins {
        sweep(connections, keeps_writers_away);
    }
    if is_long {
        connections.long.remember(read);
    }
    answer?
}

/// Returns the result, when it came within the budget, and whether the statement should take the blocking path next
/// time.
fn at_once<S: RowSink>(reader: &mut ReadConnection, read: &Read, mut sink: S) -> (Option<Result<S>>, bool) {
    let mut is_long = false;
    let fed = rows::feed_until((&reader.connection, &mut reader.spare), (0, read), &mut sink, |sink| {
        is_long = sink.held_bytes() > AT_ONCE_BYTES;
        // A single row is complete already.
        Ok((!is_long || read.point) && !sink.full())
    });
    match fed {
        Ok(()) if is_long && !read.point => (None, true),
        Ok(()) => (Some(Ok(sink)), is_long),
        Err(RowsEnd::Own(error)) => (Some(Err(error)), false),
        Err(RowsEnd::Sqlite(error)) => (None, error_codes::is_interrupt(&error)),
    }
}
