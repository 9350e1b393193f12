//! What is null, and what only looks like it: rows of nulls in PostgreSQL, keys without a value and truths in SQLite.

use salver_testkit::servers::{Kind, database};
use serde_json::Value as Json;

use super::program::Program;

/// All pages of a list, by the values of a column.
fn walked(program: &Program, first: &str, column: &str) -> Vec<i64> {
    let (mut target, mut seen) = (first.to_owned(), Vec::new());
    loop {
        let answer = program.get(&target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        let body = answer.json();
        let rows = body.get("records").unwrap_or(&body).as_array().expect("rows").clone();
        seen.extend(rows.iter().map(|row| row[column].as_i64().expect("a number")));
        assert!(seen.len() < 50, "{first}: {seen:?}");
        let link = answer.header("link").and_then(|link| link.split_once("/api")?.1.split_once('>'));
        target = match (link, body.get("next").and_then(Json::as_str)) {
            (Some((next, _)), _) => next.to_owned(),
            (None, Some(token)) => format!("{first}{token}"),
            (None, None) => return seen,
        };
    }
}

#[test]
fn a_row_of_nulls_is_a_value() {
    let sql = "create type pair as (a int, b text); create table pr (id int primary key, v pair);
        insert into pr values (1, '(1,a)'), (2, '(,)'), (3, '(2,b)'), (4, null), (5, '(,)'), (6, '(,x)');";
    let program = Program::over(database(Kind::Postgres, sql), "", "writable = true");
    for first in [
        "/records/pr?order=v&size=1&after=",
        "/records/pr?order=v,desc&size=1&after=",
        "/records/pr?order=v,desc&size=4&after=",
        "/tables/pr?sort=v&limit=1",
        "/tables/pr?sort=-v.nullslast,id&limit=1",
        "/tables/pr?sort=v.nullsfirst&limit=2",
    ] {
        let mut seen = walked(&program, first, "id");
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4, 5, 6], "{first}");
    }
    assert_eq!(program.ids("/records/pr?filter=v,is"), [4]);
    assert_eq!(program.ids("/records/pr?filter=v,nis&order=id"), [1, 2, 3, 5, 6]);
    assert_eq!(program.get("/tables/pr?columns=id&filter[v]null=true").json(), serde_json::json!([{"id": 4}]));
    let told = program.send("POST", "/sql", "select count(*) as n from pr where v is not null");
    assert_eq!(told.json(), serde_json::json!([{"n": 5}]));
}

#[test]
fn sqlite_knows_what_is_null() {
    let sql = "create table bo (id integer primary key, b boolean, x blob);
        insert into bo values (1, 1, x'00'), (2, 0, 'AA=='), (3, null, null);
        create table nullpk (k text primary key, n int);
        insert into nullpk values (null, 1), (null, 2), ('a', 3), (null, 4), ('b', 5);
        create table good (k text primary key, n int); insert into good values ('a', 3), ('b', 5);";
    let program = Program::over(database(Kind::Sqlite, sql), "", "writable = true");
    for (filter, ids) in [
        ("b,neq,true", vec![2]),
        ("b,nin,true", vec![2]),
        ("b,neq,1", vec![2]),
        ("b,neq,false", vec![1]),
        ("x,nlt,AA==", vec![1, 2]),
        ("x,ngt,AA==", vec![1, 2]),
    ] {
        assert_eq!(program.ids(&format!("/records/bo?order=id&filter={filter}")), ids, "{filter}");
    }
    // Rows without a key can't be told apart, and so are no pages that begin behind one.
    let refused = program.get("/records/nullpk?size=2&after=");
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(program.get("/records/nullpk?order=n").json()["records"].as_array().map(Vec::len), Some(5));
    assert_eq!(walked(&program, "/records/good?size=1&after=", "n"), [3, 5]);
    // Letters that are no ASCII have a case as well.
    let _ = program.database().run("insert into good values ('É', 6), ('é', 7)");
    for target in
        ["/tables/good?filter[k]ilike='é'&columns=n&sort=n", "/tables/good?filter[k]ilike='É'&columns=n&sort=n"]
    {
        assert_eq!(program.get(target).json(), serde_json::json!([{"n": 6}, {"n": 7}]), "{target}");
    }
}

#[test]
fn a_database_in_utf_16_is_refused_with_the_way_out() {
    let sql =
        "pragma encoding = 'UTF-16le'; create table t (id integer primary key, t text); insert into t values (1, 'b');";
    let program = Program::start(database(Kind::Sqlite, sql), "", "");
    program.until("it is told", |program| {
        let answer = program.get("/records/t");
        answer.status == 503 && answer.body.contains("UTF-16le")
    });
}

