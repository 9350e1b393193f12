//! Who sees what: rules over tables, columns and rows, tenants, and the caller a proxy names.

use salver_testkit::servers::{Kind, database};

use super::fixture::everything;
use super::program::Program;

const PROXY: &str = "[server]\nreverse_proxy = true\ncaller = { user = \"X-User\", tenant = \"X-Tenant\" }\n";

fn program(kind: Kind, settings: &str) -> Program {
    Program::over(everything(kind), PROXY, &format!("writable = true\n{settings}"))
}

/// Of a row that is not the caller's to change GraphQL says that it is not there, and nothing of the document is done.
#[test]
fn graphql_tells_what_is_not_there() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "[[database.rule]]\ntables = [\"messages\"]\noperations = [\"update\", \"delete\"]\n\
             rows = \"from_id = caller.user\"\n",
        );
        let send = |mutation: &str| {
            let body = serde_json::json!({ "query": format!("mutation {{ {mutation} }}") }).to_string();
            let headers = [("x-user", "2"), ("content-type", "application/json")];
            program.ask("POST", "/graphql", &headers, Some(&body)).json()
        };
        let state = || program.database().run("select id, from_id, body from messages order by id");
        let before = state();
        let told = |answer: &serde_json::Value, key: &str, id: &str, what: &str| {
            let error = &answer["errors"][0];
            assert_eq!(error["extensions"]["code"], "record_not_found", "{kind:?} {what}: {answer}");
            assert_eq!(error["message"], format!("Record '{id}' not found"), "{kind:?} {what}: {answer}");
            assert_eq!(error["path"][0], key, "{kind:?} {what}: {answer}");
            assert!(answer["data"].is_null(), "{kind:?} {what}: {answer}");
        };
        for (mutation, key, id) in [
            (r#"update_messages(id: 3, set: {body: "mine"}) { id body }"#, "update_messages", "3"),
            ("update_messages(id: 3, set: {}) { id body }", "update_messages", "3"),
            ("delete_messages(id: 3)", "delete_messages", "3"),
            (r#"update_messages(id: 99, set: {body: "mine"}) { id }"#, "update_messages", "99"),
            ("gone: delete_messages(id: 99)", "gone", "99"),
            (r#"own: update_messages(id: 2, set: {body: "x"}) { id } other: delete_messages(id: 3)"#, "other", "3"),
        ] {
            told(&send(mutation), key, id, mutation);
            assert_eq!(state(), before, "{kind:?} {mutation}");
        }
        let own = send(r#"update_messages(id: 2, set: {body: "mine"}) { id body } delete_messages(id: 2)"#);
        assert_eq!(own["data"]["delete_messages"], true, "{kind:?}: {own}");
    }
}

#[test]
fn rows_of_the_caller() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "[[database.rule]]\ntables = [\"messages\"]\nrows = \"from_id = caller.user or to_id = caller.user\"\n",
        );
        let ids = |user: &str| {
            let answer = program.ask("GET", "/records/messages?include=id", &[("x-user", user)], None);
            assert_eq!(answer.status, 200, "{kind:?}: {}", answer.body);
            answer.body
        };
        assert_eq!(ids("2"), r#"{"records":[{"id":1},{"id":2}]}"#, "{kind:?}");
        assert_eq!(ids("3"), r#"{"records":[{"id":3},{"id":4}]}"#, "{kind:?}");
        assert_eq!(ids("9"), r#"{"records":[]}"#, "{kind:?}");
        assert_eq!(ids("1 or 1=1"), r#"{"records":[]}"#, "{kind:?}");
        // Of whom nothing is known, that one sees nothing.
        assert_eq!(program.ok("/records/messages"), r#"{"records":[]}"#, "{kind:?}");
        let as_two = [("x-user", "2")];
        assert_eq!(program.ask("GET", "/records/messages/3", &as_two, None).status, 404, "{kind:?}");
        assert_eq!(program.ask("GET", "/records/messages/1,3?include=id", &as_two, None).body, r#"[{"id":1},null]"#);
        assert_eq!(program.ask("DELETE", "/records/messages/3", &as_two, None).said(), (200, "0"), "{kind:?}");
        let body = Some(r#"{"body":"mine"}"#);
        assert_eq!(program.ask("PUT", "/records/messages/3", &as_two, body).said(), (200, "0"), "{kind:?}");
        assert_eq!(program.ask("PUT", "/records/messages/1", &as_two, body).said(), (200, "1"), "{kind:?}");
        // What would not be seen any more can't be written (there, creating knows no rule).
        for (method, target, body) in [
            ("POST", "/records/messages", r#"{"from_id":3,"to_id":1,"body":"forged"}"#),
            ("PUT", "/records/messages/1", r#"{"from_id":3,"to_id":3}"#),
        ] {
            let answer = program.ask(method, target, &as_two, Some(body));
            assert!((400..500).contains(&answer.status), "{kind:?} {method}: {:?}", answer.said());
        }
        let rows = program.database().run("select count(*) from messages where from_id = 3");
        assert_eq!(rows.trim(), "1", "{kind:?}");
        // Joined and counted rows are the same rows.
        let joined =
            program.ask("GET", "/records/people/3?include=id,messages.id&join=messages", &[("x-user", "9")], None);
        assert_eq!(joined.json()["messages"].as_array().map(Vec::len), Some(0), "{kind:?}: {}", joined.body);
        let page = program.ask("GET", "/records/messages?page=1,1&include=id", &as_two, None);
        assert_eq!(page.body, r#"{"records":[{"id":1}],"results":2}"#, "{kind:?}");
        assert_eq!(
            program.ask("GET", "/records/people?include=id&filter=messages.body,eq,late", &as_two, None).body,
            r#"{"records":[]}"#,
            "{kind:?}"
        );
    }
}

#[test]
fn tenants() {
    for kind in Kind::ALL {
        let program =
            program(kind, "tenant = { \"stock.warehouse\" = \"caller.tenant\", \"ledger.batch\" = \"caller.tenant\" }");
        let (north, south) = ([("x-tenant", "north")], [("x-tenant", "south")]);
        let make = Some(r#"{"batch":"south","item":1}"#);
        assert_eq!(program.ask("POST", "/records/ledger", &north, make).said(), (200, "1"), "{kind:?}");
        assert_eq!(program.ask("POST", "/records/ledger", &south, make).said(), (200, "2"), "{kind:?}");
        assert_eq!(
            program.ask("GET", "/records/ledger", &north, None).body,
            r#"{"records":[{"id":1,"batch":"north","item":1}]}"#
        );
        assert_eq!(program.ask("GET", "/records/ledger/2", &north, None).status, 404, "{kind:?}");
        assert_eq!(
            program.ask("PUT", "/records/ledger/2", &north, Some(r#"{"item":5}"#)).said(),
            (200, "0"),
            "{kind:?}"
        );
        assert_eq!(
            program.ask("PATCH", "/records/ledger/2", &north, Some(r#"{"item":5}"#)).said(),
            (200, "0"),
            "{kind:?}"
        );
        assert_eq!(program.ask("DELETE", "/records/ledger/2", &north, None).said(), (200, "0"), "{kind:?}");
        // The column itself can't be moved.
        assert_eq!(
            program.ask("PUT", "/records/ledger/1", &north, Some(r#"{"batch":"south","item":7}"#)).said(),
            (200, "1")
        );
        let rows = program.database().run("select batch, item from ledger order by id");
        assert_eq!(rows, "north\t7\nsouth\t1\n", "{kind:?}");
        // No tenant, no rows, and no new ones.
        assert_eq!(program.ok("/records/ledger"), r#"{"records":[]}"#, "{kind:?}");
        let answer = program.send("POST", "/records/ledger", r#"{"batch":"south","item":3}"#);
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
    }
}

/// What is hidden is not there: not to be read, chosen by, ordered by, joined, written or described.
#[test]
fn hidden_tables_and_columns() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "[[database.rule]]\ntables = [\"users\"]\ncolumns_hidden = [\"pass*\", \"api_key\"]\n\
             [[database.rule]]\ntables = [\"invisibles\", \"kunsth*\"]\ndeny = true\n\
             [[database.rule]]\ntables = [\"people\"]\noperations = [\"delete\", \"update\", \"increment\"]\ndeny = true\n",
        );
        let whole = program.ok("/records/users/1");
        assert_eq!(whole, r#"{"id":1,"username":"user1","location":null}"#, "{kind:?}");
        for target in [
            "/records/users?include=password",
            "/records/users?include=users.password,id",
            "/records/users?order=password,desc",
            "/records/users?filter=password,sw,p",
            "/records/users?filter1=id,eq,9&filter2=password,sw,p",
            "/records/users?search=pass1",
            "/records/abc_posts?join=users",
            "/records/abc_posts?join=users&include=users.password",
            "/records/abc_posts?filter=users.password,sw,p",
            "/records/abc_posts?filter=users.api_key,is",
            "/columns/users",
            "/columns",
            "/openapi",
            "/geojson/users",
            "/tables/users",
            "/schema",
            "/schema/users",
        ] {
            let answer = program.get(target);
            assert!(answer.status < 500, "{kind:?} {target}: {:?}", answer.said());
            for word in ["pass1", "password", "123456789abc", "kunsthåndværk", "\"invisibles\""] {
                // The name of a column that the caller wrote may come back in an error.
                let own = answer.status >= 400 && target.contains(word);
                assert!(own || !answer.body.contains(word), "{kind:?} {target} has {word}: {}", answer.body);
            }
        }
        // A filter by what is hidden must not tell anything: never as if it held.
        for filter in ["password,sw,p", "password,nsw,p", "users.password,sw,p"] {
            let answer = program.get(&format!("/records/users?include=id&filter={filter}"));
            assert_eq!(answer.status, 404, "{kind:?} {filter}: {}", answer.body);
        }
        let write = program.send("PUT", "/records/users/1", r#"{"password":"mine"}"#);
        assert_eq!(write.said(), (200, "0"), "{kind:?}");
        assert_eq!(program.database().run("select password from users where id = 1").trim(), "pass1", "{kind:?}");
        for (method, status) in [("GET", 200), ("DELETE", 404), ("PUT", 404), ("PATCH", 404)] {
            let body = (method != "GET" && method != "DELETE").then_some("{\"score\":1}");
            assert_eq!(program.ask(method, "/records/people/4", &[], body).status, status, "{kind:?} {method}");
        }
    }
}

/// GeoJSON and the schema know the rules too (there, GeoJSON does not).
#[test]
fn rules_of_every_door() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "columns = true\n[[database.rule]]\ntables = [\"countries\"]\nrows = \"name != 'Left'\"\n\
             [[database.rule]]\ntables = [\"stock\"]\noperations = [\"reflect\"]\ndeny = true\n\
             [[database.rule]]\ntables = [\"moves\"]\noperations = [\"remodel\"]\ndeny = true\n",
        );
        assert_eq!(program.get("/geojson/countries/1").status, 404, "{kind:?}");
        assert_eq!(program.get("/geojson/countries/2").status, 200, "{kind:?}");
        let body = program.ok("/geojson/countries?filter=id,le,2&page=1,5");
        assert!(!body.contains("Left") && body.ends_with(r#"],"results":1}"#), "{kind:?}: {body}");
        let rows = program.ok("/tables/countries?columns=name&filter[id]lte=2");
        assert_eq!(rows, r#"[{"name":"Right"}]"#, "{kind:?}");
        let rows = program.send("POST", "/sql", "select count(*) as n from countries where id <= 2");
        assert_eq!(rows.said(), (200, r#"[{"n":1}]"#), "{kind:?}");
        assert_eq!(program.get("/columns/stock").status, 404, "{kind:?}");
        assert!(!program.ok("/columns").contains("\"stock\""), "{kind:?}");
        assert_eq!(program.get("/records/stock").status, 200, "{kind:?}");
        assert_eq!(program.get("/columns/moves").status, 200, "{kind:?}");
        for (method, target, body) in [
            ("PUT", "/columns/moves", r#"{"name":"gone"}"#),
            ("PUT", "/columns/moves/delta", r#"{"name":"gone"}"#),
            ("POST", "/columns/moves", r#"{"name":"more","type":"integer","nullable":true}"#),
            ("DELETE", "/columns/moves/delta", ""),
            ("DELETE", "/columns/moves", ""),
        ] {
            let answer = program.ask(method, target, &[], (method != "DELETE").then_some(body));
            assert_eq!(answer.status, 404, "{kind:?} {method} {target}: {:?}", answer.said());
        }
    }
}

#[test]
fn checks_and_addresses() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "sanitize = [\"people\"]\nvalidate = [\"people\"]\nstrip_tags = [\"people.name\"]\n\
             ip_address = [\"barcodes.ip_address\"]\njson_columns = [\"products.properties\", \"articles.data\"]\n\
             [[database.check]]\ncolumns = [\"people.name\"]\nis = \"filled\"\nmessage = \"say who\"\n\
             [[database.check]]\ncolumns = [\"people.score\"]\nrule = \"score <= 100\"\nmessage = \"too good\"\n",
        );
        for (body, status, expected) in [
            (r#"{"name":"  "}"#, 422, r#""details":{"name":"say who"}"#),
            (r#"{"name":"a","score":101}"#, 422, r#""details":{"score":"too good"}"#),
            (r#"{"name":"a","score":" 100 "}"#, 200, "7"),
            (r#"{"name":"<b>b</b>","joined":"December 20th, 2020"}"#, 200, "8"),
        ] {
            let answer = program.send("POST", "/records/people", body);
            assert!(answer.status == status && answer.body.contains(expected), "{kind:?} {body}: {:?}", answer.said());
        }
        assert_eq!(
            program.ok("/records/people/8?include=name,joined"),
            r#"{"name":"b","joined":"2020-12-20"}"#,
            "{kind:?}"
        );
        let forwarded = [("x-forwarded-for", "192.0.2.7")];
        let made = program.ask("POST", "/records/barcodes", &forwarded, Some(r#"{"product_id":1,"hex":"","bin":""}"#));
        assert_eq!(made.said(), (200, "2"), "{kind:?}");
        assert_eq!(program.ok("/records/barcodes/2?include=ip_address"), r#"{"ip_address":"192.0.2.7"}"#, "{kind:?}");
        // JSON that is JSON.
        let data = r#"{"data":{"colour":"red","sizes":[1,2]}}"#;
        assert_eq!(program.ok("/records/articles/1?include=data"), data, "{kind:?}");
        let properties = r#"{"properties":{"depth":false,"model":"TRX-120","width":100,"height":null}}"#;
        assert_eq!(program.ok("/records/products/1?include=properties"), properties, "{kind:?}");
        assert_eq!(program.send("PUT", "/records/articles/1", r#"{"data":{"a":[1,{"b":null}]}}"#).said(), (200, "1"));
        assert_eq!(program.ok("/records/articles/1?include=data"), r#"{"data":{"a":[1,{"b":null}]}}"#, "{kind:?}");
    }
}

/// A trigger may move a row out of the caller's sight once more: what is stored must pass, not what was sent.
#[test]
fn rows_that_a_trigger_moves() {
    for kind in Kind::ALL {
        let moves = match kind {
            Kind::Sqlite => {
                "create trigger i after insert on own when new.v = 666
                   begin update own set who = 'x' where id = new.id; end;
                 create trigger u after update on own when new.v = 666
                   begin update own set who = 'x' where id = new.id; end;"
            }
            Kind::Mariadb => {
                "create trigger i before insert on own for each row set new.who = if(new.v = 666, 'x', new.who);
                 create trigger u before update on own for each row set new.who = if(new.v = 666, 'x', new.who);"
            }
            Kind::Postgres => {
                "create function moves() returns trigger language plpgsql as $$
                   begin if new.v = 666 then new.who := 'x'; end if; return new; end $$;
                 create trigger iu before insert or update on own for each row execute function moves();"
            }
        };
        let tables = format!(
            "create table own (id integer primary key, who varchar(10), v integer);
             insert into own values (1, '2', 1), (2, '2', 2), (3, '3', 3);\n{moves}\n"
        );
        let rule = "writable = true\n[[database.rule]]\ntables = [\"own\"]\nrows = \"who = caller.user\"\n";
        let program = Program::over(database(kind, &tables), PROXY, rule);
        let as_two = |method: &str, target: &str, media_type: &str, body: &str| {
            program.ask(method, target, &[("x-user", "2"), ("content-type", media_type)], Some(body))
        };
        let before = program.database().run("select * from own order by id");
        let transaction = r#"{"operations":[{"create":"own","record":{"id":9,"who":"2","v":1}},
                              {"update":"own","id":9,"record":{"v":666}}]}"#;
        for (method, target, body) in [
            ("POST", "/records/own", r#"{"id":9,"who":"2","v":666}"#),
            ("POST", "/records/own", r#"[{"id":9,"who":"2","v":666}]"#),
            ("PUT", "/records/own/1", r#"{"v":666}"#),
            ("PUT", "/records/own/1,2", r#"[{"v":5},{"v":666}]"#),
            ("PATCH", "/records/own/1", r#"{"v":665}"#),
            ("PUT", "/records/own?filter=v,lt,100&max_affected=10", r#"{"v":666}"#),
            ("POST", "/records", transaction),
        ] {
            let answer = as_two(method, target, "application/json", body);
            assert!(!(200..300).contains(&answer.status), "{kind:?} {method} {target}: {:?}", answer.said());
            assert_eq!(program.database().run("select * from own order by id"), before, "{kind:?} {method} {target}");
        }
        for row in [r#"{"id":9,"who":"2","v":666}"#, r#"{"id":9,"who":"2","v":1}"#] {
            let answer = as_two("POST", "/records/own", "application/x-ndjson", row);
            assert_eq!(program.database().run("select * from own order by id"), before, "{kind:?}: {}", answer.body);
        }
        assert_eq!(as_two("PUT", "/records/own/1", "application/json", r#"{"v":5}"#).said(), (200, "1"), "{kind:?}");
        assert_eq!(as_two("PUT", "/records/own/3", "application/json", r#"{"v":5}"#).said(), (200, "0"), "{kind:?}");
    }
}
