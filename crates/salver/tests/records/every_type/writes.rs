//! What a door shows of a value can be written again, and is the same value in the database.

use std::collections::BTreeMap;

use salver_testkit::servers::Kind;
use serde_json::Value as Json;

use super::catalogue::{Class, Type};
use super::doors::{Words, expected};
use super::own::{self, Own};
use super::value::{parse, shape, start, written};
use super::{Setting, assert_none};

/// Takes all values out, and puts back what the records door showed: by key, and as a load.
fn written_again(kind: Kind) {
    let setting = Setting::with(kind, "writable = true", "limits.body_bytes_max = 67108864");
    let mut wrong = Vec::new();
    let types: Vec<(usize, &Type)> = setting.each().filter(|(_, own)| own.made_of.is_none()).collect();
    let mut shown: BTreeMap<usize, String> = BTreeMap::new();
    let mut empty = String::new();
    let named: Vec<(String, Type)> =
        types.iter().map(|(number, own)| (format!("t{number}"), (*own).clone().only_read())).collect();
    let named: Vec<(String, &Type)> = named.iter().map(|(name, own)| (name.clone(), own)).collect();
    for (number, _) in &types {
        let body = setting.program.ok(&format!("/records/t{number}?include=id,v"));
        let rows = body.strip_prefix("{\"records\":").and_then(|rest| rest.strip_suffix('}')).expect("rows").to_owned();
        shown.insert(*number, rows);
        empty.push_str(&format!("update t{number} set v = null;\n"));
    }
    for way in ["in place", "by key", "as a load"] {
        if way == "by key" {
            drop(setting.program.database().run(&empty));
        }
        let mut answers: BTreeMap<usize, String> = BTreeMap::new();
        for (number, _) in &types {
            let rows = &shown[number];
            let answer = if way != "as a load" {
                let ids: Vec<String> = setting.told[&format!("t{number}")].values.keys().map(i64::to_string).collect();
                setting.program.send("PUT", &format!("/records/t{number}/{}", ids.join(",")), rows)
            } else {
                let lines = rows[1..rows.len() - 1].replace("},{\"id\":", "}\n{\"id\":");
                let headers = [("content-type", "application/x-ndjson")];
                setting.program.ask("POST", &format!("/records/t{number}?keep_good=1"), &headers, Some(&lines))
            };
            answers.insert(*number, format!("{} {}", answer.status, start(&answer.body)));
        }
        let now = own::ask(setting.program.database(), &named);
        for (number, own) in &types {
            let table = format!("t{number}");
            let found = changed(way == "in place", own, &setting.told[&table], now.get(&table));
            let again = setting.program.ok(&format!("/records/{table}?include=id,v"));
            let differs = !again.contains(&shown[number]);
            if !found.is_empty() || differs {
                let what = found.into_iter().take(3).collect::<Vec<_>>().join("; ");
                let other = if differs { ", and is shown otherwise" } else { "" };
                wrong.push(format!("{} {way}: {what}{other}: {}", own.native, answers[number]));
            }
        }
        if way == "in place" {
            continue;
        }
        // For the load.
        let gone: String = types.iter().map(|(number, _)| format!("delete from t{number};\n")).collect();
        drop(setting.program.database().run(&gone));
    }
    assert_none(kind, &wrong);
}

/// What GraphQL shows is written by its mutations as the same value.
fn by_mutation(kind: Kind) {
    let setting = Setting::with(kind, "writable = true", "");
    let program = &setting.program;
    let types: Vec<(usize, &Type)> = setting.each().filter(|(_, own)| own.made_of.is_none() && own.compared).collect();
    let ask = |query: String| {
        let body = Json::from_iter([("query", query)]).to_string();
        program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(&body)).body
    };
    let mut answers: BTreeMap<usize, BTreeMap<i64, String>> = BTreeMap::new();
    for (number, own) in &types {
        let rows = parse(&ask(format!("{{ t{number} {{ id v }} }}")));
        drop(program.database().run(&format!("update t{number} set v = null")));
        // Without a type a text may look like a number.
        let rows = rows["data"][format!("t{number}")].as_array().filter(|_| own.class != Class::Any).cloned();
        for row in rows.unwrap_or_default().iter().filter(|row| !row["v"].is_null()).take(12) {
            let (Some(id), Some(value)) = (written(&row["id"]), written(&row["v"])) else { continue };
            let bare = shape(&row["v"]) != "text";
            let value = if bare { value } else { Json::from(value).to_string() };
            let told = ask(format!("mutation {{ update_t{number}(id: {id}, set: {{v: {value}}}) {{ id }} }}"));
            answers.entry(*number).or_default().insert(id.parse().expect("a number"), format!("{value}: {told}"));
        }
    }
    let all: Vec<(String, Type)> =
        types.iter().map(|(number, own)| (format!("t{number}"), (*own).clone().only_read())).collect();
    let all: Vec<(String, &Type)> = all.iter().map(|(name, own)| (name.clone(), own)).collect();
    let now = own::ask(program.database(), &all);
    let mut wrong = Vec::new();
    for (number, own) in types.iter().filter(|(number, _)| answers.contains_key(number)) {
        let table = format!("t{number}");
        for (id, answer) in &answers[number] {
            let (before, now) = (&setting.told[&table].values[id], &now[&table].values[id]);
            if before != now {
                let what = format!("{id} was {before:?}, is {now:?}");
                wrong.push(format!("{}: {}: {}", own.native, start(&what), start(answer)));
                break;
            }
        }
    }
    assert_none(kind, &wrong);
}

/// The values that the database has otherwise than before.
fn changed(in_place: bool, own: &Type, before: &Own, now: Option<&Own>) -> Vec<String> {
    let Some(now) = now else { return vec!["no rows".to_owned()] };
    let wanted = |id: &i64| match own.class {
        // Any number but nought was shown as true.
        Class::Single | Class::Double => expected(Words::Records, own.class, before, *id),
        _ => before.values[id].clone(),
    };
    // Where nothing was, what is shown as base64 is bytes in a column of bytes, and text in one without a type.
    let sure = |id: &&i64| match (own.class, before.stored[*id].as_str()) {
        (Class::Bytes, "text") | (Class::Any, "blob") => in_place,
        _ => true,
    };
    let differs = |id: &&i64| {
        let stored = own.class == Class::Any && now.stored.get(*id) != before.stored.get(*id);
        stored || now.values.get(*id) != Some(&wanted(id))
    };
    let all = before.values.keys().filter(sure).filter(differs);
    let text = |value: Option<&Option<String>>| start(&format!("{value:?}")).chars().take(80).collect::<String>();
    all.map(|id| format!("{id} was {}, is {}", text(Some(&wanted(id))), text(now.values.get(id)))).collect()
}

super::of_each_database! {
    by_mutation: mutations_of_sqlite, mutations_of_mariadb, mutations_of_postgres;
    written_again: written_again_to_sqlite, written_again_to_mariadb, written_again_to_postgres;
}
