//! SIGHUP: what the settings say anew holds, and no request is dropped meanwhile.

mod settings;

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::server::Server;
use crate::client::Client;
use crate::process::Process;

const PEOPLE: &str = "id,name\n1,ann\n2,bob\n";
const TOWNS: &str = "id,town\n1,Bath\n";
/// Not served without being declared, as their names are.
const FILES: [(&str, &str); 3] = [("people.txt", PEOPLE), ("towns.txt", TOWNS), ("others.txt", "id,name\n7,zoe\n")];
const ONE: &str = "[[dataset]]\nname = \"people\"\nsource = \"people.txt\"\nformat = \"csv\"\n";
const TWO: &str = "[[dataset]]\nname = \"towns\"\nsource = \"towns.txt\"\nformat = \"csv\"\n";

/// Writes other settings and asks the server to read them.
fn reload(process: &Process, settings: &str) {
    std::fs::write(process.directory().join("salver.toml"), settings).expect("a file");
    hang_up(process.pid());
}

fn hang_up(pid: u32) {
    let sent = Command::new("kill").args(["-HUP", &pid.to_string()]).status().expect("kill");
    assert!(sent.success());
}

fn ask(process: &Process, target: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let answer = Client::new(process.address()).send("GET", target, headers, None).expect("an answer");
    (answer.status, answer.body)
}

#[track_caller]
fn until(process: &Process, target: &str, headers: &[(&str, &str)], expected: (u16, &str)) {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let (status, body) = ask(process, target, headers);
        if status == expected.0 && body.contains(expected.1) {
            return;
        }
        assert!(Instant::now() < patience, "{target}: {status} {body} instead of {expected:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn views_and_queries_come_change_and_go() {
    let both =
        |sql: &str| format!("{ONE}[[view]]\nname = \"v\"\nsql = \"{sql}\"\n[[query]]\nname = \"q\"\nsql = \"{sql}\"\n");
    let process = Process::with(&both("SELECT name FROM people WHERE id = 1"), &FILES);
    until(&process, "/api/tables/v", &[], (200, "ann"));
    until(&process, "/api/queries/q", &[], (200, "ann"));
    reload(&process, &both("SELECT name FROM people WHERE id = 2"));
    until(&process, "/api/tables/v", &[], (200, "bob"));
    until(&process, "/api/queries/q", &[], (200, "bob"));
    reload(&process, ONE);
    until(&process, "/api/tables/v", &[], (404, ""));
    until(&process, "/api/queries/q", &[], (404, ""));
}

/// A view that changes is waited for, with those over it, and the others stay.
#[test]
fn views_stay_while_one_changes() {
    let view = |name: &str, sql: &str| format!("[[view]]\nname = \"{name}\"\nsql = \"{sql}\"\n");
    let rest = [view("same", "SELECT name FROM people"), view("over", "SELECT name FROM v")].concat();
    let settings = |id: usize| format!("{ONE}{rest}{}", view("v", &format!("SELECT name FROM people WHERE id = {id}")));
    let process = Process::with(&settings(1), &FILES);
    until(&process, "/api/tables/over", &[], (200, "ann"));
    for turn in 0..6 {
        let (id, name) = [(2, "bob"), (1, "ann")][turn % 2];
        reload(&process, &settings(id));
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let answers = ["same", "over", "v"].map(|view| ask(&process, &format!("/api/tables/{view}"), &[]));
            assert!(answers.iter().all(|(status, _)| *status == 200), "{answers:?}");
            if answers[1..].iter().all(|(_, body)| body.contains(name)) {
                break;
            }
            assert!(Instant::now() < patience, "{answers:?}");
        }
    }
}

