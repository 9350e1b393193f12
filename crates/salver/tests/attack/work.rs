//! Work without an end: it stops with its limit and with its client, and others go on being answered meanwhile.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use salver_testkit::servers::{Kind, database};

use super::siege::{Siege, ticks};
use crate::server::Server;

/// What the server serves.
const TABLE: &[(&str, &[u8])] = &[("t.csv", b"a\n1\n2\n")];

/// Statements that would take hours.
const ENDLESS: [(&str, &str); 32] = [
    (
        "a cross join with a filter",
        "select count(*) as n from range(1, 3000000) a, range(1, 3000000) b where (a.value * b.value) % 7 = 9",
    ),
    ("a cross join", "select sum(a.value % 3 + b.value) as n from range(1, 3000000) a, range(1, 3000000) b"),
    (
        "three of them",
        "select max(a.value + b.value + c.value) as n from range(1, 90000) a, range(1, 90000) b, range(1, 90000) c",
    ),
    (
        "a semi join by comparison",
        "select count(*) as n from range(1, 2000000) a where exists \
         (select 1 from range(1, 2000000) b where b.value < 0 - a.value)",
    ),
    (
        "an anti join by comparison",
        "select count(*) as n from range(1, 2000000) a where not exists \
         (select 1 from range(1, 2000000) b where b.value < 0 - a.value)",
    ),
    (
        "a left join by comparison",
        "select count(b.value) as n from range(1, 2000000) a left join range(1, 2000000) b on b.value < 0 - a.value",
    ),
    (
        "a full join by comparison",
        "select count(b.value) as n from range(1, 2000000) a full join range(1, 2000000) b on b.value < 0 - a.value",
    ),
    (
        "equal keys with a filter",
        "select count(*) as n from (select value % 2 as k, value as v from range(1, 2000000)) a \
         join (select value % 2 as k, value as v from range(1, 2000000)) b on a.k = b.k and a.v + b.v < 0",
    ),
    (
        "equal keys",
        "select sum(a.v - b.v) as n from (select value % 2 as k, value as v from range(1, 2000000)) a \
         join (select value % 2 as k, value as v from range(1, 2000000)) b on a.k = b.k",
    ),
    (
        "equal keys that only match",
        "select count(*) as n from (select value % 2 as k from range(1, 2000000)) a \
         left semi join (select value % 2 as k from range(1, 2000000)) b on a.k = b.k",
    ),
    (
        "recursion that counts",
        "with recursive r as (select 1 as n union all select n + 1 as n from r) select count(*) as n from r",
    ),
    (
        "recursion that repeats",
        "with recursive r as (select 1 as n union all select n * 0 + 1 as n from r) select max(n) as n from r",
    ),
    (
        "recursion that finds nothing new",
        "with recursive r as (select 1 as n union all select n + 1 as n from r) select n from r where n < 0",
    ),
    ("a large aggregate", "select value % 7 as k, sum(value) as n from range(1, 900000000000) group by 1"),
    ("a sum that goes on", "select sum(value) as n from range(1, 900000000000)"),
    ("a search that finds nothing", "select value from range(1, 900000000000) where value % 10 = 11"),
    (
        "a window",
        "select max(n) as n from (select sum(value) over (order by value rows between 1000 preceding and current row) \
         as n from range(1, 90000000000))",
    ),
    (
        "a sort of what is filtered",
        "select value from range(1, 900000000000) where value % 100 = 101 order by value % 13, value desc",
    ),
    ("the largest few", "select value from range(1, 900000000000) order by value % 1000003 desc, value limit 5"),
    (
        "a union",
        "select count(*) as n from (select value from range(1, 900000000000) union all \
         select value from range(1, 900000000000)) u where value < 0",
    ),
    (
        "lists of lists",
        "select count(*) as n from (select unnest(range(1, 1000)) as x from range(1, 3000000)) u where x < 0",
    ),
    (
        "lists whose items are compared",
        "select count(*) as n from range(1, 9000000) where \
         array_has_any(range(0, 5000 + value % 7), range(6000 + value % 9, 12000))",
    ),
    (
        "patterns that are others in each row",
        "select count(*) as n from range(1, 9000000) where ('a' || value) ~ ('([a-z]{40}){10}' || value)",
    ),
    (
        "patterns that are others in each row, called",
        "select count(regexp_match('a' || value, '([a-z]{40}){10}' || value)) as n from range(1, 9000000)",
    ),
    (
        "patterns of `like` that are others in each row",
        "select count(*) as n from range(1, 9000000) where ('a' || value) ilike repeat('%é_', 1700) || value",
    ),
    (
        "parts that are others in each row",
        "select count(*) as n from range(1, 9000000) \
         where strpos(repeat('a', 400000) || value, repeat('a', 200000) || 'b' || value) > 0",
    ),
    (
        "sets of characters that are others in each row",
        "select count(*) as n from range(1, 9000000) where \
         btrim(repeat('a', 100000) || value, array_to_string(range(1, 500), '') || 'éa' || value) = 'b'",
    ),
    (
        "times in lists",
        "select count(*) as n from range(1, 9000000) where array_length(range(timestamp '1700-01-01', \
         timestamp '2200-01-01' + value * interval '1 second', interval '1 day')) < 0",
    ),
    (
        "times in rows",
        "select count(*) as n from range(1, 9000000) a, generate_series(timestamp '1700-01-01', \
         timestamp '2200-01-01' + a.value * interval '1 second', interval '1 day') as g where g < '1600-01-01'",
    ),
    (
        "a pattern with many ways to match",
        "select count(*) as n from (select string_agg(md5(value::text), '') as s from range(1, 20000)) t, \
         range(1, 9000000) where s || value like '%0_1_2_3_4_5_6_7_8_9_%a_b%_c_d_%z'",
    ),
    (
        "a regular expression with many ways to match",
        "select count(*) as n from (select string_agg(md5(value::text), '') as s from range(1, 20000)) t, \
         range(1, 9000000) where s || value ~ '[02468ace][0-9a-f]{30}[^0-9a-f]z'",
    ),
    ("an explained one", "explain analyze select sum(value) as n from range(1, 900000000000)"),
];

