//! The key and the row that a change is answered with: those of the row that it wrote, as it is in the end, also where
//! another unique key found it, and where a trigger has a part in it.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

const UPSERTED: &str = "
    create table codes (id int primary key, u varchar(9) unique, n int);
    insert into codes values (1, 'x', 1), (2, 'y', 2);
    create table notes (id int primary key, code int);
    create table pairs (a int, b int, u varchar(9) unique, primary key (a, b));
    insert into pairs values (1, 1, 'x');
";

#[test]
fn an_upsert_is_answered_with_the_key_of_the_row_that_it_changed() {
    for kind in Kind::ALL {
        let program = Program::over(database(kind, UPSERTED), "", "writable = true");
        let post = |target: &str, body: &str| {
            let answer = program.send("POST", target, body);
            assert_eq!(answer.status, 200, "{kind:?} {target} {body}: {}", answer.body);
            answer.body
        };
        let (update, ignore) = ("on_conflict=u&upsert=update", "on_conflict=u&upsert=ignore");
        let codes = |how| format!("/records/codes?{how}");
        assert_eq!(post(&codes(update), r#"{"id":9,"u":"x","n":50}"#), "1", "{kind:?}");
        assert_eq!(post(&codes(ignore), r#"{"id":9,"u":"y","n":60}"#), "2", "{kind:?}");
        let batch = r#"[{"id":8,"u":"y","n":3},{"id":7,"u":"z","n":4}]"#;
        assert_eq!(post(&codes(update), batch), "[2,7]", "{kind:?}");
        assert_eq!(post(&codes(update), r#"{"u":"x","id":9,"n":5}"#), "1", "{kind:?}");
        let whole = post(&format!("{}&returning=*", codes(update)), r#"{"id":9,"u":"x","n":6}"#);
        assert_eq!(whole, r#"{"id":1,"u":"x","n":6}"#, "{kind:?}");
        let pair = post("/records/pairs?on_conflict=u&upsert=ignore", r#"{"a":5,"b":6,"u":"x"}"#);
        assert_eq!(pair, r#"{"a":1,"b":1}"#, "{kind:?}");
        let rows = program.ok("/records/codes");
        let expected = r#"{"records":[{"id":1,"u":"x","n":6},{"id":2,"u":"y","n":3},{"id":7,"u":"z","n":4}]}"#;
        assert_eq!(rows, expected, "{kind:?}");
    }
}

/// A table whose keys a trigger moves by a hundred, and one whose columns a trigger changes when the row is there.
fn triggers(kind: Kind) -> &'static str {
    match kind {
        Kind::Sqlite => {
            "create table later (id integer primary key, n int);
             create trigger a after insert on later begin update later set n = n + 1 where id = new.id; end;
             create trigger b after update of n on later when new.n < 100 begin
                 update later set n = 100 where id = new.id; end;"
        }
        Kind::Mariadb => {
            "create table moved (id int primary key, u varchar(9) unique, n int);
             create trigger m before insert on moved for each row set new.id = new.id + 100;
             create table numbered (id int auto_increment primary key, n int);
             create trigger o before insert on numbered for each row set new.n = new.n + 1;"
        }
        Kind::Postgres => {
            "create table moved (id int primary key, u varchar(9) unique, n int);
             create function move() returns trigger language plpgsql as
                 $$ begin new.id := new.id + 100; return new; end $$;
             create trigger m before insert on moved for each row execute function move();
             create table later (id serial primary key, n int);
             create function add() returns trigger language plpgsql as
                 $$ begin update later set n = n + 1 where id = new.id; return null; end $$;
             create trigger a after insert on later for each row execute function add();
             create function rise() returns trigger language plpgsql as
                 $$ begin update later set n = 100 where id = new.id; return null; end $$;
             create trigger b after update on later for each row when (new.n < 100 and old.n = 6)
                 execute function rise();"
        }
    }
}

#[test]
fn a_key_that_a_trigger_changes_is_told() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let program = Program::over(database(kind, triggers(kind)), "", "writable = true");
        let post = |target: &str, body: &str| {
            let answer = program.send("POST", target, body);
            assert_eq!(answer.status, 200, "{kind:?} {target} {body}: {}", answer.body);
            answer.body
        };
        assert_eq!(post("/records/moved", r#"{"id":1,"u":"a","n":5}"#), "101", "{kind:?}");
        assert_eq!(post("/records/moved", r#"[{"id":2,"u":"b"},{"id":3,"u":"c"}]"#), "[102,103]", "{kind:?}");
        let whole = post("/records/moved?returning=*", r#"{"id":4,"u":"d","n":5}"#);
        assert_eq!(whole, r#"{"id":104,"u":"d","n":5}"#, "{kind:?}");
        assert_eq!(post("/records/moved?upsert=update", r#"{"id":5,"u":"e","n":5}"#), "105", "{kind:?}");
        let by_another = "/records/moved?on_conflict=u&upsert=update";
        assert_eq!(post(by_another, r#"{"id":6,"u":"a","n":7}"#), "101", "{kind:?}");
        assert_eq!(post(by_another, r#"{"id":7,"u":"f","n":7}"#), "107", "{kind:?}");
        let ignored = "/records/moved?on_conflict=u&upsert=ignore";
        assert_eq!(post(ignored, r#"{"id":8,"u":"a","n":9}"#), "101", "{kind:?}");
        let whole = post(&format!("{ignored}&returning=id,n"), r#"{"id":9,"u":"a","n":9}"#);
        assert_eq!(whole, r#"{"id":101,"n":7}"#, "{kind:?}");
        let body = r#"{"query":"mutation { create_moved(records: [{id: 10, u: \"g\"}]) { id u } }"}"#;
        let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(body));
        assert_eq!(answer.body, r#"{"data":{"create_moved":[{"id":110,"u":"g"}]}}"#, "{kind:?}");
        if kind == Kind::Mariadb {
            assert_eq!(post("/records/numbered", r#"{"n":5}"#), "1");
            assert_eq!(post("/records/numbered?returning=*", r#"{"n":5}"#), r#"{"id":2,"n":6}"#);
        }
    }
}

#[test]
fn rows_are_returned_as_triggers_leave_them() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let program = Program::over(database(kind, triggers(kind)), "", "writable = true");
        let said = |method, target: &str, body: &str| {
            let answer = program.send(method, target, body);
            assert_eq!(answer.status, 200, "{kind:?} {target} {body}: {}", answer.body);
            answer.body
        };
        let created = said("POST", "/records/later?returning=*", r#"{"n":5}"#);
        assert_eq!(created, program.ok("/records/later/1"), "{kind:?}");
        assert_ne!(created, r#"{"id":1,"n":5}"#, "{kind:?}");
        assert_eq!(said("POST", "/records/later", r#"{"n":5}"#), "2", "{kind:?}");
        let changed = said("PUT", "/records/later/1?returning=*", r#"{"n":6}"#);
        assert_eq!(changed, program.ok("/records/later/1"), "{kind:?}");
        let many = said("PUT", "/records/later?filter=id,eq,2&max_affected=1&returning=*", r#"{"n":6}"#);
        assert_eq!(many, format!("[{}]", program.ok("/records/later/2")), "{kind:?}");
        let gone = said("DELETE", "/records/later/2?returning=id", "");
        assert_eq!(gone, r#"{"id":2}"#, "{kind:?}");
    }
}
