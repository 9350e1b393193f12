//! Jobs: calls whose caller does not wait.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use super::serve;
use crate::it::server::{Answer, Server};

const PYTHON: &[u8] = br#"
import pathlib
import time

from salver import HTTPError, Response


def add(a: int, b: int):
    return a + b


def made(name: str):
    return Response(name, status=201, headers={"x-made": "yes"})


def lines(to: int):
    for n in range(to):
        yield n


def fails():
    raise ValueError("no way")


def refuses():
    raise HTTPError(404, "no such thing")


def hangs():
    time.sleep(600)


def waits(gate: str):
    while not pathlib.Path(gate).exists():
        time.sleep(0.01)
    return "passed"
"#;

const R: &[u8] = br#"
add <- function(a, b) a + b
waits <- function(gate) {
  while (!file.exists(gate)) Sys.sleep(0.01)
  "passed"
}
"#;

const ASYNC: &[(&str, &str)] = &[("prefer", "respond-async")];

/// Asks for a job; where it is.
fn open(server: &Server, target: &str, body: &str) -> String {
    let accepted = server.ask("POST", target, ASYNC, body.as_bytes());
    assert_eq!((accepted.status, accepted.header("preference-applied")), (202, Some("respond-async")), "{target}");
    let location = accepted.header("location").unwrap().to_owned();
    let job = accepted.json();
    assert_eq!(location, format!("/api/jobs/{}", job["id"].as_str().unwrap()));
    location
}

/// The job when it is over.
fn over(server: &Server, location: &str) -> Answer {
    let patient = [("prefer", "wait=30")];
    let job = server.get_with(location, &patient);
    assert!(matches!(job.json()["state"].as_str(), Some("done" | "failed")), "{}", job.text());
    job
}