#[test]
fn datasets_come_change_and_go() {
    let mut process = Process::with(ONE, &FILES);
    assert_eq!(ask(&process, "/api/tables/towns", &[]).0, 404);
    reload(
        &process,
        &format!("{ONE}{TWO}[[store]]\nname = \"who\"\ndataset = \"people\"\nkey = \"id\"\nvalue = \"name\"\n"),
    );
    until(&process, "/api/tables/towns", &[], (200, "Bath"));
    until(&process, "/api/kv/who/2", &[], (200, "bob"));
    assert!(ask(&process, "/api/sql?q=select+count(*)+as+n+from+people+join+towns+using+(id)", &[]).1.contains("1"));
    until(&process, "/api/graphql?query={towns{town}}", &[], (200, "Bath"));
    // The same name for other rows, and one less.
    reload(&process, &ONE.replace("people.txt", "others.txt"));
    until(&process, "/api/tables/people", &[], (200, "zoe"));
    until(&process, "/api/tables/towns", &[], (404, ""));
    until(&process, "/api/kv/who/2", &[], (400, "doesn't exist"));
    assert_eq!(ask(&process, "/api/graphql?query={towns{town}}", &[]).0, 400);
    // Mistakes change nothing, however often.
    for wrong in ["[[dataset]]\nname = \"people\"\n", "x", "[[dataset]]\nname = \"a\"\nsorce = \"people.csv\"\n", ""] {
        reload(&process, wrong);
        std::thread::sleep(Duration::from_millis(200));
        assert!(process.is_alive());
        assert!(ask(&process, "/api/tables/people", &[]).1.contains("zoe"), "{wrong}");
    }
    // A file that is not there is an entry that says so.
    reload(&process, &format!("{ONE}[[dataset]]\nname = \"gone\"\nsource = \"gone.csv\"\n"));
    until(&process, "/api/tables/people", &[], (200, "ann"));
    until(&process, "/api/tables/gone", &[], (503, "gone.csv"));
}

/// What comes into a directory takes no name that rules have for a database or its tables, and is a file.
#[test]
fn names_of_databases_and_pipes_are_left_out() {
    let database = "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\n";
    let sql = "create table items(id integer primary key); insert into items values (7);";
    let process = Process::with(database, &[("shop.sql", sql), ("shop.csv", PEOPLE)]);
    until(&process, "/api/tables/items", &[], (200, "7"));
    std::fs::write(process.directory().join("shop.items.csv"), PEOPLE).expect("a file");
    let made = Command::new("mkfifo").arg(process.directory().join("pipe.csv")).status().expect("mkfifo");
    assert!(made.success());
    std::fs::write(process.directory().join("people.csv"), PEOPLE).expect("a file");
    until(&process, "/api/tables/people", &[], (200, "ann"));
    assert_eq!(ask(&process, "/ready", &[]).0, 200);
    for name in ["shop", "shop.csv", "shop.items", "pipe"] {
        let (status, body) = ask(&process, &format!("/api/tables/{name}"), &[]);
        assert!(status == 404 && !body.contains("ann"), "{name}: {status} {body}");
    }
    // A reload and a start go on as before.
    reload(&process, database);
    until(&process, "/api/tables/items", &[], (200, "7"));
    assert_eq!(ask(&process, "/api/tables/people", &[]).0, 200);
}

/// Readiness fails with an entry that can't be served, where that is asked for.
#[test]
fn ready_needs_all() {
    let all = "[server]\nready_needs_all = true\n";
    let gone = "[[dataset]]\nname = \"gone\"\nsource = \"gone.csv\"\n";
    let process = Process::with(&format!("{all}{ONE}"), &FILES);
    reload(&process, &format!("{all}{ONE}{gone}"));
    until(&process, "/ready", &[], (503, "gone.csv"));
    assert_eq!(ask(&process, "/api/tables/people", &[]).0, 200);
    reload(&process, &format!("{all}{ONE}"));
    until(&process, "/ready", &[], (200, "\"ready\":true"));
}

#[test]
fn rules_and_keys_change() {
    let (first, second) = ("first-0123456789abcdef", "second-0123456789abcdef");
    let keys = |keys: &str| format!("[auth]\nmode = \"optional\"\napi_keys = [{keys}]\n");
    let both = keys(&format!("\"one:{first}\", \"two:{second}\""));
    let rules = |columns: &str| {
        format!(
            "[[role]]\nname = \"r\"\ncallers = [\"api_key:one\"]\n[[access]]\nroles = [\"r\"]\nentries = [\"people\"]\n\
             permissions = [\"read\", \"sql\"]\n{columns}"
        )
    };
    let process = Process::with(&format!("{both}{ONE}"), &FILES);
    let (one, two) = ([("x-api-key", first)], [("x-api-key", second)]);
    assert_eq!(ask(&process, "/api/tables/people", &two).0, 200);
    reload(&process, &format!("{both}{ONE}{}", rules("")));
    until(&process, "/api/tables/people", &two, (404, ""));
    until(&process, "/api/tables/people", &one, (200, "ann"));
    until(&process, "/api/graphql?query={people{name}}", &one, (200, "ann"));
    // The schema that GraphQL keeps for these roles was made under other rules.
    reload(&process, &format!("{both}{ONE}{}", rules("columns_hidden = [\"name\"]\n")));
    until(&process, "/api/tables/people", &one, (200, "[{\"id\":1},{\"id\":2}]"));
    assert_eq!(ask(&process, "/api/graphql?query={people{name}}", &one).0, 400);
    assert_eq!(ask(&process, "/api/sql?q=select+name+from+people", &one).0, 400);
    // A key that is gone proves nothing.
    reload(&process, &format!("{}{ONE}{}", keys(&format!("\"one:{second}\"")), rules("")));
    until(&process, "/api/tables/people", &two, (200, "ann"));
    assert_eq!(ask(&process, "/api/tables/people", &one).0, 401);
    assert_eq!(ask(&process, "/api/tables/people", &[]).0, 404);
}

