//! Traces: what a collector gets of requests, whose parts they are, what stands in them and what does not, which
//! requests are traced, and that a collector that is away harms nobody.

mod collector;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

use self::collector::{Collector, TracedSpan};
use crate::client::{Answer, Client};

const PEOPLE: (&str, &str) = ("people.csv", "id,name\n1,ann\n2,bob\n");
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A server that sends traces, and its log.
struct Traced {
    child: Child,
    address: String,
    log: Option<std::thread::JoinHandle<String>>,
    _directory: tempfile::TempDir,
}

impl Traced {
    /// Serves `files` under `settings`, with these variables of the environment.
    fn serve(settings: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files.iter().chain(&[PEOPLE, ("salver.toml", settings)]) {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path());
        command.env("OTEL_BSP_SCHEDULE_DELAY", "10").envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut log, out) = (child.stderr.take().unwrap(), child.stdout.take().unwrap());
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(out));
        let address = lines.find_map(|line| Some(line.unwrap().split_once("http://")?.1.to_owned())).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let log = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = log.read_to_string(&mut text);
            text
        });
        let address = address.trim().trim_end_matches('/').to_owned();
        let traced = Self { child, address, log: Some(log), _directory: directory };
        until("it is ready", || traced.get("/ready", &[]).status == 200);
        traced
    }

    fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        Client::new(&self.address).send(method, target, headers, body.map(str::as_bytes)).unwrap()
    }

    fn get(&self, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask("GET", target, headers, None)
    }

    /// The value of a measurement.
    fn measured(&self, name: &str) -> f64 {
        let page = self.get("/metrics", &[]).body;
        let found = page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        found.unwrap_or_else(|| panic!("{name}: {page}"))
    }

    /// Ends it, and returns its log.
    fn end(mut self) -> String {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let _ = self.child.wait();
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `is_so`.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The span of this name that is a part of `parent`, of which there is one.
#[track_caller]
fn part<'s>(spans: &'s [TracedSpan], name: &str, parent: &TracedSpan) -> &'s TracedSpan {
    let found: Vec<_> = spans.iter().filter(|span| span.name() == name && span.parent() == parent.id()).collect();
    assert_eq!(found.len(), 1, "{name}: {spans:#?}");
    found[0]
}

