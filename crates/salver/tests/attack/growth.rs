//! SQL that makes more than it is given: functions, lists and aggregates, as large as they can be asked for.

use std::fmt::Write as _;
use std::thread;

use crate::attack::siege::{Siege, resident_bytes};
use crate::server::{Answer, Server};

/// Memory for datasets and queries in these tests.
const LIMITS: &str = "[limits]\nmemory_bytes_max = \"512MiB\"\nquery_ms_max = \"8s\"\n";
/// The most that the server may ever have in memory: what queries may have, some of it twice because what is made of
/// a value lies beside it, and what the server and its allocator have.
const PEAK_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// A server with a table `t` of 20,000 rows: `id`, and `name` of some letters; and `docs` of four rows of 200 kB.
fn siege(limits: &str) -> Siege {
    let mut table = String::from("id,name\n");
    for id in 0..20_000 {
        writeln!(table, "{id},name of {id}").unwrap();
    }
    let mut docs = String::from("id,body\n");
    for id in 0..4 {
        writeln!(docs, "{id},{}", "lorem ipsum ".repeat(17_000)).unwrap();
    }
    let toml = format!(
        "{limits}[[dataset]]\nname = \"t\"\nsource = \"t.csv\"\n[[dataset]]\nname = \"docs\"\nsource = \"docs.csv\"\n"
    );
    let siege = Siege::of(&toml, &[("t.csv", table.as_bytes()), ("docs.csv", docs.as_bytes())]);
    siege.server().until(|server| server.get("/api/tables/t?limit=1").status == 200);
    siege.server().until(|server| server.get("/api/tables/docs?limit=1&columns=id").status == 200);
    siege
}

