//! What the operator is told of requests: their IDs, the log of each and of slow ones, in text and in JSON, and
//! `Server-Timing`; and that nobody waits for who reads it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Answer, Client};

const PEOPLE: (&str, &str) = ("people.csv", "id,name\n1,ann\n2,bob\n");

/// A running program, and the log that it writes.
struct Logged {
    child: Child,
    address: String,
    log: Option<JoinHandle<String>>,
    _directory: tempfile::TempDir,
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Logged {
    /// Serves `files` under `settings`, until the table `people` is there.
    fn serve(settings: &str, files: &[(&str, &str)]) -> Self {
        let (mut logged, log) = Self::unread(settings, files);
        logged.read(log);
        logged
    }

    /// Does the same, and reads nothing of the log.
    fn unread(settings: &str, files: &[(&str, &str)]) -> (Self, ChildStderr) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files.iter().chain(&[PEOPLE, ("salver.toml", settings)]) {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = child.stderr.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| Some(line.unwrap().split_once("http://")?.1.to_owned())).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.trim().trim_end_matches('/').to_owned();
        let logged = Self { child, address, log: None, _directory: directory };
        logged.until("GET", "/api/tables/people", 200);
        (logged, log)
    }

    /// Reads the log until it ends.
    fn read(&mut self, mut log: impl Read + Send + 'static) {
        self.log = Some(std::thread::spawn(move || {
            let mut text = String::new();
            let _ = log.read_to_string(&mut text);
            text
        }));
    }

    fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        Client::new(&self.address).send(method, target, headers, body.map(str::as_bytes)).unwrap()
    }

    fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", target, headers, None)
    }

    /// Asks again until the answer has this status.
    fn until(&self, method: &str, target: &str, status: u16) -> Answer {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.ask(method, target, &[], (method == "POST").then_some("{}"));
            if answer.status == status {
                return answer;
            }
            assert!(Instant::now() < patience, "waited in vain: {answer:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends it, and returns its log, which is written whole before.
    fn end(mut self) -> String {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let _ = self.child.wait();
        self.log.take().unwrap().join().unwrap()
    }
}

/// Returns the only line of the log that has all these parts.
#[track_caller]
fn line<'a>(log: &'a str, parts: &[&str]) -> &'a str {
    let found: Vec<&str> = log.lines().filter(|line| parts.iter().all(|part| line.contains(part))).collect();
    assert_eq!(found.len(), 1, "{parts:?}: {log}");
    found[0]
}

fn id(answer: &Answer) -> Option<&str> {
    answer.header("x-request-id")
}

/// Checks that a response has an ID that the server made.
#[track_caller]
fn assert_made(answer: &Answer) {
    let (process, number) = id(answer).and_then(|id| id.split_once('-')).unwrap_or_else(|| panic!("{answer:?}"));
    let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(process.len() == 8 && is_hex(process) && is_hex(number), "{answer:?}");
}

#[cfg(feature = "functions")]
#[test]
fn requests_have_ids() {
    let settings = "[[dataset]]\nname = \"gone\"\nsource = \"gone.csv\"\n[[stream]]\nname = \"clicks\"\n\
        [[function]]\nfile = \"code.py\"\n";
    let code = "def fails() -> int:\n    raise ValueError('no')\n";
    let logged = Logged::serve(settings, &[("code.py", code)]);
    // Until the file is loaded, any path may be one of its routes.
    logged.until("GET", "/nowhere", 404);
    let longest = "0123456789abcdef".repeat(8);
    for (method, target, body, status) in [
        ("GET", "/api/tables/people", None, 200),
        ("GET", "/api/tables/people", None, 200),
        ("HEAD", "/api/tables/people", None, 200),
        ("GET", "/api/tables/people?limit=x", None, 400),
        ("GET", "/api/tables/nobody", None, 404),
        ("GET", "/nowhere", None, 404),
        ("GET", "/health", None, 200),
        ("POST", "/api/sql", Some("select 1 as one"), 200),
        ("POST", "/api/streams/clicks", Some("{\"a\":1}"), 200),
        ("OPTIONS", "/api/sql", None, 204),
    ] {
        for sent in ["1", "my.id_~+/=:@-Z", longest.as_str()] {
            let answer = logged.ask(method, target, &[("x-request-id", sent)], body);
            assert_eq!((answer.status, id(&answer)), (status, Some(sent)), "{method} {target}: {answer:?}");
        }
        // What is not an ID is none.
        let longer = format!("{longest}0");
        let none: [&[(&str, &str)]; 4] =
            [&[], &[("x-request-id", "a b")], &[("x-request-id", "")], &[("x-request-id", longer.as_str())]];
        for headers in none {
            let answer = logged.ask(method, target, headers, body);
            assert_eq!((answer.status, id(&answer)), (status, None), "{method} {target}: {answer:?}");
        }
    }
    // What is the server's fault has one in any case.
    let gone = logged.until("GET", "/api/tables/gone", 503);
    assert_made(&gone);
    assert_eq!(id(&logged.get("/api/tables/gone", &[("x-request-id", "mine")])), Some("mine"));
    let failed = logged.until("POST", "/api/functions/code/fails", 500);
    assert_made(&failed);
    assert_ne!(id(&failed), id(&gone));
    let named = logged.ask("POST", "/api/functions/code/fails", &[("x-request-id", "mine")], Some("{}"));
    assert_eq!((named.status, id(&named)), (500, Some("mine")), "{named:?}");
    let failed = format!("id=\"{}\"", id(&failed).unwrap());
    let log = logged.end();
    // The error of a function may have several lines.
    let failures: Vec<&str> = log.split("a request failed: ").skip(1).collect();
    assert!(failures.iter().any(|failure| failure.contains(&failed)), "{failed}: {log}");
    assert!(failures.iter().any(|failure| failure.contains("id=\"mine\"")), "{log}");
    assert!(!log.contains("was slow"), "{log}");
}