/// A method, target and body, with the names of the request's span and of its step.
type Asked = (&'static str, &'static str, Option<&'static str>, &'static str, &'static str);

const ASKED: [Asked; 6] = [
    ("GET", "/api/tables/people?filter%5Bname%5D=secret-value", None, "GET /api/tables/{name}", "engine query"),
    (
        "POST",
        "/api/sql",
        Some("select count(*) from people where name <> 'secret-value'"),
        "POST /api/sql",
        "engine query",
    ),
    ("GET", "/api/records/items/1", None, "GET /api/records/{table}/{id}", "database statement"),
    (
        "POST",
        "/api/records/items",
        Some("{\"name\":\"secret-value\"}"),
        "POST /api/records/{table}",
        "database statement",
    ),
    ("POST", "/api/streams/clicks", Some("{\"a\":\"secret-value\"}"), "POST /api/streams/{name}", "append"),
    ("POST", "/api/functions/code/double", Some("{\"x\":2}"), "POST /api/functions/{file}/{function}", "function call"),
];

/// Checks the spans of one request.
fn check_parts(spans: &[TracedSpan], (method, _, _, name, step): Asked) {
    let request = spans.iter().find(|span| span.parent() == "b7ad6b7169203331").unwrap();
    assert_eq!(request.kind(), SpanKind::Server, "{request:?}");
    let route = request.text("http.route").unwrap();
    assert_eq!((request.name(), format!("{method} {route}").as_str()), (name, name), "{request:?}");
    assert_eq!(request.text("http.request.method").as_deref(), Some(method));
    assert_eq!(request.text("url.scheme").as_deref(), Some("http"));
    assert!(matches!(request.number("http.response.status_code"), Some(200..=202)), "{request:?}");
    assert_eq!((request.status(), request.state()), (StatusCode::Unset, "vendor=1"), "{request:?}");
    assert_eq!(request.service(), "the-shop");
    part(spans, "policy", request);
    let operation = part(spans, "operation", request);
    let step = part(spans, step, operation);
    assert!(request.begins() <= step.begins() && step.ends() <= request.ends(), "{request:?} {step:?}");
    for span in spans {
        assert!(span.id() != request.parent() && span.id().len() == 16, "{span:?}");
        assert!(!format!("{span:?}").contains("secret-value"), "{span:?}");
    }
}

#[test]
fn a_request_and_its_parts() {
    let collector = Collector::start();
    let settings = format!(
        "[server]\notlp_endpoint = \"{}/\"\n[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\nwritable = true\n\
         [[stream]]\nname = \"clicks\"\n[[function]]\nfile = \"code.py\"\n",
        collector.address()
    );
    let code = "def double(x: int) -> int:\n    return 2 * x\n";
    let variables = [
        ("OTEL_SERVICE_NAME", "the-shop"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=key-of-the-collector"),
        ("OTEL_TRACES_SAMPLER", "parentbased_always_off"),
    ];
    let shop = "create table items (id integer primary key, name text);\ninsert into items values (1, 'a');\n";
    let traced = Traced::serve(&settings, &[("code.py", code), ("shop.sql", shop)], &variables);
    for (number, (method, target, body, _, _)) in ASKED.iter().enumerate() {
        let parent = PARENT.replace("0af7", &format!("00{number:02}"));
        let headers = [("traceparent", parent.as_str()), ("tracestate", "vendor=1"), ("x-api-key", "secret-value")];
        let answer = traced.ask(method, target, &headers, *body);
        assert!(answer.status < 300, "{method} {target}: {answer:?}");
    }
    for (number, asked) in ASKED.iter().enumerate() {
        let trace = TRACE.replace("0af7", &format!("00{number:02}"));
        let spans = collector.until(&trace, |spans| spans.iter().any(|span| span.parent() == "b7ad6b7169203331"));
        check_parts(&spans, *asked);
    }
    let spans = collector.until(&TRACE.replace("0af7", "0000"), |spans| spans.len() >= 4);
    let query = spans.iter().find(|span| span.name() == "engine query").unwrap();
    assert_eq!(query.text("salver.entry").as_deref(), Some("people"));
    let spans = collector.until(&TRACE.replace("0af7", "0002"), |spans| spans.len() >= 4);
    let read = spans.iter().find(|span| span.name() == "database statement").unwrap();
    assert_eq!(read.text("db.system.name").as_deref(), Some("sqlite"));
    assert_eq!(
        (read.text("db.namespace").as_deref(), read.text("db.collection.name").as_deref()),
        (Some("shop"), Some("items"))
    );
    let spans = collector.until(&TRACE.replace("0af7", "0005"), |spans| spans.len() >= 4);
    let call = spans.iter().find(|span| span.name() == "function call").unwrap();
    assert_eq!((call.kind(), call.text("code.function.name").as_deref()), (SpanKind::Client, Some("double")));
    assert!(collector.heads().iter().all(|head| head.contains("x-collector-key: key-of-the-collector")));
    assert!(!traced.end().contains("key-of-the-collector"));
}

#[test]
fn what_fails_is_told() {
    let collector = Collector::start();
    let settings = format!("[server]\notlp_endpoint = \"{}\"\n", collector.address());
    let traced = Traced::serve(&settings, &[], &[]);
    assert_eq!(traced.get("/api/tables/nobody-secret", &[("traceparent", PARENT)]).status, 404);
    let spans = collector.until(TRACE, |spans| spans.iter().any(|span| span.kind() == SpanKind::Server));
    let request = spans.iter().find(|span| span.kind() == SpanKind::Server).unwrap();
    // What a client did wrong is no failure of the server.
    assert_eq!((request.number("http.response.status_code"), request.status()), (Some(404), StatusCode::Unset));
    let operation = part(&spans, "operation", request);
    assert_eq!(
        (operation.status(), operation.text("error.type").as_deref()),
        (StatusCode::Error, Some("invalid_table"))
    );
    assert!(!format!("{spans:?}").contains("nobody-secret"), "{spans:?}");
}

#[test]
fn who_samples() {
    let collector = Collector::start();
    // The variable names the collector as the setting does; and without a client's word, no request is traced.
    let address = collector.address();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_TRACES_SAMPLER", "parentbased_always_off")];
    let traced = Traced::serve("", &[], &variables);
    let not = PARENT.replace("-01", "-00").replace("0af7", "0bf7");
    let damaged = PARENT.replace("0af7", "0AF7");
    for headers in [&[][..], &[("traceparent", not.as_str())], &[("traceparent", damaged.as_str())]] {
        assert_eq!(traced.get("/api/tables/people", headers).status, 200);
    }
    let two = [("traceparent", PARENT), ("traceparent", PARENT)];
    assert_eq!(traced.get("/api/tables/people", &two).status, 200);
    let wanted = PARENT.replace("0af7", "0cf7");
    assert_eq!(traced.get("/api/tables/people", &[("traceparent", wanted.as_str())]).status, 200);
    let trace = TRACE.replace("0af7", "0cf7");
    collector.until(&trace, |spans| spans.iter().any(|span| span.kind() == SpanKind::Server));
    assert_eq!(collector.traces(), [trace], "spans come in their order, so that others would be there");
    drop(traced);
    // Without a client's word, every request is traced, each under a number of its own; and a client may not exclude
    // one if the operator says so.
    let all = Collector::start();
    let address = all.address();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()), ("OTEL_TRACES_SAMPLER", "always_on")];
    let traced = Traced::serve("", &[], &variables);
    assert_eq!(traced.get("/api/tables/people", &[("traceparent", not.as_str())]).status, 200);
    assert_eq!(traced.get("/api/tables/people", &[]).status, 200);
    all.until(&TRACE.replace("0af7", "0bf7"), |spans| spans.iter().any(|span| span.kind() == SpanKind::Server));
    traced.end();
    assert!(all.traces().len() >= 3, "that of the client, of the other request, and of each look at `/ready`");
    // Off is off, whatever else is set.
    let off = Collector::start();
    let settings = format!("[server]\notlp_endpoint = \"{}\"\n", off.address());
    let traced = Traced::serve(&settings, &[], &[("OTEL_SDK_DISABLED", "true")]);
    assert_eq!(traced.get("/api/tables/people", &[("traceparent", PARENT)]).status, 200);
    assert!(!traced.get("/metrics", &[]).body.contains("salver_trace_spans_total"));
    traced.end();
    assert!(off.traces().is_empty());
}

