//! Values that are far out: days of the first year and the last, decimals of any size. They are the same at every door,
//! ordered and compared as the database does, and what has no type is told by its column.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

fn post(program: &Program, sql: &str) -> String {
    let answer = program.send("POST", "/sql", sql);
    assert_eq!(answer.status, 200, "{:?} {sql}: {}", program.kind(), answer.body);
    answer.body
}

#[test]
fn moments_of_every_year() {
    let zone = |kind| if kind == Kind::Mariadb { "datetime(6)" } else { "timestamp" };
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let program = Program::over(
            database(
                kind,
                &format!(
                    "create table times (id int primary key, at {}, day date);
                     insert into times values (1, '1000-01-01 00:00:00', '1000-01-01'),
                     (2, '1677-01-01 12:00:00.000001', '1676-12-31'), (3, '2024-02-29 01:02:03', '2024-02-29'),
                     (4, '2263-01-01 00:00:00', '2263-01-01'), (5, '9999-12-31 23:59:59.999999', '9999-12-31'),
                     (6, null, null);",
                    zone(kind)
                ),
            ),
            "",
            "",
        );
        let last = r#""9999-12-31T23:59:59.999999""#;
        let whole = program.ok("/tables/times?sort=id");
        assert!(whole.contains(&format!(r#"{{"id":5,"at":{last},"day":"9999-12-31"}}"#)), "{kind:?}: {whole}");
        assert!(whole.contains(r#"{"id":1,"at":"1000-01-01T00:00:00","day":"1000-01-01"}"#), "{kind:?}: {whole}");
        assert_eq!(whole.matches("null").count(), 2, "{kind:?}: {whole}");
        for (filter, ids) in [
            ("filter[at]gt=2262-12-31", "4 5"),
            ("filter[at]eq=9999-12-31T23:59:59.999999", "5"),
            ("filter[at]lt=1677-01-02", "1 2"),
            ("filter[at]lt=9999-12-31T23:59:59.9999999", "1 2 3 4 5"),
            ("filter[at]gte=9999-12-31T23:59:59.9999991", ""),
            ("filter[day]gte=2263-01-01", "4 5"),
            ("filter[at]lt=12000-01-01", "1 2 3 4 5"),
            ("filter[at]gt=-0043-03-15", "1 2 3 4 5"),
            ("filter[at]eq=2024-02-29T03:02:03%2B02:00", "3"),
        ] {
            let rows = program.ok(&format!("/tables/times?columns=id&sort=id&{filter}"));
            let expected: Vec<String> = ids.split_whitespace().map(|id| format!("{{\"id\":{id}}}")).collect();
            assert_eq!(rows, format!("[{}]", expected.join(",")), "{kind:?} {filter}");
        }
        assert_eq!(post(&program, "select max(at) as m from times"), format!("[{{\"m\":{last}}}]"), "{kind:?}");
        assert_eq!(
            post(&program, "select id from times where at is not null order by at desc limit 2"),
            r#"[{"id":5},{"id":4}]"#,
            "{kind:?}"
        );
        let csv = program.ok("/export/times.csv");
        assert!(csv.contains("5,9999-12-31T23:59:59.999999,9999-12-31"), "{kind:?}: {csv}");
        let body = r#"{"query":"{ times(filter: {at: {gt: \"9000-01-01\"}}) { id at day } }"}"#;
        let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(body));
        assert!(answer.body.contains(last), "{kind:?}: {}", answer.body);
    }
}

#[test]
fn decimals_of_every_size() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let free = if kind == Kind::Postgres { "numeric" } else { "decimal(60,20)" };
        let program = Program::over(
            database(
                kind,
                &format!(
                    "create table amounts (id int primary key, n {free}, w numeric(50,10), p numeric(12,2));
                     insert into amounts values (1, 9, 9, 9), (2, 10, 10, 10), (3, 100.5, 100.5, 100.5),
                     (4, 12345678901234567890123456789012345678.25, 1234567890123456789012345678901234567890,
                      1234567.89),
                     (5, -0.1, -0.1, -0.1), (6, null, null, null);"
                ),
            ),
            "",
            "",
        );
        let large = "12345678901234567890123456789012345678.25";
        for column in ["n", "w", "p"] {
            let order = program.ok(&format!("/tables/amounts?columns=id&sort={column},id"));
            let ids: String = order.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(ids, "651234", "{kind:?} {column}: {order}");
            let rows = program.ok(&format!("/tables/amounts?columns=id&filter[{column}]gt=9.99&sort=id"));
            assert_eq!(rows, r#"[{"id":2},{"id":3},{"id":4}]"#, "{kind:?} {column}");
            let ids = post(&program, &format!("select id from amounts where {column} > 9 order by {column}"));
            assert_eq!(ids, r#"[{"id":2},{"id":3},{"id":4}]"#, "{kind:?} {column}");
            let pages: Vec<String> = ["", "&offset=2"]
                .iter()
                .map(|page| program.ok(&format!("/tables/amounts?columns=id&sort={column}&limit=2{page}")))
                .collect();
            assert_eq!(pages, [r#"[{"id":6},{"id":5}]"#, r#"[{"id":1},{"id":2}]"#], "{kind:?} {column}");
        }
        // As text they would be in another order.
        for column in ["n", "w", "p"] {
            let distinct =
                program.ok(&format!("/tables/amounts?columns={column}&distinct=true&sort=-{column}&limit=9"));
            let grouped =
                program.ok(&format!("/tables/amounts?columns={column}&group={column}&sort=-{column}&limit=9"));
            assert_eq!(distinct, grouped, "{kind:?} {column}");
            let first = distinct.find("1234567").unwrap_or(usize::MAX);
            let second = distinct.find("100.5").unwrap_or(usize::MAX);
            let last = distinct.find(":9").unwrap_or(usize::MAX);
            assert!(first < second && second < last && last < usize::MAX, "{kind:?} {column}: {distinct}");
        }
        for (filter, ids) in [
            (format!("filter[n]eq={large}"), r#"[{"id":4}]"#),
            (format!("filter[n]lt={large}&filter[n]gt=10"), r#"[{"id":3}]"#),
            ("filter[p]eq=1234567.89".to_owned(), r#"[{"id":4}]"#),
            ("filter[p]eq=1234567.891".to_owned(), "[]"),
            ("filter[p]lt=1234567.891&filter[p]gt=1234567.889".to_owned(), r#"[{"id":4}]"#),
            ("filter[p]lt=-0.099".to_owned(), r#"[{"id":5}]"#),
            ("filter[p]gt=99999999999999999999999999".to_owned(), "[]"),
        ] {
            assert_eq!(program.ok(&format!("/tables/amounts?columns=id&{filter}")), ids, "{kind:?} {filter}");
        }
        let most = post(&program, "select max(n) as m, min(n) as l from amounts");
        assert!(most.contains(&format!("\"m\":{large}")) && most.contains("\"l\":-0.1"), "{kind:?}: {most}");
        let sums = post(&program, "select sum(w) as w, sum(p) as p from amounts");
        assert!(sums.contains("1234567890123456789012345678901234568009.4"), "{kind:?}: {sums}");
        assert!(sums.contains("\"p\":1234687.29"), "{kind:?}: {sums}");
        let sums = program.ok("/tables/amounts?columns=sum(w),max(n)");
        assert!(sums.contains("1234567890123456789012345678901234568009.4"), "{kind:?}: {sums}");
        let csv = program.ok("/export/amounts.csv");
        assert!(csv.contains(&format!("4,{large}")), "{kind:?}: {csv}");
    }
}

/// What is not a number and no day is an error that names the column, at each door, and no null.
#[test]
fn what_has_no_type_is_told() {
    let program = Program::over(
        database(
            Kind::Postgres,
            "create table a (id int primary key, n numeric); insert into a values (1, 'NaN');
             create table b (id int primary key, n timestamptz); insert into b values (1, 'infinity');
             create table c (id int primary key, n date); insert into c values (1, '-infinity');",
        ),
        "",
        "",
    );
    for table in ["a", "b", "c"] {
        for answer in [
            program.get(&format!("/tables/{table}")),
            program.get(&format!("/tables/{table}?limit=5")),
            program.send("POST", "/sql", &format!("select * from {table}")),
            program.send("POST", "/sql", &format!("select max(n) from {table}")),
        ] {
            assert!(answer.status >= 400 && answer.body.contains("`n`"), "{table}: {:?}", answer.said());
        }
        // As they are.
        assert_eq!(program.get(&format!("/records/{table}/1")).status, 200, "{table}");
    }
}
