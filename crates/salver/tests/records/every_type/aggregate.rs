//! The least, the greatest and the number of different values, at each door.

use std::collections::BTreeSet;

use salver_testkit::servers::Kind;

use super::catalogue::{Class, Compares};
use super::compare::Ground;
use super::doors::fields;
use super::value::{Value, canonical, json, parse, start};

/// Appends what is wrong.
pub(super) fn compare(ground: &Ground<'_>, wrong: &mut Vec<String>) {
    records(ground, wrong);
    sums(ground, wrong);
    for (door, target, body) in [
        ("tables", "/tables/{t}.csv?columns=a:min(v),b:max(v),n:count_distinct(v)", None),
        ("sql", "/sql?format=csv", Some("select min(v) as a, max(v) as b, count(distinct v) as n from {t}")),
        (
            "sql grouped",
            "/sql?format=csv",
            Some("select v as a, v as b, 1 as n from {t} where v is not null group by v"),
        ),
    ] {
        // What is binary has no order.
        if ground.own.class == Class::Bytes && door == "tables" {
            continue;
        }
        let target = target.replace("{t}", ground.table);
        let body = body.map(|body| body.replace("{t}", ground.table));
        let method = if body.is_some() { "POST" } else { "GET" };
        let answer = ground.program.ask(method, &target, &[], body.as_deref());
        if answer.status != 200 {
            wrong.push(format!("{door} aggregates: {} {}", answer.status, start(&answer.body)));
            continue;
        }
        let class = ground.own.class;
        let rows: Vec<[Value; 3]> = fields(&answer.body)
            .into_iter()
            .map(|row| {
                let value = |at: usize| row[at].as_deref().map(|text| canonical(class, text));
                [value(0), value(1), row[2].clone()]
            })
            .collect();
        let (least, greatest, count) = others(ground);
        if door == "sql grouped" {
            if rows.len() != count {
                wrong.push(format!("{door}: {} groups, not {count}", rows.len()));
            }
            continue;
        }
        told(door, &rows[0], (&least, &greatest, count), wrong);
    }
}

/// What the doors beside records have to say.
fn others(ground: &Ground<'_>) -> (BTreeSet<Value>, BTreeSet<Value>, usize) {
    let (_, rows) = ground.order(false);
    let equal = |id: i64| ground.related(id).0.iter().map(|id| ground.text(*id).clone()).collect::<BTreeSet<_>>();
    let different: BTreeSet<_> = rows.iter().map(|id| equal(*id)).collect();
    (equal(rows[0]), equal(rows[rows.len() - 1]), different.len())
}

/// The records door, which says what the database says, or that it can't.
pub(super) fn records(ground: &Ground<'_>, wrong: &mut Vec<String>) {
    let (class, own, told_own) = (ground.own.class, ground.own, ground.told);
    // Of truths that are several numbers the database has the least of these.
    if matches!(class, Class::Truth | Class::Any) {
        return;
    }
    let mut rows: Vec<i64> = told_own.rising.iter().copied().filter(|id| told_own.values[id].is_some()).collect();
    if ground.program.kind() == Kind::Mariadb && matches!(own.base(), "enum" | "set") {
        // Sorted by their numbers, of which the least is that of the least word.
        rows.sort_by_key(|id| told_own.values[id].clone());
    }
    let equal =
        |id: i64| told_own.equal[&id].iter().map(|id| shown(class, &told_own.values[id])).collect::<BTreeSet<_>>();
    let different: BTreeSet<_> = rows.iter().map(|id| told_own.equal[id].clone()).collect();
    let table = ground.table;
    let ask = |aggregates: &str| ground.program.get(&format!("/records/{table}?{aggregates}"));
    let extremes = ask("aggregate=min,v,a&aggregate=max,v,b");
    let cell = |name: &str, body: &str| json(class, &parse(body)["records"][0][name], class == Class::Bytes);
    match extremes.status {
        200 => {
            let row = [cell("a", &extremes.body), cell("b", &extremes.body), None];
            let (least, greatest) = (equal(rows[0]), equal(rows[rows.len() - 1]));
            if !least.contains(&row[0]) || !greatest.contains(&row[1]) {
                wrong.push(format!("records: {:?}, not {least:?} and {greatest:?}", &row[..2]));
            }
        }
        // Bytes, JSON and geometries have none, and what the database can't sort.
        400 | 422 if class == Class::Bytes || own.compares == Compares::Text || own.native.starts_with("json") => {}
        status => wrong.push(format!("records min and max: {status} {}", start(&extremes.body))),
    }
    // What is unordered is grouped by its text only where the database can't do it.
    for (what, target) in [("group", "group=v&aggregate=count,*,n"), ("distinct", "distinct=1&include=v")] {
        let answer = ask(target);
        if matches!(answer.status, 400 | 422) && own.compares == Compares::Text {
            continue;
        }
        let body = parse(&answer.body);
        let list = body["records"].as_array().map(Vec::as_slice).unwrap_or_default();
        let found: BTreeSet<Value> = list.iter().map(|row| json(class, &row["v"], class == Class::Bytes)).collect();
        let all: BTreeSet<Value> = told_own.values.values().map(|value| shown(class, value)).collect();
        // Those that are equal are one, and the nulls another.
        if list.len() != different.len() + 1 || !found.is_subset(&all) {
            let body = start(&answer.body);
            wrong.push(format!(
                "records {what}: {} {} rows, not {}: {body}",
                answer.status,
                list.len(),
                different.len() + 1
            ));
        }
    }
    let count = ask("aggregate=count_distinct,v,n");
    let number = json(Class::Whole, &parse(&count.body)["records"][0]["n"], false);
    if count.status != 200 || number != Some(different.len().to_string()) {
        wrong.push(format!("records count_distinct: {} {}, not {}", count.status, start(&count.body), different.len()));
    }
}

