//! What the schema says, and that it is seen: keys, generated columns, defaults, changes by others.

use salver_testkit::servers::Kind;

use super::fixture::MAPPING;
use super::program::Program;

#[test]
fn generated_and_default_columns() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        let made = program.send("POST", "/records/articles", r#"{"code":"cup","net":"4.00","gross":"1.00"}"#);
        assert_eq!(made.said(), (200, "3"), "{kind:?}");
        let whole = r#"{"id":3,"code":"cup","net":"4.00","rate":"0.25","gross":"5.00","state":"draft","data":null,"note":null}"#;
        assert_eq!(program.ok("/records/articles/3"), whole, "{kind:?}");
        assert_eq!(program.send("PUT", "/records/articles/3", r#"{"gross":"9.99"}"#).said(), (200, "0"), "{kind:?}");
        assert_eq!(program.send("PUT", "/records/articles/3", r#"{"net":"8.00"}"#).said(), (200, "1"), "{kind:?}");
        assert_eq!(program.ok("/records/articles/3?include=gross"), r#"{"gross":"10.00"}"#, "{kind:?}");
        let answer = program.send("PUT", "/records/articles/3", r#"{"state":"stolen"}"#);
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
        // A record of nothing but defaults.
        let answer = program.send("POST", "/records/events", "{}");
        assert_eq!(answer.said(), (409, r#"{"code":1010,"message":"Data integrity violation"}"#), "{kind:?}");
    }
}

#[test]
fn keys_that_are_given() {
    for kind in Kind::ALL {
        let program = Program::new(kind, &format!("writable = true\n{MAPPING}"));
        assert_eq!(program.send("POST", "/records/people", r#"{"id":50,"name":"x"}"#).said(), (200, "50"), "{kind:?}");
        assert_eq!(program.send("POST", "/records/people", r#"{"id":"51","name":"x"}"#).said().0, 200, "{kind:?}");
        let made = program.send("POST", "/records/posts", r#"{"id":70,"user_id":1,"category_id":1,"content":"x"}"#);
        assert_eq!(made.said(), (200, "70"), "{kind:?}");
        assert_eq!(program.ok("/records/posts/70?include=id"), r#"{"id":70}"#, "{kind:?}");
        let key = r#""a b/c,d""#;
        let made =
            program.send("POST", "/records/kunsthåndværk", r#"{"id":"a b/c,d","Umlauts ä_ö_ü-COUNT":9,"user_id":1}"#);
        assert_eq!(made.said().0, 200, "{kind:?}");
        assert_eq!(made.body.replace("\\/", "/"), key, "{kind:?}");
    }
}

#[test]
fn changes_by_others_are_seen() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        assert_eq!(program.get("/records/fresh").status, 404, "{kind:?}");
        // As the program's own user, who would not be let at what the administrator made.
        let role = if kind == Kind::Postgres { "set role salver; " } else { "" };
        let run = |sql: &str| drop(program.database().run(&format!("{role}{sql}")));
        run("create table fresh (id integer not null primary key, name varchar(10))");
        run("insert into fresh values (1, 'one')");
        // At once: the request names what the old schema does not have.
        assert_eq!(program.ok("/records/fresh"), r#"{"records":[{"id":1,"name":"one"}]}"#, "{kind:?}");
        run("alter table fresh add column extra integer");
        program.until("the new column is there", |program| {
            program.ok("/records/fresh") == r#"{"records":[{"id":1,"name":"one","extra":null}]}"#
        });
        let made = program.send("POST", "/records/fresh", r#"{"id":2,"name":"two","extra":2}"#);
        assert_eq!(made.said(), (200, "2"), "{kind:?}");
        run("alter table fresh drop column name");
        // Never a wrong answer on the way: the old columns, an error that passes, or the new ones.
        program.until("the old column is gone", |program| {
            let answer = program.get("/records/fresh/1");
            assert!(answer.status == 200 || answer.status >= 500, "{kind:?}: {:?}", answer.said());
            answer.body == r#"{"id":1,"extra":null}"#
        });
        run("drop table fresh");
        program.until("the table is gone", |program| program.get("/records/fresh").status == 404);
    }
}

#[test]
fn openapi() {
    for kind in Kind::ALL {
        let program = Program::new(kind, &format!("writable = true\n{MAPPING}"));
        let document = program.get("/openapi").json();
        let version = document["openapi"].as_str().unwrap_or_default();
        assert!(version.starts_with("3.0."), "{kind:?}: {version}");
        let paths = document["paths"].as_object().expect("paths");
        for (path, methods) in [
            ("/records/posts", vec!["get", "post"]),
            ("/records/posts/{id}", vec!["get", "put", "delete", "patch"]),
            ("/records/kunsthåndværk", vec!["get", "post"]),
        ] {
            let own = paths.get(path).unwrap_or_else(|| panic!("{kind:?}: no {path}"));
            for method in methods {
                assert!(own.get(method).is_some(), "{kind:?}: {method} {path}");
            }
        }
        assert!(paths.get("/records/nopk/{id}").is_none(), "{kind:?}");
        assert_eq!(document["paths"]["/records/posts"]["get"]["operationId"], "list_posts", "{kind:?}");
        let schemas = document["components"]["schemas"].as_object().expect("schemas");
        for schema in ["list-posts", "read-posts", "create-posts", "update-posts", "increment-events"] {
            assert!(schemas.contains_key(schema), "{kind:?}: {schema}");
        }
        let id = &schemas["read-posts"]["properties"]["id"];
        assert_eq!(id["type"], "integer", "{kind:?}: {id}");
        assert_eq!(id["x-primary-key"], true, "{kind:?}: {id}");
    }
}

#[test]
fn status_and_cache() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        let ping = program.get("/status/ping").json();
        assert!(ping["db"].is_u64() && ping["cache"].is_u64(), "{kind:?}: {ping}");
        assert_eq!(program.get("/cache/clear").said(), (200, "true"), "{kind:?}");
    }
}
