//! User code that does its worst: the call it was is answered with an error, and no other call notices.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use salver_model::Code;
use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;

use crate::served::{Served, call, kill_9, signal, stat, text_of, until};

const WILD: &str = "
import ctypes, os, sys

def pid():
    return os.getpid()

def f(n):
    return n

def spin():
    while True:
        pass

def eat():
    return len(bytearray(10 * 1000 ** 3))

def leave():
    os._exit(3)

def crash():
    ctypes.string_at(0)

def shout(lines):
    for _ in range(lines):
        print('x' * 100)
        print('y' * 100, file=sys.stderr)
    return lines
";

const WILD_R: &str = "
pid <- function() Sys.getpid()
f <- function(n) n
spin <- function() repeat {}
eat <- function() length(raw(10e9))
leave <- function() quit(status = 3)
crash <- function() tools::pskill(Sys.getpid(), 6L)
shout <- function(lines) {
  for (i in seq_len(lines)) { cat(strrep('x', 100), '\\n'); message(strrep('y', 100)) }
  lines
}
";

async fn wild(language: Language, set: impl FnOnce(&mut FunctionSpec)) -> Served {
    match language {
        Language::Python => Served::python_with(WILD, set).await,
        Language::R => Served::r_with(WILD_R, set).await,
    }
}

const BOTH: [Language; 2] = [Language::Python, Language::R];

