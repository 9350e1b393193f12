//! Batching of calls of a vectorized function while they wait for a worker: the first whose turn comes takes the
//! compatible ones along, as one call over columns in which each is a row.
//!
//! Each call waits in the pool's queue on its own, with the limits of any call, and is never delayed to wait for
//! others: a call whose turn comes at once runs alone. When a combined call fails, each of its calls is repeated alone,
//! so that the fault of one does not affect the others.

mod compatibility;

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ahash::AHashMap;
use bytes::Bytes;
use futures::future::{Either, join_all, select};
use salver_model::Result;
use salver_model::functions::{Answer, Call};
use salver_model::limits::{FUNCTION_GATHERED_BYTES_MAX, FUNCTION_GATHERED_ROWS_MAX};
use salver_model::spec::FunctionSpec;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub(super) use self::compatibility::CallSignature;
use super::answer::{Question, Time, failed};
use super::{FunctionFile, errors};
use crate::pool::{PoolRefusal, WorkerLease};
use crate::process::CallEnd;
use crate::wire::answer::First;
use crate::wire::combined_calls::{Said, answer};

/// Waiting calls of one file.
#[derive(Debug, Default)]
pub(super) struct Gather {
    waiting: Mutex<AHashMap<CallSignature, VecDeque<WaitingCall>>>,
    /// Number of calls so far.
    came: AtomicU64,
}

/// Waiting call.
#[derive(Debug)]
struct WaitingCall {
    number: u64,
    call: Call,
    /// Receives the channel of the outcome when another call takes this one along.
    taken: oneshot::Sender<Outcomes>,
}

type Outcomes = oneshot::Receiver<CombinedOutcome>;

/// Outcome of a combined call.
#[derive(Debug)]
enum CombinedOutcome {
    Value(Bytes),
    /// None: the call has to run alone.
    Again(Box<Call>),
}

/// Result of waiting.
enum WaitResult {
    Alone(WorkerLease, Box<Call>),
    Together(Outcomes),
}

impl Gather {
    fn waiting(&self) -> MutexGuard<'_, AHashMap<CallSignature, VecDeque<WaitingCall>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call among the compatible ones.
    fn enter(&self, alike: CallSignature, call: Call) -> Registration<'_> {
        let (taken, gone) = oneshot::channel();
        let mut waiting = self.waiting();
        // Counted under the lock, so that the numbers are in order.
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        waiting.entry(alike.clone()).or_default().push_back(WaitingCall { number, call, taken });
        drop(waiting);
        Registration { gather: self, alike, number, gone }
    }
}

/// Registration of a waiting call, removed on drop.
struct Registration<'a> {
    gather: &'a Gather,
    alike: CallSignature,
    number: u64,
    /// Notified when another call takes this one along.
    gone: oneshot::Receiver<Outcomes>,
}

impl Registration<'_> {
    /// Takes the call, and those combined with it, in order of arrival. `None`: another call has taken it along.
    fn take(&self) -> Option<(Call, Vec<WaitingCall>)> {
        let mut waiting = self.gather.waiting();
        let alike = waiting.get_mut(&self.alike)?;
        let own = alike.binary_search_by_key(&self.number, |one| one.number).ok()?;
        let own = alike.remove(own)?.call;
        let (mut bytes, mut count) = (own.arguments.len(), 0);
        for other in alike.iter().take(FUNCTION_GATHERED_ROWS_MAX - 1) {
            bytes += other.call.arguments.len();
            if bytes > FUNCTION_GATHERED_BYTES_MAX {
                break;
            }
            count += 1;
        }
        let others = alike.drain(..count).collect();
        if alike.is_empty() {
            waiting.remove(&self.alike);
        }
        Some((own, others))
    }
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        let mut waiting = self.gather.waiting();
        let Some(alike) = waiting.get_mut(&self.alike) else { return };
        let own = alike.binary_search_by_key(&self.number, |one| one.number).ok().and_then(|own| alike.remove(own));
        if alike.is_empty() {
            waiting.remove(&self.alike);
        }
        drop(waiting);
        drop(own);
    }
}

