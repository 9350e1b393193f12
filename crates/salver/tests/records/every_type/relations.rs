//! Every type as what relates rows: each row is joined with the row that the database joins it with. Texts are joined
//! where they are the same, as PHP-CRUD-API does it, and not where a collation alone has them as equal: `a` and `A`.

use std::collections::BTreeMap;

use salver_testkit::servers::Kind;
use serde_json::Value as Json;

use super::ask::ids;
use super::catalogue::{Class, Type, tables, types};
use super::keys::is_no_key;
use super::value::{parse, start, written};
use super::{Program, assert_none};

/// To each row of the referring table the row that it refers to.
type Pairs = BTreeMap<i64, i64>;

fn related(kind: Kind) {
    let all = types(kind);
    let database = tables(kind, &all);
    let chosen: Vec<(usize, &Type)> = all.iter().enumerate().filter(|(_, own)| !is_no_key(kind, own)).collect();
    // What is several numbers or a number and its text is one word.
    let is_plain = |own: &Type| !matches!(own.class, Class::Truth | Class::Any);
    let chosen: Vec<(usize, &Type)> = chosen.into_iter().filter(|(_, own)| is_plain(own)).collect();
    let mut sql = String::new();
    for (number, own) in &chosen {
        let (insert, behind) = match kind {
            Kind::Sqlite => ("insert or ignore", ""),
            Kind::Mariadb => ("insert ignore", ""),
            Kind::Postgres => ("insert", " on conflict do nothing"),
        };
        sql.push_str(&format!(
            "create table k{number} (v {native} not null primary key, id int);\n\
             {insert} into k{number} (v, id) select v, id from t{number} where v is not null order by id{behind};\n\
             create table j{number} (id int primary key, v {native}, foreign key (v) references k{number} (v));\n\
             insert into j{number} (id, v) select id, v from t{number};\n",
            native = own.native
        ));
        if kind == Kind::Postgres {
            sql.push_str(&format!("alter table k{number} owner to salver; alter table j{number} owner to salver;\n"));
        }
    }
    for (number, own) in &chosen {
        let shown = |alias: &str| match kind {
            Kind::Sqlite => format!("cast({alias}.v as blob)"),
            Kind::Mariadb => format!("cast(cast({alias}.v as char) as binary)"),
            Kind::Postgres => format!("{alias}.v::text collate \"C\""),
        };
        let same = format!(" and {} = {}", shown("j"), shown("k"));
        sql.push_str(&format!(
            "select {number}, j.id, k.id from j{number} j join k{number} k on j.v = k.v{};\n",
            if own.class == Class::Text { &same } else { "" }
        ));
    }
    let mut told: BTreeMap<usize, Pairs> = BTreeMap::new();
    for line in database.run(&sql).lines() {
        let [number, one, other] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let pairs = told.entry(number.parse().expect("a number")).or_default();
        pairs.insert(one.parse().expect("a number"), other.parse().expect("a number"));
    }
    let program = Program::over(database, "", "");
    let mut wrong = Vec::new();
    for (number, own) in chosen {
        let pairs = &told[&number];
        let mut found = Vec::new();
        to_one(&program, number, pairs, &mut found);
        to_many(&program, number, pairs, &mut found);
        if own.class != Class::Text {
            in_graphql(&program, number, pairs, &mut found);
        }
        wrong.extend(found.iter().map(|what| format!("{}: {what}", own.native)));
    }
    assert_none(kind, &wrong);
}

fn number(json: &Json) -> Option<i64> {
    written(json)?.parse().ok()
}

/// The row in place of its key.
fn to_one(program: &Program, table: usize, pairs: &Pairs, wrong: &mut Vec<String>) {
    let answer = program.get(&format!("/records/j{table}?join=k{table}"));
    let body = parse(&answer.body);
    let rows = body["records"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found: Pairs = rows.iter().filter_map(|row| Some((number(&row["id"])?, number(&row["v"]["id"])?))).collect();
    tell("to one", &found, pairs, (answer.status, &answer.body), wrong);
}

/// The rows that refer to one.
fn to_many(program: &Program, table: usize, pairs: &Pairs, wrong: &mut Vec<String>) {
    let answer = program.get(&format!("/records/k{table}?join=j{table}"));
    let body = parse(&answer.body);
    let rows = body["records"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut found = Pairs::new();
    for row in rows {
        for id in ids(&row[format!("j{table}")]) {
            found.insert(id, number(&row["id"]).unwrap_or_default());
        }
    }
    tell("to many", &found, pairs, (answer.status, &answer.body), wrong);
}

fn in_graphql(program: &Program, table: usize, pairs: &Pairs, wrong: &mut Vec<String>) {
    let body = format!(r#"{{"query":"{{ j{table} {{ id k{table} {{ id }} }} }}"}}"#);
    let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(&body));
    let json = parse(&answer.body);
    let rows = json["data"][format!("j{table}")].as_array().map(Vec::as_slice).unwrap_or_default();
    let to = |row: &Json| number(&row[format!("k{table}")]["id"]);
    let found: Pairs = rows.iter().filter_map(|row| Some((number(&row["id"])?, to(row)?))).collect();
    tell("in GraphQL", &found, pairs, (answer.status, &answer.body), wrong);
}

fn tell(what: &str, found: &Pairs, pairs: &Pairs, (status, body): (u16, &str), wrong: &mut Vec<String>) {
    if found != pairs {
        let differs = pairs.iter().filter(|(one, other)| found.get(one) != Some(other)).take(4);
        let some: Vec<String> =
            differs.map(|(one, other)| format!("{one} has {:?}, not {other}", found.get(one))).collect();
        let count = (found.len(), pairs.len());
        wrong.push(format!("{what}: {status}, {count:?} pairs: {}: {}", some.join("; "), start(body)));
    }
}

super::of_each_database! {
    related: related_in_sqlite, related_in_mariadb, related_in_postgres;
}
