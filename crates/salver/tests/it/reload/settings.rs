//! What changes beside datasets: settings of the server, limits, databases, streams and functions.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{FILES, ONE, ask, reload, until};
use crate::client::Client;
use crate::it::served::Served;
use crate::process::Process;

const SHOP: &str = "[[database]]\nname = \"shop\"\nurl = \"sqlite:_shop.db\"\ninit = \"shop.sql\"\n";
const OTHER: &str = "[[database]]\nname = \"other\"\nurl = \"sqlite:_other.db\"\ninit = \"other.sql\"\n";
const SHOP_SQL: &str = "create table items(id integer primary key); insert into items values (7);";
const OTHER_SQL: &str = "create table things(id integer primary key); insert into things values (8);";
const LATER_SQL: &str = "create table items(id integer primary key); insert into items values (9);";

/// The settings of `[server]` and `[limits]` count for the next request of a connection that is open.
#[test]
fn settings_of_the_server_and_limits() {
    let process = Process::with(ONE, &FILES);
    let mut client = Client::new(process.address());
    let mut get = |target: &str| client.send("GET", target, &[], None).expect("an answer");
    let first = get("/api/tables/people");
    assert!(first.status == 200 && first.header("access-control-allow-origin").is_none(), "{first:?}");
    reload(&process, &format!("[server]\ncors = true\ndefault_format = \"csv\"\nserver_timing = true\n{ONE}"));
    until(&process, "/api/tables/people", &[], (200, "1,ann"));
    let second = get("/api/tables/people");
    assert_eq!(second.header("access-control-allow-origin"), Some("*"), "{second:?}");
    assert!(second.body.contains("1,ann") && second.header("server-timing").is_some(), "{second:?}");
    // Nothing of it stays, not even in what is cached.
    reload(&process, &format!("[limits]\nrows_max = 1\nbody_bytes_max = 64\n{ONE}"));
    let long = format!("select 1 as n -- {}", "x".repeat(100));
    let patience = Instant::now() + Duration::from_secs(60);
    while get("/api/tables/people").status == 200 {
        assert!(Instant::now() < patience, "the limit does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = get("/api/tables/people");
    assert!(refused.body.contains("limits.rows_max"), "{refused:?}");
    let one = get("/api/tables/people?limit=1");
    assert_eq!(one.said(), (200, "[{\"id\":1,\"name\":\"ann\"}]"));
    assert!(one.header("access-control-allow-origin").is_none(), "{one:?}");
    assert_eq!(process.send("POST", "/api/sql", Some(&long)).status, 413);
    reload(&process, &format!("[server]\nfirewall = [\"10.0.0.0/8\"]\n{ONE}"));
    until(&process, "/api/tables/people", &[], (403, ""));
    assert_eq!(get("/api/tables/people").status, 403);
    reload(&process, &format!("[server]\nbase_path = \"/data\"\n{ONE}"));
    until(&process, "/data/api/tables/people", &[], (200, "bob"));
    assert_eq!(get("/data/api/sql?q=select+1+as+n").status, 200);
    assert_eq!(process.send("POST", "/data/api/sql", Some(&long)).status, 200);
}

/// What needs a restart is named, and the rest of the same settings counts.
#[test]
fn what_needs_a_restart_is_named() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("people.csv"), "id\n1\n").expect("a file");
    let path = folder.path().join("salver.toml");
    let stream = "[[stream]]\nname = \"clicks\"\n";
    std::fs::write(&path, stream).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(folder.path());
    let served = Served::start(command);
    let settings = "[server]\nthreads = 3\nlog = \"debug\"\n[limits]\nqueries_max = 7\n";
    std::fs::write(&path, format!("{settings}{stream}segment_bytes = \"64KiB\"\n")).expect("a file");
    served.signal("-HUP");
    served.until_logged("need a restart: server.threads, limits.queries_max, [[stream]] `clicks`");
    served.until_logged("the settings were read again: server.log");
    // A mistake changes nothing of it.
    std::fs::write(&path, "[server]\nlog = \"loud\"\n").expect("a file");
    served.signal("-HUP");
    served.until_logged("the settings stay as they were");
}

