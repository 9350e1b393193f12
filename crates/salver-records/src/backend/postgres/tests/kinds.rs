//! Every kind of value on its way in and out.

use salver_model::Code;
use salver_model::records::ColumnKind as K;

use super::{count, fresh, list, program, rows, shown, text};
use crate::cell::OwnedCell;
use crate::statement::{Bind, Read};

const SCHEMA: &str = "
create type mood as enum ('sad', 'ok', 'happy');
create domain positive as int check (value > 0);
create table things (
    id bigint primary key, b boolean, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision, n numeric(20, 4),
    t text, v varchar(5), c char(3), d date, ti time, ts timestamp, tz timestamptz, by bytea, j json, jb jsonb, u uuid,
    m mood, p positive, a int[], ip inet, iv interval);";

/// Returns columns: name, select expression, kind, the value that goes in, and the one that comes out.
fn columns() -> Vec<(&'static str, &'static str, K, Bind, OwnedCell)> {
    let same = |name, asked, kind, value: &str| (name, asked, kind, text(value), shown(value));
    vec![
        ("b", "b", K::Boolean, Bind::Bool(true), OwnedCell::Bool(true)),
        ("i2", "i2", K::Integer, Bind::Int(-32_768), OwnedCell::Int(-32_768)),
        ("i4", "i4", K::Integer, Bind::Int(2_147_483_647), OwnedCell::Int(2_147_483_647)),
        ("i8", "i8", K::BigInt, Bind::Int(i64::MIN), OwnedCell::Int(i64::MIN)),
        ("f4", "f4", K::Float, Bind::Float(0.1), OwnedCell::Single(0.1)),
        ("f8", "f8", K::Double, Bind::Float(1e300), OwnedCell::Float(1e300)),
        same("n", "n::text", K::Decimal, "1234567890123456.7891"),
        same("t", "t", K::Clob, "naïve \\ \"quoted\"\n\ttext €"),
        same("v", "v", K::Varchar, "five5"),
        same("c", "c", K::Varchar, "abc"),
        same("d", "d::text", K::Date, "2024-02-29"),
        same("ti", "ti::text", K::Time, "23:59:59"),
        same("ts", "ts::text", K::Timestamp, "2016-01-01 13:01:01"),
        ("by", "by", K::Blob, Bind::Bytes(vec![0, 255, 92, 10]), OwnedCell::Bytes(vec![0, 255, 92, 10])),
        same("j", "j::text", K::Json, "{\"a\":  1}"),
        same("jb", "jb", K::Json, "{\"a\": 1}"),
        same("u", "u::text", K::Uuid, "6b29fc40-ca47-1067-b31d-00dd010662da"),
        same("m", "m", K::Varchar, "happy"),
        ("p", "p", K::Integer, Bind::Int(7), OwnedCell::Int(7)),
        ("p", "p", K::Boolean, Bind::Int(7), OwnedCell::Bool(true)),
        same("a", "a::text", K::Clob, "{1,2}"),
        same("ip", "ip::text", K::Clob, "10.0.0.1/32"),
        same("iv", "iv::text", K::Clob, "1 day 02:00:00"),
    ]
}

#[tokio::test]
async fn every_kind_goes_in_and_comes_out() {
    let (_database, postgres) = fresh(SCHEMA);
    for (id, (name, asked, kind, bind, cell)) in (0..).step_by(2).zip(columns()) {
        let insert = format!("insert into things (id, {name}) values ($1, $2)");
        for (id, bind) in [(id, bind), (id + 1, Bind::Null)] {
            let outcome = postgres.write(program(vec![count(&insert, vec![Bind::Int(id), bind])])).await.unwrap();
            assert!(outcome.committed, "{name} {:?}", outcome.steps);
        }
        let select = format!("select {asked} from things where id in ($1, $2) order by id");
        for point in [false, true] {
            let read = list(&select, vec![Bind::Int(id), Bind::Int(id + 1)], &[kind]);
            let found = rows(&postgres, Read { point, ..read }).await.unwrap();
            assert_eq!(found, [[cell.clone()], [OwnedCell::Null]], "{name}");
        }
    }
}

#[tokio::test]
async fn values_that_do_not_fit_are_invalid() {
    let (_database, postgres) = fresh(SCHEMA);
    let wrong = [
        ("i2", Bind::Int(40_000)),
        ("i4", Bind::Int(1 << 40)),
        ("i4", text("many")),
        ("v", text("too long")),
        ("d", text("2023-02-29")),
        ("j", text("{")),
        ("u", text("nobody")),
        ("m", text("angry")),
        ("t", text("nul\0")),
        ("n", text("1e40")),
    ];
    for (column, bind) in wrong {
        let insert = format!("insert into things (id, {column}) values (1, $1)");
        let outcome = postgres.write(program(vec![count(&insert, vec![bind.clone()])])).await.unwrap();
        assert!(!outcome.committed);
        assert_eq!(outcome.steps[0].as_ref().unwrap_err().code, Code::Invalid, "{column} {bind:?}");
    }
    let insert = "insert into things (id, p) values (1, $1)";
    let outcome = postgres.write(program(vec![count(insert, vec![Bind::Int(-1)])])).await.unwrap();
    assert_eq!(outcome.steps[0].as_ref().unwrap_err().code, Code::Integrity);
}

#[tokio::test]
async fn a_type_without_a_form_is_named() {
    let (_database, postgres) = fresh(SCHEMA);
    let error = rows(&postgres, list("select u from things", vec![], &[K::Uuid])).await.unwrap_err();
    assert_eq!(error.code, Code::Unsupported);
    assert!(error.message.contains("`u`") && error.message.contains("uuid"), "{}", error.message);
}

#[tokio::test]
async fn geometries_are_text_both_ways() {
    let (_database, postgres) = fresh("create table places (id int primary key, at geometry);");
    let insert = "insert into places values ($1, ST_GeomFromText($2, $3))";
    let binds = vec![Bind::Int(1), text("POINT(30 20)"), Bind::Int(4326)];
    assert!(postgres.write(program(vec![count(insert, binds)])).await.unwrap().committed);
    let read = list("select ST_AsText(at), ST_SRID(at) from places", vec![], &[K::Geometry, K::Integer]);
    assert_eq!(rows(&postgres, read).await.unwrap(), [[shown("POINT(30 20)"), OwnedCell::Int(4326)]]);
}
