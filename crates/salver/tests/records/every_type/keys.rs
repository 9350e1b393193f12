//! Every type as a primary key: each row is found by what is shown of its key, and pages, exports and cursors, which go
//! on behind a key, leave no row out.

use salver_testkit::servers::Kind;
use serde_json::Value as Json;

use super::super::client::value as encoded;
use super::ask::ids;
use super::catalogue::{Class, Compares, Type, tables, types};
use super::value::{parse, start, written};
use super::{Program, assert_none};

/// Types that the database has no keys of.
pub(super) fn is_no_key(kind: Kind, own: &Type) -> bool {
    const LONG: [&str; 5] = ["text", "blob", "json", "point", "geometry"];
    let of_mariadb = kind == Kind::Mariadb && (LONG.contains(&own.base()) || own.native.ends_with("null"));
    own.made_of.is_some() || !own.compared || own.compares == Compares::Text || of_mariadb
}

fn as_keys(kind: Kind) {
    let all = types(kind);
    let database = tables(kind, &all);
    let chosen: Vec<(usize, &Type)> = all.iter().enumerate().filter(|(_, own)| !is_no_key(kind, own)).collect();
    let mut sql = String::new();
    for (number, own) in &chosen {
        let insert = if kind == Kind::Sqlite { "insert or ignore" } else { "insert ignore" };
        let (insert, behind) =
            if kind == Kind::Postgres { ("insert", " on conflict do nothing") } else { (insert, "") };
        sql.push_str(&format!(
            "create table k{number} (v {} not null primary key, id int);\n\
             {insert} into k{number} (v, id) select v, id from t{number} where v is not null order by id{behind};\n",
            own.native
        ));
        sql.push_str(&if kind == Kind::Postgres {
            format!("alter table k{number} owner to salver;\n")
        } else {
            String::new()
        });
    }
    drop(database.run(&sql));
    let program = Program::over(database, "", "writable = true");
    let mut wrong = Vec::new();
    for (number, own) in chosen {
        let mut found = Vec::new();
        let table = format!("k{number}");
        let told = program.database().run(&format!("select id from {table} order by id"));
        let all: Vec<i64> = told.lines().map(|line| line.parse().expect("a number")).collect();
        // SQLite: what is shown does not say whether it is text or bytes, or a number.
        if kind != Kind::Sqlite || !matches!(own.class, Class::Bytes | Class::Any) {
            by_key(&program, &table, own, &mut found);
        }
        for (what, mut rows) in [
            ("pages", pages(&program, &table)),
            ("pages of tables", linked(&program, &table)),
            ("export", export(&program, &table)),
            ("cursor", cursor(&program, &table)),
            ("streams", streams(&program, &table)),
        ] {
            if let Ok(rows) = &mut rows {
                rows.sort_unstable();
            }
            // Bytes have no order beside records, and no pages.
            let is_bytes = own.class == Class::Bytes && what == "pages of tables";
            match rows {
                Ok(rows) if rows == all => {}
                Ok(rows) => found.push(format!("{what}: {} rows of {}: {rows:?}", rows.len(), all.len())),
                Err(error) if is_bytes && error.starts_with("400") => {}
                Err(error) => found.push(format!("{what}: {error}")),
            }
        }
        wrong.extend(found.iter().map(|what| format!("{}: {what}", own.native)));
    }
    assert_none(kind, &wrong);
}

/// Each row by its key, some together, and a change of it.
fn by_key(program: &Program, table: &str, own: &Type, wrong: &mut Vec<String>) {
    let answer = program.get(&format!("/records/{table}?order=id"));
    let body = parse(&answer.body);
    let rows = body["records"].as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return wrong.push(format!("{} {}", answer.status, start(&answer.body)));
    }
    let mut many: Vec<(i64, String)> = Vec::new();
    for row in rows {
        let id: i64 = written(&row["id"]).and_then(|id| id.parse().ok()).expect("a number");
        // NaN is shown as null; commas stand between keys, and a path has no empty part.
        // Several numbers may be one truth.
        if own.class == Class::Truth && ids_of_truths(rows, &row["v"]) > 1 {
            continue;
        }
        let Some(key) =
            written(&row["v"]).filter(|key| !key.is_empty() && !key.contains(',') && key != "." && key != "..")
        else {
            continue;
        };
        let one = program.get(&format!("/records/{table}/{}", encoded(&key)));
        if one.status != 200 || ids(&Json::Array(vec![parse(&one.body)])) != [id] {
            wrong.push(format!("key {key:?} of {id}: {} {}", one.status, start(&one.body)));
        }
        let put = program.send("PUT", &format!("/records/{table}/{}", encoded(&key)), &format!("{{\"id\":{id}}}"));
        // MySQL counts rows that are others than before.
        if put.status != 200 {
            wrong.push(format!("change of {key:?}: {} {}", put.status, start(&put.body)));
        }
        many.push((id, encoded(&key)));
    }
    many.truncate(20);
    if many.is_empty() {
        return;
    }
    let keys: Vec<&str> = many.iter().map(|(_, key)| key.as_str()).collect();
    let answer = program.get(&format!("/records/{table}/{}", keys.join(",")));
    let wanted: Vec<i64> = many.iter().map(|(id, _)| *id).collect();
    let body = parse(&answer.body);
    let found = if body.is_array() { ids(&body) } else { ids(&Json::Array(vec![body])) };
    if answer.status != 200 || found != wanted {
        wrong.push(format!("keys together: {} {found:?}, not {wanted:?}: {}", answer.status, start(&answer.body)));
    }
}

