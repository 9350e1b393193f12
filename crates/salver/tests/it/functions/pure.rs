//! Functions that are pure by their word: asked once for equal arguments, until their file is loaded again.

use super::serve;

/// Each call leaves a line in the file that it is told.
const PYTHON: &str = r#"
import pathlib
import time

from salver import HTTPError, Response


def seen(log):
    with open(log, "a") as file:
        file.write("x\n")


#* Doubles
#* @pure
#* @get /double
def double(n: int, log: str, times: int = 2):
    seen(log)
    return times * n


#* @pure
#* @get /mine
def mine(log: str):
    seen(log)
    return Response("mine", headers={"cache-control": "private"})


#* @pure
#* @get /missing
def missing(log: str):
    seen(log)
    raise HTTPError(404, "no such thing")


#* @pure
#* @get /who
def who(log: str, request):
    seen(log)
    return request.header("user-agent")


#* @pure
#* @post /length
def length(log: str, body: bytes):
    seen(log)
    return len(body)


#* @pure
#* @get /slow
def slow(log: str):
    seen(log)
    while not pathlib.Path(log + ".go").exists():
        time.sleep(0.01)
    return "slow"
"#;

const R: &str = r#"
#' @pure
double <- function(n, log, times = 2L) {
  cat("x\n", file = log, append = TRUE)
  times * n
}
"#;

fn calls(log: &str) -> usize {
    std::fs::read_to_string(log).map_or(0, |text| text.lines().count())
}

#[test]
fn equal_arguments_are_one_call() {
    let server = serve("", &[("functions/py.py", PYTHON.as_bytes()), ("functions/r.R", R.as_bytes())]);
    let log = server.file("log").to_str().unwrap().to_owned();
    let first = server.get(&format!("/double?n=4&log={log}"));
    assert_eq!((first.status, first.text(), first.header("cache-control")), (200, "8", Some("no-cache")));
    let tag = first.header("etag").unwrap().to_owned();
    let ways = [
        server.get(&format!("/double?log={log}&n=4")),
        server.get(&format!("/api/functions/py/double?n=4&log={log}")),
        server.post("/api/functions/py/double", &format!(r#"{{"log": "{log}", "n": 4}}"#)),
    ];
    for again in ways {
        assert_eq!((again.status, again.text(), again.header("etag")), (200, "8", Some(&*tag)));
    }
    let unchanged = server.get_with(&format!("/double?n=4&log={log}"), &[("if-none-match", &tag)]);
    assert_eq!((unchanged.status, unchanged.text(), unchanged.header("etag")), (304, "", Some(&*tag)));
    assert_eq!(calls(&log), 1);
    assert_eq!(server.get(&format!("/double?n=4&times=3&log={log}")).text(), "12");
    assert_eq!(calls(&log), 2, "other arguments are another call");
    let r = format!("{log}.r");
    for _ in 0..3 {
        assert_eq!(server.get(&format!("/api/functions/r/double?n=5&log={r}")).text(), "10");
    }
    assert_eq!(calls(&r), 1);
    let page = server.get("/metrics");
    let hits = page.text().lines().find_map(|line| line.strip_prefix("salver_cache_hits_total ")?.parse::<u64>().ok());
    assert_eq!(hits, Some(6), "four of Python, and two of R: {}", page.text());
}

#[test]
fn a_job_shares_what_is_kept() {
    let server = serve("", &[("functions/py.py", PYTHON.as_bytes())]);
    let log = server.file("log").to_str().unwrap().to_owned();
    let job = |n: i32| {
        let body = format!(r#"{{"n": {n}, "log": "{log}"}}"#);
        let answer =
            server.ask("POST", "/api/functions/py/double", &[("prefer", "respond-async, wait=30")], body.as_bytes());
        assert_eq!(answer.status, 200);
        answer.text().to_owned()
    };
    assert_eq!((job(4), job(4)), ("8".to_owned(), "8".to_owned()));
    assert_eq!(server.get(&format!("/double?n=4&log={log}")).text(), "8");
    assert_eq!(calls(&log), 1, "jobs and calls have one answer");
    assert_eq!(server.get(&format!("/double?n=5&log={log}")).text(), "10");
    assert_eq!(job(5), "10");
    assert_eq!(calls(&log), 2);
}

#[test]
fn a_file_that_is_loaded_again_is_asked_again() {
    let server = serve("", &[("functions/py.py", PYTHON.as_bytes()), ("functions/r.R", R.as_bytes())]);
    let log = server.file("log").to_str().unwrap().to_owned();
    let targets = [format!("/double?n=4&log={log}"), format!("/api/functions/r/double?n=4&log={log}")];
    let first = targets.each_ref().map(|target| server.get(target));
    assert_eq!(first.each_ref().map(|answer| answer.text()), ["8", "8"]);
    std::fs::write(server.file("functions/py.py"), PYTHON.replace("times * n", "times * n + 1")).unwrap();
    std::fs::write(server.file("functions/r.R"), R.replace("times * n", "times * n + 1")).unwrap();
    for (target, first) in targets.iter().zip(first) {
        server.until(|server| server.get(target).text() == "9");
        let tag = first.header("etag").unwrap();
        let changed = server.get_with(target, &[("if-none-match", tag)]);
        assert_eq!((changed.status, changed.text()), (200, "9"), "{target}");
    }
}

#[test]
fn what_is_not_for_everybody_is_not_kept() {
    let server = serve("", &[("functions/py.py", PYTHON.as_bytes())]);
    for (target, status, answer) in [("mine", 200, "mine"), ("who", 200, "\"me\""), ("missing", 404, "")] {
        let log = server.file(target).to_str().unwrap().to_owned();
        for _ in 0..2 {
            let got = server.get_with(&format!("/{target}?log={log}"), &[("user-agent", "me")]);
            assert_eq!((got.status, got.text()), (status, if answer.is_empty() { got.text() } else { answer }));
            assert_eq!(got.header("etag"), None, "{target}");
        }
        assert_eq!(calls(&log), 2, "{target}");
    }
    let log = server.file("bytes").to_str().unwrap().to_owned();
    for (body, answer) in [("abc", "3"), ("abc", "3"), ("abcd", "4")] {
        assert_eq!(server.post(&format!("/length?log={log}"), body).text(), answer);
    }
    assert_eq!(calls(&log), 2, "the body is an argument too");
}

#[test]
fn who_asks_for_what_is_made_waits_for_it() {
    let toml = "
        [[function]]
        file = 'py.py'
        workers = 4
        workers_min = 4
    ";
    let server = serve(toml, &[("py.py", PYTHON.as_bytes())]);
    let log = server.file("log").to_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..4).map(|_| scope.spawn(|| server.get(&format!("/slow?log={log}")))).collect();
        server.until(|_| calls(&log) > 0);
        std::fs::write(format!("{log}.go"), "").unwrap();
        for caller in callers {
            let answer = caller.join().unwrap();
            assert_eq!((answer.status, answer.text()), (200, "\"slow\""));
        }
    });
    assert_eq!(calls(&log), 1);
}