#[test]
fn no_request_is_dropped() {
    let process = Process::with(&format!("{ONE}{TWO}"), &FILES);
    let (ends, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = Client::new(process.address());
                while !ends.load(Ordering::Relaxed) {
                    let answer = client.send("GET", "/api/tables/people?limit=1", &[], None).expect("an answer");
                    assert_eq!(answer.status, 200, "{}", answer.body);
                    assert!(answer.body.contains("ann") || answer.body.contains("zoe"), "{}", answer.body);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..20 {
            let source = if round % 2 == 0 { "others.txt" } else { "people.txt" };
            let more = if round % 3 == 0 { TWO } else { "" };
            reload(&process, &format!("{}{more}", ONE.replace("people.txt", source)));
            let name = if round % 2 == 0 { "zoe" } else { "ann" };
            until(&process, "/api/tables/people", &[], (200, name));
        }
        ends.store(true, Ordering::Relaxed);
    });
    assert!(asked.load(Ordering::Relaxed) > 100);
}

#[test]
fn what_a_reload_cannot_do() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("app.db");
    let made = Command::new("sqlite3").arg(&path).arg("create table users (username text, password text)").status();
    assert!(made.expect("sqlite3").success());
    let database = format!("[[database]]\nname = \"app\"\nurl = \"sqlite:{}\"\n", path.display());
    let start = format!("{ONE}{database}");
    let process = Process::with(&start, &FILES);
    until(&process, "/api/tables/users", &[], (200, "[]"));
    // The table of users would have to be shut, and its name is taken.
    for refused in [
        format!("[auth]\nmode = \"optional\"\ndatabase = \"app\"\n{start}"),
        format!("{start}{}", TWO.replace("\"towns\"", "\"users\"")),
    ] {
        reload(&process, &refused);
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(ask(&process, "/api/tables/users", &[]), (200, "[]".to_owned()));
        assert_eq!(ask(&process, "/api/me", &[]).0, 404);
    }
    // Another name of the database is none of these.
    reload(&process, &format!("{start}{TWO}").replace("name = \"app\"", "name = \"apple\""));
    until(&process, "/api/tables/towns", &[], (200, "Bath"));
    assert_eq!(ask(&process, "/api/tables/users", &[]).0, 200);
}

#[test]
fn new_files_of_a_directory() {
    let server = Server::of(&[("people.csv", PEOPLE.as_bytes())]);
    std::fs::write(server.file("towns.csv"), TOWNS).expect("a file");
    std::fs::remove_file(server.file("people.csv")).expect("a file");
    hang_up(server.pid());
    server.until(|server| server.get("/api/tables/towns").status == 200);
    server.until(|server| server.get("/api/tables/people").status == 404);
}

#[test]
fn tags_of_other_rules_are_other_tags() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("app.db");
    let text = "pragma journal_mode = wal; create table posts (id integer primary key, title text); \
        insert into posts values (1, 'one')";
    let made = Command::new("sqlite3").arg(&path).arg(text).output().expect("sqlite3");
    assert!(made.status.success());
    let database = format!("[[database]]\nname = \"app\"\nurl = \"sqlite:{}\"\n", path.display());
    let rules = |hidden: &str| {
        format!("[[access]]\nentries = [\"*\"]\npermissions = [\"read\", \"sql\"]\n{hidden}{database}{ONE}")
    };
    let process = Process::with(&rules("columns_hidden = [\"title\"]\n"), &FILES);
    let tag = |target: &str| {
        let answer = Client::new(process.address()).send("GET", target, &[], None).expect("an answer");
        answer.header("etag").unwrap_or_else(|| panic!("{target}: {answer:?}")).to_owned()
    };
    let targets = ["/api/records/posts", "/api/records/posts?order=id", "/api/records/posts/1"];
    let tags = targets.map(|target| (target, tag(target)));
    for (target, tag) in &tags {
        assert_eq!(ask(&process, target, &[("if-none-match", tag)]).0, 304, "{target}");
    }
    reload(&process, &rules(""));
    for (target, tag) in &tags {
        until(&process, target, &[("if-none-match", tag)], (200, "one"));
    }
}