fn ids_of_truths(rows: &[Json], truth: &Json) -> usize {
    rows.iter().filter(|row| row["v"] == *truth).count()
}

type Rows = Result<Vec<i64>, String>;

fn pages(program: &Program, table: &str) -> Rows {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let answer = program.get(&format!("/records/{table}?size=3&after={after}"));
        if answer.status != 200 || all.len() > 200 {
            return Err(format!("{} {} behind {}", answer.status, start(&answer.body), all.len()));
        }
        let body = parse(&answer.body);
        all.extend(ids(&body["records"]));
        match body["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => return Ok(all),
        }
    }
}

fn linked(program: &Program, table: &str) -> Rows {
    let (mut all, mut next) = (Vec::new(), Some(format!("/tables/{table}?columns=id&limit=3")));
    while let Some(target) = next.take() {
        let answer = program.get(&target);
        if answer.status != 200 || all.len() > 200 {
            return Err(format!("{} {} behind {}", answer.status, start(&answer.body), all.len()));
        }
        all.extend(ids(&parse(&answer.body)));
        next = super::super::pages::next_of(answer.header("link").unwrap_or_default());
    }
    Ok(all)
}

fn export(program: &Program, table: &str) -> Rows {
    let answer = program.get(&format!("/export/{table}.json?columns=id"));
    if answer.status == 200 { Ok(ids(&parse(&answer.body))) } else { Err(start(&answer.body)) }
}

fn cursor(program: &Program, table: &str) -> Rows {
    let body = r#"{"batchSize":4,"restrict":{"type":"include","fields":["id"]}}"#;
    let mut answer = program.send("POST", &format!("/export?collection={table}"), body);
    let mut all = Vec::new();
    loop {
        if !matches!(answer.status, 200 | 201) {
            return Err(format!("{} {}", answer.status, start(&answer.body)));
        }
        all.extend(ids(&parse(&answer.body)["result"]));
        let json = answer.json();
        let Some(id) = json["id"].as_str().filter(|_| json["hasMore"] == true) else { return Ok(all) };
        answer = program.ask("PUT", &format!("/export/{id}"), &[], None);
    }
}

/// Streams of one snapshot, each in pieces, which begin behind a key.
fn streams(program: &Program, table: &str) -> Rows {
    let body = format!(r#"{{"entry":"{table}","streams":3,"columns":["id"]}}"#);
    let opened = program.send("POST", "/export", &body);
    if !matches!(opened.status, 200 | 201) {
        return Err(format!("{} {}", opened.status, start(&opened.body)));
    }
    let opened = opened.json();
    let mut all = Vec::new();
    for stream in opened["streams"].as_array().expect("streams") {
        let url = stream["url"].as_str().expect("a url").trim_start_matches("/api").to_owned();
        let mut offset = 0;
        loop {
            let answer = program.get(&format!("{url}?rows=4&offset={offset}&format=json"));
            if answer.status != 200 {
                return Err(format!("{} {}", answer.status, start(&answer.body)));
            }
            all.extend(ids(&parse(&answer.body)));
            match answer.header("salver-next").and_then(|next| next.parse().ok()) {
                Some(next) => offset = next,
                None => break,
            }
        }
    }
    let _ = program.ask("DELETE", &format!("/export/{}", opened["export"].as_str().unwrap_or_default()), &[], None);
    Ok(all)
}

super::of_each_database! {
    as_keys: as_keys_of_sqlite, as_keys_of_mariadb, as_keys_of_postgres;
}