impl FunctionFile {
    /// Runs the call in a worker, alone or combined with others.
    pub(super) async fn gathered(&self, alike: CallSignature, call: Call) -> Result<Answer> {
        let outcomes = match self.turn(alike, call).await? {
            WaitResult::Alone(lease, call) => return self.answer(Question::Row(&call), Some(lease)).await,
            WaitResult::Together(outcomes) => outcomes,
        };
        match outcomes.await {
            Ok(CombinedOutcome::Value(value)) => Ok(answer(value)),
            Ok(CombinedOutcome::Again(call)) => {
                // It was already admitted to the queue, so it is again, however many wait; but it waits no longer than
                // others.
                let lease = timeout(self.spec.wait, self.pool.take(call.holder.as_ref(), true))
                    .await
                    .unwrap_or(Err(PoolRefusal::Late));
                let lease = lease.map_err(|refusal| self.refusal(refusal))?;
                self.answer(Question::Row(&call), Some(lease)).await
            }
            // The runtime of the task has ended.
            Err(_) => Err(errors::ending(&self.spec)),
        }
    }

    /// Waits until it is the call's turn, or that of one that takes it along.
    async fn turn(&self, alike: CallSignature, call: Call) -> Result<WaitResult> {
        let holder = call.holder.clone();
        let mut place = self.gather.enter(alike, call);
        let leased = {
            let turn = pin!(self.pool.take(holder.as_ref(), false));
            match select(&mut place.gone, turn).await {
                Either::Left((gone, _)) => {
                    return gone.map(WaitResult::Together).map_err(|_| errors::ending(&self.spec));
                }
                Either::Right((leased, _)) => leased,
            }
        };
        let lease = match leased {
            Ok(lease) => lease,
            // It may have been taken along at the last moment.
            Err(refusal) => return place.gone.try_recv().map(WaitResult::Together).map_err(|_| self.refusal(refusal)),
        };
        let Some((call, others)) = place.take() else {
            lease.give_back();
            let gone = (&mut place.gone).await;
            return gone.map(WaitResult::Together).map_err(|_| errors::ending(&self.spec));
        };
        let (mut calls, mut outcomes) = (Vec::new(), Vec::new());
        for other in others {
            let (sender, receiver) = oneshot::channel();
            // Its caller may have left at the same moment.
            if other.taken.send(receiver).is_ok() {
                calls.push(other.call);
                outcomes.push(sender);
            }
        }
        if calls.is_empty() {
            return Ok(WaitResult::Alone(lease, Box::new(call)));
        }
        let (sender, receiver) = oneshot::channel();
        calls.push(call);
        outcomes.push(sender);
        // A separate task, so that it continues when this caller leaves.
        tokio::spawn(together(Arc::clone(&self.spec), lease, calls, outcomes));
        Ok(WaitResult::Together(receiver))
    }
}

/// Runs the calls as one, and sends each its outcome. It is cancelled, with the worker, when no caller waits any more.
async fn together(
    spec: Arc<FunctionSpec>,
    lease: WorkerLease,
    calls: Vec<Call>,
    mut outcomes: Vec<oneshot::Sender<CombinedOutcome>>,
) {
    let work = values(&spec, lease, &calls);
    let left = join_all(outcomes.iter_mut().map(oneshot::Sender::closed));
    let values = match select(pin!(work), left).await {
        Either::Left((values, _)) => values,
        Either::Right(_) => return,
    };
    // Sending fails if the caller has left.
    match values {
        Some(values) => outcomes.into_iter().zip(values).for_each(|(outcome, value)| {
            let _ = outcome.send(CombinedOutcome::Value(value));
        }),
        None => outcomes.into_iter().zip(calls).for_each(|(outcome, call)| {
            let _ = outcome.send(CombinedOutcome::Again(Box::new(call)));
        }),
    }
}