#[cfg(feature = "postgres")]
#[test]
fn databases_come_change_and_go() {
    let files = [("shop.sql", SHOP_SQL), ("other.sql", OTHER_SQL), ("later.sql", LATER_SQL)];
    let process = Process::with(SHOP, &files);
    until(&process, "/api/records/items", &[], (200, "7"));
    assert_eq!(ask(&process, "/api/tables/things", &[]).0, 404);
    reload(&process, &format!("{SHOP}{OTHER}"));
    until(&process, "/api/tables/things", &[], (200, "8"));
    until(&process, "/api/records/things", &[], (200, "8"));
    assert!(ask(&process, "/api/sql?q=select+count(*)+as+n+from+items,things", &[]).1.contains("1"));
    // The same name for another file.
    let later = SHOP.replace("_shop.db", "_later.db").replace("shop.sql", "later.sql");
    reload(&process, &format!("{later}{OTHER}"));
    until(&process, "/api/records/items", &[], (200, "9"));
    until(&process, "/api/tables/items", &[], (200, "9"));
    // Its rules change, and one is away.
    let away = "[[database]]\nname = \"away\"\nurl = \"postgres://nobody@127.0.0.1:1/nothing\"\n";
    let shut = "[[database.rule]]\ntables = [\"items\"]\ndeny = true\n";
    reload(&process, &format!("{later}{shut}{away}"));
    until(&process, "/api/tables/away", &[], (503, "away"));
    // As long as a database can't be reached, a table that is not known may be one of its own.
    until(&process, "/api/tables/items", &[], (503, "no table `items` is known"));
    assert_ne!(ask(&process, "/api/records/items", &[]).0, 200);
    assert_eq!(ask(&process, "/api/tables/things", &[]).0, 503);
    reload(&process, SHOP);
    until(&process, "/api/records/items", &[], (200, "7"));
    until(&process, "/api/tables/items", &[], (200, "7"));
    until(&process, "/api/tables/away", &[], (404, ""));
    until(&process, "/ready", &[], (200, "\"ready\":true"));
}

#[test]
fn streams_come_and_go() {
    let stream = "[[stream]]\nname = \"clicks\"\n";
    let process = Process::with(ONE, &FILES);
    assert_eq!(process.send("POST", "/api/streams/clicks", Some("{\"n\":1}")).status, 404);
    let take = |n: u32| {
        let body = format!("{{\"n\":{n}}}");
        let patience = Instant::now() + Duration::from_secs(60);
        while process.send("POST", "/api/streams/clicks", Some(&body)).status != 200 {
            assert!(Instant::now() < patience, "the stream does not open");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    reload(&process, &format!("{ONE}{stream}"));
    take(1);
    until(&process, "/api/sql?q=select+count(n)+as+n+from+clicks", &[], (200, "[{\"n\":1}]"));
    reload(&process, ONE);
    // Its table goes first, a moment before the stream takes nothing more.
    until(&process, "/api/streams/clicks/events", &[], (404, ""));
    assert_eq!(process.send("POST", "/api/streams/clicks", Some("{\"n\":1}")).status, 404);
    assert_eq!(ask(&process, "/api/tables/clicks", &[]).0, 404);
    // Its log was closed, and has what it had.
    reload(&process, &format!("{ONE}{stream}"));
    take(2);
    until(&process, "/api/sql?q=select+count(n)+as+n+from+clicks", &[], (200, "[{\"n\":2}]"));
}

/// Under another name, a stream goes on with its log, which nobody else is blamed to hold.
#[test]
fn a_renamed_stream_goes_on() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("people.csv"), "id\n1\n").expect("a file");
    let path = folder.path().join("salver.toml");
    std::fs::write(&path, "[[stream]]\nname = \"clicks\"\n").expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(folder.path());
    let served = Served::start(command);
    let address = served.place.trim_start_matches("http://").to_owned();
    let send = |method: &str, target: &str, body: Option<&[u8]>| {
        Client::new(&address).send(method, target, &[], body).expect("an answer")
    };
    assert_eq!(send("POST", "/api/streams/clicks", Some(b"{\"n\":1}")).status, 200);
    // What still waits at the old name does not keep the log.
    let waiting = address.clone();
    let tail = std::thread::spawn(move || {
        Client::new(&waiting).send("GET", "/api/streams/clicks/events?from=1&wait=60s", &[], None).map(|_| ())
    });
    let renamed = "[[stream]]\nname = \"visits\"\ndir = \"./salver-data/streams/../streams/clicks\"\n";
    std::fs::write(&path, renamed).expect("a file");
    served.signal("-HUP");
    served.until_logged("the settings were read again: 1 stream new, 1 stream gone");
    // With the reload it is open, and not by and by.
    assert_eq!(send("POST", "/api/streams/visits", Some(b"{\"n\":2}")).status, 200);
    let rows = send("GET", "/api/sql?q=select+count(n)+as+n+from+visits", None);
    assert_eq!(rows.said(), (200, "[{\"n\":2}]"));
    assert_eq!(send("GET", "/api/streams/clicks/events", None).status, 404);
    assert!(!served.logged().contains("in use by another process"), "{}", served.logged());
    let _ = tail.join().expect("the one that waits");
}

