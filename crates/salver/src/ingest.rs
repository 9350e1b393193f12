//! `salver ingest`: sends the events of files to a stream of a running server, in batches, each exactly once.

mod batches;
mod csv_events;
mod progress;
mod resume_state;
mod sender;
mod source;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use salver_model::{Code, Error};

use crate::cli::IngestArguments;
use crate::failure::CommandFailure;
use crate::{grouped_digits, output, signals};
use batches::{Batches, EventBatch};
use progress::IngestProgress;
use resume_state::IngestState;
use sender::{Counts, Sender};
use source::EventSource;

/// Number of concurrent senders when the order is free.
const SENDERS_UNORDERED: usize = 4;
/// Number of batches that are read ahead.
const AHEAD: usize = 2;

/// Result of one batch.
struct Sent {
    batch: EventBatch,
    counts: Result<Counts, CommandFailure>,
}

/// Sends the files, one after the other.
pub(crate) fn run(arguments: &IngestArguments) -> Result<(), CommandFailure> {
    let interrupted = signals::interrupted()?;
    let sender = Sender::new(arguments, &interrupted)?;
    let mut total = Counts::default();
    let mut progress = IngestProgress::new();
    for file in &arguments.files {
        let done = one_file(arguments, file, &sender, &mut progress, &interrupted);
        progress.clear();
        total.add(&done?);
    }
    output::out(&summary(&arguments.stream, &total, &progress))
}

/// Sends one file, resuming an earlier run.
fn one_file(
    arguments: &IngestArguments,
    file: &str,
    sender: &Sender,
    progress: &mut IngestProgress,
    interrupted: &AtomicBool,
) -> Result<Counts, CommandFailure> {
    let source = EventSource::find(file)?;
    let mut state = IngestState::begin(arguments, &source)?;
    if state.offset > 0 {
        let events = grouped_digits::thousands(state.counts.there());
        output::note(&format!("{file}: goes on behind {events} events of an earlier run"));
    }
    progress.begin(&source);
    let mut batches = Batches::open(source, arguments.batch_bytes, state.offset, state.next)?;
    let senders = if arguments.unordered { SENDERS_UNORDERED } else { 1 };
    let mut failure = None;
    let has_failed = &AtomicBool::new(false);
    thread::scope(|scope| {
        let (queue, queued) = mpsc::sync_channel::<EventBatch>(AHEAD);
        let (tell, told) = mpsc::channel::<Sent>();
        let queued = Arc::new(Mutex::new(queued));
        for _ in 0..senders {
            let (queued, tell, run) = (Arc::clone(&queued), tell.clone(), state.run.clone());
            scope.spawn(move || {
                send_all(&queued, &tell, |batch| match has_failed.load(Ordering::Acquire) {
                    true => None,
                    false => Some(sender.send(&run, batch)),
                })
            });
        }
        // The threads have their own clones, so the channels close when the last thread ends.
        drop((queued, tell));
        let reader = scope.spawn(move || read_all(&mut batches, &queue, interrupted));
        for sent in told {
            match sent.counts {
                Ok(counts) => {
                    progress.advance(&counts, sent.batch.input_bytes);
                    failure = failure.take().or(state.done(&sent.batch, &counts).err());
                }
                Err(error) => failure = failure.take().or(Some(error)),
            }
            has_failed.store(failure.is_some(), Ordering::Release);
        }
        let read = reader.join().unwrap_or_else(|_| Err(Error::internal("reading ended by itself").into()));
        failure = failure.take().or(read.err());
    });
    progress.clear();
    match failure {
        None if interrupted.load(Ordering::Acquire) => Err(stopped(file, &state)),
        None => state.finish().map(|()| state.counts),
        Some(failure) => {
            let is_refused = matches!(&failure, CommandFailure::Error(error) if error.code == Code::InvalidRequest);
            if is_refused && state.is_new() {
                state.finish()?;
            } else if state.is_kept() {
                output::note(&format!("{file}: the same command goes on from here"));
            }
            Err(failure)
        }
    }
}

/// Queues batches until the end of the file, until the senders stop, or until the user interrupts.
fn read_all(
    batches: &mut Batches,
    queue: &SyncSender<EventBatch>,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    while !interrupted.load(Ordering::Acquire) {
        let Some(batch) = batches.next_batch()? else { break };
        if queue.send(batch).is_err() {
            break;
        }
    }
    Ok(())
}

/// Sends batches until there are no more, or one fails: later ones would be stored before it.
fn send_all(
    queued: &Mutex<Receiver<EventBatch>>,
    tell: &mpsc::Sender<Sent>,
    send: impl Fn(&EventBatch) -> Option<Result<Counts, CommandFailure>>,
) {
    loop {
        let next = queued.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(batch) = next else { return };
        let Some(counts) = send(&batch) else { return };
        let failed = counts.is_err();
        if tell.send(Sent { batch, counts }).is_err() || failed {
            return;
        }
    }
}

fn stopped(file: &str, state: &IngestState) -> CommandFailure {
    let events = grouped_digits::thousands(state.counts.there());
    let how = if state.is_kept() { "; the same command goes on from here" } else { "" };
    output::note(&format!("{file}: interrupted after {events} events{how}"));
    CommandFailure::Told
}

/// Returns the summary for the user.
fn summary(stream: &str, total: &Counts, progress: &IngestProgress) -> String {
    let mut text = format!("{} events in `{stream}`", grouped_digits::thousands(total.there()));
    if total.duplicates > 0 {
        text += &format!(", {} of them were there already", grouped_digits::thousands(total.duplicates));
    }
    if total.quarantined > 0 {
        let why = total.reason.as_deref().map(|why| format!(" (the first: {why})")).unwrap_or_default();
        text += &format!("; {} in its quarantine{why}", grouped_digits::thousands(total.quarantined));
    }
    text + &format!("; {}\n", progress.pace())
}