#[test]
fn functions_are_told_whose_part_they_are() {
    let collector = Collector::start();
    let settings = format!("[server]\notlp_endpoint = \"{}\"\n[[function]]\nfile = \"code.py\"\n", collector.address());
    let code = "def told(request) -> str:\n    return request.header('traceparent', '-')\n";
    let traced = Traced::serve(&settings, &[("code.py", code)], &[]);
    let answer = traced.ask("POST", "/api/functions/code/told", &[("traceparent", PARENT)], Some("{}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    let spans = collector.until(TRACE, |spans| spans.iter().any(|span| span.kind() == SpanKind::Server));
    let call = spans.iter().find(|span| span.name() == "function call").unwrap();
    assert_eq!(answer.json(), format!("00-{TRACE}-{}-01", call.id()));
}

/// What other systems say of a trace goes on with that trace, and with no other.
#[test]
fn functions_are_told_the_state_of_their_trace_alone() {
    let collector = Collector::start();
    let settings = format!("[server]\notlp_endpoint = \"{}\"\n[[function]]\nfile = \"code.py\"\n", collector.address());
    let code = "def told(request) -> str:\n    return request.header('tracestate', '-')\n";
    let traced = Traced::serve(&settings, &[("code.py", code)], &[]);
    let damaged = PARENT.replace("0af7", "0AF7");
    let zeros = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
    let state = ("tracestate", "vendor=abc");
    for (headers, expected) in [
        (vec![("traceparent", PARENT), state], "vendor=abc"),
        (vec![("traceparent", PARENT), state, ("tracestate", "other=1")], "vendor=abc,other=1"),
        (vec![("traceparent", PARENT)], "-"),
        (vec![("traceparent", damaged.as_str()), state], "-"),
        (vec![("traceparent", zeros.as_str()), state], "-"),
        (vec![("traceparent", PARENT), ("traceparent", PARENT), state], "-"),
        (vec![state], "-"),
    ] {
        let answer = traced.ask("POST", "/api/functions/code/told", &headers, Some("{}"));
        assert_eq!((answer.status, answer.json()), (200, expected.into()), "{headers:?}");
    }
}

#[test]
fn a_collector_that_is_away() {
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = format!("[server]\notlp_endpoint = \"http://{gone}\"\n");
    let traced = Traced::serve(&settings, &[], &[]);
    let failed = "salver_trace_spans_total{outcome=\"failed\"}";
    let mut before = 0.0;
    for _ in 0..2 {
        assert_eq!(traced.get("/api/tables/people", &[]).status, 200);
        until("spans are given up", || traced.measured(failed) > before);
        before = traced.measured(failed);
    }
    assert_eq!(traced.measured("salver_trace_spans_total{outcome=\"exported\"}"), 0.0);
    let log = traced.end();
    assert_eq!(log.matches("traces can't be sent").count(), 1, "{log}");
}

#[test]
fn a_collector_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = format!("[server]\notlp_endpoint = \"http://{}\"\n", listener.local_addr().unwrap());
    let (sender, held) = std::sync::mpsc::channel::<TcpStream>();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(sender.send(stream))));
    let traced = Traced::serve(&settings, &[], &[]);
    let mut client = Client::new(&traced.address);
    // More than wait: what is too much is dropped and counted, and every request is answered.
    for _ in 0..1_500 {
        assert_eq!(client.send("GET", "/api/tables/people", &[], None).unwrap().status, 200);
    }
    assert!(traced.measured("salver_trace_spans_total{outcome=\"dropped\"}") > 0.0);
    traced.end();
    drop(held);
}

