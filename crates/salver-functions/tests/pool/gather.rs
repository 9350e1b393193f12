//! Calls that go together: the bytes they are answered with, callers that leave, and the bounds of waiting.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use salver_model::functions::Answer;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Code, Result};
use tokio::task::JoinHandle;

use crate::served::{Served, call, stat, text_of, until};

const R: &str = r#"
wait_for <- function(path) {
  while (!file.exists(path)) Sys.sleep(0.002)
}
pid <- function() Sys.getpid()

#' @vectorized
rows <- function(x) rep(length(x), length(x))

#' @vectorized
gated <- function(x, path) {
  file.create(paste0(path[1], ".begun"))
  wait_for(path[1])
  x
}

#' @vectorized
same <- function(x) x
#' @vectorized
missing_half <- function(x) ifelse(nchar(x) %% 2 == 0, NA, x)
#' @vectorized
kinds <- function(x) rep(typeof(x), length(x))
#' @vectorized
named <- function(x) sapply(x, nchar)
#' @vectorized
boxed <- function(x) I(x)
#' @vectorized
levels_of <- function(x) factor(x)
#' @vectorized
day <- function(x) as.Date("2024-02-28") + nchar(x)
#' @vectorized
larger <- function(x) nchar(x) > 3
#' @vectorized
root <- function(x) sqrt(nchar(x) / 7)
#' @vectorized
listed <- function(x) as.list(x)
#' @vectorized
framed <- function(x) data.frame(a = x, b = 1)
"#;

const PYTHON: &str = r#"
import datetime, enum, os, time
from typing import Optional, Union

def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.002)

def pid(): return os.getpid()

#* @vectorized
def rows(x): return [len(x)] * len(x)

#* @vectorized
def gated(x, path):
    open(path[0] + ".begun", "w").close()
    wait_for(path[0])
    return x

#* @vectorized
def same(x): return x
#* @vectorized
def missing_half(x): return over(x, lambda one: None if len(str(one)) % 2 == 0 else one)
#* @vectorized
def kinds(x): return over(x, lambda one: type(one).__name__)
#* @vectorized
def floats(x: Union[float, bool, str]): return over(x, lambda one: type(one).__name__)
#* @vectorized
def larger(x): return over(x, lambda one: len(str(one)) > 3)
#* @vectorized
def root(x): return over(x, lambda one: len(str(one)) ** 0.5)
#* @vectorized
def listed(x): return over(x, lambda one: {"a": [one, float("nan")]})
#* @vectorized
async def later(x): return x

def over(x, one): return [one(each) for each in x] if isinstance(x, list) else one(x)
"#;

fn one_worker(spec: &mut FunctionSpec) {
    spec.workers_max = 1;
}

async fn both() -> [Arc<Served>; 2] {
    let (python, r) = (plain_beside(PYTHON, "def ", "#* @vectorized\n"), plain_beside(R, "", "#' @vectorized\n"));
    [Served::python_with(&python, one_worker).await, Served::r_with(&r, one_worker).await].map(Arc::new)
}

/// The file with each of its vectorized functions once more, as one that is not: `plain_same` beside `same`.
fn plain_beside(text: &str, def: &str, mark: &str) -> String {
    let mut whole = text.to_owned();
    for part in text.split(mark).skip(1) {
        let own = part.split("\n\n").next().unwrap_or_default();
        let (before, name) = own.split_once(def).filter(|_| !def.is_empty()).unwrap_or(("", own));
        whole.push_str(&format!("\n\n{before}{def}plain_{name}\n"));
    }
    whole
}

/// A call under way.
fn asks(served: &Served, function: &str, arguments: &str) -> JoinHandle<Result<Answer>> {
    let (file, call) = (Arc::clone(&served.file), call(&served.file, function, arguments).unwrap());
    tokio::spawn(async move { file.call(call).await })
}

