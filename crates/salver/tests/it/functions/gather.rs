//! Calls of vectorized functions that come while all workers are busy: they go together, and each gets its own.

use super::{Server, serve};

const R: &str = r#"
hold <- function(gate) {
  file.create(paste0(gate, ".held"))
  while (!file.exists(gate)) Sys.sleep(0.005)
}

#' @param x:int*
#' @vectorized
rows <- function(x, unit = 1000) x * unit + length(x)

#' @vectorized
fussy <- function(x) {
  if (any(x < 0)) stop("no ", min(x))
  x
}

#' @vectorized
deadly <- function(x) {
  if (any(x < 0)) tools::pskill(Sys.getpid(), 9)
  x
}

#' @vectorized
short <- function(x) if (length(x) > 1) x[-1] else x
"#;

const PYTHON: &str = r#"
import os, pathlib, time
from salver import HTTPError


def hold(gate: str):
    pathlib.Path(gate + ".held").touch()
    while not os.path.exists(gate):
        time.sleep(0.005)


#* @vectorized
def rows(x: int, unit: int = 1000) -> int:
    units = unit if isinstance(unit, list) else [unit] * len(x)
    return [one * unit + len(x) for one, unit in zip(x, units)]


#* @vectorized
def fussy(x):
    if min(x) < 0:
        raise ValueError(f"no {min(x)}")
    return x


#* @vectorized
def deadly(x):
    if min(x) < 0:
        os.kill(os.getpid(), 9)
    return x


#* @vectorized
def short(x):
    return x[1:] if len(x) > 1 else x


#* @vectorized
def shy(x: int):
    if min(x) < 0:
        raise HTTPError(404, "there is nothing below zero")
    return x


#* @vectorized
def nothing(x: int):
    return None
"#;

const TOML: &str = "
    [[function]]
    file = 'py.py'
    workers = 1
    waiting_max = 80
    [[function]]
    file = 'r.R'
    workers = 1
    waiting_max = 80
";

fn server() -> Server {
    serve(TOML, &[("py.py", PYTHON.as_bytes()), ("r.R", R.as_bytes())])
}

/// Asks for all targets while the only worker of `file` is busy: status and text of each answer.
fn asked_behind_another(server: &Server, file: &str, gate: &str, targets: &[String]) -> Vec<(u16, String)> {
    let gate = server.file(gate).to_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| server.post(&format!("/api/functions/{file}/hold?gate={gate}"), ""));
        server.until(|_| std::path::Path::new(&format!("{gate}.held")).exists());
        let callers: Vec<_> = targets.iter().map(|target| scope.spawn(|| server.post(target, ""))).collect();
        let state =
            |server: &Server| server.get(&format!("/api/functions/{file}")).json()["workers"]["waiting"].clone();
        server.until(|server| state(server) == targets.len());
        std::fs::write(&gate, "").unwrap();
        let answers = callers.into_iter().map(|caller| caller.join().unwrap());
        let answers = answers.map(|answer| (answer.status, answer.text().to_owned())).collect();
        assert_eq!(holder.join().unwrap().status, 200);
        answers
    })
}

fn lost(server: &Server, file: &str) -> serde_json::Value {
    server.get(&format!("/api/functions/{file}")).json()["workers"]["lost"].clone()
}

#[test]
fn those_that_wait_go_together() {
    let server = server();
    for file in ["py", "r"] {
        let target = |x: i32| format!("/api/functions/{file}/rows?x={x}");
        assert_eq!(server.post(&target(7), "").text(), "7001", "one that need not wait goes by itself");
        let mut targets: Vec<_> = (0..48).map(target).collect();
        targets.extend((0..2).map(|x| format!("/api/functions/{file}/rows?x={x}&unit=10")));
        let answers = asked_behind_another(&server, file, &format!("{file}.together"), &targets);
        for (x, answer) in answers[..48].iter().enumerate() {
            assert_eq!(*answer, (200, format!("{}", 1000 * x + 48)), "{file}");
        }
        let others = [(200, "2".to_owned()), (200, "12".to_owned())];
        assert_eq!(answers[48..], others, "{file}: other arguments are given");
    }
}

/// What is wrong with one is its own, whatever it is.
#[test]
fn one_that_fails_is_told_by_himself() {
    let server = server();
    let failed = |status: u16, (got, text): &(u16, String)| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!((*got, &json["code"]), (status, &status.into()), "{text}");
        json["message"].as_str().unwrap().to_owned()
    };
    for (file, function, message) in [
        ("r", "fussy", "the function `fussy` of `r.R` raised an error"),
        ("py", "fussy", "the function `fussy` of `py.py` raised an error"),
        ("py", "shy", "there is nothing below zero"),
        ("r", "deadly", "the process of the function ended while it worked on `r`"),
        ("py", "deadly", "the process of the function ended while it worked on `py`"),
    ] {
        let status = if function == "shy" { 404 } else { 500 };
        let target = |x: i32| format!("/api/functions/{file}/{function}?x={x}");
        let targets: Vec<_> = (0..20).map(|x| target(if x == 13 { -13 } else { x })).collect();
        let answers = asked_behind_another(&server, file, &format!("{file}.{function}"), &targets);
        for (x, answer) in answers.iter().enumerate() {
            if x == 13 {
                assert_eq!(failed(status, answer), message);
            } else {
                assert_eq!(*answer, (200, x.to_string()), "{file}/{function}");
            }
        }
        let alone = server.post(&target(-1), "");
        assert_eq!(failed(status, &(alone.status, alone.text().to_owned())), message, "by itself");
        assert_eq!(lost(&server, file), if function == "deadly" { 3 } else { 0 }, "{file}/{function}");
    }
}

#[test]
fn a_function_that_does_not_keep_its_word_is_asked_for_each() {
    let server = server();
    for file in ["py", "r"] {
        let targets: Vec<_> = (0..5).map(|x| format!("/api/functions/{file}/short?x={x}")).collect();
        let answers = asked_behind_another(&server, file, &format!("{file}.short"), &targets);
        let expected: Vec<_> = (0..5).map(|x| (200, x.to_string())).collect();
        assert_eq!(answers, expected, "{file}");
        assert_eq!(lost(&server, file), 0);
    }
    let answer = server.post("/api/functions/py/nothing?x=1", "");
    let told = (answer.status, answer.json()["message"].clone());
    assert_eq!(told, (500, "the function `nothing` gave no column of values".into()));
}

/// A job is a call by itself, of the same function.
#[test]
fn a_job_gets_what_a_call_gets() {
    let server = server();
    for file in ["py", "r"] {
        let target = format!("/api/functions/{file}/rows?x=3");
        let answer = server.ask("POST", &target, &[("prefer", "respond-async, wait=60")], b"");
        assert_eq!((answer.status, answer.text()), (200, "3001"), "{file}");
    }
}