#[test]
fn floats_and_letters_of_postgresql() {
    let sql = "create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        create table fl (id int primary key, f float8, t text collate loose, u text collate \"C\", d date);
        insert into fl values (1, 'NaN', 'é', 'é', 'infinity'), (2, 'Infinity', 'x', 'É', '2024-01-01'), (3, 1.5, 'É', 'x', null);";
    let program = Program::over(database(Kind::Postgres, sql), "", "");
    for (filter, ids) in [
        ("filter[f]eq=NaN", vec![1]),
        ("filter[f]eq=inf", vec![2]),
        ("filter[f]lt=inf", vec![3]),
        ("filter[f]gte=inf", vec![1, 2]),
        ("filter[t]ilike='é'", vec![1, 3]),
        ("filter[u]ilike='é'", vec![1, 2]),
    ] {
        let rows = program.get(&format!("/tables/fl?columns=id&sort=id&{filter}")).json();
        let found: Vec<i64> = rows.as_array().expect(filter).iter().filter_map(|row| row["id"].as_i64()).collect();
        assert_eq!(found, ids, "{filter}");
    }
    let told = program.get("/tables/fl?columns=id&sort=-d.nullslast,id&limit=1");
    assert!(told.status >= 400 && told.body.contains("`d` has a value"), "{}", told.body);
}

#[test]
fn large_whole_numbers_beside_fractions() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let sql = "create table w (id bigint primary key, c int);
            insert into w values (9007199254740992, 1), (9007199254740993, 2), (9223372036854775807, 3);";
        let program = Program::over(database(kind, sql), "", "");
        for (filter, ids) in [
            ("id,in,9007199254740993,1.5", vec![9_007_199_254_740_993_i64]),
            ("id,in,1e30,9007199254740993", vec![9_007_199_254_740_993]),
            ("id,eq,9007199254740992.5", vec![]),
            ("id,eq,9007199254740992.0", vec![9_007_199_254_740_992]),
            ("id,lt,9007199254740992.5", vec![9_007_199_254_740_992]),
            ("id,gt,9223372036854775806.5", vec![i64::MAX]),
            ("id,bt,9007199254740992.5,1e18", vec![9_007_199_254_740_993]),
        ] {
            let rows = program.get(&format!("/records/w?include=id&order=id&filter={filter}")).json();
            let found: Vec<i64> =
                rows["records"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(found, ids, "{kind:?} {filter}");
        }
    }
}

#[test]
fn what_is_in_no_list_is_not_null() {
    for kind in [Kind::Sqlite, Kind::Postgres, Kind::Mariadb] {
        let sql = "create table w (id int primary key, i int); insert into w values (1, 1), (2, null), (3, 3);";
        let program = Program::over(database(kind, sql), "", "");
        for (filter, ids) in [
            ("filter[i]nin=1.5", vec![1, 3]),
            ("filter[i]nin=1e30", vec![1, 3]),
            ("filter[i]nin=1,1.5", vec![3]),
            ("filter[i]in=1.5", vec![]),
        ] {
            let rows = program.get(&format!("/tables/w?columns=id&sort=id&{filter}")).json();
            let found: Vec<i64> = rows.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
            assert_eq!(found, ids, "{kind:?} {filter}");
        }
    }
}

#[test]
fn rows_without_a_key_are_not_lost_between_pages() {
    let sql = "create table n (a int primary key, c int); insert into n values (1, 1), (2, 2), (3, 3);";
    let program = Program::over(database(Kind::Sqlite, sql), "", "writable = true");
    for c in 10..13 {
        assert_eq!(program.send("POST", "/records/n", &format!("{{\"a\":null,\"c\":{c}}}")).said().0, 200);
    }
    // Nulls come first among records, and last at tables.
    for target in ["/records/n?after=&size=2", "/tables/n?limit=4"] {
        let answer = program.get(target);
        assert_eq!(answer.status, 400, "{target}: {}", answer.body);
        assert!(answer.body.contains("null in their primary key"), "{target}: {}", answer.body);
    }
    // All of them are one page, and behind them there are keys.
    for target in ["/records/n?after=&size=6", "/records/n?after=&size=4", "/tables/n?limit=6", "/tables/n?limit=3"] {
        assert_eq!(program.get(target).status, 200, "{target}");
    }
}
