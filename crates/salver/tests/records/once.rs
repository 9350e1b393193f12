//! `Idempotency-Key` at GraphQL's door: a mutation that is sent again under its key is answered and not done again.

use salver_testkit::servers::{Kind, Server};

use super::client::{Answer, Client};
use super::fixture::statements;
use super::program::Program;

const MUTATION: &str = r#"{"query":"mutation { create_people(records: [{name: \"Once\"}]) { id name } }"}"#;

fn send(program: &Program, key: &str, body: &str) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    program.ask("POST", "/graphql", &headers, Some(body))
}

fn count(program: &Program) -> String {
    program.database().run("select count(*) from people").trim().to_owned()
}

#[test]
fn mutations_under_a_key() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        let first = send(&program, "a", MUTATION);
        assert_eq!(first.said(), (200, r#"{"data":{"create_people":[{"id":7,"name":"Once"}]}}"#), "{kind:?}");
        for _ in 0..3 {
            assert_eq!(send(&program, "a", MUTATION).said(), first.said(), "{kind:?}");
        }
        assert_eq!(count(&program), "7", "{kind:?}");
        let other = send(&program, "a", &MUTATION.replace("Once", "Other"));
        assert_eq!(other.status, 422, "{kind:?}: {:?}", other.said());
        assert_eq!(count(&program), "7", "{kind:?}");
        // A failure of its own is kept like any answer.
        let refused = send(&program, "b", r#"{"query":"mutation { delete_people(id: 99) }"}"#);
        assert!(refused.body.contains("record_not_found"), "{kind:?}: {:?}", refused.said());
        // A query is no write, and is asked anew.
        let query = r#"{"query":"{ people_page(limit: 1) { total } }"}"#;
        assert_eq!(send(&program, "c", query).body, r#"{"data":{"people_page":{"total":7}}}"#, "{kind:?}");
        let _ = program.database().run("insert into people (name) values ('more')");
        assert_eq!(send(&program, "c", query).body, r#"{"data":{"people_page":{"total":8}}}"#, "{kind:?}");
        // All at the same time: one does it, all are told the same.
        std::thread::scope(|scope| {
            let told: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let mut client = Client::new(program.address());
                        let headers = [("content-type", "application/json"), ("idempotency-key", "d")];
                        client
                            .send("POST", "/api/graphql", &headers, Some(MUTATION.as_bytes()))
                            .expect("an answer")
                            .body
                    })
                })
                .collect();
            let told: Vec<String> = told.into_iter().map(|one| one.join().expect("an answer")).collect();
            assert!(told[0].contains("Once") && told.iter().all(|one| *one == told[0]), "{kind:?}: {told:?}");
        });
        assert_eq!(count(&program), "9", "{kind:?}");
        let empty = send(&program, "", MUTATION);
        assert_eq!((empty.status, count(&program).as_str()), (400, "9"), "{kind:?}: {:?}", empty.said());
    }
}

/// What was not done because the database was away is done when it is sent again.
#[test]
fn what_passes_is_tried_again() {
    let server = Server::start(Kind::Postgres);
    let program = Program::over(server.database(&statements(Kind::Postgres)), "", "writable = true");
    server.kill();
    let away = send(&program, "a", MUTATION);
    assert!(away.body.contains("database_unavailable"), "{:?}", away.said());
    server.restart();
    program.until("it is done", |program| send(program, "a", MUTATION).body.contains("Once"));
    assert_eq!(count(&program), "7");
    assert!(send(&program, "a", MUTATION).body.contains("Once"));
    assert_eq!(count(&program), "7");
}