#[test]
fn who_left_is_counted_and_logged() {
    let traced = Traced::serve("[server]\naccess_log = true\n", &[], &[]);
    let left = "salver_http_requests_total{route=\"/api/sql\",method=\"POST\",status=\"499\"}";
    let statement = "select count(*) as n from range(1, 900000000000) where value % 10 = 11";
    let mut stream = TcpStream::connect(&traced.address).unwrap();
    let head = format!(
        "POST /api/sql HTTP/1.1\r\nHost: {}\r\nX-Request-Id: leaver\r\nContent-Length: {}\r\n\r\n{statement}",
        traced.address,
        statement.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    until("the query runs", || traced.measured("salver_permits_taken{kind=\"queries\"}") >= 1.0);
    drop(stream);
    until("its client is known to have left", || traced.get("/metrics", &[]).body.contains(left));
    assert_eq!(traced.measured(left), 1.0);
    // Of an answer that is being sent.
    let mut stream = TcpStream::connect(&traced.address).unwrap();
    let pairs = "select value from range(1, 900000000000)";
    let head = format!(
        "POST /api/sql HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut\r\nContent-Length: {}\r\n\r\n{pairs}",
        pairs.len()
    );
    stream.write_all(head.replace("Host: x", &format!("Host: {}", traced.address)).as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(stream);
    until("it is counted", || traced.measured("salver_http_responses_aborted_total") == 1.0);
    let log = traced.end();
    let of = |id: &str| log.lines().filter(|line| line.contains(&format!("id=\"{id}\""))).collect::<Vec<_>>();
    assert!(matches!(*of("leaver"), [line] if line.contains("status=499")), "{log}");
    let cut = of("cut");
    assert!(cut.len() == 2 && cut[0].contains("status=200") && cut[1].contains("the client left"), "{log}");
}