/// A sum is exact, or an error where there is no place for it, and never another number.
fn sums(ground: &Ground<'_>, wrong: &mut Vec<String>) {
    let table = ground.table;
    let of_sqlite = || {
        let numbers = ground.told.values.values().flatten().map(|number| number.parse::<i128>());
        numbers.sum::<Result<i128, _>>().ok().map(|sum| sum.to_string())
    };
    let is_of_sqlite = ground.program.kind() == Kind::Sqlite && ground.own.class == Class::Whole;
    let Some(sum) = ground.told.sum.clone().or_else(|| is_of_sqlite.then(of_sqlite).flatten()) else { return };
    averages(ground, &sum, wrong);
    for (door, method, target, body) in [
        ("records", "GET", format!("/records/{table}?aggregate=sum,v,s"), None),
        ("tables", "GET", format!("/tables/{table}?columns=s:sum(v)"), None),
        ("sql", "POST", "/sql".to_owned(), Some(format!("select sum(v) as s from {table}"))),
        ("sql planned", "POST", "/sql".to_owned(), Some(format!("select sum(v) as s from {table} where id + 0 > 0"))),
    ] {
        let answer = ground.program.ask(method, &target, &[], body.as_deref());
        let fits = sum.parse::<i64>().is_ok() || ground.own.class == Class::Decimal;
        // SQLite gives up where a part of the sum has no place.
        if (!fits || is_of_sqlite) && (400..500).contains(&answer.status) {
            continue;
        }
        let body = parse(&answer.body);
        let rows = if body.is_array() { &body } else { &body["records"] };
        let found = json(Class::Decimal, &rows[0]["s"], false);
        if answer.status != 200 || found.as_ref() != Some(&sum) {
            wrong.push(format!("{door}: the sum is {} {}, not {sum}", answer.status, start(&answer.body)));
        }
    }
}

/// An average is a float near the quotient of sum and count.
fn averages(ground: &Ground<'_>, sum: &str, wrong: &mut Vec<String>) {
    let table = ground.table;
    let values: Vec<f64> = ground.told.values.values().flatten().filter_map(|number| number.parse().ok()).collect();
    let most = values.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    let quotient = sum.parse::<f64>().expect("a number") / values.len() as f64;
    for (door, method, target, body) in [
        ("records", "GET", format!("/records/{table}?aggregate=avg,v,s"), None),
        ("tables", "GET", format!("/tables/{table}?columns=s:avg(v)"), None),
        ("sql", "POST", "/sql".to_owned(), Some(format!("select avg(v) as s from {table}"))),
    ] {
        let answer = ground.program.ask(method, &target, &[], body.as_deref());
        let body = parse(&answer.body);
        let rows = if body.is_array() { &body } else { &body["records"] };
        let found = json(Class::Double, &rows[0]["s"], false).and_then(|number| number.parse::<f64>().ok());
        if answer.status != 200 || found.is_none_or(|found| (found - quotient).abs() > most * 1e-12) {
            wrong.push(format!("{door}: the average is {} {}, not {quotient}", answer.status, start(&answer.body)));
        }
    }
}

/// As the records door shows it.
fn shown(class: Class, value: &Value) -> Value {
    let infinite = matches!(value.as_deref(), Some("NaN" | "inf" | "-inf"));
    value.clone().filter(|_| !(infinite && matches!(class, Class::Single | Class::Double)))
}

fn told(
    door: &str,
    row: &[Value; 3],
    (least, greatest, count): (&BTreeSet<Value>, &BTreeSet<Value>, usize),
    wrong: &mut Vec<String>,
) {
    if !least.contains(&row[0]) || !greatest.contains(&row[1]) {
        wrong.push(format!("{door}: min {:?} and max {:?}, not {least:?} and {greatest:?}", row[0], row[1]));
    }
    if row[2] != Some(count.to_string()) {
        wrong.push(format!("{door}: {:?} different values, not {count}", row[2]));
    }
}