#[cfg(feature = "functions")]
#[test]
fn functions_come_change_and_go() {
    let code = "import os\n\n\ndef two():\n    return 2\n\n\ndef said():\n    return os.environ.get(\"WORD\", \"\")\n";
    let file = |environment: &str| format!("[[function]]\nfile = \"py.py\"\n{environment}{ONE}");
    let files = [FILES[0], FILES[1], FILES[2], ("py.py", code)];
    let process = Process::with(ONE, &files);
    let call = |name: &str| process.send("POST", &format!("/api/functions/py/{name}"), Some("{}"));
    let until_called = |name: &str, expected: (u16, &str)| {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = call(name);
            if answer.status == expected.0 && answer.body.contains(expected.1) {
                return;
            }
            assert!(Instant::now() < patience, "{name}: {answer:?} instead of {expected:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    assert_eq!(call("two").status, 404);
    reload(&process, &file(""));
    until_called("two", (200, "2"));
    reload(&process, &file("environment = { WORD = \"other\" }\n"));
    until_called("said", (200, "other"));
    // What can't be loaded as it is declared now is served as before.
    let nowhere = "environment = { WORD = \"other\" }\ninterpreter = \"/nowhere/python\"\n";
    reload(&process, &file(nowhere));
    assert_eq!((call("said").status, call("said").body.contains("other")), (200, true));
    // But not with rights that are taken from it.
    reload(&process, &file(&format!("{nowhere}network = false\n")));
    until_called("said", (503, ""));
    reload(&process, ONE);
    until_called("two", (404, ""));
    assert_eq!(ask(&process, "/api/tables/people", &[]).0, 200);
}

/// While everything changes, every request gets its answer.
#[test]
fn no_request_is_dropped_by_other_settings() {
    let files =
        [FILES[0], FILES[1], FILES[2], ("shop.sql", SHOP_SQL), ("other.sql", OTHER_SQL), ("later.sql", LATER_SQL)];
    let stream = "[[stream]]\nname = \"clicks\"\n";
    let start = format!("{ONE}{stream}{SHOP}");
    let process = Process::with(&start, &files);
    until(&process, "/api/records/items", &[], (200, "7"));
    let (ends, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let targets = ["/api/tables/people", "/api/records/items", "/api/tables/items", "/api/sql?q=select+1+as+n"];
        for target in targets {
            let (process, ends, asked) = (&process, &ends, &asked);
            scope.spawn(move || {
                let mut client = Client::new(process.address());
                while !ends.load(Ordering::Relaxed) {
                    let answer = client.send("GET", target, &[], None).expect("an answer");
                    assert_eq!(answer.status, 200, "{target}: {}", answer.body);
                    let event = client.send("POST", "/api/streams/clicks", &[], Some(b"{\"n\":1}")).expect("an answer");
                    assert_eq!(event.status, 200, "{}", event.body);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..12 {
            let (database, row) = match round % 2 {
                0 => (SHOP.replace("_shop.db", "_later.db").replace("shop.sql", "later.sql"), "9"),
                _ => (SHOP.to_owned(), "7"),
            };
            let more = if round % 3 == 0 { OTHER } else { "" };
            let settings = format!("[server]\nslow_ms = {}\n[limits]\nrows_max = {}\n", round + 60_000, round + 100);
            reload(&process, &format!("{settings}{ONE}{stream}{database}{more}"));
            until(&process, "/api/records/items", &[], (200, row));
        }
        ends.store(true, Ordering::Relaxed);
    });
    let asked = asked.load(Ordering::Relaxed);
    assert!(asked > 50, "{asked}");
    let rows = process.sql("select count(*) as n from clicks");
    assert_eq!(rows[0]["n"], asked, "each event that was answered is there once");
}