/// What all calls answer that come while the only worker is busy.
async fn behind_another(served: &Served, gate: &str, calls: &[(String, String)]) -> Vec<String> {
    let gate = served.directory().join(gate);
    let holder = asks(served, "wait_for", &format!("{{\"path\":{gate:?}}}"));
    until("a busy worker", || served.file.workers().busy == 1).await;
    let callers: Vec<_> = calls.iter().map(|(function, arguments)| asks(served, function, arguments)).collect();
    until("all wait", || served.file.workers().waiting == calls.len()).await;
    std::fs::write(&gate, "").unwrap();
    holder.await.unwrap().unwrap();
    join_all(callers).await.into_iter().map(|answer| text_of(answer.unwrap().unwrap())).collect()
}

/// Values of all kinds, some made at random, as JSON.
fn generated() -> Vec<String> {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let fixed = ["0", "-1", "2147483647", "2147483648", "-2147483648", "9007199254740993", "18446744073709551615"];
    let mut values: Vec<String> = fixed.map(str::to_owned).to_vec();
    values.extend(["1.0", "-0.0", "0.1", "1e300", "5e-324", "true", "false"].map(str::to_owned));
    values.extend([r#""""#, r#""é\"\\\n\u0001""#, r#""null""#, r#""7""#].map(str::to_owned));
    for _ in 0..40 {
        values.push(next().cast_signed().to_string());
        values.push((next() % 1000).to_string());
        let number = f64::from_bits(next());
        values.extend(serde_json::Number::from_f64(number).map(|number| number.to_string()));
        let text: String =
            (0..next() % 9).filter_map(|_| char::from_u32(1 + u32::try_from(next() % 0x500).unwrap())).collect();
        values.push(serde_json::to_string(&text).unwrap());
    }
    values
}

/// A value has the same bytes alone, among others, and from the same function when that is not vectorized.
#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_on_every_way() {
    let shared = ["same", "missing_half", "kinds", "larger", "root", "listed"];
    let own = [["floats", "later"].as_slice(), &["named", "boxed", "levels_of", "day", "framed"]];
    for (served, own) in both().await.iter().zip(own) {
        for (round, function) in shared.iter().chain(own).enumerate() {
            let calls: Vec<_> =
                generated().into_iter().map(|value| ((*function).to_owned(), format!("{{\"x\":{value}}}"))).collect();
            let gathered = behind_another(served, &format!("gate{round}"), &calls).await;
            for ((_, arguments), gathered) in calls.iter().zip(&gathered) {
                let alone = served.text(function, arguments).await.unwrap();
                assert_eq!(*gathered, alone, "{function} of {arguments}, alone");
                let plain = served.text(&format!("plain_{function}"), arguments).await.unwrap();
                assert_eq!(*gathered, plain, "{function} of {arguments}, not vectorized");
            }
        }
        // That they went together is seen by a function that tells it.
        let calls = [1, 2, 3].map(|x| ("rows".to_owned(), format!("{{\"x\":{x}}}")));
        assert_eq!(behind_another(served, "rows", &calls).await, ["3"; 3]);
        assert_eq!(served.file.workers().lost, 0);
    }
}

/// A caller who leaves during a wait, or during a call that runs with others, harms none of them.
#[tokio::test]
async fn callers_that_leave() {
    for served in both().await {
        let (gate, inner) = (served.directory().join("gate"), served.directory().join("inner"));
        let begun = served.directory().join("inner.begun");
        let holder = asks(&served, "wait_for", &format!("{{\"path\":{gate:?}}}"));
        until("a busy worker", || served.file.workers().busy == 1).await;
        let callers: Vec<_> =
            (0..6).map(|x| asks(&served, "gated", &format!("{{\"x\":{x},\"path\":{inner:?}}}"))).collect();
        until("all wait", || served.file.workers().waiting == 6).await;
        callers[0].abort();
        callers[3].abort();
        until("two have left", || served.file.workers().waiting == 4).await;
        std::fs::write(&gate, "").unwrap();
        holder.await.unwrap().unwrap();
        until("they are under way", || begun.exists()).await;
        callers[1].abort();
        callers[5].abort();
        std::fs::write(&inner, "").unwrap();
        let answers = join_all(callers).await.into_iter().map(|answer| answer.ok().map(|own| text_of(own.unwrap())));
        let answers: Vec<_> = answers.collect();
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(answers, [None, None, of("2"), None, of("4"), None]);
        assert_eq!(served.file.workers().lost, 0);
    }
}

/// What nobody waits for any more ends with its worker.
#[tokio::test]
async fn callers_that_all_leave() {
    for served in both().await {
        let pid: u32 = served.text("pid", "{}").await.unwrap().parse().unwrap();
        let (gate, never) = (served.directory().join("gate"), served.directory().join("never"));
        let begun = served.directory().join("never.begun");
        let holder = asks(&served, "wait_for", &format!("{{\"path\":{gate:?}}}"));
        until("a busy worker", || served.file.workers().busy == 1).await;
        let callers: Vec<_> =
            (0..3).map(|x| asks(&served, "gated", &format!("{{\"x\":{x},\"path\":{never:?}}}"))).collect();
        until("all wait", || served.file.workers().waiting == 3).await;
        std::fs::write(&gate, "").unwrap();
        holder.await.unwrap().unwrap();
        until("they are under way", || begun.exists()).await;
        callers.iter().for_each(JoinHandle::abort);
        until("the worker is gone", || stat(pid).is_none_or(|stat| stat.is_zombie)).await;
        assert_eq!(served.text("same", r#"{"x":1}"#).await.unwrap(), "1");
        assert_eq!(served.file.workers().lost, 1);
    }
}

#[tokio::test]
async fn those_that_gather_wait_like_others() {
    let served = Served::python_with(PYTHON, |spec| {
        (spec.workers_max, spec.waiting_max, spec.wait) = (1, 2, Duration::from_millis(300));
    });
    let served = served.await;
    let gate = served.directory().join("gate");
    let holder = asks(&served, "wait_for", &format!("{{\"path\":{gate:?}}}"));
    until("a busy worker", || served.file.workers().busy == 1).await;
    let waiting = [asks(&served, "same", r#"{"x":1}"#), asks(&served, "same", r#"{"x":2}"#)];
    until("two wait", || served.file.workers().waiting == 2).await;
    let full = served.call("same", r#"{"x":3}"#).await.unwrap_err();
    assert_eq!(full.code, Code::Overloaded);
    assert!(full.message.contains("2 calls wait"), "{}", full.message);
    for late in waiting {
        let late = late.await.unwrap().unwrap_err();
        assert_eq!(late.code, Code::Overloaded);
        assert!(late.message.contains("0.3 s"), "{}", late.message);
    }
    assert_eq!(served.file.workers().waiting, 0);
    std::fs::write(&gate, "").unwrap();
    holder.await.unwrap().unwrap();
    assert_eq!(served.text("rows", r#"{"x":3}"#).await.unwrap(), "1", "nothing is left of them");
}

/// A batch that takes too long is made again, row by row, each with the time of a call.
#[tokio::test]
async fn the_bound_of_time_is_that_of_each() {
    let source = "
import os, time

def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.002)

#* @vectorized
def spin(x):
    while min(x) < 0:
        pass
    return x
";
    let served =
        Served::python_with(source, |spec| (spec.workers_max, spec.timeout) = (1, Some(Duration::from_secs(2))));
    let served = served.await;
    let gate = served.directory().join("gate");
    let holder = asks(&served, "wait_for", &format!("{{\"path\":{gate:?}}}"));
    until("a busy worker", || served.file.workers().busy == 1).await;
    let callers = [1, -1, 2].map(|x| asks(&served, "spin", &format!("{{\"x\":{x}}}")));
    until("all wait", || served.file.workers().waiting == 3).await;
    std::fs::write(&gate, "").unwrap();
    holder.await.unwrap().unwrap();
    let [first, bad, last] = callers.map(|caller| async { caller.await.unwrap().map(text_of) });
    let (first, bad, last) = futures::join!(first, bad, last);
    assert_eq!((first.unwrap().as_str(), last.unwrap().as_str()), ("1", "2"));
    assert_eq!(bad.unwrap_err().code, Code::Timeout);
}