fn peak_bytes(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("the server lives");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

/// Every statement is answered or refused, by a server that stays within its memory and gives it back.
fn all(siege: &Siege, name: &str, statements: &[&str]) {
    siege.attack(name, |server| each(server, statements));
}

/// Every statement is answered or refused, by a server that stays within its memory.
fn each(server: &Server, statements: &[&str]) {
    for statement in statements {
        let answer = server.post("/api/sql", statement);
        is_fair(&answer, statement);
        let peak = peak_bytes(server);
        assert!(peak < PEAK_BYTES_MAX, "{peak} bytes at most in memory after {statement}");
    }
}

/// An answer, or a refusal that is not the server's fault.
fn is_fair(answer: &Answer, statement: &str) {
    let fair = matches!(answer.status, 200 | 400..=499 | 503);
    let text = String::from_utf8_lossy(&answer.body);
    assert!(fair, "{} for {statement}: {}", answer.status, text.chars().take(500).collect::<String>());
    assert!(!answer.body.is_empty(), "an empty answer for {statement}");
}

/// Refused for its size.
fn refused(server: &Server, statement: &str) {
    let answer = server.post("/api/sql", statement);
    let text = String::from_utf8_lossy(&answer.body).chars().take(500).collect::<String>();
    assert_eq!(answer.status, 413, "{statement}: {text}");
    assert!(text.contains("query_too_large") && text.contains("limits.memory_bytes_max"), "{statement}: {text}");
}

#[test]
fn texts_that_grow() {
    all(
        &siege(LIMITS),
        "texts",
        &[
            "select length(repeat('x', 2000000000)) as n",
            "select repeat('x', 2000000000) as n",
            "select repeat('x', 100000000) as n",
            "select repeat(name, 100000000) from t",
            "select sum(length(repeat(name, 10000))) as n from t",
            "select repeat('x', id * 10000) from t",
            "select sum(length(repeat('x', id))) from t",
            "select length(repeat(repeat(repeat('x', 1000), 1000), 1000)) as n",
            "select replace(repeat('x', 1000000), 'x', repeat('y', 100000)) as n",
            "select length(replace(body, 'l', body)) from docs",
            "select length(replace(body, '', body)) from docs",
            "select lpad('x', 2147483647, 'yz') as n",
            "select rpad('x', 2147483647) as n",
            "select length(lpad(name, 2147483647)) from t",
            "select sum(length(rpad(name, id * 100000, 'ab'))) as n from t",
            "select concat(repeat('x', 60000000), repeat('y', 60000000), repeat('z', 60000000), repeat('w', \
             60000000)) as n",
            "select length(concat_ws(repeat('x', 60000000), 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')) as n",
            "select repeat('x', 100000000) || repeat('x', 100000000) || repeat('x', 100000000) as n",
            "select a.body || b.body || a.body || b.body || a.body as s from docs a, docs b, t limit 10",
            "select length(arrow_cast(repeat('x', 1000000000), 'LargeUtf8')) as n",
            "select length(repeat(arrow_cast('x', 'LargeUtf8'), 9000000000)) as n",
            "select length(repeat(arrow_cast(name, 'LargeUtf8'), 900000)) as n from t",
            "select length(arrow_cast(repeat(arrow_cast('x', 'LargeUtf8'), 3000000000), 'Utf8')) as n",
            "select length(repeat(arrow_cast(name, 'Utf8View'), 1000000)) as n from t",
            "select length(regexp_replace(body, '', body, 'g')) from docs",
            "select length(regexp_replace(body, '(.)', '\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1', 'g')) \
             from docs",
            "select length(regexp_replace(repeat('x', 1000000), 'x', repeat('y', 100000), 'g')) as n",
            "select regexp_match(body, '((((((((.*))))))))') from docs",
            "select translate(repeat('x', 100000000), 'x', '😀') as n",
            "select length(overlay(body placing repeat('x', 200000000) from 1)) from docs",
            "select length(encode(repeat('x', 120000000), 'hex')) as n",
            "select length(to_char(now(), repeat('%c', 10000000))) as n",
            "select sum(length(to_char(to_timestamp(id), repeat('%c', 7000)))) as n from t",
            "select upper(repeat('ΐ', 60000000)) as n",
            "select reverse(repeat('x', 120000000)) as n",
            "select split_part(repeat('x,', 60000000), ',', 3) as n",
            "select substr(repeat('x', 100000000), id) from t",
            "select left(repeat('x', 10000000), id) from t",
            "select count(*) as n from t where strpos(repeat('x', 10000000), name) > 0",
            "select levenshtein(repeat('x', 1000000), repeat('y', 1000000)) as n",
            "select levenshtein(a.body, b.body) as n from docs a, docs b",
            "select case when id > 5 then repeat('x', 10000000) else name end from t",
            "select max(coalesce(nullif(name, 'x'), repeat('x', 10000000))) as s from t",
            "select json_get_str('{\"a\": \"' || repeat('x', 10000000) || '\"}', 'a') as n from t",
            "select arrow_cast(null, 'FixedSizeBinary(2147483647)') as n from t",
            "select arrow_cast(null, 'FixedSizeList(1000000000, Int64)') as n from t",
            "select cast(range(0, 30000000) as text) as n",
            "select length(cast(array_agg(id) as text)) from t",
        ],
    );
}

#[test]
fn lists_that_grow() {
    all(
        &siege(LIMITS),
        "lists",
        &[
            "select count(*) as n from (select unnest(range(0, 1000000000000)) as v)",
            "select count(*) as n from (select unnest(range(0, 20000000)) as v)",
            "select count(*) as n from unnest(range(0, 1000000000000))",
            "select sum(v) as n from unnest(range(0, 10000000)) as u(v)",
            "select array_length(range(0, 1000000000000)) as n",
            "select array_length(range(id * 1000)) from t",
            "select array_length(generate_series(timestamp '2000-01-01', timestamp '2100-01-01', interval '1 \
             second')) as n",
            "select array_length(generate_series(date '1000-01-01', date '9000-01-01', interval '1 day')) as n",
            "select array_length(array_repeat(1, 100000000000)) as n",
            "select array_repeat(name, 100000000) from t",
            "select array_length(array_repeat(array_repeat(array_repeat(1, 10000), 10000), 10000)) as n",
            "select array_repeat(repeat('x', 1000000), 1000000) as n",
            "select array_length(array_resize([1], 100000000000, 7)) as n",
            "select array_resize([name], 100000000, name) from t",
            "select array_concat(range(0, 30000000), range(0, 30000000), range(0, 30000000)) as n",
            "select range(0, 30000000) || range(0, 30000000) || range(0, 30000000) as n",
            "select array_append(range(0, 30000000), id) from t",
            "select array_prepend(id, range(0, 3000000)) from t",
            "select make_array(repeat('x', 100000000), repeat('x', 100000000), repeat('x', 100000000)) as n",
            "select [range(0, 30000000), range(0, 30000000), range(0, 30000000)] as n",
            "select array_length(string_to_array(repeat('x,', 30000000), ',')) as n",
            "select array_length(string_to_array(repeat('x', 30000000), null)) as n",
            "select length(array_to_string(range(0, 30000000), repeat('x', 1000))) as n",
            "select array_to_string(array_repeat(1, 30000000), repeat('x', 10000000)) as n",
            "select array_replace_all(array_repeat(1, 30000000), 1, 2) as n",
            "select array_replace_all(array_repeat('a', 1000000), 'a', repeat('x', 1000000)) as n",
            "select flatten(array_repeat(range(0, 10000), 10000)) as n",
            "select array_length(arrays_zip(range(0, 20000000), [1])) as n",
            "select array_length(array_distinct(range(0, 20000000))) as n",
            "select array_length(array_union(range(0, 20000000), range(5, 20000005))) as n",
            "select array_length(array_except(range(0, 10000000), range(5, 10000005))) as n",
            "select array_has_any(range(0, 10000000), range(20000000, 30000000)) as n",
            "select map(range(0, 10000000), range(0, 10000000)) as n",
            "select struct(repeat('x', 10000000), id) from t",
            "select unnest(range(0, 1000000)) as v, repeat('x', 1000000) as s",
            "select unnest(range(0, 1000000)) as v, body from docs",
            "select a, b from (select unnest(range(0, 100000)) as a), (select repeat('x', 10000000) as b)",
        ],
    );
}

#[test]
fn rows_that_grow() {
    let columns = (0..300)
        .fold(String::new(), |all, n| format!("{all}{}repeat('x{n}', 7000) as c{n}", if n > 0 { ", " } else { "" }));
    let many = format!("select {columns} from t");
    let wide = format!(
        "select {} from t",
        (0..100).map(|n| format!("'{}' as c{n}", "x".repeat(15_000))).collect::<Vec<_>>().join(", ")
    );
    let unions = (0..300).map(|_| "select repeat('x', 100000000) as s").collect::<Vec<_>>().join(" union all ");
    let sum = format!("select sum(length(s)) as n from ({unions}) u");
    let doubling = (1..40).fold("with s0 as (select 'x' as s)".to_owned(), |all, n| {
        format!("{all}, s{n} as (select s || s as s from s{})", n - 1)
    });
    let doubling = format!("{doubling} select length(s) as n from s39");
    let siege = siege(LIMITS);
    each(
        siege.server(),
        &[
            &many,
            &wide,
            &unions,
            &sum,
            &doubling,
            "select t.id, d.s from t, (select repeat('x', 100000000) as s) d",
            "select count(*) as n from t, (select repeat('x', 100000000) as s) d where d.s > t.name",
            "select sum(length(b.body)) as n from t a join docs b on a.id % 4 = b.id",
            "select sum(length(b.body) + length(c.body)) as n from t a join docs b on a.id % 4 = b.id \
             join docs c on c.id = b.id",
            "select sum(length(a.body) + length(b.body)) as n from docs a join docs b on a.body <> b.body || 'x' \
             cross join t",
            "select count(*) as n from (select a.body || t.name as s from docs a, t) where length(s) > 5",
            "select max(s) as s from (select id, (select string_agg(body, ',') from docs) as s from t)",
            "select id, (select string_agg(body, ',') from docs) as s from t limit 20000 offset 19990",
            "select array_length(s) as s from (select id, (select array_agg(name) from t) as s from t)",
            "select max(s) as n from (select first_value(body) over (order by docs.id) as s, t.id from docs, t)",
            "select first_value(s) over () as s, id from (select case when id = 0 then repeat('x', 10000000) else \
             '' end as s, id from t)",
            "select array_agg(name) over () as s from t",
            "select array_agg(name) over (order by id) as s from t",
            "select string_agg(name, ',') over (order by id) as s from t",
            "select max(s) as n from (select max(body) over () as s, t.id from docs, t)",
            "select lag(name, 1, repeat('x', 10000000)) over (order by id) as s from t",
            "select row_number() over (order by a.id) as n from t a, t b",
            "with recursive r as (select 'x' as s union all select s || s from r where length(s) < 100000000000) \
             select max(length(s)) as n from r",
            "with recursive r as (select 1 as n, repeat('x', 1000000) as s union all select n + 1, s from r where \
             n < 100000) select count(*) as n from r",
            "select v, s from (values (1, repeat('x', 100000000)), (2, repeat('x', 100000000)), (3, repeat('y', \
             100000000))) as x(v, s)",
            "select distinct s from (select repeat('x', 10000 + id) as s from t)",
            "select s from (select repeat('x', 10000 + id) as s from t) order by s desc",
            "select count(distinct s) as n from (select repeat('x', 10000 + id) as s from t)",
            "select s, count(*) as n from (select repeat('x', 100000 + id) as s from t) group by s",
            "select min(s) as a, max(s) as b from (select repeat('x', 10000 + id) as s from t) group by length(s)",
        ],
    );
    // Some hundred megabytes stay with the threads that encoded wide rows.
    siege.is_at_rest("rows");
}

#[test]
fn aggregates_that_grow() {
    all(
        &siege(LIMITS),
        "aggregates",
        &[
            "select length(string_agg(name, repeat('x', 1000000))) as n from t",
            "select length(string_agg(name, repeat('x', 10000))) as n from t",
            "select string_agg(repeat('x', 100000), ',') as n from t",
            "select length(string_agg(a.name, ',')) as n from t a, t b",
            "select length(string_agg(a.name, ',' order by a.name)) as n from t a, t b",
            "select length(string_agg(distinct a.name || b.name, ',')) as n from t a, t b",
            "select b.id, string_agg(a.name, ',') as n from t a, t b group by b.id",
            "select array_length(array_agg(a.name)) as n from t a, t b",
            "select array_agg(repeat('x', 100000)) as n from t",
            "select array_agg(a.name order by b.name) as n from t a, t b",
            "select array_agg(distinct a.name || b.name) as n from t a, t b",
            "select array_agg(body) as n from docs, t",
            "select b.id, array_agg(a.name) as n from t a, t b group by b.id",
            "select array_agg(v) as n from (select array_agg(a.id) as v from t a, t b group by b.id)",
            "select median(a.id + b.id) as n from t a, t b",
            "select first_value(body order by t.id) as n from docs, t group by t.id",
            "select nth_value(body, 2 order by t.id) as n from docs, t group by t.id",
            "select count(distinct a.name || b.name) as n from t a, t b",
            "select approx_percentile_cont(0.5) within group (order by a.id + b.id) as n from t a, t b",
        ],
    );
}

#[test]
fn what_is_too_large_is_named() {
    let siege = siege(LIMITS);
    for statement in [
        "select repeat('x', 1000000000) as s",
        "select lpad('x', 1000000000) as s",
        "select repeat('x', 100000000) || repeat('x', 100000000) as s",
        "select array_length(range(0, 1000000000000)) as n",
        "select levenshtein(repeat('x', 1000000), repeat('y', 1000000)) as n",
        "select id, repeat('x', 100000000) as s from t",
    ] {
        refused(siege.server(), statement);
    }
    // What is large and within bounds is answered.
    for (statement, n) in [
        ("select length(repeat('x', 50000000)) as n", "50000000"),
        ("select length(repeat('ab', 5000000) || repeat('cd', 5000000)) as n", "20000000"),
        ("select sum(length(repeat('x', id))) as n from t", "199990000"),
        ("select sum(length(s)) as n from (select repeat(name, 100) as s from t)", "24889000"),
        ("select array_length(range(0, 1000000)) as n", "1000000"),
        ("select count(*) as n from (select unnest(range(0, 3000000)) as v)", "3000000"),
        ("select levenshtein(repeat('x', 1000), repeat('y', 1000)) as n", "1000"),
        ("select length(string_agg(name, ',')) as n from t", "268889"),
        ("select sum(length(b.body)) as n from t a join docs b on a.id = b.id", "816000"),
    ] {
        let answer = siege.server().post("/api/sql", statement);
        let text = String::from_utf8_lossy(&answer.body).chars().take(500).collect::<String>();
        assert_eq!((answer.status, text.trim()), (200, &*format!("[{{\"n\":{n}}}]")), "{statement}");
    }
    siege.is_well("what is too large is named");
}

#[test]
fn many_at_once() {
    let siege = siege(LIMITS);
    siege.attack("many at once", |server| {
        thread::scope(|scope| {
            for attacker in 0..16 {
                scope.spawn(move || {
                    for statement in [
                        "select repeat('x', 60000000) as s",
                        "select length(string_agg(a.name, ',')) as n from t a, (select * from t limit 2000) b",
                        "select sum(length(repeat(name, 1000))) as n from t",
                        "select array_length(range(0, 15000000)) as n",
                    ] {
                        is_fair(&server.post("/api/sql", statement), &format!("{statement} of {attacker}"));
                    }
                });
            }
        });
        let peak = peak_bytes(server);
        assert!(peak < PEAK_BYTES_MAX, "{peak} bytes at most in memory");
    });
}

#[test]
fn spilling_ends_at_its_bound() {
    let limits = "[limits]\nmemory_bytes_max = \"64MiB\"\nspill_bytes_max = \"16MiB\"\nquery_ms_max = \"60s\"\n";
    let siege = siege(limits);
    siege.attack("spill", |server| {
        let statement = "select a.name || b.name as s from t a, (select * from t limit 200) b order by s";
        let answer = server.post("/api/sql", statement);
        let text = String::from_utf8_lossy(&answer.body).chars().take(500).collect::<String>();
        assert_eq!(answer.status, 503, "{text}");
        assert!(text.contains("limits.spill_bytes_max"), "{text}");
    });
}

/// Whoever asks something else each time does not fill the memory with answers that nobody will ask for again.
#[test]
fn requests_that_never_come_back_leave_nothing() {
    let siege = Siege::of("", &[("t.csv", b"a\n1\n2\n")]);
    let ask = |numbers: std::ops::Range<u32>| {
        let mut requests = String::new();
        for number in numbers.clone() {
            let close = if number + 1 == numbers.end { "connection: close\r\n" } else { "" };
            let host = siege.server().address();
            requests.push_str(&format!("GET /api/tables/t?limit={number} HTTP/1.1\r\nhost: {host}\r\n{close}\r\n"));
        }
        let answers = siege.server().raw(requests.as_bytes());
        let whole = answers.windows(15).filter(|bytes| *bytes == b"HTTP/1.1 200 OK").count();
        assert_eq!(whole, numbers.len());
    };
    ask(1..1_000);
    let before = resident_bytes(siege.server().pid());
    for round in 1..=40 {
        ask(round * 1_000..(round + 1) * 1_000);
    }
    let grown = resident_bytes(siege.server().pid()).saturating_sub(before);
    // Kept, they would have 80 MB.
    assert!(grown < 24 << 20, "{grown} bytes more");
}
