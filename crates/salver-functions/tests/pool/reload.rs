//! Files that change while they are served.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use salver_model::Code;
use salver_model::functions::Language;
use salver_model::ports::Functions;

use crate::served::{Served, call, text_of, until, until_some};

fn version(number: u64) -> String {
    // The function moves in the list of functions from one version to the next.
    let others: String = (0..number % 3).map(|other| format!("def other_{other}():\n    return 'wrong'\n")).collect();
    format!("{others}def version():\n    return {number}\n")
}

/// Callers go on all the time while the file is written again and again: none is refused, and none gets an answer of
/// another function than it asked for, or of an older file than it has seen.
#[tokio::test(flavor = "multi_thread")]
async fn reloads_under_load() {
    const VERSIONS: u64 = 20;
    let served = Arc::new(Served::python(&version(1)).await);
    let (done, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let callers: Vec<_> = (0..4)
        .map(|_| {
            let (served, done, calls) = (Arc::clone(&served), Arc::clone(&done), Arc::clone(&calls));
            tokio::spawn(async move {
                let mut newest = 0;
                while !done.load(Ordering::Relaxed) {
                    let answer: u64 = served.text("version", "{}").await.unwrap().parse().unwrap();
                    assert!(answer >= newest, "{answer} after {newest}");
                    newest = answer;
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                newest
            })
        })
        .collect();
    let load = || served.file.interface().unwrap().load;
    let mut before = load();
    for number in 2..=VERSIONS {
        // In two steps, as an editor may: what is between them must not be taken for the file.
        let text = version(number);
        fs::write(served.path(), &text[..text.len() / 2]).unwrap();
        fs::write(served.path(), &text).unwrap();
        served.loaded(number).await;
        until("another load", || load() > before).await;
        before = load();
    }
    done.store(true, Ordering::Relaxed);
    for caller in callers {
        let newest = caller.await.unwrap();
        assert!(newest >= VERSIONS - 1, "{newest}");
    }
    assert_eq!(served.text("version", "{}").await.unwrap(), VERSIONS.to_string());
    assert!(calls.load(Ordering::Relaxed) >= 1_000, "{calls:?}");
    let workers = served.file.workers();
    assert_eq!((workers.loads, workers.lost), (VERSIONS, 0));
}

#[tokio::test]
async fn a_broken_file_leaves_the_good_one() {
    let served = Served::python(&version(1)).await;
    fs::write(served.path(), "def version(:\n").unwrap();
    let fault = until_some(|| "a fault".to_owned(), || served.file.fault()).await;
    assert_eq!(fault.code, Code::EntryUnavailable);
    // What the language said is for the log.
    assert_eq!(fault.message, "`file` can't be loaded: there is an error in its code");
    assert!(fault.hint.is_some_and(|hint| hint.contains("file.py")));
    assert_eq!(served.text("version", "{}").await.unwrap(), "1");
    assert_eq!(served.file.interface().unwrap().load, 1);
    fs::remove_file(served.path()).unwrap();
    until("a fault that the file is gone", || {
        served.file.fault().is_some_and(|fault| fault.message.contains("can't be read"))
    })
    .await;
    assert_eq!(served.text("version", "{}").await.unwrap(), "1");
    fs::write(served.path(), version(2)).unwrap();
    served.loaded(2).await;
    assert!(served.file.fault().is_none());
    assert_eq!(served.text("version", "{}").await.unwrap(), "2");
}

#[tokio::test]
async fn a_broken_r_file_leaves_the_good_one() {
    let served = Served::r_with("version <- function() 1L\n", |_| {}).await;
    fs::write(served.path(), "version <- function( {\n").unwrap();
    until("a fault", || served.file.fault().is_some()).await;
    assert_eq!(served.text("version", "{}").await.unwrap(), "1");
    fs::write(served.path(), "version <- function() 2L\n").unwrap();
    served.loaded(2).await;
    assert_eq!(served.text("version", "{}").await.unwrap(), "2");
}

/// A newer version that asks for what would not hold, or that says more of who may call it and can't be loaded, leaves
/// nothing in use that would not ask for it.
#[tokio::test]
async fn a_version_without_the_log_in_is_not_served_on() {
    let nowhere = ["R_LIBS", "R_LIBS_SITE", "R_LIBS_USER"].map(|name| (name.to_owned(), "/none".to_owned()));
    let plain = "#* @get /x\nversion <- function() 1L\n";
    let served = Served::r_with(plain, |spec| spec.environment.extend(nowhere)).await;
    let filter = "#* @filter auth\nfunction(req, res) plumber::forward()\n";
    for (times, broken, says) in [
        // Without plumber its filter would not be asked.
        (2, format!("{filter}{plain}"), "is not served: what it asks for would not hold"),
        (3, format!("{plain}stop('no 401')\n"), "there is an error in its code"),
        (4, format!("{plain}library(RestRserve)\nApplication$new(\n"), "there is an error in its code"),
        (5, "library(plumber)\npr() |> pr_filter('a', f)\n".to_owned(), "there is an error in its code"),
    ] {
        assert_eq!(served.text("version", "{}").await.unwrap(), "1");
        fs::write(served.path(), &broken).unwrap();
        if broken.contains("Application") {
            // It says nothing of callers, so that the good one stays.
            until("a fault", || served.file.fault().is_some()).await;
            assert_eq!(served.text("version", "{}").await.unwrap(), "1", "{broken}");
        } else {
            until("nothing is served", || served.file.interface().is_err()).await;
            let error = served.text("version", "{}").await.unwrap_err();
            assert_eq!(error.code, Code::EntryUnavailable);
            assert!(error.message.contains(says), "{broken}: {}", error.message);
            assert_eq!(served.file.workers().busy, 0, "{broken}");
        }
        fs::write(served.path(), plain).unwrap();
        served.loaded(times).await;
        until("no fault", || served.file.fault().is_none()).await;
    }
}

/// A file that never ends loading is given up when it changes; a call that waits gets its answer then.
#[tokio::test]
async fn a_file_that_loads_for_ever() {
    let served = Served::start(Language::Python, "while True:\n    pass\n", |_| {});
    assert_eq!(served.file.interface().unwrap_err().code, Code::EntryUnavailable);
    let waiting = {
        let file = Arc::clone(&served.file);
        let call = salver_model::functions::Call { endpoint: Some(0), ..Default::default() };
        tokio::spawn(async move { file.call(call).await })
    };
    until("one who waits", || served.file.workers().waiting == 1).await;
    fs::write(served.path(), version(3)).unwrap();
    assert_eq!(text_of(waiting.await.unwrap().unwrap()), "3");
}

/// What a call asked for is not there any more: it is told so, and no other function is run in its place.
#[tokio::test]
async fn a_function_that_went_away() {
    let served = Served::python("def f():\n    return 1\n").await;
    let stale = call(&served.file, "f", "{}").unwrap();
    fs::write(served.path(), "def g():\n    return 2\n").unwrap();
    served.loaded(2).await;
    let error = served.file.call(stale).await.unwrap_err();
    assert_eq!(error.code, Code::EntryUnavailable);
    assert_eq!(served.text("g", "{}").await.unwrap(), "2");
}
