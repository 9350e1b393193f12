//! The table of types in `docs/records.md`, as the program has them. With `UPDATE=1` the page is written anew.

use salver_testkit::servers::Kind;
use serde_json::Value as Json;

use super::Setting;
use super::ask::ids;
use super::catalogue::{Class, Compares, Type};
use super::own::Own;
use super::value::{parse, shape};

/// What the page says of a type.
type Row = [String; 5];

#[test]
fn the_page_tells_what_each_type_is() {
    let mut table = String::new();
    for kind in [Kind::Sqlite, Kind::Postgres, Kind::Mariadb] {
        let name = match kind {
            Kind::Sqlite => "SQLite",
            Kind::Mariadb => "MariaDB, MySQL",
            Kind::Postgres => "PostgreSQL",
        };
        table.push_str(&format!(
            "{}| {name} | JSON | order | Arrow | order | an error there |\n|---|---|---|---|---|---|\n",
            if table.is_empty() { "" } else { "\n" }
        ));
        for (types, row) in rows(&Setting::of(kind)) {
            table.push_str(&format!("| {types} | {} |\n", row.join(" | ")));
        }
    }
    salver_testkit::doc_table::has_table("records.md", "records::every_type::page", &table);
}

/// The types of a database, those of which the same is said together.
fn rows(setting: &Setting) -> Vec<(String, Row)> {
    let mut rows: Vec<(String, Row)> = Vec::new();
    // What is only read is another size of a type that is compared.
    for (number, own) in setting.each().filter(|(_, own)| own.compared && own.made_of.is_none()) {
        let (name, row) = (format!("`{}`", own.native), row(setting, number, own));
        let name = if own.native.is_empty() { "none declared".to_owned() } else { name };
        match rows.iter_mut().find(|(_, other)| *other == row) {
            Some((names, _)) => names.push_str(&format!(", {name}")),
            None => rows.push((name, row)),
        }
    }
    rows
}

fn row(setting: &Setting, number: usize, own: &Type) -> Row {
    let (program, told) = (&setting.program, &setting.told[&format!("t{number}")]);
    let table = format!("t{number}");
    let shown = parse(&program.ok(&format!("/records/{table}?include=v")));
    let mut shapes: Vec<&str> = shown["records"].as_array().expect("rows").iter().map(|row| shape(&row["v"])).collect();
    shapes.retain(|shape| *shape != "null");
    shapes.sort_unstable();
    shapes.dedup();
    let json = match own.class {
        Class::Bytes => "base64".to_owned(),
        _ => shapes.join(", "),
    };
    let order = |target: &str, member: &str| {
        let answer = program.get(target);
        if answer.status != 200 {
            return "none".to_owned();
        }
        let body = parse(&answer.body);
        let found = ids(if member.is_empty() { &body } else { &body[member] });
        let by_bytes = found == by_text(told, own);
        // Of text that compares by its bytes both are true.
        let word = if found == told.rising && !(member.is_empty() && by_bytes && own.class == Class::Text) {
            if own.compares == Compares::Text { "of the text" } else { "its own" }
        } else if by_bytes {
            if own.class == Class::Truth { "false, true" } else { "of the text" }
        } else {
            "another"
        };
        word.to_owned()
    };
    let odd: Vec<String> = own.odd.iter().filter(|value| value.len() < 20).map(|value| format!("`{value}`")).collect();
    [
        json,
        order(&format!("/records/{table}?include=id&order=v&order=id"), "records"),
        arrow(&program.ok(&format!("/schema/{table}"))),
        order(&format!("/tables/{table}?columns=id&sort=v,id"), ""),
        if own.class == Class::Text { String::new() } else { odd.join(", ") },
    ]
}

/// The rows by the bytes of their texts, nulls first.
fn by_text(told: &Own, own: &Type) -> Vec<i64> {
    let text = |id: &i64| if own.class == Class::Any { told.texts[id].clone() } else { told.values[id].clone() };
    let mut rows: Vec<i64> = told.values.keys().copied().collect();
    rows.sort_by_key(|id| (told.values[id].is_some(), text(id), *id));
    rows
}

/// The type of the column, as Arrow calls it.
fn arrow(schema: &str) -> String {
    let schema: Json = serde_json::from_str(schema).expect("a schema");
    let fields = schema["fields"].as_array().expect("fields");
    let field = fields.iter().find(|field| field["name"] == "v").expect("the column");
    let name = match &field["data_type"] {
        Json::String(name) => name.clone(),
        Json::Object(parts) => {
            let (name, parts) = parts.iter().next().expect("a type");
            let parts: Vec<String> = parts
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter()
                .filter(|part| !part.is_null())
                .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
                .collect();
            format!("{name}({})", parts.join(", "))
        }
        other => other.to_string(),
    };
    format!("`{name}`")
}