#[test]
fn each_request_is_logged() {
    let settings = "[server]\nlog = \"error\"\naccess_log = true\nreverse_proxy = true\n\
        [auth]\nmode = \"optional\"\napi_keys = [\"reporting:key-of-programs-16\"]\n";
    let logged = Logged::serve(settings, &[]);
    let known = [
        ("x-request-id", "known"),
        ("x-api-key", "key-of-programs-16"),
        ("x-forwarded-for", "198.51.100.1, 192.0.2.7"),
    ];
    assert_eq!(logged.get("/api/tables/people?limit=1", &known).status, 200);
    let unknown = logged.get("/api/tables/people?limit=1", &[]);
    assert_made(&unknown);
    let refused = logged.get("/api/tables/people", &[("x-api-key", "another-key"), ("x-request-id", "refused")]);
    assert_eq!(refused.status, 401, "{refused:?}");
    let own = format!("id=\"{}\"", id(&unknown).unwrap());
    let log = logged.end();
    for (id, parts) in [
        ("id=\"known\"", ["status=200", "address=192.0.2.7", "caller=\"api_key:reporting\""]),
        (own.as_str(), ["status=200", "address=127.0.0.1", "caller=\"-\""]),
        ("id=\"refused\"", ["status=401", "address=127.0.0.1", "caller=\"-\""]),
    ] {
        let line = line(&log, &[id]);
        assert!(line.contains("method=GET uri=\"/api/tables/people"), "{line}");
        assert!(parts.iter().all(|part| line.contains(part)) && line.contains(" ms="), "{parts:?}: {line}");
        let ms = line.split(' ').find_map(|part| part.strip_prefix("ms=")).unwrap_or_default();
        assert!(ms.split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 3), "{line}");
    }
    assert!(!log.contains("key-of-programs-16") && !log.contains("another-key"), "{log}");
}

#[test]
fn the_log_is_json_if_wanted() {
    let settings = "[server]\nlog_format = \"json\"\naccess_log = true\n\
        [auth]\nmode = \"optional\"\napi_keys = [\"reporting:key-of-programs-16\"]\n";
    let logged = Logged::serve(settings, &[]);
    let target = "/api/tables/people?limit=1&at=https://ann:s3cret@host/&key-of-programs-16";
    logged.get(target, &[("x-request-id", "a/1"), ("x-api-key", "key-of-programs-16")]);
    let log = logged.end();
    let events: Vec<Value> = log
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let own: Vec<&Value> = events.iter().filter(|event| event["id"] == "a/1").collect();
    assert_eq!(own.len(), 1, "{log}");
    let event = own[0];
    assert!(event["timestamp"].is_string() && event["ms"].is_number(), "{event}");
    for (name, expected) in [
        ("level", "INFO"),
        ("target", "access"),
        ("method", "GET"),
        ("address", "127.0.0.1"),
        ("caller", "api_key:reporting"),
        ("uri", "/api/tables/people?limit=1&at=https://***@host/&***"),
    ] {
        assert_eq!(event[name], expected, "{name}: {event}");
    }
    assert!(event["status"].is_u64(), "{event}");
    assert!(!log.contains("s3cret") && !log.contains("key-of-programs-16"), "{log}");
}