#[test]
fn what_lasts_ends_with_its_rules() {
    let rules = |permissions: &str| {
        format!("[[stream]]\nname = \"clicks\"\n{ONE}[[access]]\nentries = [\"*\"]\npermissions = [{permissions}]\n")
    };
    let process = Process::with(&rules("\"read\", \"export\", \"append\", \"consume\""), &FILES);
    assert_eq!(process.send("POST", "/api/streams/clicks", Some("{\"a\":1}")).status, 200);
    let opened = process.send("POST", "/api/export", Some("{\"entry\":\"people\",\"streams\":1}"));
    assert!(opened.status == 200 || opened.status == 201, "{opened:?}");
    let export: serde_json::Value = serde_json::from_str(&opened.body).expect("JSON");
    let text = export.to_string();
    let path = text.split('"').find(|part| part.starts_with("/api/export/")).map(str::to_owned);
    let cursor = process.send("POST", "/_api/cursor", Some("{\"query\":\"FOR p IN people RETURN p\",\"batchSize\":1}"));
    assert_eq!(cursor.status, 201, "{cursor:?}");
    let cursor: serde_json::Value = serde_json::from_str(&cursor.body).expect("JSON");
    let cursor = format!("/_api/cursor/{}", cursor["id"].as_str().expect("an id"));
    // The tail ends when the rules change, so the whole answer arrives.
    let address = process.address().to_owned();
    let tail = std::thread::spawn(move || {
        Client::new(&address).send("GET", "/api/streams/clicks/tail?from=earliest", &[], None).expect("an answer").body
    });
    std::thread::sleep(Duration::from_millis(500));
    assert!(!tail.is_finished());
    reload(&process, &rules("\"append\""));
    until(&process, "/api/tables/people", &[], (404, ""));
    let told = tail.join().expect("the tail");
    assert!(told.contains("\"a\":1"), "{told}");
    let gone = process.send("POST", &cursor, None);
    assert!(gone.status == 404 || gone.status == 410, "{gone:?}");
    if let Some(path) = path {
        let gone = process.send("GET", &path, None);
        assert!(!gone.body.contains("ann") && gone.status >= 400, "{gone:?}");
    }
}

/// A long poll hands nothing out under rights that its caller has no more, and neither does a consumer of Kafka's API.
#[test]
fn what_waits_ends_with_its_rights() {
    let (key, other) = ("first-0123456789abcdef", "second-0123456789abcdef");
    let settings = |permissions: &str, key: &str| {
        format!(
            "[auth]\napi_keys = [\"one:{key}\", \"two:{other}\"]\n[[stream]]\nname = \"clicks\"\n\
             [[role]]\nname = \"reader\"\ncallers = [\"api_key:one\"]\n\
             [[access]]\nroles = [\"reader\"]\nentries = [\"clicks\"]\npermissions = [{permissions}]\n\
             [[access]]\nentries = [\"*\"]\npermissions = [\"append\", \"administer\"]\n"
        )
    };
    let (may, may_not) = ("\"consume\"", "\"read\"");
    for (permissions, later_key) in [(may_not, key), (may, "third-0123456789abcdef")] {
        let process = Process::with(&settings(may, key), &FILES);
        let (one, two) = ([("x-api-key", key)], [("x-api-key", other)]);
        let instance = "/consumers/g/instances/i";
        let send = |method: &str, target: &str, body: &str| {
            let headers = [one[0], ("content-type", "application/vnd.kafka.v2+json")];
            let mut client = Client::new(process.address());
            client.send(method, target, &headers, Some(body.as_bytes())).expect("an answer")
        };
        let made = send("POST", "/consumers/g", "{\"name\":\"i\",\"format\":\"json\"}");
        assert_eq!(made.status, 200, "{made:?}");
        let subscribed = send("POST", &format!("{instance}/subscription"), "{\"topics\":[\"clicks\"]}");
        assert_eq!(subscribed.status, 204, "{subscribed:?}");
        let targets = [
            "/api/streams/clicks/events?wait=60s".to_owned(),
            "/api/streams/clicks/groups/g/events?wait=60s".to_owned(),
            format!("{instance}/records?timeout=60000"),
        ];
        let polls = targets.map(|target| {
            let address = process.address().to_owned();
            let json = ("accept", "application/vnd.kafka.json.v2+json");
            std::thread::spawn(move || {
                let headers = if target.contains("records") { vec![one[0], json] } else { vec![one[0]] };
                Client::new(&address).send("GET", &target, &headers, None).expect("an answer")
            })
        });
        let tails = "salver_permits_taken{kind=\"tails\"} 3";
        until(&process, "/metrics", &two, (200, tails));
        reload(&process, &settings(permissions, later_key));
        let answers = polls.map(|poll| poll.join().expect("a poll"));
        let appended = Client::new(process.address()).send("POST", "/api/streams/clicks", &two, Some(b"{\"n\":1}"));
        assert_eq!(appended.expect("an answer").status, 200);
        for answer in answers {
            assert_eq!(answer.status, 200, "{answer:?}");
            assert!(!answer.body.contains("\"n\""), "{answer:?}");
        }
        let refused = ask(&process, "/api/streams/clicks/events", &one).0;
        assert!(matches!(refused, 401 | 403 | 404), "{refused}");
    }
}

