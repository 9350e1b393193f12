//! Ids of what the server keeps for one caller: cursors, jobs, consumers, answers under a key, cookies.

use std::collections::BTreeSet;

use super::{CALLERS, Siege, Who, siege, told};
use crate::server::{Answer, Server};

/// The doors of cursors, and how one is opened there.
const DOORS: [(&str, &str, &str); 4] = [
    ("/_api/cursor", "", "{\"query\":\"FOR d IN a RETURN d\",\"batchSize\":10,\"ttl\":60}"),
    ("/api/cursor", "", "{\"query\":\"SELECT * FROM a\",\"batchSize\":10,\"ttl\":60}"),
    ("/_api/export", "?collection=a", "{\"batchSize\":10,\"ttl\":60}"),
    ("/api/export", "?collection=a", "{\"batchSize\":10,\"ttl\":60}"),
];

fn opened(who: Who, server: &Server, (door, query, body): (&str, &str, &str)) -> String {
    let answer = who.ask(server, "POST", &format!("{door}{query}"), body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn next(who: Who, server: &Server, door: &str, id: &str) -> Answer {
    who.ask(server, "PUT", &format!("{door}/{id}"), "")
}

#[test]
fn cursors_are_their_callers_at_their_door() {
    let siege = siege("");
    siege.attack("ids of cursors", |server| {
        for (at, door) in DOORS.into_iter().enumerate() {
            let who = Who::ALL[at];
            let id = opened(who, server, door);
            assert!(id.parse::<i64>().is_ok_and(|number| number > 0), "clients may read it as a number: {id}");
            assert_eq!(next(who, server, door.0, &id).status, 200);
            let unknown = told(&next(who, server, door.0, "4611686018427387904"));
            assert_eq!(unknown.0, 404, "{unknown:?}");
            let others = [id.clone() + "0", format!("0{id}"), format!("+{id}"), format!("-{id}"), format!("{id}%20")];
            let bits = (0..64).map(|bit| (id.parse::<u64>().unwrap() ^ (1 << bit)).to_string());
            let others: Vec<String> = others.into_iter().chain(bits).collect();
            for wrong in &others {
                assert_eq!(next(who, server, door.0, wrong).status, 404, "{id} as {wrong} at {}", door.0);
                let ended = who.ask(server, "DELETE", &format!("{}/{wrong}", door.0), "");
                assert!(matches!(ended.status, 404 | 405), "{wrong} at {}", door.0);
            }
            for other in who.others() {
                for (method, behind) in [("PUT", ""), ("DELETE", ""), ("POST", "/2")] {
                    let ask = |id: &str| {
                        let answer = told(&other.ask(server, method, &format!("{}/{id}{behind}", door.0), ""));
                        // What has no path for this says so of the path.
                        (answer.0, answer.1, answer.2.replace(id, "ID"))
                    };
                    assert_eq!(ask(&id), ask("4611686018427387904"), "{method} {other:?} {}", door.0);
                }
            }
            // The door of queries knows nothing of exports, and the other way round.
            for (wrong, ..) in DOORS.into_iter().filter(|(other, ..)| other.ends_with("cursor") != (at < 2)) {
                assert_eq!(next(who, server, wrong, &id).status, 404, "{id} of {} at {wrong}", door.0);
            }
            assert_eq!(next(who, server, door.0, &id).status, 200, "what others try does it no harm");
            assert_eq!(who.ask(server, "DELETE", &format!("{}/{id}", door.0), "").status, 202);
            assert_eq!(told(&next(who, server, door.0, &id)), unknown, "it is over");
        }
    });
}

/// That one expired is told to who opened it.
#[test]
fn what_expired_tells_others_nothing() {
    let siege = siege("");
    let server = siege.server();
    let body = "{\"query\":\"FOR d IN a RETURN d\",\"batchSize\":1,\"ttl\":0.05}";
    let id = opened(Who::Ann, server, ("/_api/cursor", "", body));
    server.until(|_| {
        std::thread::sleep(std::time::Duration::from_millis(200));
        next(Who::Ann, server, "/_api/cursor", &id).text().contains("it expired")
    });
    let unknown = told(&next(Who::Ben, server, "/_api/cursor", "1"));
    assert_eq!(told(&next(Who::Ben, server, "/_api/cursor", &id)), unknown);
}

#[test]
fn ids_do_not_count() {
    let siege = siege("");
    siege.attack("ids that count", |server| {
        let ids: BTreeSet<u64> =
            (0..100).map(|at| opened(Who::Anybody, server, DOORS[at % 4]).parse().expect("a number")).collect();
        assert_eq!(ids.len(), 100);
        let gaps = ids.iter().zip(ids.iter().skip(1)).map(|(one, other)| other - one);
        // Of 100 numbers of 63 bits no two are that near.
        assert!(gaps.min().is_some_and(|gap| gap > 1 << 32), "{ids:?}");
        let tokens: BTreeSet<String> = (0..100).map(|_| super::opened(Who::Ann, server, "a").0).collect();
        assert_eq!(tokens.len(), 100);
        let beginnings: BTreeSet<&str> = tokens.iter().map(|token| &token[2..12]).collect();
        assert_eq!(beginnings.len(), 100, "{tokens:?}");
    });
}

#[cfg(feature = "functions")]
#[test]
fn jobs_are_their_callers() {
    let functions = "import time\ndef add(a, b):\n    return a + b\n";
    let toml = format!("{CALLERS}[[function]]\nfile = \"py.py\"\n");
    let siege = Siege::of(&toml, &[("py.py", functions.as_bytes())]);
    let server = siege.server();
    let call = |who: Who| {
        who.ask_with(server, "POST", "/api/functions/py/add", &[("prefer", "respond-async")], "{\"a\":1,\"b\":2}")
    };
    server.until(|_| call(Who::Ann).status == 202);
    siege.attack("ids of jobs", |_| {
        for who in Who::ALL {
            let location = call(who).header("location").unwrap().to_owned();
            let done = who.ask_with(server, "GET", &location, &[("prefer", "wait=30")], "");
            assert_eq!(done.json()["state"], "done", "{}", done.text());
            let id = location.rsplit('/').next().unwrap();
            for wrong in super::damaged(id) {
                assert_eq!(who.ask(server, "GET", &format!("/api/jobs/{wrong}"), "").status, 404, "{wrong}");
            }
            let never = "/api/jobs/01234567-89ab-4cde-8f01-23456789abcd";
            for other in who.others() {
                for (method, behind) in [("GET", ""), ("GET", "/result"), ("DELETE", "")] {
                    let ask = |path: &str| told(&other.ask(server, method, &format!("{path}{behind}"), ""));
                    assert_eq!(ask(&location), ask(never), "{method} {other:?}");
                }
            }
            assert_eq!(who.ask(server, "GET", &format!("{location}/result"), "").text(), "3");
            assert_eq!(who.ask(server, "DELETE", &location, "").status, 204);
            assert_eq!(who.ask(server, "GET", &location, "").status, 404);
        }
        let ids: BTreeSet<String> = (0..30).map(|_| call(Who::Ann).header("location").unwrap().to_owned()).collect();
        assert_eq!(ids.len(), 30);
    });
}

const V2: (&str, &str) = ("content-type", "application/vnd.kafka.v2+json");

#[test]
fn consumers_are_their_callers() {
    let toml = format!("{CALLERS}[[stream]]\nname = \"events\"\n");
    let siege = Siege::of(&toml, &[]);
    siege.attack("instances of consumers", |server| {
        let events: String = (0..10).map(|id| format!("{{\"id\":{id}}}\n")).collect();
        assert_eq!(server.post("/api/streams/events", &events).status, 200);
        let make = |who: Who, body: &str| who.ask_with(server, "POST", "/consumers/g", &[V2], body);
        let names: BTreeSet<String> =
            (0..20).map(|_| make(Who::Ann, "{}").json()["instance_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(names.len(), 20);
        assert!(names.iter().all(|name| name.len() >= 14 + 32), "{names:?}");
        let own = "{\"name\":\"mine\",\"format\":\"json\",\"auto.offset.reset\":\"earliest\"}";
        assert_eq!(make(Who::Ann, own).status, 200);
        assert_eq!(make(Who::Ann, own).status, 409);
        for other in Who::Ann.others() {
            for (method, behind, body) in [
                ("GET", "/records", ""),
                ("GET", "/subscription", ""),
                ("POST", "/subscription", "{\"topics\":[\"events\"]}"),
                ("POST", "/offsets", "{\"offsets\":[{\"topic\":\"events\",\"partition\":0,\"offset\":5}]}"),
                ("GET", "/assignments", ""),
                ("POST", "/positions/end", "{\"partitions\":[{\"topic\":\"events\",\"partition\":0}]}"),
                ("DELETE", "", ""),
            ] {
                let ask = |name: &str| {
                    told(&other.ask_with(
                        server,
                        method,
                        &format!("/consumers/g/instances/{name}{behind}"),
                        &[V2],
                        body,
                    ))
                };
                let (taken, never) = (ask("mine"), ask("never"));
                assert_eq!(taken, never, "{other:?} {method} {behind}");
                assert_eq!(taken.0, 404);
            }
        }
        // The same name is another instance in another's hands, and tells nothing of this one.
        assert_eq!(make(Who::Ben, own).status, 200);
        assert_eq!(Who::Ben.ask_with(server, "DELETE", "/consumers/g/instances/mine", &[V2], "").status, 204);
        let still = Who::Ann.ask_with(server, "GET", "/consumers/g/instances/mine/subscription", &[V2], "");
        assert_eq!(still.status, 200, "{}", still.text());
    });
}

#[test]
fn an_answer_under_a_key_is_for_who_was_answered() {
    let toml = format!(
        "{CALLERS}[[database]]\nname = \"db\"\nurl = \"sqlite:db.sqlite\"\ninit = \"db.sql\"\nwritable = true\n"
    );
    let siege = Siege::of(&toml, &[("db.sql", b"CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT);\n")]);
    siege.server().until(|server| server.get("/api/records/t").status == 200);
    siege.attack("keys of idempotency", |server| {
        let write = |who: Who, word: &str| {
            let body = format!("{{\"word\":\"{word}\"}}");
            who.ask_with(server, "POST", "/api/records/t", &[("idempotency-key", "one key for all")], &body)
        };
        let answers: Vec<String> = Who::ALL.iter().map(|who| write(*who, "x").text().to_owned()).collect();
        assert_eq!(answers, ["1", "2", "3", "4"]);
        let again: Vec<String> = Who::ALL.iter().map(|who| write(*who, "x").text().to_owned()).collect();
        assert_eq!(again, answers);
        assert_eq!(write(Who::Ben, "y").status, 422);
    });
}

#[test]
fn cookies_against_forged_requests_are_random() {
    let toml = "[server]\nxsrf = true\n[[database]]\nname = \"db\"\nurl = \"sqlite:db.sqlite\"\ninit = \"db.sql\"\n";
    let server = Server::with(toml, &[("db.sql", b"CREATE TABLE t (id INTEGER PRIMARY KEY);\n")]);
    let cookies: BTreeSet<String> = (0..50)
        .map(|_| {
            let cookie = server.get("/api/records/t").header("set-cookie").unwrap().to_owned();
            cookie.strip_prefix("XSRF-TOKEN=").unwrap().split(';').next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(cookies.len(), 50);
    assert!(cookies.iter().all(|cookie| cookie.len() == 16), "{cookies:?}");
}
