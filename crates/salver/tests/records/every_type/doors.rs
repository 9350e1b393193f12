//! Every door that shows rows, and what it shows of a table.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::super::program::Program;
use super::catalogue::{Class, Type};
use super::own::Own;
use super::value::{Value, canonical, json, parse, start};

/// In which words a door shows values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// JSON of the records door, which are those of PHP-CRUD-API.
    Records,
    /// JSON of all others.
    Json,
    /// CSV, Arrow and Parquet.
    Whole,
}

/// What a table shows at a door.
pub(super) type Shown = Result<BTreeMap<i64, Value>, String>;

/// The one table of differences: what a door shows of a value that the database has.
pub(super) fn expected(words: Words, class: Class, own: &Own, id: i64) -> Value {
    let value = own.values[&id].as_deref()?;
    match (words, class) {
        // JSON has no word for them.
        (Words::Records | Words::Json, Class::Single | Class::Double) if matches!(value, "NaN" | "inf" | "-inf") => {
            None
        }
        // Where no type is declared, other doors show the text that SQLite makes of a value.
        (Words::Json | Words::Whole, Class::Any) => own.texts[&id].clone(),
        // PHP-CRUD-API keeps bytes of SQLite as base64: the records door shows that text, the others its bytes.
        (Words::Json | Words::Whole, Class::Bytes) if own.stored[&id] == "text" => {
            Some(value.bytes().map(|byte| format!("{byte:02x}")).collect())
        }
        _ => Some(value.to_owned()),
    }
}

/// What each door shows of the table.
pub(super) fn read(program: &Program, table: &str, own: &Type, told: &Own) -> Vec<(&'static str, Words, Shown)> {
    let class = own.class;
    let records = |target: &str, member: &[&str]| {
        let answer = program.get(&target.replace("{t}", table));
        rows(answer.status, &answer.body, member, &|id, cell| {
            let stored = told.stored.get(&id).map_or("", String::as_str);
            json(class, cell, stored == "blob" || stored.is_empty() && class == Class::Bytes)
        })
    };
    let other = |method: &str, target: &str, body: Option<&str>, member: &[&str]| {
        let headers = if target == "/graphql" { &[("content-type", "application/json")][..] } else { &[] };
        let body = body.map(|body| body.replace("{t}", table));
        let answer = program.ask(method, &target.replace("{t}", table), headers, body.as_deref());
        rows(answer.status, &answer.body, member, &|_, cell| json(class, cell, false))
    };
    // What is streamed is broken off at a value that can't be shown.
    let whole = |target: &str| {
        let answer = program.try_get(&target.replace("{t}", table));
        answer.map_err(|error| format!("`v`: the body broke off, {error}"))
    };
    let keys: Vec<String> = told.values.keys().map(i64::to_string).collect();
    let lines = |target: &str| {
        let answer = whole(target)?;
        let body = format!("[{}]", answer.body.trim_end().replace("}\n", "},\n"));
        rows(answer.status, if answer.status == 200 { &body } else { &answer.body }, &[], &|_, cell| {
            json(class, cell, false)
        })
    };
    let csv = |target: &str| {
        let answer = whole(target)?;
        if answer.status != 200 {
            return Err(format!("{}: {}", answer.status, answer.body));
        }
        Ok(fields(&answer.body)
            .into_iter()
            .map(|row| {
                let id = row[0].as_deref().and_then(|id| id.parse().ok()).expect("a number");
                (id, row[1].as_deref().map(|text| canonical(class, text)))
            })
            .collect())
    };
    let (get, post) = ("GET", "POST");
    let select = Some("select id, v from {t}");
    let planned = Some("select id, v from {t} where id + 0 > 0 order by id desc");
    vec![
        ("records", Words::Records, records("/records/{t}?include=id,v", &["records"])),
        ("records by key", Words::Records, records(&format!("/records/{{t}}/{}", keys.join(",")), &[])),
        ("tables", Words::Json, other(get, "/tables/{t}?columns=id,v&limit=1000", None, &[])),
        ("tables streamed", Words::Json, other(get, "/tables/{t}?columns=id,v", None, &[])),
        ("tables as CSV", Words::Whole, csv("/tables/{t}.csv?columns=id,v")),
        ("sql", Words::Json, other(post, "/sql", select, &[])),
        ("sql planned", Words::Json, other(post, "/sql", planned, &[])),
        ("graphql", Words::Json, other(post, "/graphql", Some(r#"{"query":"{ {t} { id v } }"}"#), &["data", table])),
        ("export", Words::Json, lines("/export/{t}?columns=id,v")),
        ("export as CSV", Words::Whole, csv("/export/{t}.csv?columns=id,v")),
        ("cursor", Words::Json, other(post, "/export?collection={t}", Some("{}"), &["result"])),
        (
            "cursor of a query",
            Words::Json,
            other(post, "/cursor", Some(r#"{"query":"select id, v from {t}"}"#), &["result"]),
        ),
    ]
}

/// The rows of an answer of JSON, found at `member`.
fn rows(status: u16, body: &str, member: &[&str], value: &dyn Fn(i64, &Json) -> Value) -> Shown {
    if !matches!(status, 200 | 201) {
        return Err(format!("{status}: {}", start(body)));
    }
    let json = parse(body);
    let list = member.iter().fold(&json, |json, name| &json[*name]);
    let list = list.as_array().ok_or_else(|| format!("no rows: {}", start(body)))?;
    let id = |row: &Json| row["id"].as_str().and_then(|id| id.get(2..)).and_then(|id| id.parse().ok());
    Ok(list.iter().map(|row| (id(row).expect("a number"), value(id(row).expect("a number"), &row["v"]))).collect())
}

/// The rows of a CSV behind the first; an empty field is null, and `""` is the empty text.
pub(super) fn fields(text: &str) -> Vec<Vec<Option<String>>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => {
                quoted = !quoted;
                was_quoted = true;
            }
            ',' | '\n' if !quoted => {
                let own = std::mem::take(&mut field);
                row.push((was_quoted || !own.is_empty()).then_some(own));
                was_quoted = false;
                if c == '\n' {
                    rows.push(std::mem::take(&mut row));
                }
            }
            c => field.push(c),
        }
    }
    rows.remove(0);
    rows
}

/// How what was shown differs from what the database has; at most three rows of it.
pub(super) fn differences(words: Words, class: Class, own: &Own, shown: &BTreeMap<i64, Value>) -> Vec<String> {
    let mut wrong: Vec<String> = Vec::new();
    if !shown.keys().eq(own.values.keys()) {
        wrong.push(format!("rows {:?}, not {:?}", shown.keys(), own.values.keys()));
    }
    for (id, value) in shown {
        let wanted = expected(words, class, own, *id);
        // SQLite's own client may write fewer digits of a float than SQLite.
        let float = |value: &Value| value.as_ref().and_then(|value| value.parse::<f64>().ok());
        let is_near = own.stored[id] == "real"
            && class == Class::Any
            && float(value).zip(float(&wanted)).is_some_and(|(a, b)| (a - b).abs() <= b.abs() * 1e-14);
        if *value != wanted && !is_near {
            let text =
                |value: &Value| value.as_deref().map_or_else(|| "null".to_owned(), |text| format!("{:?}", start(text)));
            wrong.push(format!("row {id} is {}, not {}", text(value), text(&wanted)));
        }
    }
    wrong.truncate(3);
    wrong
}
