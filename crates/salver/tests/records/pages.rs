//! Paging with `after` over every type of the three databases: page by page comes what comes at once, in the order that
//! the database has, whatever is sorted by.

use std::collections::BTreeMap;

use salver_testkit::servers::{Database, Kind, database};
use serde_json::Value as Json;

use super::program::Program;

/// A column, and values for it as SQL, in the order in which they are put in.
type Column = (&'static str, &'static [&'static str]);

const SQLITE: &[Column] = &[
    ("integer", &["0", "-1", "9223372036854775807", "-9223372036854775808", "1", "1"]),
    ("boolean", &["0", "1", "5", "-1", "'yes'"]),
    ("tinyint(1)", &["0", "1", "5", "127"]),
    ("real", &["0.1", "-0.0", "0.0", "9e999", "-9e999", "1e300", "5e-324", "3"]),
    ("decimal(10,2)", &["1.5", "12345678.25", "-3", "'many'", "9007199254740993"]),
    ("date", &["'9999-12-31'", "'0001-01-01'", "'2024-02-29'", "20240229", "''", "'0000-00-00'"]),
    ("timestamp", &["'9999-12-31 23:59:59.999'", "1700000000", "1700000000.5", "'2024-02-29T00:00:00Z'"]),
    ("time", &["'838:59:59'", "'-100:11:12'", "'23:59'", "'24:00'"]),
    ("varchar(20)", &["''", "'a'", "'A'", "'é'", "'z\u{0301}'", "'𝄞'", "'b '", "'b'", "5", "'5'", "x'ff00'"]),
    ("varchar(20) collate nocase", &["'a'", "'A'", "'B'", "'b'", "'ä'"]),
    ("blob", &["x'00ff'", "x''", "x'00'", "'AP8='", "5", "5.5", "'5'"]),
    ("", &["5", "'5'", "5.5", "'abc'", "x'616263'", "-7", "''", "9007199254740993", "9007199254740992.0"]),
    ("uuid", &["'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "'x'", "''"]),
    ("json", &["'{\"a\":1}'", "'[]'", "'null'", "5"]),
];

const MARIADB: &[Column] = &[
    ("tinyint(1)", &["0", "1", "5", "-128", "127"]),
    ("bit(1)", &["b'0'", "b'1'"]),
    ("bit(9)", &["b'000000000'", "b'111111111'", "b'000110001'"]),
    ("bit(64)", &["b'0'", "18446744073709551615", "9223372036854775808"]),
    ("tinyint unsigned", &["0", "255"]),
    ("int", &["-2147483648", "2147483647", "0"]),
    ("bigint", &["-9223372036854775808", "9223372036854775807", "9007199254740993"]),
    ("bigint unsigned", &["18446744073709551615", "9223372036854775808", "0", "18446744073709551614"]),
    ("year", &["0", "1901", "2155", "2001"]),
    ("float", &["0.1", "-0.0", "0.3", "16777217", "3.4e38", "1e-40"]),
    ("double", &["0.1", "-0.0", "1.7976931348623157e308", "5e-324", "0.30000000000000004"]),
    ("decimal(65,30)", &["99999999999999999999999999999999999.999999999999999999999999999999", "-0.1", "0", "1.5"]),
    (
        "decimal(65,0)",
        &[
            "99999999999999999999999999999999999999999999999999999999999999999",
            "-1",
            "99999999999999999999999999999999999999999999999999999999999999998",
        ],
    ),
    ("char(5)", &["''", "'a'", "'A'", "'b '", "'é'", "'e'"]),
    ("varchar(20)", &["''", "'a'", "'A'", "'b '", "'b'", "'é'", "'𝄞'", "'ß'", "'ss'"]),
    ("varchar(600)", &["repeat('a', 600)", "concat(repeat('a', 599), 'b')", "'b'", "''"]),
    ("varchar(20) collate utf8mb4_bin", &["'a'", "'A'", "'b'", "'B'"]),
    ("text", &["repeat('x', 2000)", "concat(repeat('x', 1999), 'y')", "concat(repeat('x', 1999), 'a')", "''", "'a'"]),
    ("enum('z','a','m','')", &["'z'", "'a'", "'m'", "''", "'a'", "'z'"]),
    ("set('z','a','m')", &["''", "'z'", "'a'", "'z,a'", "'m'", "'z,a,m'"]),
    ("binary(3)", &["x'000000'", "x'00ff00'", "x'ffffff'"]),
    ("varbinary(20)", &["x''", "x'00'", "x'0000'", "x'ff'"]),
    ("blob", &["x''", "x'00ff'", "repeat(x'41', 3000)", "concat(repeat(x'41', 2999), x'00')", "'AP8='"]),
    ("date", &["'1000-01-01'", "'9999-12-31'", "'0000-00-00'", "'2024-00-00'"]),
    ("date", &["'1000-01-01'", "'9999-12-31'", "'2024-02-29'"]),
    ("datetime(6)", &["'9999-12-31 23:59:59.999999'", "'1000-01-01'", "'2024-02-29 00:00:00.000001'"]),
    ("datetime(6)", &["'9999-12-31 23:59:59.999999'", "'1000-01-01'", "'0000-00-00'", "'2024-02-29 00:00:00.000001'"]),
    ("timestamp(3) null", &["'2038-01-19 03:14:07.999'", "'1970-01-01 12:00:01'", "'2024-03-31 01:30'"]),
    ("time(3)", &["'838:59:59'", "'-838:59:59'", "'-100:11:12.5'", "'00:00:00.001'", "'24:00:00'"]),
    ("uuid", &["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"]),
    ("inet6", &["'::1'", "'ffff::'", "'::ffff:10.0.0.1'"]),
    ("json", &["'{\"a\": 1}'", "'[]'", "'\"x\"'"]),
    ("point", &["ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POINT(-1 2)')"]),
];

const POSTGRES: &[Column] = &[
    ("smallint", &["-32768", "32767", "0"]),
    ("bigint", &["-9223372036854775808", "9223372036854775807", "9007199254740993"]),
    ("oid", &["4294967295", "0"]),
    ("real", &["0.1", "'NaN'", "'Infinity'", "'-Infinity'", "16777216", "1e-45", "-0.0"]),
    ("double precision", &["0.1", "'NaN'", "'Infinity'", "'-Infinity'", "0.30000000000000004", "5e-324"]),
    ("numeric", &["'NaN'", "'Infinity'", "'-Infinity'", "1e100", "-1e-100", "0.10", "0.1", "12345678901234567890.5"]),
    ("numeric", &["9", "10", "100.5", "-1", "12345678901234567890123456789012345678901.25", "0.1", "0.10"]),
    ("numeric(12,2)", &["1234567.89", "-0.01", "'NaN'", "0"]),
    ("numeric(12,2)", &["1234567.89", "-0.01", "9", "10", "100"]),
    ("numeric(60,20)", &["9", "10", "123456789012345678901234567890.5", "-0.00000000000000000001"]),
    ("money", &["'1.50'", "'-92233720368547758.08'", "'92233720368547758.07'", "'0'"]),
    ("boolean", &["true", "false"]),
    ("text", &["''", "'a'", "'A'", "'é'", "'𝄞'", "'b '", "'b'", "E'tab\\t'", "repeat('x', 500)"]),
    ("varchar(20)", &["''", "'a'", "'a '", "'Z'"]),
    ("char(5)", &["''", "'a'", "'b'"]),
    ("\"char\"", &["'a'", "'b'"]),
    ("name", &["'a'", "'b'"]),
    ("citext", &["'a'", "'A'", "'b'"]),
    ("text collate \"C\"", &["'a'", "'A'", "'b'", "'B'"]),
    ("date", &["'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'9999-12-31'", "'0001-01-01'"]),
    ("date", &["'9999-12-31'", "'0001-01-01'", "'0044-03-15 BC'", "'12024-01-01'", "'2024-02-29'"]),
    (
        "timestamp",
        &["'9999-12-31 23:59:59.999999'", "'0001-01-01'", "'0044-03-15 BC'", "'12024-01-01'", "'2024-01-01'"],
    ),
    ("timestamptz", &["'9999-12-31 23:59:59+00'", "'2024-01-01 00:00+14'", "'2024-01-01 00:00+00'"]),
    ("timestamp", &["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'294276-12-31 23:59:59.999999'", "'2024-01-01'"]),
    ("timestamptz", &["'infinity'", "'9999-12-31 23:59:59+00'", "'2024-01-01 00:00+14'", "'0001-01-01 00:00+00'"]),
    ("timestamp(3)", &["'2024-01-01 00:00:00.001'", "'2024-01-01'"]),
    ("time", &["'24:00'", "'00:00'", "'12:30:00.000001'"]),
    ("timetz", &["'12:00+02'", "'12:00-02'", "'10:00+00'"]),
    ("interval", &["'1 mon'", "'30 days'", "'-1 year'", "'36:00'", "'1 day 12:00'", "'2 days'", "'00:00:00.5'"]),
    ("inet", &["'10.0.0.1/8'", "'10.0.0.1'", "'9.255.0.0'", "'::1'", "'192.168.0.0/16'"]),
    ("cidr", &["'10.0.0.0/8'", "'10.0.0.0/16'", "'::/0'"]),
    ("macaddr", &["'08:00:2b:01:02:03'", "'00:00:00:00:00:00'"]),
    ("bytea", &["'\\x'", "'\\x00ff'", "'\\xff'", "'\\x00'"]),
    ("bit(3)", &["b'101'", "b'000'"]),
    ("varbit", &["b'1'", "b'10'", "b'0'"]),
    ("uuid", &["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"]),
    ("mood", &["'sad'", "'ok'", "'happy'", "'sad'", "'Zany, really'"]),
    ("few", &["3", "-1", "20"]),
    ("int[]", &["'{}'", "'{1,2}'", "'{10}'", "'{2,null}'", "'{null}'"]),
    ("text[]", &["'{b}'", "'{a,\"x,y\"}'", "'{}'", "'{\"\"}'"]),
    ("mood[]", &["'{happy}'", "'{ok}'", "'{sad,ok}'"]),
    ("int4range", &["'[1,5)'", "'[1,3)'", "'empty'", "'(,)'", "'[10,20)'"]),
    ("nummultirange", &["'{[1,2),[3,4)}'", "'{}'", "'{[1,9)}'"]),
    ("jsonb", &["'{\"b\": 1}'", "'{\"a\": 2}'", "'[]'", "'\"x\"'", "'10'", "'9'", "'null'"]),
    ("json", &["'{\"b\": 1}'", "'{\"a\": 2}'", "'[]'"]),
    ("xml", &["'<a/>'", "'<b/>'"]),
    ("tsvector", &["'a b'", "'c'"]),
    ("point", &["'(1,2)'", "'(0,9)'"]),
    ("box", &["'(1,2),(0,0)'", "'(3,3),(0,9)'"]),
    ("pair", &["'(1,a)'", "'(0,z)'"]),
    ("geometry", &["ST_GeomFromText('POINT(1 2)', 4326)", "ST_GeomFromText('POINT(0 2)', 4326)"]),
];

fn columns(kind: Kind) -> &'static [Column] {
    match kind {
        Kind::Sqlite => SQLITE,
        Kind::Mariadb => MARIADB,
        Kind::Postgres => POSTGRES,
    }
}

/// A table `t0`, `t1`, ... for each type: its values twice and two nulls, in rows numbered as they are put in.
fn tables(kind: Kind) -> Database {
    let mut sql = match kind {
        Kind::Sqlite => String::new(),
        Kind::Mariadb => "set sql_mode = 'ALLOW_INVALID_DATES';\n".to_owned(),
        Kind::Postgres => "create extension if not exists citext; create type mood as enum ('sad', 'ok', 'happy', \
                           'Zany, really'); create domain few as smallint; create type pair as (a int, b text);\n"
            .to_owned(),
    };
    for (number, (native, values)) in columns(kind).iter().enumerate() {
        sql.push_str(&format!("create table t{number} (id integer primary key, v {native});\n"));
        let twice = values.iter().chain(["null"].iter()).chain(values.iter().rev()).chain(["null"].iter());
        for (row, value) in twice.enumerate() {
            sql.push_str(&format!("insert into t{number} values ({}, {value});\n", row * 7 % 101 + 1));
        }
    }
    database(kind, &sql)
}

fn rows(body: &str, member: Option<&str>) -> (Vec<String>, Option<String>) {
    let json: Json = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let list = member.map_or(&json, |member| &json[member]).as_array().expect("rows");
    (list.iter().map(Json::to_string).collect(), json["next"].as_str().map(str::to_owned))
}

/// Every page of `target` by `after`, one after the other.
fn paged(program: &Program, target: &str, most: usize) -> Result<Vec<String>, String> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let answer = program.get(&format!("{target}&after={after}"));
        if answer.status != 200 {
            return Err(format!("{}: {}", answer.status, answer.body));
        }
        let (page, next) = rows(&answer.body, Some("records"));
        all.extend(page);
        match next {
            Some(next) => after = next,
            None => return Ok(all),
        }
        if all.len() > most {
            return Err("it never ends".to_owned());
        }
    }
}

fn id(row: &str) -> String {
    serde_json::from_str::<Json>(row).expect("a row")["id"].to_string()
}

/// In which order the database has the rows; `None` where it has none, or sorts no more than the beginning of a text.
fn own_order(program: &Program, number: usize, native: &str, order: &str) -> Option<Vec<String>> {
    const UNORDERED: [&str; 6] = ["json", "xml", "point", "box", "pair", "geometry"];
    let kind = program.kind();
    const LONG: [&str; 4] = ["varchar(600)", "text", "blob", "point"];
    if (kind == Kind::Postgres && UNORDERED.contains(&native)) || (kind == Kind::Mariadb && LONG.contains(&native)) {
        return None;
    }
    let descending = order.ends_with("desc");
    let direction = if descending { "desc" } else { "" };
    let nulls = match kind {
        Kind::Postgres if descending => "nulls last",
        Kind::Postgres => "nulls first",
        Kind::Sqlite | Kind::Mariadb => "",
    };
    let rows = program.database().run(&format!("select id from t{number} order by v {direction} {nulls}, id"));
    Some(rows.lines().map(str::to_owned).collect())
}

#[test]
fn records_page_by_page_are_the_whole() {
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    for kind in Kind::ALL {
        let program = Program::over(tables(kind), "", "");
        for (number, (native, values)) in columns(kind).iter().enumerate() {
            for order in ["v", "v,desc"] {
                let whole = program.get(&format!("/records/t{number}?order={order}&order=id&size=1000&after="));
                let what = format!("{kind:?} {native} {order}");
                if whole.status != 200 {
                    let _ = wrong.insert(what, whole.body);
                    continue;
                }
                let (whole, _) = rows(&whole.body, Some("records"));
                assert_eq!(whole.len(), 2 * values.len() + 2, "{what}");
                let own = own_order(&program, number, native, order);
                let ids: Vec<String> = whole.iter().map(|row| id(row)).collect();
                if own.as_ref().is_some_and(|own| *own != ids) {
                    let _ = wrong.insert(what.clone(), format!("not as the database sorts: {ids:?} {own:?}"));
                    continue;
                }
                for size in [1, 3] {
                    let target = format!("/records/t{number}?order={order}&order=id&size={size}");
                    let told = match paged(&program, &target, whole.len()) {
                        Ok(pages) if pages == whole => continue,
                        Ok(pages) => format!("{} of {}:\n{pages:#?}\n{whole:#?}", pages.len(), whole.len()),
                        Err(error) => error,
                    };
                    let _ = wrong.insert(what.clone(), told);
                }
            }
        }
    }
    let shown: Vec<String> = wrong.iter().map(|(what, why)| format!("{what}: {why}")).collect();
    assert!(wrong.is_empty(), "{}", shown.join("\n"));
}

/// The same at `/api/tables`, whose next page stands in the `Link` header.
#[test]
fn tables_page_by_page_are_the_whole() {
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    for kind in Kind::ALL {
        let program = Program::over(tables(kind), "", "");
        for (number, (native, _)) in columns(kind).iter().enumerate() {
            for order in ["v", "-v"] {
                let what = format!("{kind:?} {native} {order}");
                let first = format!("/tables/t{number}?sort={order},id&limit=");
                let whole = program.get(&format!("{first}1000"));
                if whole.status != 200 {
                    // A value that Arrow has no place for is told, by its column.
                    if !whole.body.contains("`v`") {
                        let _ = wrong.insert(what, whole.body);
                    }
                    continue;
                }
                let (whole, _) = rows(&whole.body, None);
                let (mut pages, mut next) = (Vec::new(), Some(format!("{first}3")));
                while let Some(target) = next.take() {
                    let answer = program.get(&target);
                    if answer.status != 200 || pages.len() > whole.len() {
                        pages.push(format!("{}: {}", answer.status, answer.body));
                        break;
                    }
                    pages.extend(rows(&answer.body, None).0);
                    next = next_of(answer.header("link").unwrap_or_default());
                }
                if pages != whole {
                    let _ = wrong.insert(what, format!("{} of {}:\n{pages:#?}\n{whole:#?}", pages.len(), whole.len()));
                }
            }
        }
    }
    let shown: Vec<String> = wrong.iter().map(|(what, why)| format!("{what}: {why}")).collect();
    assert!(wrong.is_empty(), "{}", shown.join("\n"));
}

/// Where the next page is, below `/api`.
pub(super) fn next_of(link: &str) -> Option<String> {
    let part = link.split(", <").find(|part| part.contains("rel=\"next\""))?;
    let address = part.trim_start_matches('<').split('>').next()?;
    Some(address.trim_start_matches("/api").to_owned())
}
