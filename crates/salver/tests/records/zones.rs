//! Moments with a zone mean the same wherever they are written or asked for, also where the database's own zone is
//! another than UTC.

use salver_testkit::servers::{Kind, Server, database};
use serde_json::Value as Json;

use super::program::Program;

/// Twelve moments two hours apart, from the midnight that the 31st of March 2024 begins with; a day and a time of day.
/// The server of the database, where it has one, stands in another zone.
fn moments(kind: Kind) -> (Program, Option<Server>) {
    let (moment, zoned) = match kind {
        Kind::Sqlite => ("timestamp", "timestamp"),
        Kind::Mariadb => ("datetime(6)", "timestamp(6) null"),
        Kind::Postgres => ("timestamp", "timestamptz"),
    };
    let mut sql = if kind == Kind::Mariadb { "set time_zone = '+00:00';\n" } else { "" }.to_owned();
    sql += &format!("create table pets (id integer primary key, v {moment}, z {zoned}, d date, t time);\n");
    for id in 0..12 {
        let at = format!("2024-03-31 {:02}:30:00", id * 2);
        let zone = if kind == Kind::Postgres { "+00" } else { "" };
        sql += &format!("insert into pets values ({id}, '{at}', '{at}{zone}', '2024-03-31', '{:02}:30:00');\n", id * 2);
    }
    let server = (kind != Kind::Sqlite).then(|| Server::start(kind));
    let database = server.as_ref().map_or_else(|| database(kind, &sql), |server| server.database(&sql));
    let elsewhere = match kind {
        Kind::Sqlite => "select 1",
        Kind::Mariadb => "set global time_zone = '-05:00'",
        Kind::Postgres => {
            "do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo'); end $$"
        }
    };
    let _ = database.run(elsewhere);
    (Program::over(database, "", "writable = true"), server)
}

#[test]
fn moments_with_a_zone_are_found_in_utc() {
    for kind in Kind::ALL {
        let (program, _server) = moments(kind);
        // SQLite has no type with a zone, and MariaDB none that tells it.
        for column in ["v", "z"] {
            for (filter, ids) in [
                ("eq,2024-03-31T04:30:00%2B02:00", vec![1]),
                ("eq,2024-03-31T02:30:00Z", vec![1]),
                ("eq,2024-03-31 02:30:00-00:00", vec![1]),
                ("lt,2024-03-31T04:30:00%2B02:00", vec![0]),
                ("le,2024-03-31T02:30:00Z", vec![0, 1]),
                ("ge,2024-03-31T20:30:00-02:00", vec![11]),
                ("in,2024-03-31T04:30:00%2B02:00,2024-04-01T00:30:00%2B04:00", vec![1, 10]),
                ("bt,2024-03-31T04:30:00%2B02:00,2024-03-31T04:30:00Z", vec![1, 2]),
                ("eq,2024-03-31T02:30:00%2B02:00", vec![0]),
            ] {
                let target = format!("/records/pets?order=id&filter={column},{filter}");
                assert_eq!(program.ids(&target), ids, "{kind:?} {target}");
            }
            // SQLite's are texts to all that reads columns.
            let asked: &[&str] = match kind {
                Kind::Sqlite => &["2024-03-31 02:30:00"],
                _ => &["2024-03-31T02:30:00", "2024-03-31T04:30:00%2B02:00", "2024-03-31T02:30:00Z"],
            };
            for at in asked {
                let rows: Json = program.get(&format!("/tables/pets?columns=id&filter[{column}]eq={at}")).json();
                assert_eq!(rows, serde_json::json!([{"id": 1}]), "{kind:?} {column} {at}");
            }
        }
        if kind != Kind::Sqlite {
            let shown: Json = program.get("/tables/pets?columns=v,z&filter[id]=3").json();
            let expected = serde_json::json!([{"v": "2024-03-31T06:30:00", "z": "2024-03-31T06:30:00Z"}]);
            assert_eq!(shown, expected, "{kind:?}");
            let statement = "select z at time zone 'Europe/Berlin' as b, v at time zone 'Europe/Berlin' as c from pets \
                             where id = 3";
            let rows: Json = program.send("POST", "/sql", statement).json();
            let expected = serde_json::json!([{"b": "2024-03-31T08:30:00", "c": "2024-03-31T04:30:00Z"}]);
            assert_eq!(rows, expected, "{kind:?}");
        }
        let times = "/records/pets?filter=t,eq,04:30:00%2B02:00";
        assert_eq!(program.ids(times), [1], "{kind:?}");
        for (filter, count) in [
            ("eq,2024-03-31", 12),
            ("eq,2024-03-31T00:00:00Z", 12),
            ("eq,2024-03-31T02:00:00%2B02:00", 12),
            ("eq,2024-03-31T12:00:00", 0),
            ("eq,2024-03-31T23:00:00-05:00", 0),
        ] {
            let target = format!("/records/pets?filter=d,{filter}");
            assert_eq!(program.ids(&target).len(), count, "{kind:?} {target}");
        }
        let gone =
            program.ask("DELETE", "/records/pets?filter=v,eq,2024-03-31T04:30:00%2B02:00&max_affected=5", &[], None);
        assert_eq!(gone.said(), (200, "1"), "{kind:?}");
        assert_eq!(program.get("/records/pets/1").status, 404, "{kind:?}");
    }
}

/// Pages, and what was shown and is written again, don't depend on the zone of the database.
#[test]
fn pages_and_writes_are_in_utc() {
    for kind in Kind::ALL {
        let (program, _server) = moments(kind);
        for sort in ["z", "-z", "v"] {
            let mut target = format!("/tables/pets?sort={sort}&limit=2&columns=id");
            let mut seen = Vec::new();
            loop {
                let answer = program.get(&target);
                assert_eq!(answer.status, 200, "{kind:?} {target}: {}", answer.body);
                let rows = answer.json();
                seen.extend(rows.as_array().expect("rows").iter().map(|row| row["id"].as_i64().expect("an id")));
                let Some(link) = answer.header("link") else { break };
                assert!(seen.len() < 20, "{kind:?} {sort}: {seen:?}");
                let (next, _) = link.trim_start_matches('<').split_once('>').expect("a link");
                let path = next.split_once("/api").expect("below /api").1;
                target = path.to_owned();
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..12).collect::<Vec<i64>>(), "{kind:?} {sort}");
        }
        for (id, at) in [(20, "2024-03-31T01:30:00Z"), (21, "2024-03-31T03:30:00+02:00")] {
            let body = format!("{{\"id\":{id},\"z\":\"{at}\"}}");
            assert_eq!(program.send("POST", "/records/pets", &body).status, 200, "{kind:?} {at}");
        }
        let mutation =
            r#"{"query":"mutation { create_pets(records: [{id: 22, z: \"2024-03-31T01:30:00\"}]) { id z } }"}"#;
        let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(mutation));
        let blank = if kind == Kind::Sqlite { ' ' } else { 'T' };
        assert!(answer.body.contains(&format!("2024-03-31{blank}01:30:00")), "{kind:?}: {}", answer.body);
        let asked = format!("/tables/pets?columns=id&sort=id&filter[z]eq=2024-03-31{blank}01:30:00");
        if kind == Kind::Mariadb {
            let told = program.database().run("select distinct floor(unix_timestamp(z)) from pets where id > 19");
            assert_eq!(told.trim(), "1711848600");
        }
        let rows = program.get(&asked).json();
        assert_eq!(rows, serde_json::json!([{"id": 20}, {"id": 21}, {"id": 22}]), "{kind:?}");
    }
}