#[test]
fn jobs_answer_as_calls_do() {
    let server = serve("", &[("functions/py.py", PYTHON), ("functions/r.R", R)]);
    for (target, body) in [
        ("py/add", r#"{"a": 1, "b": 2}"#),
        ("py/made", r#"{"name": "x"}"#),
        ("py/lines", r#"{"to": 3}"#),
        ("py/refuses", ""),
        ("r/add", r#"{"a": 1, "b": 2}"#),
    ] {
        let path = format!("/api/functions/{target}");
        let called = server.post(&path, body);
        let location = open(&server, &path, body);
        let job = over(&server, &location).json();
        assert_eq!((&job["function"], &job["state"]), (&target.into(), &"done".into()), "{job}");
        let times = ["created", "started", "finished"].map(|time| job[time].as_str().unwrap().to_owned());
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(job["status"], called.status);
        let result = server.get(job["result"].as_str().unwrap());
        assert_eq!((result.status, result.text()), (called.status, called.text()), "{target}");
        for name in ["content-type", "x-made"] {
            assert_eq!(result.header(name), called.header(name), "{target}");
        }
    }
    // What is wrong with a call is told at once.
    let wrong = server.ask("POST", "/api/functions/py/add", ASYNC, br#"{"a": "x"}"#);
    assert_eq!((wrong.status, wrong.json()["message"].as_str()), (400, Some("`a` can't be `\"x\"`")));
    // Who waits long enough is answered as if it were no job.
    let soon = [("prefer", "respond-async, wait=30")];
    let answer = server.ask("POST", "/api/functions/py/add", &soon, br#"{"a": 2, "b": 3}"#);
    assert_eq!((answer.status, answer.text()), (200, "5"));
}

#[test]
fn applications_have_jobs_too() {
    let server = serve("", &[("functions/fib.R", super::FOUNDING.as_bytes())]);
    let accepted = server.get_with("/fib?n=10", ASYNC);
    assert_eq!(accepted.status, 202);
    let job = over(&server, accepted.header("location").unwrap()).json();
    let result = server.get(job["result"].as_str().unwrap());
    assert_eq!((result.status, result.text(), result.header("content-type")), (200, "55", Some("text/plain")));
}

#[test]
fn failures_are_told() {
    let toml = "
        [limits]
        job_bytes_max = '64KiB'
        [[function]]
        file = 'py.py'
        job_timeout = '2s'
    ";
    let server = serve(toml, &[("py.py", PYTHON)]);
    for (target, body, status, code) in [
        ("fails", "", 500, "function_failed"),
        ("hangs", "", 504, "timeout"),
        ("lines", r#"{"to": 100000}"#, 413, "answer_too_large"),
    ] {
        let location = open(&server, &format!("/api/functions/py/{target}"), body);
        let job = over(&server, &location).json();
        assert_eq!((&job["state"], &job["status"]), (&"failed".into(), &status.into()), "{job}");
        assert_eq!(job["error"]["error"], code, "{job}");
        let result = server.get(&format!("{location}/result"));
        assert_eq!((result.status, result.json()), (status, job["error"].clone()), "{target}");
    }
}

#[test]
fn jobs_leave_a_worker_to_others_and_can_be_ended() {
    let toml = "
        [[function]]
        file = 'py.py'
        workers = 2
        [[function]]
        file = 'r.R'
        workers = 2
    ";
    let server = serve(toml, &[("py.py", PYTHON), ("r.R", R)]);
    for file in ["py", "r"] {
        let gate = server.file(&format!("{file}.gate")).to_str().unwrap().to_owned();
        let (target, body) = (format!("/api/functions/{file}/waits"), format!(r#"{{"gate": "{gate}"}}"#));
        let jobs: Vec<String> = (0..4).map(|_| open(&server, &target, &body)).collect();
        let state = |server: &Server, job: &str| server.get(job).json()["state"].as_str().unwrap().to_owned();
        server.until(|server| state(server, &jobs[0]) == "running");
        assert_eq!(server.get(&jobs[0]).json()["finished"], serde_json::Value::Null);
        for _ in 0..3 {
            let answer = server.post(&format!("/api/functions/{file}/add"), r#"{"a": 1, "b": 2}"#);
            assert_eq!((answer.status, answer.text()), (200, "3"), "{file}");
        }
        assert_eq!(state(&server, &jobs[1]), "queued");
        let early = server.get(&format!("{}/result", jobs[1]));
        assert_eq!(
            (early.status, early.json()["message"].as_str()),
            (404, Some("the job is queued and has no result yet"))
        );
        // One that waits is forgotten, one that runs is ended with its process; the next runs.
        assert_eq!(server.ask("DELETE", &jobs[1], &[], b"").status, 204);
        assert_eq!(server.ask("DELETE", &jobs[0], &[], b"").status, 204);
        assert_eq!(server.get(&jobs[0]).status, 404);
        server.until(|server| server.get(&format!("/api/functions/{file}")).json()["workers"]["lost"] == 1);
        server.until(|server| state(server, &jobs[2]) == "running");
        std::fs::write(&gate, "").unwrap();
        for job in &jobs[2..] {
            assert_eq!(over(&server, job).json()["state"], "done");
            assert_eq!(server.get(&format!("{job}/result")).text(), "\"passed\"");
        }
        let refused = server.post(&jobs[2], "");
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, DELETE, OPTIONS")));
    }
}

#[test]
fn only_who_asked_sees_a_job() {
    let toml = "
        [auth]
        mode = 'required'
        api_keys = ['ann:the-long-key-of-ann', 'bob:the-long-key-of-bob']
        [[function]]
        file = 'py.py'
    ";
    let server = serve(toml, &[("py.py", PYTHON)]);
    let (ann, bob) = (("x-api-key", "the-long-key-of-ann"), ("x-api-key", "the-long-key-of-bob"));
    let body = br#"{"a": 1, "b": 2}"#;
    let accepted = server.ask("POST", "/api/functions/py/add", &[ann, ASYNC[0]], body);
    assert_eq!(accepted.status, 202, "{}", accepted.text());
    let location = accepted.header("location").unwrap();
    let result = format!("{location}/result");
    assert_eq!(server.get_with(location, &[ann, ("prefer", "wait=30")]).json()["state"], "done");
    for target in [location, &result] {
        assert_eq!(server.get_with(target, &[bob]).status, 404);
        assert_eq!(server.get(target).status, 401);
    }
    assert_eq!(server.ask("DELETE", location, &[bob], b"").status, 404);
    assert_eq!(server.get_with(&result, &[ann]).text(), "3");
}

/// Takes one request and answers it with a status; its head and body.
fn taken(listener: &TcpListener, status: &str) -> (String, serde_json::Value) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

#[test]
fn callbacks_are_told_and_told_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hooks = format!("http://{}/hooks/", listener.local_addr().unwrap());
    let toml = format!("server.callbacks = ['{hooks}']\n[[function]]\nfile = 'py.py'\n");
    let server = serve(&toml, &[("py.py", PYTHON)]);
    let ask = |address: &str| {
        let headers = [ASYNC[0], ("x-callback-url", address)];
        server.ask("POST", "/api/functions/py/add", &headers, br#"{"a": 1, "b": 2}"#)
    };
    for other in ["http://127.0.0.1:1/hooks/", "file:///etc/passwd", &format!("{hooks}../x")] {
        let refused = ask(other);
        assert_eq!((refused.status, refused.json()["error"].as_str()), (403, Some("forbidden")), "{other}");
    }
    for (answers, state) in [(&["503 Busy", "200 OK"][..], "delivered"), (&["400 No"], "failed")] {
        let accepted = ask(&format!("{hooks}done?x=1"));
        let location = accepted.header("location").unwrap();
        assert_eq!(accepted.json()["callback"]["state"], "waiting");
        for status in answers {
            let (head, told) = taken(&listener, status);
            assert!(head.starts_with("POST /hooks/done?x=1 HTTP/1.1"), "{head}");
            assert_eq!((&told["id"], &told["state"]), (&accepted.json()["id"], &"done".into()));
        }
        server.until(|server| server.get(location).json()["callback"]["state"] == state);
        assert_eq!(server.get(&format!("{location}/result")).text(), "3");
    }
}