/// Who is shut out by a firewall gets nothing more of what began before.
#[test]
fn what_waits_ends_with_its_firewall() {
    let stream = "[[stream]]\nname = \"clicks\"\n";
    let process = Process::with(&format!("{stream}{ONE}"), &FILES);
    assert_eq!(process.send("POST", "/api/streams/clicks", Some("{\"a\":1}")).status, 200);
    let targets = ["/api/streams/clicks/tail?from=earliest", "/api/streams/clicks/events?from=1&wait=60s"];
    let waiting = targets.map(|target| {
        let address = process.address().to_owned();
        std::thread::spawn(move || Client::new(&address).send("GET", target, &[], None).expect("an answer"))
    });
    until(&process, "/metrics", &[], (200, "salver_permits_taken{kind=\"tails\"} 2"));
    reload(&process, &format!("[server]\nfirewall = [\"10.0.0.0/8\"]\n{stream}{ONE}"));
    // They end, so the whole answers arrive.
    let [tail, poll] = waiting.map(|one| one.join().expect("what waited"));
    assert!(tail.status == 200 && tail.body.contains("\"a\":1"), "{tail:?}");
    assert_eq!(poll.said(), (200, "{\"events\":[],\"next\":1}"));
    until(&process, "/api/streams/clicks/events", &[], (403, ""));
}

/// Nobody sends a signal: the server looks.
#[test]
fn files_of_a_directory_come_and_go_by_themselves() {
    let server = Server::of(&[("people.csv", PEOPLE.as_bytes())]);
    std::fs::write(server.file("towns.csv"), TOWNS).expect("a file");
    server.until(|server| server.get("/api/tables/towns").status == 200);
    assert!(server.get("/api/tables/people").text().contains("ann"));
    std::fs::remove_file(server.file("people.csv")).expect("a file");
    server.until(|server| server.get("/api/tables/people").status == 404);
    assert!(server.get("/api/tables/towns").text().contains("Bath"));
}

/// What is written into the settings counts from the next SIGHUP on, also when a file comes in between.
#[test]
fn a_new_file_applies_no_other_settings() {
    let shown = "[[access]]\nentries = [\"*\"]\npermissions = [\"read\"]\ncolumns_hidden = [\"name\"]\n";
    let server = Server::with(shown, &[("people.csv", PEOPLE.as_bytes())]);
    std::fs::write(server.file("salver.toml"), "").expect("the settings");
    std::fs::write(server.file("more.csv"), PEOPLE).expect("a file");
    server.until(|server| server.get("/api/tables/more").status == 200);
    for name in ["more", "people"] {
        let rows = server.get(&format!("/api/tables/{name}"));
        assert!(!rows.text().contains("ann") && rows.text().contains("\"id\":1"), "{}", rows.text());
    }
    hang_up(server.pid());
    server.until(|server| server.get("/api/tables/more").text().contains("ann"));
}

/// Neither what is declared for another purpose nor a name that is taken is served, and the rest is.
#[test]
fn files_that_come_are_no_others() {
    let folder = tempfile::tempdir().expect("a directory");
    let keys = folder.path().join("keys.csv");
    let toml = format!(
        "[[stream]]\nname = \"clicks\"\n[auth]\nmode = \"optional\"\napi_keys = [\"0123456789abcdef\"]\n\
         api_keys_file = \"{}\"\n",
        keys.display()
    );
    std::fs::write(&keys, format!("one:sha256:{}\n", "0".repeat(64))).expect("the keys");
    let server = Server::with(&toml, &[("people.csv", PEOPLE.as_bytes())]);
    std::os::unix::fs::symlink(&keys, server.file("linked.csv")).expect("a link");
    std::fs::write(server.file("clicks.csv"), PEOPLE).expect("a file");
    std::fs::write(server.file("towns.csv"), TOWNS).expect("a file");
    server.until(|server| server.get("/api/tables/towns").status == 200);
    assert_eq!(server.get("/api/tables/linked").status, 404);
    assert!(!server.get("/api/tables/clicks").text().contains("ann"));
}