/// Hundreds of aggregates that sort each of many groups: none of them is looked at by itself.
#[test]
fn many_ordered_aggregates_end_with_their_limit() {
    let siege = Siege::of("[limits]\nquery_ms_max = 1000\nmemory_bytes_max = 268435456\n", TABLE);
    let of = |n: usize| format!("array_agg(v order by (v * {n}) % 7, v)");
    let columns: Vec<String> = (1..300).map(of).collect();
    let text = format!("select {} from (select value as v from range(1, 200000)) t group by v", columns.join(", "));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let answer = siege.server().post("/api/sql", &text);
                assert!([413, 503].contains(&answer.status), "{}", answer.text());
            });
        }
    });
    siege.is_at_rest("ordered aggregates");
    siege.is_well("ordered aggregates");
}

/// Steps of series that would turn back or stand still, and values that take too many steps.
#[test]
fn what_no_row_can_be_asked_for_is_refused() {
    let siege = Siege::of("", TABLE);
    let steps = ["1 month -30 days", "-1 month 29 days", "1 month -31 days", "12 months -360 days", "0 days"];
    for step in steps {
        for of in [
            format!("range(timestamp '1700-01-01', timestamp '2200-01-01', interval '{step}')"),
            format!("generate_series(timestamp '2200-01-01', timestamp '1700-01-01', interval '{step}')"),
            format!("generate_series(date '2024-03-01', date '2024-03-01', interval '{step}')"),
        ] {
            for text in [
                format!("select {of}"),
                format!("select count(*) from {of}"),
                format!("select {of} from generate_series(1, 3)"),
            ] {
                let answer = siege.server().post("/api/sql", &text);
                assert_eq!(answer.status, 400, "{text}: {}", answer.text());
                assert!(answer.text().contains("a step that goes on"), "{text}: {}", answer.text());
            }
        }
    }
    for (text, message) in [
        ("select range(timestamp '1700-01-01', timestamp '2200-01-01', interval '1 microsecond')", "is the most"),
        ("select repeat('a', 8000000) like repeat('%a_', 3000) || '%b'", "steps for one row"),
        (
            "select s ~ '[02468ace][0-9a-f]{30}[^0-9a-f]' from \
             (select string_agg(md5(value::text), '') as s from range(1, 1000000)) t",
            "steps for one row",
        ),
        ("select btrim(repeat('a', 4000000), array_to_string(range(1, 90000), ''))", "steps for one row"),
    ] {
        let answer = siege.server().post("/api/sql", text);
        assert!(matches!(answer.status, 400 | 413), "{text}: {} {}", answer.status, answer.text());
        assert!(answer.text().contains(message), "{text}: {}", answer.text());
    }
    siege.is_at_rest("series");
}

