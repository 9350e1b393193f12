//! The SQL door: what it answers, and what it refuses.

use super::server::Server;

fn server() -> Server {
    Server::of(&[
        ("upper.csv", b"ID,Val\n2,z\n"),
        ("people.csv", b"id,name,city_id\n1,Ann,10\n2,Bob,20\n3,Cy,10\n"),
        ("cities.json", br#"[{"id":10,"name":"Leeds","tags":{"a":1}},{"id":20,"name":"York","tags":null}]"#),
    ])
}

#[test]
fn answers() {
    let server = server();
    for (sql, expected) in [
        (
            "select p.name, c.name as city from people p join cities c on c.id = p.city_id order by p.id",
            r#"[{"name":"Ann","city":"Leeds"},{"name":"Bob","city":"York"},{"name":"Cy","city":"Leeds"}]"#,
        ),
        ("from people limit 1", r#"[{"id":1,"name":"Ann","city_id":10}]"#),
        ("from people select name where id = 2", r#"[{"name":"Bob"}]"#),
        ("select count(*) as n from (from people p where p.id > 1) x", r#"[{"n":2}]"#),
        ("with x as (from people) select max(id) as m from x", r#"[{"m":3}]"#),
        ("from people where id > 1 order by id limit 1", r#"[{"id":2,"name":"Bob","city_id":20}]"#),
        (
            "from people where id = 1 union all select * from people where id = 3 order by id",
            r#"[{"id":1,"name":"Ann","city_id":10},{"id":3,"name":"Cy","city_id":10}]"#,
        ),
        (
            "select substring(upper(name) from 2) as s, trim(both from ' x ') as t from people \
             where id in (from people select id) and (name is distinct from 'Bob') and id = 1",
            r#"[{"s":"NN","t":"x"}]"#,
        ),
        ("select 1 as a union all select 2 order by a", r#"[{"a":1},{"a":2}]"#),
        (
            "with x as (select city_id, count(*) as n from people group by city_id) select * from x order by n desc",
            r#"[{"city_id":10,"n":2},{"city_id":20,"n":1}]"#,
        ),
        (
            "select name, row_number() over (order by name desc) as r from people order by r limit 1",
            r#"[{"name":"Cy","r":1}]"#,
        ),
        ("select json_get_int('{\"a\":{\"b\":5}}', 'a', 'b') as v", r#"[{"v":5}]"#),
        ("select count(*) as n from information_schema.tables where table_name = 'people'", r#"[{"n":1}]"#),
        ("select c.tags['a'] as a from cities c order by c.id", r#"[{"a":1},{"a":null}]"#),
        ("SELECT Name FROM People WHERE ID = 2;", r#"[{"name":"Bob"}]"#),
        (
            "select u.id, p.name from upper u join people p on u.id = p.id where exists (select 1 from upper x where x.id = p.id)",
            r#"[{"ID":2,"name":"Bob"}]"#,
        ),
    ] {
        let answer = server.post("/api/sql", sql);
        assert_eq!((answer.status, answer.text()), (200, expected), "{sql}");
    }
}

#[test]
fn parameters() {
    let server = server();
    for body in [
        r#"{"sql":"select name from people where id = $1","params":[2]}"#,
        r#"{"query":"select name from people where id = ?","params":[2]}"#,
        r#"{"sql":"select name from people where id = $id","params":{"id":2}}"#,
        r#"{"sql":"select name from people where name = $1","params":["Bob"]}"#,
    ] {
        let answer = server.post_json("/api/sql", body);
        assert_eq!((answer.status, answer.text()), (200, r#"[{"name":"Bob"}]"#), "{body}");
    }
    let injection = r#"{"sql":"select name from people where name = $1","params":["x' or '1'='1"]}"#;
    assert_eq!(server.post_json("/api/sql", injection).text(), "[]");
    let get = server.get("/api/sql?q=select%20name%20from%20people%20where%20id%3D%241&params=%5B3%5D");
    assert_eq!(get.text(), r#"[{"name":"Cy"}]"#);
    for bad in [r#"{"sql":"select $1"}"#, r#"{"params":[1]}"#, "[1]", "{", r#"{"sql":"select 1","parms":[]}"#] {
        assert_eq!(server.post_json("/api/sql", bad).status, 400, "{bad}");
    }
}

/// Nothing but reading, and nothing but the catalog. Files named here exist, so that a leak would show.
#[test]
fn refuses() {
    let server = server();
    let target = server.file("leak.csv");
    let secret = server.file("people.csv");
    let (target, secret) = (target.display().to_string(), secret.display().to_string());
    for (sql, statuses) in [
        (format!("COPY (select * from people) TO '{target}' STORED AS csv"), [403, 403]),
        (format!("COPY people TO '{target}'"), [403, 403]),
        (format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{secret}'"), [403, 403]),
        ("CREATE TABLE t AS SELECT 1".to_owned(), [403, 403]),
        ("DROP TABLE people".to_owned(), [403, 403]),
        ("INSERT INTO people VALUES (1,'a',1)".to_owned(), [403, 403]),
        ("DELETE FROM people".to_owned(), [403, 403]),
        ("UPDATE people SET name='x'".to_owned(), [403, 403]),
        ("SET datafusion.execution.batch_size = 1".to_owned(), [403, 403]),
        ("EXPLAIN COPY people TO 'x.csv'".to_owned(), [403, 403]),
        ("select 1; drop table people".to_owned(), [400, 403]),
        ("select 1; select 2".to_owned(), [400, 400]),
        (format!("select * from '{secret}'"), [400, 400]),
        (format!("select * from \"{secret}\""), [400, 400]),
        (format!("select * from read_csv('{secret}')"), [400, 403]),
        ("select * from parquet_metadata('x')".to_owned(), [400, 403]),
        ("select * from nope".to_owned(), [400, 400]),
        ("select nme from people".to_owned(), [400, 400]),
        ("selec 1".to_owned(), [400, 400]),
        (String::new(), [400, 400]),
        (format!("select {}1{}", "(".repeat(10_000), ")".repeat(10_000)), [400, 400]),
        (format!("select 1{}", " + 1".repeat(20_000)), [200, 400]),
        ("select 1/0".to_owned(), [400, 400]),
        ("select cast('x' as int)".to_owned(), [400, 400]),
    ] {
        let answer = server.post("/api/sql", &sql);
        let shown: String = sql.chars().take(80).collect();
        assert!(statuses.contains(&answer.status), "{shown}: {} {}", answer.status, answer.text());
        if answer.status != 200 {
            assert!(answer.json()["message"].as_str().is_some_and(|m| !m.is_empty() && !m.contains("/src/")));
        }
    }
    assert!(!server.file("leak.csv").exists(), "a file was written");
    assert!(!server.directory().join("x.csv").exists(), "a file was written");
    let message = server.post("/api/sql", "select id,\n  nme from people").json()["message"].to_string();
    assert!(message.contains("line 2"), "{message}");
    let hint = server.post("/api/sql", "select nme from people").json()["hint"].clone();
    assert!(hint.as_str().is_some_and(|hint| hint.contains("name")), "{hint}");
}

#[test]
fn a_value_that_fails_is_the_statements_fault_wherever_the_rows_are() {
    // Conditions on files that are scanned are applied by the reader of the files, as far as it can tell what failed.
    let rows: String =
        (0..3_000).map(|id| format!("{id},{},{}\n", if id == 2_500 { "x" } else { "7" }, id % 5)).collect();
    let csv = format!("id,t,d\n{rows}");
    let toml = "[[dataset]]\nname = \"held\"\nsource = \"t.csv\"\n\
                [[dataset]]\nname = \"scanned\"\nsource = \"t.csv\"\nmemory = \"never\"\n";
    let server = Server::with(toml, &[("t.csv", csv.as_bytes())]);
    server.until(|server| server.get("/api/tables/scanned?limit=1").status == 200);
    for table in ["held", "scanned"] {
        for (condition, message) in [
            ("cast(t as bigint) > 5", "Cannot cast string 'x' to value of Int64 type"),
            ("10 / d > 1", "division by zero"),
            ("id + 9223372036854775807 > 0", "out of the range"),
            ("cast(t as bigint) > 5 and id > 100", "Cannot cast string 'x' to value of Int64 type"),
            // What is computed once and used twice comes down through a projection.
            ("coalesce(cast(t as bigint) > 5, d = 1)", "Cannot cast string 'x' to value of Int64 type"),
            ("10 / d between 1 and d", "division by zero"),
            ("case when 10 / d > 1 then true else 10 / d > 0 end", "division by zero"),
            ("id in (select 10 / d from held)", "division by zero"),
            ("10 / d in (select 10 / nullif(d, 0) from held)", "division by zero"),
            ("'a' ~ case when t = 'x' then '(' else t end", "regular expression"),
            ("cast(id as smallint) * cast(100 as smallint) > 5", "out of the range"),
        ] {
            let answer = server.post("/api/sql", &format!("select count(*) as n from {table} where {condition}"));
            assert_eq!(answer.json()["error"], "query_execution", "{table}: {condition}: {}", answer.text());
            assert!(answer.text().contains(message), "{table}: {condition}: {}", answer.text());
        }
        for (condition, n) in [
            ("t = 'x' or id < 3", 4),
            ("id > 10.5 and t <> 'x'", 2_988),
            ("length(t) = 1 and lower(t) like 'x%'", 1),
            ("try_cast(t as bigint) is null", 1),
            ("id in (1, 2, 9999) and cast(id as smallint) < 3", 2),
            ("id::decimal(12,2) = 7.00 or id::double = 8.0", 2),
        ] {
            let answer = server.post("/api/sql", &format!("select count(*) as n from {table} where {condition}"));
            assert_eq!(answer.text(), format!("[{{\"n\":{n}}}]"), "{table}: {condition}");
        }
    }
}

/// Parameters are what was sent, to the last digit.
#[test]
fn parameters_keep_their_digits() {
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    let long = "12345678901234567.89";
    let told = format!(r#"[{{"x":"{long}","y":"-0.00000000000000000000012345"}}]"#);
    for body in [
        format!(r#"{{"sql":"select $1::text as x, $2::text as y","params":[{long},-0.00000000000000000000012345]}}"#),
        format!(
            r#"{{"params":{{"b":-0.00000000000000000000012345,"a":{long}}},"sql":"select $a::text as x, $b::text as y"}}"#
        ),
        format!(
            r#"{{"sql":"select $1::text as x, $3::text as y, \"2\" from (select '1.5' as \"2\") t","params":[{long},"7",1]}}"#
        ),
    ] {
        let answer = server.post_json("/api/sql", &body);
        let is_third = body.contains("1.5");
        let expected = if is_third { format!(r#"[{{"x":"{long}","y":"1","2":"1.5"}}]"#) } else { told.clone() };
        assert_eq!((answer.status, answer.text()), (200, expected.as_str()), "{body}");
    }
    let target = format!("/api/sql?q=select%20$1::text%20as%20x&params=[{long}]");
    assert_eq!(server.get(&target).text(), format!(r#"[{{"x":"{long}"}}]"#));
    // The second of one name counts, and nothing of the first.
    let twice = format!(r#"{{"sql":"select $a::text as x","params":{{"a":{long},"a":2}}}}"#);
    assert_eq!(server.post_json("/api/sql", &twice).text(), r#"[{"x":"2"}]"#);
    let row = server
        .post_json("/api/sql", r#"{"sql":"select $1 as x, $2 as y, $3 as z","params":[1.5,-3,18446744073709551615]}"#);
    assert_eq!(row.text(), r#"[{"x":1.5,"y":-3,"z":18446744073709551615}]"#);
}

/// `select` as a name leaves no query without columns.
#[test]
fn names_that_are_words_of_sql() {
    let server = Server::of(&[("select.csv", b"id\n1\n")]);
    for sql in ["from select", "from select limit 1", "select * from (from select) x"] {
        let answer = server.post("/api/sql", sql);
        assert_eq!(answer.status, 400, "{sql}: {}", answer.text());
    }
    let refused = server.post("/api/sql", "from select").json();
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("from \"select\"")), "{refused}");
    for sql in ["from \"select\"", "select * from \"select\"", "from \"select\" limit 1"] {
        assert_eq!(server.post("/api/sql", sql).text(), "[{\"id\":1}]", "{sql}");
    }
}
