//! Values at the edge of what their types hold: what a row shows can be written back, and what would become another
//! value is refused.

use salver_testkit::servers::{Kind, database};

use super::client::value as encoded;
use super::program::Program;

fn sql(program: &Program, sql: &str) -> String {
    let answer = program.send("POST", "/sql", sql);
    assert_eq!(answer.status, 200, "{sql}: {}", answer.body);
    answer.body
}

/// PostgreSQL rounds numbers of a type with a negative scale before their point.
#[test]
fn decimals_that_end_in_noughts() {
    let made = "create domain hundreds as numeric(5,-2);
        create table n (id serial primary key, v numeric(5,-2), w numeric(3,-40), d hundreds);
        insert into n (v, w, d) values (9999900, 999e40, 100), (-123400, null, -9999900), (149, -1e40, 0);";
    let program = Program::over(database(Kind::Postgres, made), "", "writable = true");
    let rows = r#"[{"id":1,"v":"9999900","d":"100"},{"id":2,"v":"-123400","d":"-9999900"},{"id":3,"v":"100","d":"0"}]"#;
    assert_eq!(program.ok("/records/n?include=id,v,d"), format!("{{\"records\":{rows}}}"));
    let shown = program.ok("/tables/n?columns=id,v,d&sort=id");
    assert_eq!(shown, r#"[{"id":1,"v":9999900,"d":100},{"id":2,"v":-123400,"d":-9999900},{"id":3,"v":100,"d":0}]"#);
    assert_eq!(program.ok("/tables/n?columns=id&filter[v]gt=100&sort=id"), r#"[{"id":1}]"#);
    assert_eq!(sql(&program, "select id from n where d < 100 order by v"), r#"[{"id":2},{"id":3}]"#);
    assert_eq!(
        program.ok("/export/n.csv?columns=id,v,w"),
        format!("id,v,w\n1,9999900,999{0}\n2,-123400,\n3,100,-1{0}\n", "0".repeat(40))
    );
    for (column, value, status) in [
        ("v", "9999900", 200),
        ("v", "-123400", 200),
        ("v", "0", 200),
        ("v", "149", 422),
        ("v", "100.5", 422),
        ("v", "12345678900", 422),
        ("d", "9999900", 200),
        ("d", "120", 422),
    ] {
        let answer = program.send("PUT", "/records/n/1", &format!("{{\"{column}\":\"{value}\"}}"));
        assert_eq!(answer.status, status, "{column} {value}: {}", answer.body);
        if status == 200 {
            assert_eq!(program.ok(&format!("/records/n/1?include={column}")), format!("{{\"{column}\":\"{value}\"}}"));
        }
    }
}

/// Decimals are floats to SQLite, and so are their infinities.
#[test]
fn infinities_among_the_decimals_of_sqlite() {
    let made = "create table n (id integer primary key, v numeric, d decimal(10,2), r real);
        insert into n values (1, 9e999, 9e999, 9e999), (2, -9e999, -9e999, -9e999), (3, 1, 1, 1);";
    let program = Program::over(database(Kind::Sqlite, made), "", "writable = true");
    for column in ["v", "d", "r"] {
        let one = match column {
            "v" => "\"1\"",
            "d" => "\"1.00\"",
            _ => "1",
        };
        assert_eq!(
            program.ok(&format!("/records/n?include=id,{column}")),
            format!(
                r#"{{"records":[{{"id":1,"{column}":null}},{{"id":2,"{column}":null}},{{"id":3,"{column}":{one}}}]}}"#
            )
        );
        assert_eq!(
            program
                .ok(&format!("/records/n?aggregate=min,{column},a&aggregate=max,{column},b&aggregate=sum,{column},c")),
            r#"{"records":[{"a":null,"b":null,"c":null}]}"#
        );
        assert_eq!(program.ids(&format!("/records/n?order={column},desc")), [1, 3, 2]);
    }
    for column in ["v", "r"] {
        assert_eq!(program.send("PUT", "/records/n/3", &format!("{{\"{column}\":\"-inf\"}}")).said(), (200, "1"));
        let told = program.database().run(&format!("select {column} from n where id = 3"));
        assert_eq!(told.trim(), "-Inf");
    }
}

/// What PostgreSQL takes and shows can be written.
#[test]
fn offsets_with_seconds_and_numbers_beyond_floats() {
    let made = "create table t (id serial primary key, z timetz, j json, b jsonb);
        insert into t (z, j, b) values ('12:00+15:59:59', '1e400', '{\"a\": 1e400}'), ('00:00:00.5-00:00:01', null, null);";
    let program = Program::over(database(Kind::Postgres, made), "", "writable = true");
    for (id, column) in [(1, "z"), (2, "z"), (1, "j"), (1, "b")] {
        let shown = program.ok(&format!("/records/t/{id}?include={column}"));
        let answer = program.send("POST", "/records/t", &shown);
        assert_eq!(answer.status, 200, "{shown}: {}", answer.body);
        let again = program.ok(&format!("/records/t/{}?include={column}", answer.body));
        assert_eq!(again, shown);
    }
    for value in ["12:00:00+15:59:59", "00:00:00.5-00:00:01"] {
        let found = program.ids(&format!("/records/t?filter=z,eq,{}", encoded(value)));
        assert_eq!(found.len(), 2, "{value}: {found:?}");
    }
}