/// Sends a statement and waits for no answer.
fn begin(server: &Server, text: &str) -> TcpStream {
    let mut stream = server.connect();
    let head =
        format!("POST /api/sql HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n", server.address(), text.len());
    stream.write_all(head.as_bytes()).expect("sent");
    stream.write_all(text.as_bytes()).expect("sent");
    stream
}

/// Waits until the server works.
fn until_busy(server: &Server) {
    let before = ticks(server.pid());
    server.until(|server| ticks(server.pid()) > before + 20);
}

#[test]
fn work_ends_with_its_limit() {
    let siege = Siege::of("[limits]\nquery_ms_max = 500\n", TABLE);
    for (name, text) in ENDLESS {
        let answer = siege.server().post("/api/sql", text);
        assert_eq!(answer.status, 503, "{name}: {}", answer.text());
        assert_eq!(answer.json()["error"], "timeout", "{name}");
        siege.is_at_rest(name);
    }
}

#[test]
fn work_ends_with_its_client() {
    let siege = Siege::of("", TABLE);
    for (name, text) in ENDLESS {
        let stream = begin(siege.server(), text);
        until_busy(siege.server());
        drop(stream);
        siege.is_at_rest(name);
    }
}

#[test]
fn endless_work_leaves_room_for_others() {
    let siege = Siege::of("", TABLE);
    let streams: Vec<TcpStream> = ENDLESS.iter().map(|(_, text)| begin(siege.server(), text)).collect();
    until_busy(siege.server());
    for round in 0..5 {
        let began = Instant::now();
        let answer = siege.server().post("/api/sql", &format!("select a + {round} as a from t order by a desc"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        // A guard against hanging: the processor is shared with all the others.
        assert!(began.elapsed() < Duration::from_secs(30), "answered, but late");
    }
    drop(streams);
    siege.is_at_rest("many endless statements");
}

#[test]
fn rows_without_an_end_stop_with_their_reader() {
    let siege = Siege::of("", TABLE);
    let mut stream =
        begin(siege.server(), "select a.value, b.value as c from range(1, 3000000) a, range(1, 3000000) b");
    let mut some = [0; 100_000];
    stream.read_exact(&mut some).expect("the first rows");
    thread::sleep(Duration::from_millis(200));
    drop(stream);
    siege.is_at_rest("a reader who left");
}

#[test]
fn rows_without_an_end_stop_with_the_limit_though_they_are_read() {
    // What is made within it takes many times as long to be written and read.
    let siege = Siege::of("[limits]\nquery_ms_max = 500\n", TABLE);
    for format in
        ["application/json", "text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"]
    {
        let text = "select a.value, b.value as c from range(1, 3000000) a, range(1, 3000000) b";
        let mut stream = siege.server().connect();
        let head = format!(
            "POST /api/sql HTTP/1.1\r\nhost: {}\r\naccept: {format}\r\ncontent-length: {}\r\n\r\n{text}",
            siege.server().address(),
            text.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let (mut piece, began) = (vec![0; 1024 * 1024], Instant::now());
        // Broken off, so that it does not look complete.
        let mut last = Vec::new();
        while let Ok(count) = stream.read(&mut piece) {
            if count == 0 {
                break;
            }
            last = piece[count.saturating_sub(16)..count].to_vec();
            // A guard against hanging: what is made is sent, and what is read costs time of its own.
            assert!(began.elapsed() < Duration::from_secs(120), "{format}: it goes on");
        }
        assert!(!last.ends_with(b"0\r\n\r\n"), "{format}: it looks complete");
        siege.is_at_rest(format);
    }
}

#[test]
fn many_groupings_are_taken_in_bit_by_bit() {
    // A batch is taken in for all groupings at once: 2.2 GB and half a minute after the limit, for one statement.
    const BYTES_MAX: u64 = 1_500 * 1024 * 1024;
    let siege = Siege::of("[limits]\nquery_ms_max = 1000\nmemory_bytes_max = \"256MiB\"\n", TABLE);
    let list = |count: usize, of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let cube = list(10, &|n| format!("value + {n}"));
    let half = list(5, &|n| format!("value * {n}"));
    let pairs = (0..36).flat_map(|a| (0..a).map(move |b| format!("(value + {a}, value + {b})")));
    let sets = pairs.collect::<Vec<_>>().join(", ");
    let rows = "from range(1, 5000000) group by";
    for text in [
        format!("select count(*) as n {rows} cube({cube})"),
        format!("select count(distinct value) as n {rows} cube({cube})"),
        format!("select count(*) as n {rows} cube({half}), cube(value % 2, value % 3, value % 5, value, value + 1)"),
        format!("select count(*) as n {rows} rollup({})", list(60, &|n| format!("value + {n}"))),
        format!("select count(*) as n {rows} grouping sets ({sets})"),
    ] {
        let answer = siege.server().post("/api/sql", &text);
        // Ended by its time or, where the machine is fast, by its memory before.
        assert!(matches!(answer.status, 413 | 503), "{text}: {} {}", answer.status, answer.text());
        let bytes = super::siege::resident_bytes(siege.server().pid());
        assert!(bytes < BYTES_MAX, "{text}: {bytes} bytes");
        siege.is_at_rest(&text[..80]);
    }
}

#[test]
fn planning_ends_too() {
    let siege = Siege::of("[limits]\nquery_ms_max = 1000\n", TABLE);
    let cubes = |n: usize| {
        let columns: Vec<String> = (0..n).map(|i| format!("a + {i}")).collect();
        format!("select count(*) from t group by cube({})", columns.join(", "))
    };
    let joins = |n: usize| {
        let joins: Vec<String> = (0..n).map(|i| format!(" full join t t{i} on t.a < t{i}.a or t.a = {i}")).collect();
        format!("select * from t{}", joins.concat())
    };
    for text in [cubes(10), cubes(15), cubes(30), joins(60), joins(400)] {
        let answer = siege.server().post("/api/sql", &text);
        assert_ne!(answer.status, 500, "{}", answer.text());
        siege.is_at_rest(&text[..80]);
    }
}

#[test]
fn writing_an_answer_ends_with_the_limit_too() {
    // Rows at hand, which take seconds to pack.
    let mut state = 88_172_645_463_325_252_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut rows = "text\n".to_owned();
    for _ in 0..800_000 {
        rows.push_str(&(0..8).map(|_| format!("{:016x}", word())).collect::<String>());
        rows.push('\n');
    }
    let siege = Siege::of("[limits]\nquery_ms_max = 200\n", &[("large.csv", rows.as_bytes())]);
    for target in ["/api/tables/large", "/api/sql?q=select%20*%20from%20large"] {
        let mut stream = siege.server().connect();
        let head = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n", siege.server().address());
        stream.write_all(format!("{head}accept-encoding: gzip\r\nconnection: close\r\n\r\n").as_bytes()).expect("sent");
        let mut answer = Vec::new();
        // How it breaks off is for the system to say.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{target}: {}", String::from_utf8_lossy(&answer[..200]));
        assert!(!answer.ends_with(b"\r\n0\r\n\r\n"), "{target}: whole after {} bytes", answer.len());
        siege.is_at_rest(target);
    }
}

#[test]
fn lists_of_records_end_with_the_limit_too() {
    let toml = "[limits]\nquery_ms_max = 300\n[[database]]\nname = \"b\"\nurl = \"sqlite:b.db\"\n";
    let numbers = "with recursive n(id) as (select 1 union all select id + 1 from n where id < 100000)";
    let table = format!("create table n (id integer primary key); {numbers} insert into n select id from n");
    // More rows than any machine writes.
    let view = "create view t as select a.id, b.id as b, 'some text' as v from n a, n b";
    let made = database(Kind::Sqlite, &format!("{table}; {view};"));
    let file = std::fs::read(made.url().trim_start_matches("sqlite:")).expect("the database");
    let siege = Siege::of(toml, &[("b.db", &file)]);
    for coding in ["identity", "gzip"] {
        let mut stream = siege.server().connect();
        let head = format!("GET /api/records/t HTTP/1.1\r\nhost: {}\r\n", siege.server().address());
        let head = format!("{head}accept-encoding: {coding}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{coding}: {} bytes", answer.len());
        assert!(!answer.ends_with(b"\r\n0\r\n\r\n"), "{coding}: whole after {} bytes", answer.len());
        siege.is_at_rest(coding);
    }
}
