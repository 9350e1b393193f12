//! `/metrics`: that it counts what was asked, and that Prometheus' own parser reads it.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::process::Process;

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
const SETTINGS: &str = "[[stream]]\nname = \"clicks\"\n[[dataset]]\nname = \"gone\"\nsource = \"gone.csv\"\n";

/// Prints each sample that the parser finds, and fails where it finds none.
const PARSE: &str = "
import sys
from prometheus_client.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation and family.type != 'unknown', family
    for sample in family.samples:
        print(sample.name, sorted(sample.labels.items()), sample.value)
";

/// Every sample of a page, with its name and labels as they are written.
fn samples(page: &str) -> BTreeMap<String, f64> {
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line}")))
    };
    let all: Vec<_> = lines.map(read).collect();
    let count = all.len();
    let by_name: BTreeMap<_, _> = all.into_iter().collect();
    assert_eq!(by_name.len(), count, "a sample stands twice");
    by_name
}

#[test]
fn what_was_asked_is_counted() {
    let process = Process::with(SETTINGS, &[("people.csv", ROWS)]);
    let before = samples(&process.get("/metrics"));
    for (method, target, body, status) in [
        ("GET", "/api/tables/people?limit=1", None, 200),
        ("GET", "/api/tables/people?limit=1", None, 200),
        ("GET", "/api/tables/people?limit=1", None, 200),
        ("HEAD", "/api/tables/people", None, 200),
        ("GET", "/api/tables/peopel", None, 404),
        ("GET", "/api/tables/people?filter%5Bnone%5D=1", None, 400),
        ("POST", "/api/sql", Some("select count(*) from people"), 200),
        ("POST", "/api/sql", Some("selekt"), 400),
        ("POST", "/api/streams/clicks", Some("{\"a\":1}"), 200),
        ("POST", "/api/streams/clicks?ack=memory", Some("[{\"a\":1},{\"a\":2}]"), 202),
        ("POST", "/api/streams/clicks/groups/g/commit", Some("{\"offset\":1}"), 200),
        ("GET", "/nowhere/%22at%22all", None, 404),
        ("DELETE", "/health", None, 405),
    ] {
        let answer = process.send(method, target, body);
        assert!(answer.status == status, "{method} {target}: {} {}", answer.status, answer.body);
    }
    let page = process.get("/metrics");
    let after = samples(&page);
    let grown = |name: &str| after.get(name).copied().unwrap_or(0.0) - before.get(name).copied().unwrap_or(0.0);
    let requests = |route: &str, method: &str, status: &str| {
        let labels = format!("{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}}");
        grown(&format!("salver_http_requests_total{labels}"))
    };
    for (route, method, status, count) in [
        ("/api/tables/{name}", "GET", "200", 3.0),
        ("/api/tables/{name}", "HEAD", "200", 1.0),
        ("/api/tables/{name}", "GET", "404", 1.0),
        ("/api/tables/{name}", "GET", "400", 1.0),
        ("/api/sql", "POST", "200", 1.0),
        ("/api/sql", "POST", "400", 1.0),
        ("/api/streams/{name}", "POST", "200", 1.0),
        ("/api/streams/{name}", "POST", "202", 1.0),
        ("(none)", "GET", "404", 1.0),
        ("(none)", "DELETE", "405", 1.0),
        // The page before counts itself.
        ("/metrics", "GET", "200", 1.0),
    ] {
        assert_eq!(requests(route, method, status), count, "{method} {route} {status}:\n{page}");
    }
    assert!(grown("salver_cache_hits_total") >= 1.0, "{page}");
    let tables = "{route=\"/api/tables/{name}\",method=\"GET\"";
    assert_eq!(grown(&format!("salver_http_request_duration_seconds_count{tables}}}")), 5.0);
    assert_eq!(grown(&format!("salver_http_request_duration_seconds_bucket{tables},le=\"+Inf\"}}")), 5.0);
    assert!(grown(&format!("salver_http_request_duration_seconds_sum{tables}}}")) > 0.0);
    let buckets: Vec<f64> = page
        .lines()
        .filter(|line| line.starts_with(&format!("salver_http_request_duration_seconds_bucket{tables}")))
        .map(|line| line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number"))
        .collect();
    assert!(buckets.len() > 10 && buckets.is_sorted(), "{buckets:?}");
    for (name, value) in [
        ("salver_entry_up{entry=\"people\"}", 1.0),
        ("salver_entry_up{entry=\"gone\"}", 0.0),
        ("salver_entry_rows{entry=\"people\"}", 2.0),
        ("salver_stream_up{stream=\"clicks\"}", 1.0),
        ("salver_stream_next_offset{stream=\"clicks\"}", 3.0),
        ("salver_stream_first_offset{stream=\"clicks\"}", 0.0),
        ("salver_stream_group_lag_events{stream=\"clicks\",group=\"g\"}", 2.0),
    ] {
        assert_eq!(after.get(name), Some(&value), "{name}:\n{page}");
    }
    assert!(after["process_resident_memory_bytes"] > 10e6 && after["process_open_fds"] > 5.0);
    assert!(after["salver_permits{kind=\"connections\"}"] >= 1.0);
}

#[test]
fn who_may_read_it() {
    let settings = format!("[auth]\napi_keys = [\"prometheus:a-long-and-random-text\"]\n{SETTINGS}");
    let process = Process::started_with(&settings, &[("people.csv", ROWS)]);
    assert_eq!(process.send("GET", "/metrics", None).status, 401);
    assert_eq!(process.send("POST", "/metrics", Some("")).status, 401);
    let free = Process::with(SETTINGS, &[("people.csv", ROWS)]);
    assert_eq!(free.send("HEAD", "/metrics", None).status, 200);
    assert_eq!(free.send("POST", "/metrics", Some("")).status, 405);
}

/// It names what the caller may know of, and no table that the rules of its database deny.
#[test]
fn what_it_names() {
    let shop = "create table items (id integer primary key); create table wages (id integer primary key);";
    let settings = format!(
        "{SETTINGS}[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\n\
         [[database.rule]]\ntables = [\"wages\"]\ndeny = true\n"
    );
    let process = Process::with(&settings, &[("people.csv", ROWS), ("shop.sql", shop)]);
    let page = process.get("/metrics");
    assert!(page.contains("{entry=\"people\"}") && page.contains("{stream=\"clicks\"}"), "{page}");
    assert!(page.contains("items") && !page.contains("wages"), "{page}");
    let access = format!(
        "{SETTINGS}[[access]]\nentries = [\"metrics\"]\npermissions = [\"administer\"]\n\
         [[access]]\nentries = [\"people\"]\npermissions = [\"read\"]\n"
    );
    let process = Process::with(&access, &[("people.csv", ROWS), ("secrets.csv", ROWS)]);
    let page = process.get("/metrics");
    assert!(page.contains("{entry=\"people\"}"), "{page}");
    assert!(!page.contains("secrets") && !page.contains("clicks"), "{page}");
}

#[test]
fn prometheus_reads_it() {
    if !Command::new("python3")
        .args(["-c", "import prometheus_client"])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        // `make test` installs it where PyPI can be reached.
        return;
    }
    let process = Process::with(SETTINGS, &[("people.csv", ROWS)]);
    process.send("GET", "/api/tables/people", None);
    let page = process.get("/metrics");
    let mut parser = Command::new("python3")
        .args(["-c", PARSE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python");
    parser.stdin.take().expect("its input").write_all(page.as_bytes()).expect("the page");
    let parsed = parser.wait_with_output().expect("its output");
    assert!(parsed.status.success(), "{page}");
    let lines = String::from_utf8_lossy(&parsed.stdout).lines().count();
    assert_eq!(lines, samples(&page).len(), "{page}");
}
