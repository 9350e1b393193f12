//! Who gets a worker, and who is told to come back.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use salver_model::Code;
use salver_model::ports::Functions;

use crate::served::{Served, call, stat, text_of, until};

const GATE: &str = "
import os, time

def f(n):
    return n

def pid():
    return os.getpid()

def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.002)
    return os.getpid()
";

#[tokio::test(flavor = "multi_thread")]
async fn many_callers_on_two_workers() {
    let served = Arc::new(Served::python(GATE).await);
    let callers = (0..256).map(|caller| {
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            for round in 0..20 {
                let n = (caller * 1_000 + round).to_string();
                assert_eq!(served.text("f", &format!("{{\"n\": {n}}}")).await.unwrap(), n);
            }
        })
    });
    for caller in join_all(callers).await {
        caller.unwrap();
    }
    let workers = served.file.workers();
    assert_eq!((workers.alive, workers.busy, workers.waiting, workers.lost), (2, 0, 0, 0));
}

#[tokio::test]
async fn the_queue_is_bounded_in_number_and_time() {
    let served = Served::python_with(GATE, |spec| {
        spec.workers_max = 1;
        spec.waiting_max = 2;
        spec.wait = Duration::from_millis(300);
    })
    .await;
    let gate = served.directory().join("open");
    let arguments = format!("{{\"path\": {:?}}}", gate.to_str().unwrap());
    let start = || {
        let (file, call) = (Arc::clone(&served.file), call(&served.file, "wait_for", &arguments).unwrap());
        tokio::spawn(async move { file.call(call).await })
    };
    let first = start();
    until("a busy worker", || served.file.workers().busy == 1).await;
    let waiting = [start(), start()];
    until("two who wait", || served.file.workers().waiting == 2).await;
    let error = served.call("f", r#"{"n": 1}"#).await.unwrap_err();
    assert_eq!(error.code, Code::Overloaded);
    assert!(error.hint.is_some());
    for late in waiting {
        let error = late.await.unwrap().unwrap_err();
        assert_eq!(error.code, Code::Overloaded);
        assert!(error.message.contains("0.3 s"), "{}", error.message);
    }
    assert_eq!(served.file.workers().waiting, 0);
    assert!(served.file.workers().wait >= Duration::from_millis(300));
    std::fs::write(&gate, "").unwrap();
    first.await.unwrap().unwrap();
}

/// A caller who goes away during a wait leaves a place, and nothing else.
#[tokio::test]
async fn callers_who_leave_the_queue() {
    let served = Served::python_with(GATE, |spec| {
        spec.workers_max = 1;
        spec.waiting_max = 8;
    })
    .await;
    let gate = served.directory().join("open");
    let arguments = format!("{{\"path\": {:?}}}", gate.to_str().unwrap());
    let (file, long) = (Arc::clone(&served.file), call(&served.file, "wait_for", &arguments).unwrap());
    let first = tokio::spawn(async move { file.call(long).await });
    until("a busy worker", || served.file.workers().busy == 1).await;
    for _ in 0..100 {
        let (file, call) = (Arc::clone(&served.file), call(&served.file, "f", r#"{"n": 1}"#).unwrap());
        let caller = tokio::spawn(async move { file.call(call).await });
        until("one who waits", || served.file.workers().waiting == 1).await;
        caller.abort();
        until("nobody who waits", || served.file.workers().waiting == 0).await;
    }
    let last = served.text("f", r#"{"n": 7}"#);
    let (_, first, last) = futures::join!(async { std::fs::write(&gate, "").unwrap() }, first, last);
    assert_eq!((text_of(first.unwrap().unwrap()).is_empty(), last.unwrap().as_str()), (false, "7"));
    assert_eq!(served.file.workers().lost, 0);
}

/// A caller who goes away during a call takes the process along.
#[tokio::test]
async fn a_caller_who_leaves_his_call() {
    let served = Served::python_with(GATE, |spec| spec.workers_max = 1).await;
    let pid: u32 = served.text("pid", "{}").await.unwrap().parse().unwrap();
    let (file, call) = (Arc::clone(&served.file), call(&served.file, "wait_for", r#"{"path": "/never"}"#).unwrap());
    let caller = tokio::spawn(async move { file.call(call).await });
    until("a busy worker", || served.file.workers().busy == 1).await;
    caller.abort();
    until("the worker is gone", || stat(pid).is_none_or(|stat| stat.is_zombie)).await;
    assert_eq!(served.text("f", r#"{"n": 3}"#).await.unwrap(), "3");
    assert_eq!(served.file.workers().lost, 1);
}

#[tokio::test]
async fn a_process_ends_after_its_calls() {
    for calls_max in [1, 3] {
        let served = Served::python_with(GATE, |spec| spec.calls_max = Some(calls_max)).await;
        let mut pids = Vec::new();
        for _ in 0..12 {
            pids.push(served.text("pid", "{}").await.unwrap());
        }
        pids.sort_unstable();
        let answered = pids.chunk_by(|one, other| one == other).map(<[String]>::len);
        let most = u64::try_from(answered.max().unwrap()).unwrap();
        assert!(most <= calls_max, "{most} calls of one process, where {calls_max} may be");
        assert_eq!(served.file.workers().lost, 0);
    }
}
