//! Bad weather: code that fails, hangs, ends its process, fills the memory, or can't be loaded. The rest goes on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::serve;

const PYTHON: &[u8] = br#"
import os
import sys
import time


def fine(n: int = 1):
    return n


def fails():
    raise ValueError("no way")


def hangs():
    while True:
        pass


def dies():
    os.kill(os.getpid(), 9)


def leaves():
    sys.exit(3)


def eats():
    return len(bytearray(10_000_000_000))


def talks():
    print("to standard output")
    print("to standard error", file=sys.stderr)
    sys.stdout.write("x" * 1_000_000)
    return "said"


def length(body: bytes):
    return len(body)
"#;

const R: &[u8] = br#"
fine <- function(n = 1L) n
fails <- function() stop("no way")
hangs <- function() repeat {}
dies <- function() tools::pskill(Sys.getpid(), 9)
leaves <- function() quit(save = "no")
eats <- function() length(numeric(2e9))
talks <- function() { cat("out\n"); message("err"); print(1:3); "said" }
deep <- function() { f <- function(n) f(n + 1); f(1) }
"#;

const TOML: &str = "
    [limits]
    body_bytes_max = '200MiB'
    [[function]]
    file = 'py.py'
    timeout = '4s'
    workers = 2
    [[function]]
    file = 'r.R'
    timeout = '4s'
    workers = 2
    memory_bytes_max = '1GiB'
";

/// Says at its end that something is over.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn bad_calls_hurt_nobody_else() {
    let server = serve(TOML, &[("py.py", PYTHON), ("r.R", R)]);
    let (done, good) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        // Also when a call is not answered as it should be: else this would wait for the others for ever.
        let _over = Over(&done);
        for file in ["py", "r"] {
            let (server, done, good) = (&server, &done, &good);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let answer = server.post(&format!("/api/functions/{file}/fine"), r#"{"n": 5}"#);
                    assert_eq!((answer.status, answer.text()), (200, "5"), "{file}");
                    good.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for (target, status, code) in [
            ("py/fails", 500, "function_failed"),
            ("py/hangs", 504, "timeout"),
            ("py/dies", 500, "function_failed"),
            ("py/leaves", 500, "function_failed"),
            ("py/eats", 500, "out_of_memory"),
            ("r/fails", 500, "function_failed"),
            ("r/hangs", 504, "timeout"),
            ("r/dies", 500, "function_failed"),
            ("r/leaves", 500, "function_failed"),
            ("r/eats", 500, "out_of_memory"),
            ("r/deep", 500, "function_failed"),
        ] {
            let answer = server.post(&format!("/api/functions/{target}"), "");
            let problem = answer.json();
            assert_eq!((answer.status, problem["error"].as_str()), (status, Some(code)), "{target}: {problem}");
            assert!(!problem["message"].as_str().unwrap().contains("no way"), "the cause is for the log: {problem}");
        }
        for target in ["py/talks", "r/talks"] {
            let answer = server.post(&format!("/api/functions/{target}"), "");
            assert_eq!((answer.status, answer.text()), (200, "\"said\""), "{target}");
        }
        let large = vec![b'x'; 100 * 1024 * 1024];
        let answer = server.ask("POST", "/api/functions/py/length", &[], &large);
        assert_eq!((answer.status, answer.text()), (200, "104857600"));
    });
    assert!(good.load(Ordering::Relaxed) > 10);
}

#[test]
fn a_file_that_cannot_be_loaded_is_told_and_mended() {
    let server = serve("", &[("functions/bad.py", b"def f(:\n"), ("functions/good.py", b"def f():\n    return 1\n")]);
    assert_eq!(server.post("/api/functions/good/f", "").text(), "1");
    let refused = server.post("/api/functions/bad/f", "");
    assert_eq!((refused.status, refused.json()["error"].as_str()), (503, Some("entry_unavailable")));
    assert!(refused.text().contains("bad.py"), "{}", refused.text());
    let states = server.get("/ready").json();
    assert_eq!(
        (&states["functions"]["good"]["state"], &states["functions"]["bad"]["state"]),
        (&"ready".into(), &"failed".into())
    );
    std::fs::write(server.file("functions/bad.py"), "def f():\n    return 2\n").unwrap();
    server.until(|server| server.post("/api/functions/bad/f", "").text() == "2");
    // A file that breaks later goes on as it was.
    std::fs::write(server.file("functions/good.py"), "def f(:\n").unwrap();
    std::fs::write(server.file("functions/bad.py"), "def f():\n    return 3\n").unwrap();
    server.until(|server| server.post("/api/functions/bad/f", "").text() == "3");
    assert_eq!(server.post("/api/functions/good/f", "").text(), "1");
    server.until(|server| server.get("/ready").json()["functions"]["good"]["state"] == "stale");
}