#[test]
fn what_is_slow_is_logged() {
    let rows: String = (0..3_000).map(|n| format!("{n}\n")).collect();
    let numbers = format!("id\n{rows}");
    let settings = "[server]\nlog = \"off\"\nslow_ms = 1\n[[stream]]\nname = \"clicks\"\n";
    let logged = Logged::serve(settings, &[("numbers.csv", numbers.as_str())]);
    logged.until("GET", "/api/tables/numbers?limit=1", 200);
    // Nine million pairs take more than a millisecond anywhere.
    let statement = "select count(*) as pairs\nfrom numbers a join numbers b on a.id + b.id > 10";
    let answer = logged.ask("POST", "/api/sql", &[], Some(statement));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_made(&answer);
    let long = format!("{statement} where a.id > -1 -- {}", "x".repeat(3_000));
    let named = logged.ask("POST", "/api/sql", &[("x-request-id", "long")], Some(&long));
    assert_eq!((named.status, id(&named)), (200, Some("long")), "{named:?}");
    assert_eq!(logged.ask("POST", "/api/streams/clicks", &[], Some("{\"a\":1}")).status, 200);
    let own = format!("id=\"{}\"", id(&answer).unwrap());
    let log = logged.end();
    let request = line(&log, &["a request was slow", own.as_str()]);
    for part in ["WARN", "method=POST", "uri=\"/api/sql\"", "status=200", " ms="] {
        assert!(request.contains(part), "{part}: {request}");
    }
    let queries: Vec<&str> = log.split("a query was slow ").skip(1).collect();
    let query = queries.iter().find(|query| query.contains("> 10\" plan=")).unwrap_or_else(|| panic!("{log}"));
    for part in
        [own.as_str(), "ms=", "rows=1 ", "statement=\"select count(*) as pairs\\nfrom numbers a", "\n    ", "metrics=["]
    {
        assert!(query.contains(part), "{part}: {query}");
    }
    let query = queries.iter().find(|query| query.contains("-- xxx")).unwrap_or_else(|| panic!("{log}"));
    assert!(query.contains("id=\"long\""), "{query}");
    let (_, text) = query.split_once("-- ").unwrap();
    assert!(text.bytes().take_while(|byte| *byte == b'x').count() < 2_000, "{query}");
}

#[test]
fn answers_tell_their_times_if_wanted() {
    let logged = Logged::serve("[server]\nserver_timing = true\n", &[]);
    let is_time = |text: Option<&str>| text.and_then(|ms| ms.parse::<f64>().ok()).is_some_and(|ms| ms >= 0.0);
    for target in ["/api/tables/people", "/api/tables/people", "/nowhere"] {
        let answer = logged.get(target, &[]);
        let told = answer.header("server-timing").unwrap_or_else(|| panic!("{answer:?}"));
        let (admitted, total) = told.split_once(", ").unwrap_or_else(|| panic!("{told}"));
        assert!(is_time(admitted.strip_prefix("admit;dur=")), "{told}");
        assert!(is_time(total.strip_prefix("total;dur=")), "{told}");
        assert_eq!(id(&answer), None, "{answer:?}");
    }
    drop(logged);
    let logged = Logged::serve("", &[]);
    assert_eq!(logged.get("/api/tables/people", &[]).header("server-timing"), None);
}

/// Lines about requests that nobody reads are dropped and counted: more than a pipe and the server hold.
#[test]
fn a_log_that_is_not_read_delays_nobody() {
    let (mut logged, log) = Logged::unread("[server]\naccess_log = true\n", &[]);
    let target = format!("/health?{}", "x".repeat(8_000));
    let requests = 1_000;
    let mut client = Client::new(&logged.address);
    for number in 0..requests {
        let id = format!("n{number}");
        let answer = client.send("GET", &target, &[("x-request-id", &id)], None).unwrap();
        assert_eq!(answer.status, 200, "{number}: {answer:?}");
    }
    let mut log = BufReader::new(log);
    let (mut numbers, mut line) = (Vec::new(), String::new());
    let dropped: usize = loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "nothing tells what was dropped: {numbers:?}");
        if let Some((_, rest)) = line.split_once(" id=\"n") {
            numbers.push(rest.split_once('"').unwrap().0.parse::<usize>().unwrap());
        } else if let Some((_, count)) = line.split_once("were dropped, ") {
            break count.trim().rsplit_once("dropped=").unwrap().1.parse().unwrap();
        }
    };
    assert!(dropped > 0 && numbers.len() > 100, "{dropped} dropped, {} kept", numbers.len());
    assert_eq!(numbers.len() + dropped, requests, "each is told of, or counted");
    assert!(numbers.iter().copied().eq(0..numbers.len()), "in their order: {numbers:?}");
    // From then on, each is told of again.
    for number in 0..20 {
        client.send("GET", "/health", &[("x-request-id", &format!("later{number}"))], None).unwrap();
    }
    logged.read(log);
    let rest = logged.end();
    let later: Vec<&str> = rest.split(" id=\"later").skip(1).filter_map(|line| Some(line.split_once('"')?.0)).collect();
    assert!(later.iter().copied().eq((0..20).map(|number| number.to_string()).collect::<Vec<_>>()), "{later:?}");
    assert!(rest.contains("asked to end"), "until the end: {rest}");
}
