//! Processes that end, and what is left of them.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_testkit::contract::functions as contract;

use crate::served::{Served, call, kill_9, members, stat, until};

const PIDS: &str = "
import os

def pid():
    return os.getpid()

def spin():
    while True:
        pass
";

const PIDS_R: &str = "
pid <- function() Sys.getpid()
spin <- function() repeat {}
";

async fn pids(language: Language) -> Served {
    match language {
        Language::Python => Served::python(PIDS).await,
        Language::R => Served::r_with(PIDS_R, |_| {}).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_contract_of_the_port() {
    for (language, text) in [(Language::Python, contract::PYTHON), (Language::R, contract::R)] {
        let served = Served::start(language, text, |spec| spec.timeout = Some(Duration::from_secs(1)));
        served.loaded(1).await;
        let break_file = async || {
            fs::write(served.path(), "this is no (program").unwrap();
            until("a fault", || served.file.fault().is_some()).await;
        };
        contract::run(Arc::clone(&served.file) as Arc<dyn Functions>, break_file).await;
    }
}

#[tokio::test]
async fn a_zygote_that_is_killed() {
    for language in [Language::Python, Language::R] {
        let served = pids(language).await;
        for round in 2..=5 {
            let group = served.group().await;
            kill_9(group);
            served.loaded(round).await;
            let other = served.group().await;
            assert_ne!(group, other);
            until("nobody of the old group", || members(group).is_empty()).await;
        }
    }
}

/// A zygote is killed while calls wait and come: those that were not in a process are answered by the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_zygote_that_is_killed_under_load() {
    let served = Arc::new(pids(Language::Python).await);
    let group = served.group().await;
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let served = Arc::clone(&served);
            tokio::spawn(async move {
                let mut failed = 0;
                while served.file.workers().loads < 2 {
                    failed += usize::from(served.text("pid", "{}").await.is_err());
                }
                failed
            })
        })
        .collect();
    kill_9(group);
    let mut failed = 0;
    for caller in callers {
        failed += caller.await.unwrap();
    }
    // The workers die with their zygote, and there are two.
    assert!(failed <= 2, "{failed} calls failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left() {
    for language in [Language::Python, Language::R] {
        let served = pids(language).await;
        let group = served.group().await;
        let (file, call) = (Arc::clone(&served.file), call(&served.file, "spin", "{}").unwrap());
        let spinning = tokio::spawn(async move { file.call(call).await });
        until("a busy worker", || served.file.workers().busy == 1).await;
        assert!(members(group).len() >= 2);
        drop(served);
        until("nobody of the group", || members(group).is_empty()).await;
        assert!(spinning.await.unwrap().is_err());
    }
}

/// The runtime goes down in the middle of everything, as when the server ends.
#[test]
fn nothing_is_left_of_a_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (served, group) = runtime.block_on(async {
        let served = pids(Language::Python).await;
        let group = served.group().await;
        let (file, call) = (Arc::clone(&served.file), call(&served.file, "spin", "{}").unwrap());
        tokio::spawn(async move { file.call(call).await });
        until("a busy worker", || served.file.workers().busy == 1).await;
        (served, group)
    });
    drop(runtime);
    drop(served);
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(until("nobody of the group", || members(group).is_empty()));
}

#[tokio::test]
async fn workers_are_kept_ready() {
    let served = Served::python_with(PIDS, |spec| {
        spec.workers_min = 3;
        spec.workers_max = 4;
        spec.timeout = Some(Duration::from_secs(60));
    })
    .await;
    until("three workers", || served.file.workers().alive == 3).await;
    let group = served.group().await;
    let worker = members(group).into_iter().find(|pid| stat(*pid).is_some_and(|stat| stat.parent == group)).unwrap();
    kill_9(worker);
    until("the loss was seen", || served.file.workers().lost == 1).await;
    until("three workers again", || served.file.workers().alive == 3).await;
}
