//! Comparisons in which a database would take the value of a client for something else than it is.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

fn sql(program: &Program, text: &str) -> String {
    let answer = program.send("POST", "/sql", text);
    assert_eq!(answer.status, 200, "{text}: {}", answer.body);
    answer.body
}

#[test]
fn dates_of_sqlite_compare_with_texts_that_are_numbers() {
    for native in ["date", "datetime", "timestamp", "TIME"] {
        let program = Program::over(
            database(
                Kind::Sqlite,
                &format!(
                    "create table days (id integer primary key, d {native});
                     insert into days values (1, '1999-05-05'), (2, '2024-01-01'), (3, null), (4, 7);
                     create index by_day on days (d);"
                ),
            ),
            "",
            "",
        );
        for (condition, ids) in [
            ("d < '2000' and id < 4", "1"),
            ("d > '2000' and id < 4", "2"),
            ("d >= '2024' and id < 4", "2"),
            ("d between '2000' and '2025'", "2"),
            ("not (d < '2000') and id < 4", "2"),
            ("d < ' 2e3 ' and id < 4", ""),
        ] {
            let expected: Vec<String> = ids.split_whitespace().map(|id| format!("{{\"id\":{id}}}")).collect();
            let found = sql(&program, &format!("select id from days where {condition} order by id"));
            assert_eq!(found, format!("[{}]", expected.join(",")), "{native} {condition}");
        }
        assert_eq!(
            program.ok("/tables/days?columns=id&filter[d]lt='2000'&filter[id]lt=4"),
            r#"[{"id":1}]"#,
            "{native}"
        );
        assert_eq!(
            program.ok("/tables/days?columns=id&filter[d]gt='2000'&filter[id]lt=4"),
            r#"[{"id":2}]"#,
            "{native}"
        );
        // A number compares as one, and equals its text.
        assert_eq!(program.ok("/tables/days?columns=id&filter[d]lt='20'&filter[id]gt=2"), r#"[{"id":4}]"#, "{native}");
        assert_eq!(program.ok("/tables/days?columns=id&filter[d]='7'"), r#"[{"id":4}]"#, "{native}");
        let body = r#"{"query":"{ days(filter: {d: {lt: \"2000\"}, id: {lt: 4}}) { id } }"}"#;
        let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(body));
        assert_eq!(answer.body, r#"{"data":{"days":[{"id":1}]}}"#, "{native}");
    }
}

#[test]
fn numbers_beside_types_of_postgres_that_know_no_others() {
    let program = Program::over(
        database(
            Kind::Postgres,
            "create domain ref as oid;
             create table refs (v oid primary key, d ref, m money);
             insert into refs values (0, 0, -1.5), (1, 1, 1.56), (7, 7, 10), (4294967295, 4294967295, 20);",
        ),
        "",
        "",
    );
    let found = |target: &str| {
        let answer = program.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.json()["records"].as_array().map_or(usize::MAX, Vec::len)
    };
    for (condition, rows) in [
        ("gt,1.5", 2),
        ("ge,1.5", 2),
        ("lt,1.5", 2),
        ("eq,1.5", 0),
        ("eq,7.0", 1),
        ("lt,1e1", 3),
        ("gt,-1", 4),
        ("le,-0.5", 0),
        ("lt,4294967296", 4),
        ("ge,1e30", 0),
        ("in,7,1.5,-1", 1),
        ("bt,0.5,1e1", 2),
        ("nin,7,-1", 3),
        ("ngt,1.5", 2),
    ] {
        for column in ["v", "d"] {
            assert_eq!(found(&format!("/records/refs?filter={column},{condition}")), rows, "{column} {condition}");
        }
    }
    for (condition, rows) in [("gt,1e30", 0), ("lt,1e30", 4), ("lt,NaN", 4), ("eq,NaN", 0), ("gt,-1e30", 4)] {
        assert_eq!(found(&format!("/records/refs?filter=m,{condition}")), rows, "m {condition}");
    }
    assert_eq!(found("/records/refs?group=v&aggregate=min,v,x&having=x,gt,1.5"), 2);
    for key in ["1.5", "-1", "4294967296"] {
        assert_eq!(program.get(&format!("/records/refs/{key}")).status, 404, "{key}");
    }
    assert_eq!(program.get("/records/refs/7").status, 200);
    assert_eq!(program.ok("/tables/refs?columns=v&filter[v]gt=-1&filter[v]lt=1.5"), r#"[{"v":0},{"v":1}]"#);
    assert_eq!(program.ok("/tables/refs?columns=v&filter[d]gte=4294967296"), "[]");
}

#[test]
fn numbers_beside_years_have_no_two_digits() {
    let program = Program::over(
        database(
            Kind::Mariadb,
            "create table years (v year primary key, n int);
             insert into years values (1901, 1), (2024, 2), (0, 3), (2002, 4), (1970, 5);",
        ),
        "",
        "",
    );
    for (condition, values) in [
        ("gt,10", "1901 1970 2002 2024"),
        ("lt,1", "0"),
        ("eq,2", ""),
        ("in,2,70,1970", "1970"),
        ("ge,1.5", "1901 1970 2002 2024"),
        ("bt,1,99", ""),
        ("gt,1970", "2002 2024"),
        ("gt,-1", "0 1901 1970 2002 2024"),
    ] {
        let list = program.ok(&format!("/records/years?include=v&order=v&filter=v,{condition}"));
        let expected: Vec<String> = values.split_whitespace().map(|value| format!("{{\"v\":{value}}}")).collect();
        assert_eq!(list, format!(r#"{{"records":[{}]}}"#, expected.join(",")), "{condition}");
    }
    assert_eq!(sql(&program, "select v from years where v > 10 and v < 1950"), r#"[{"v":1901}]"#);
    assert_eq!(program.ok("/tables/years?columns=v&filter[v]lt=1"), r#"[{"v":0}]"#);
    assert_eq!(program.ok("/tables/years?columns=v&filter[v]=2"), "[]");
    let largest = "/records/years?aggregate=max,v,x&having=x,lt,50";
    assert_eq!(program.ok(largest), r#"{"records":[]}"#);
    assert_eq!(program.get("/records/years/2").status, 404);
    assert_eq!(program.ok("/records/years/2002"), r#"{"v":2002,"n":4}"#);
}
