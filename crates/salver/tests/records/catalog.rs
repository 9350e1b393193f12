//! Tables of databases are entries like files: read through `/api/tables`, SQL and GraphQL, and joined with files.

use salver_testkit::servers::Kind;

use super::fixture::{MAPPING, everything};
use super::program::Program;

#[test]
fn tables_and_sql() {
    for kind in Kind::ALL {
        let program = Program::new(kind, MAPPING);
        assert_eq!(program.ok("/tables/people?columns=id,name&limit=1"), r#"[{"id":1,"name":"Ada"}]"#, "{kind:?}");
        assert_eq!(
            program.ok("/tables/people?filter[score]eq=20&columns=id&sort=-id"),
            r#"[{"id":4},{"id":2}]"#,
            "{kind:?}"
        );
        assert_eq!(
            program.ok("/tables/posts?columns=content"),
            r#"[{"content":"blog started"},{"content":"It works!"}]"#
        );
        for (sql, expected) in [
            ("select count(*) as n from people", r#"[{"n":6}]"#),
            ("select name from people where id = 2", r#"[{"name":"Bob"}]"#),
            ("select sum(score) as s from people where score > 0", r#"[{"s":50}]"#),
            (
                "select p.name, count(*) as n from messages m join people p on p.id = m.from_id group by 1 order by 2 desc limit 1",
                r#"[{"name":"Ada","n":2}]"#,
            ),
            (
                "select name from people where name like '%ob' or name like 'A%' order by name",
                r#"[{"name":"Ada"},{"name":"Bob"}]"#,
            ),
            ("select id from people where score is null", r#"[{"id":3}]"#),
            ("select id from people order by score desc nulls last, id limit 2", r#"[{"id":2},{"id":4}]"#),
            ("select exact from samples where id = 1", r#"[{"exact":1234567.125}]"#),
        ] {
            assert_eq!(program.send("POST", "/sql", sql).said(), (200, expected), "{kind:?} {sql}");
        }
        for sql in
            ["delete from people", "update people set score = 1", "insert into people values (1)", "drop table people"]
        {
            let answer = program.send("POST", "/sql", sql);
            assert!((400..500).contains(&answer.status), "{kind:?} {sql}: {:?}", answer.said());
        }
    }
}

/// What another client of the database writes is seen by the next request: nothing stale is answered.
#[test]
fn nothing_stale() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        for round in 0..5 {
            let _ = program.database().run(&format!("update people set score = {} where id = 1", 100 + round));
            let expected = format!("{}", 100 + round);
            for target in ["/tables/people?filter[id]eq=1&columns=score", "/records/people/1?include=score"] {
                let body = program.ok(target);
                assert!(body.contains(&expected), "{kind:?} {round} {target}: {body}");
            }
            let body = program.send("POST", "/sql", "select score from people where id = 1").body;
            assert!(body.contains(&expected), "{kind:?} {round}: {body}");
            let answer = program.send("PUT", "/records/people/1", &format!(r#"{{"score":{}}}"#, 200 + round));
            assert_eq!(answer.said(), (200, "1"), "{kind:?}");
            let body = program.ok("/tables/people?filter[id]eq=1&columns=score");
            assert!(body.contains(&format!("{}", 200 + round)), "{kind:?} {round}: {body}");
        }
    }
}

#[test]
fn with_a_file() {
    for kind in Kind::ALL {
        let file = tempfile::NamedTempFile::with_suffix(".csv").expect("a file");
        std::fs::write(file.path(), "who,city\n1,Paris\n2,Rome\n9,Nowhere\n").expect("a file");
        let server = format!("[[dataset]]\nname = \"homes\"\nsource = \"{}\"\n", file.path().display());
        let program = Program::over(everything(kind), &server, "");
        let sql =
            "select p.name, h.city from homes h join people p on p.id = h.who where p.score >= 10 order by p.name";
        let answer = program.send("POST", "/sql", sql);
        assert_eq!(answer.said(), (200, r#"[{"name":"Ada","city":"Paris"},{"name":"Bob","city":"Rome"}]"#), "{kind:?}");
        // What the database can do itself is asked of it, and EXPLAIN shows it.
        let plan = program.send("POST", "/sql", &format!("explain {sql}")).body;
        assert!(plan.contains("score") && plan.contains(">="), "{kind:?}: {plan}");
    }
}

#[test]
fn graphql() {
    for kind in Kind::ALL {
        let program = Program::new(kind, &format!("writable = true\n{MAPPING}"));
        let ask = |query: &str| {
            let body = serde_json::json!({ "query": query }).to_string();
            let json = [("content-type", "application/json")];
            program.ask("POST", "/graphql", &json, Some(&body))
        };
        let answer = ask("{ people(filter: {id: {eq: 2}}) { id name } }");
        assert_eq!(
            answer.json()["data"]["people"].to_string(),
            r#"[{"id":2,"name":"Bob"}]"#,
            "{kind:?}: {}",
            answer.body
        );
        let answer = ask("{ posts(filter: {id: {eq: 1}}) { content comments { message } } }");
        let posts = &answer.json()["data"]["posts"];
        assert_eq!(posts[0]["comments"][0]["message"], "great", "{kind:?}: {}", answer.body);
        let schema = ask("{ __schema { mutationType { fields { name } } } }");
        assert!(
            schema.body.contains("mutationType") && !schema.body.contains("\"mutationType\":null"),
            "{kind:?}: {}",
            schema.body
        );
        let read_only = Program::new(kind, "");
        let json = [("content-type", "application/json")];
        let body = r#"{"query":"{ __schema { mutationType { name } } }"}"#;
        let answer = read_only.ask("POST", "/graphql", &json, Some(body));
        assert!(answer.body.contains("\"mutationType\":null"), "{kind:?}: {}", answer.body);
    }
}