#[tokio::test]
async fn an_endless_loop() {
    for language in BOTH {
        let served = wild(language, |spec| {
            spec.workers_max = 1;
            spec.timeout = Some(Duration::from_millis(500));
        })
        .await;
        let pid: u32 = served.text("pid", "{}").await.unwrap().parse().unwrap();
        let error = served.call("spin", "{}").await.unwrap_err();
        assert_eq!(error.code, Code::Timeout);
        until("the worker is gone", || stat(pid).is_none_or(|stat| stat.is_zombie)).await;
        assert_eq!(served.text("f", r#"{"n": 5}"#).await.unwrap(), "5");
        assert_eq!(served.file.workers().lost, 1);
    }
}

#[tokio::test]
async fn a_process_that_leaves_or_crashes() {
    for language in BOTH {
        let served = wild(language, |_| {}).await;
        for function in ["leave", "crash", "leave"] {
            let answer = served.call(function, "{}").await;
            let Err(error) = answer else { panic!("{language:?} {function}: {:?}", answer.map(text_of)) };
            assert_eq!(error.code, Code::FunctionFailed, "{language:?} {function}: {error:?}");
            assert!(error.message.contains("ended while it worked"), "{language:?} {function}: {error:?}");
            assert!(error.hint.is_some());
            assert_eq!(served.text("f", r#"{"n": 5}"#).await.unwrap(), "5");
        }
        assert_eq!(served.file.workers().lost, 3);
    }
}

#[tokio::test]
async fn an_allocation_of_10_gigabytes() {
    for language in BOTH {
        let served = wild(language, |spec| spec.memory_bytes_max = Some(256 * 1024 * 1024)).await;
        let error = served.call("eat", "{}").await.unwrap_err();
        assert_eq!(error.code, Code::OutOfMemory, "{language:?}: {error:?}");
        assert_eq!(served.text("f", r#"{"n": 5}"#).await.unwrap(), "5");
    }
}

/// More than any pipe holds.
#[tokio::test]
async fn a_flood_of_output() {
    for language in BOTH {
        let served = wild(language, |_| {}).await;
        let (shout, quiet) = (served.text("shout", r#"{"lines": 20000}"#), served.text("f", r#"{"n": 5}"#));
        let (shout, quiet) = futures::join!(shout, quiet);
        assert_eq!((shout.unwrap().as_str(), quiet.unwrap().as_str()), ("20000", "5"), "{language:?}");
        assert_eq!(served.file.workers().lost, 0);
    }
}

/// Workers are killed while callers keep them busy: at most the call that a killed worker had fails, all others are
/// answered, and rightly.
#[tokio::test(flavor = "multi_thread")]
async fn workers_killed_under_load() {
    for language in BOTH {
        let served = Arc::new(wild(language, |_| {}).await);
        let failed = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..8)
            .map(|caller| {
                let (served, failed) = (Arc::clone(&served), Arc::clone(&failed));
                tokio::spawn(async move {
                    for round in 0..1_500 {
                        let n = (caller * 10_000 + round).to_string();
                        match served.text("f", &format!("{{\"n\": {n}}}")).await {
                            Ok(answer) => assert_eq!(answer, n),
                            Err(error) => {
                                assert_eq!(error.code, Code::FunctionFailed, "{error:?}");
                                failed.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                })
            })
            .collect();
        let mut killed = 0;
        while callers.iter().any(|caller| !caller.is_finished()) && killed < 20 {
            // The same port tells who works; this call may itself be one that was killed.
            if let Ok(pid) = served.text("pid", "{}").await {
                kill_9(pid.parse().unwrap());
                killed += 1;
            }
        }
        for caller in callers {
            caller.await.unwrap();
        }
        let failed = failed.load(Ordering::Relaxed);
        assert!(failed <= killed, "{language:?}: {failed} of 12000 calls failed, {killed} processes were killed");
        assert!(killed > 0);
        until("two workers", || served.file.workers().alive >= 1).await;
        assert_eq!(served.file.workers().busy, 0);
    }
}

/// Idle workers that were killed are found and replaced, and no call meets one.
#[tokio::test]
async fn idle_workers_killed() {
    let served = wild(Language::Python, |spec| spec.workers_max = 1).await;
    for round in 1..=20 {
        let pid: u32 = served.text("pid", "{}").await.unwrap().parse().unwrap();
        kill_9(pid);
        let n = round.to_string();
        assert_eq!(served.text("f", &format!("{{\"n\": {n}}}")).await.unwrap(), n);
    }
    assert_eq!(served.file.workers().lost, 20);
}

/// Another process of the same user that knows the socket is no worker, and gets no call.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_at_the_socket() {
    let served = Arc::new(wild(Language::Python, |spec| spec.workers_max = 1).await);
    let group = served.group().await;
    let arguments = fs::read(format!("/proc/{group}/cmdline")).unwrap();
    let socket = arguments.split(|byte| *byte == 0).rfind(|argument| !argument.is_empty()).unwrap();
    let worker: u32 = served.text("pid", "{}").await.unwrap().parse().unwrap();
    // The zygote makes none while it stands still, so that the next to come is the stranger.
    signal("STOP", group);
    kill_9(worker);
    let waiting = tokio::spawn({
        let served = Arc::clone(&served);
        async move { served.text("f", r#"{"n": 5}"#).await }
    });
    let mut stranger = UnixStream::connect(OsStr::from_bytes(socket)).unwrap();
    stranger.write_all(&[&[5, 0, 0, 0, b'H'][..], &std::process::id().to_le_bytes()].concat()).unwrap();
    let mut heard = Vec::new();
    let ended = tokio::task::spawn_blocking(move || stranger.read_to_end(&mut heard).map(|_| heard)).await.unwrap();
    signal("CONT", group);
    assert_eq!(ended.unwrap(), b"");
    assert_eq!(waiting.await.unwrap().unwrap(), "5");
}

/// A stream of calls that take their process along: each gets its own error, and the last call is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_crashes() {
    let served = Arc::new(wild(Language::Python, |_| {}).await);
    let crashes: Vec<_> = (0..50)
        .map(|_| {
            let (file, call) = (Arc::clone(&served.file), call(&served.file, "leave", "{}").unwrap());
            tokio::spawn(async move { file.call(call).await.unwrap_err().code })
        })
        .collect();
    for crash in crashes {
        assert_eq!(crash.await.unwrap(), Code::FunctionFailed);
    }
    assert_eq!(served.text("f", r#"{"n": 5}"#).await.unwrap(), "5");
    assert_eq!(served.file.workers().lost, 50);
}
