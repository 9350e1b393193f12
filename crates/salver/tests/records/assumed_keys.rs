//! Views whose column `id` is not unique: nothing makes sure of their key, so that no page begins after it.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

const VIEW: &str = "
    create table kept (k int primary key, id int, v varchar(9));
    insert into kept values (1, 1, 'c'), (2, 1, 'a'), (3, 1, 'b'), (4, 2, 'd');
    create view shown as select id, v from kept;
";

#[test]
fn no_page_of_a_view_begins_after_its_assumed_key() {
    for kind in Kind::ALL {
        let program = Program::over(database(kind, VIEW), "", "");
        let answer = program.get("/records/shown?after=&size=1");
        assert_eq!(answer.status, 400, "{kind:?}: {}", answer.body);
        assert!(answer.body.contains("can't be paged with `after`"), "{kind:?}: {}", answer.body);
        assert!(answer.body.contains("use `page`"), "{kind:?}: {}", answer.body);
        // By number, every row comes once.
        let page = |number| program.ok(&format!("/records/shown?include=v&page={number},1"));
        let seen: Vec<String> = (1..=4).map(page).collect();
        for (row, v) in seen.iter().zip(["a", "b", "c", "d"]) {
            assert_eq!(*row, format!(r#"{{"records":[{{"v":"{v}"}}],"results":4}}"#), "{kind:?}");
        }
        // A single row is still read by it.
        assert_eq!(program.ok("/records/shown/2"), r#"{"id":2,"v":"d"}"#, "{kind:?}");

        let answer = program.get("/tables/shown?limit=1");
        assert_eq!((answer.status, answer.header("link")), (200, None), "{kind:?}: {}", answer.body);
        let given = program.get("/tables/kept?limit=1");
        assert!(given.header("link").is_some_and(|link| link.contains("after=")), "{kind:?}: {}", given.body);
        let body = r#"{"query":"{ shown_page(limit: 1) { next rows { id } } }"}"#;
        let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(body));
        assert_eq!(answer.body, r#"{"data":{"shown_page":{"next":null,"rows":[{"id":1}]}}}"#, "{kind:?}");
    }
}

#[test]
fn postgres_knows_more_of_keys() {
    let sql = format!(
        "{VIEW}
         create materialized view sure as select k as id, v from kept;
         create unique index on sure (id);
         create materialized view unsure as select id, v from kept;
         create table heirs () inherits (kept);
         insert into heirs values (1, 1, 'z');"
    );
    let program = Program::over(database(Kind::Postgres, &sql), "", "");
    assert!(program.ok("/records/sure?after=&size=1").contains(r#""next":""#));
    assert!(program.get("/tables/sure?limit=1").header("link").is_some());
    assert_eq!(program.get("/records/unsure?after=&size=1").status, 400);
    assert_eq!(program.get("/tables/unsure?limit=1").header("link"), None);
    // A key holds for each table alone, and not for those that inherit.
    assert_eq!(program.get("/records/kept?after=&size=1").status, 400);
    assert_eq!(program.get("/tables/kept?limit=1").header("link"), None);
}