/// Returns the results of all calls; `None` if anything went wrong with one of them.
async fn values(spec: &Arc<FunctionSpec>, mut lease: WorkerLease, calls: &[Call]) -> Option<Vec<Bytes>> {
    // From here on, returning without `give_back` kills the process.
    let time = Time::new(spec, None);
    let work = async { lease.worker()?.call_rows(calls).await };
    match time.bound(work).await.inspect_err(|_| lease.condemn()).ok()? {
        Ok(Said::Values(values)) => {
            lease.give_back();
            return Some(values);
        }
        Ok(Said::Other(First::Failed(failure))) => drop(failed(lease, failure)),
        Ok(Said::Other(_)) | Err(CallEnd::Refused(_)) => lease.give_back(),
        Err(CallEnd::Before(_) | CallEnd::During(_)) => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use salver_model::functions::{Call, Endpoint, Interface, Parameter};
    use salver_model::limits::{FUNCTION_GATHERED_BYTES_MAX, FUNCTION_GATHERED_ROWS_MAX};

    use super::{CallSignature, Gather, Registration, WaitingCall};

    /// Registers a call of `f(x)` with this JSON value.
    fn enter<'g>(gather: &'g Gather, value: &str) -> Registration<'g> {
        let parameters = vec![Parameter { name: "x".to_owned(), ..Parameter::default() }];
        let endpoint = Endpoint { gathers: true, parameters, ..Endpoint::default() };
        let interface = Some(Arc::new(Interface { endpoints: vec![endpoint], ..Interface::default() }));
        let arguments = format!("{{\"x\":{value}}}").into();
        let call = Call { endpoint: Some(0), interface, arguments, ..Call::default() };
        gather.enter(CallSignature::of(&call).unwrap(), call)
    }

    fn texts(taken: Option<(Call, Vec<WaitingCall>)>) -> Option<Vec<String>> {
        let (own, others) = taken?;
        let calls = std::iter::once(own).chain(others.into_iter().map(|other| other.call));
        Some(calls.map(|call| String::from_utf8(call.arguments.to_vec()).unwrap()).collect())
    }

    fn expected(values: &[&str]) -> Option<Vec<String>> {
        Some(values.iter().map(|value| format!("{{\"x\":{value}}}")).collect())
    }

    #[test]
    fn one_takes_those_along_that_are_alike() {
        let gather = Gather::default();
        let [first, text, second, left, third] = ["1", "\"a\"", "2", "3", "4"].map(|value| enter(&gather, value));
        drop(left);
        assert_eq!(texts(second.take()), expected(&["2", "1", "4"]));
        assert!([&first, &second, &third].iter().all(|place| place.take().is_none()), "they are gone");
        assert_eq!(texts(text.take()), expected(&["\"a\""]));
        let later = enter(&gather, "5");
        drop((first, second, third, text));
        assert_eq!(texts(later.take()), expected(&["5"]), "what is left of others is nothing of it");
        assert!(gather.waiting().is_empty());
    }

    #[test]
    fn whoever_leaves_leaves_nothing() {
        let gather = Gather::default();
        drop([enter(&gather, "1"), enter(&gather, "2"), enter(&gather, "true")]);
        assert!(gather.waiting().is_empty());
    }

    /// Checks that a call takes itself along even if more calls are before it than may be combined.
    #[test]
    fn no_more_go_than_may() {
        let gather = Gather::default();
        let places: Vec<_> =
            (0..FUNCTION_GATHERED_ROWS_MAX + 9).map(|value| enter(&gather, &value.to_string())).collect();
        let taken = texts(places.last().unwrap().take()).unwrap();
        assert_eq!((taken.len(), taken.last().unwrap().as_str()), (FUNCTION_GATHERED_ROWS_MAX, "{\"x\":254}"));
        assert_eq!(texts(places[255].take()).unwrap().len(), 9);
        let long = format!("\"{}\"", "x".repeat(FUNCTION_GATHERED_BYTES_MAX / 3));
        let places = [(); 4].map(|()| enter(&gather, &long));
        assert_eq!(texts(places[0].take()).unwrap().len(), 2);
        assert_eq!(texts(places[3].take()).unwrap().len(), 2);
    }
}
