//! Columns that an access rule masks have the masked values and no others: the same in SQLite, MariaDB and PostgreSQL,
//! in rows, conditions, orders, groups and joins, and in what a change answers.

use serde_json::{Value, json};

use salver_testkit::servers::Kind;

use super::fixture::everything;
use super::program::Program;

const SERVER: &str = r#"
[auth]
mode = "optional"
api_keys = ["boss:boss-0123456789abcdef"]
[[role]]
name = "boss"
callers = ["api_key:boss"]
[[access]]
roles = ["boss"]
entries = ["*"]
permissions = ["read", "sql", "export", "create", "update", "delete"]
[[access]]
entries = ["blog.people"]
permissions = ["read", "sql", "export", "create", "update", "delete"]
columns_masked = { name = "left(name, 1) || '\…é'", score = "floor(score, 8)", joined = "trunc(joined, 'month')" }
rows = "score != 20 or boss_id = 1"
[[access]]
entries = ["blog.samples"]
permissions = ["read", "sql", "export"]
[access.columns_masked]
whole = "floor(whole, 2)"
large = "floor(large, 10)"
real_ = "floor(real_, 1)"
ratio = "floor(ratio, 0.5)"
exact = "floor(exact, 0.5)"
flag = "true"
day = "trunc(day, 'year')"
moment = "trunc(moment, 'day')"
words = "'<''' || right(words, 3)"
"b*" = "null"
[[access]]
entries = ["blog.stock"]
permissions = ["read", "sql", "export"]
columns_masked = { warehouse = "left(warehouse, 1)" }
[[access]]
entries = ["blog.*"]
"#;

fn program(kind: Kind) -> Program {
    // In TOML a backslash of a basic text is written twice.
    Program::over(everything(kind), &SERVER.replace("'\\…", "'\\\\…"), "writable = true\nsearch = \"search\"\n")
}

/// Numbers as such, whether a database's column has them as text or not, and times with a blank.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text.replace('T', " ")),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        other => other.clone(),
    }
}

#[test]
fn values_are_alike_in_every_database() {
    for kind in Kind::ALL {
        let program = program(kind);
        let expected = json!([
            {"id": 1.0, "whole": 0.0, "large": 9_007_199_254_740_990.0, "real_": 1.0, "ratio": 0.0,
             "exact": 1_234_567.0, "flag": true, "day": "2024-01-01", "moment": "2024-02-29 00:00:00",
             "words": "<'\" é", "bytes": null},
            {"id": 2.0, "whole": -2_147_483_648.0, "large": null, "real_": 0.0, "ratio": null,
             "exact": -0.5, "flag": true, "day": "1970-01-01", "moment": "1970-01-01 00:00:00",
             "words": "<'", "bytes": null},
            {"id": 3.0, "whole": null, "large": null, "real_": null, "ratio": null,
             "exact": null, "flag": true, "day": null, "moment": null, "words": null, "bytes": null},
        ]);
        let columns = "id,whole,large,real_,ratio,exact,flag,day,moment,words,bytes";
        let listed: Value = program.get(&format!("/records/samples?include={columns}&order=id")).json();
        assert_eq!(plain(&listed["records"]), expected, "{kind:?} records");
        let rows = program.get(&format!("/tables/samples?columns={columns}&sort=id")).json();
        assert_eq!(plain(&rows), expected, "{kind:?} tables");
        let one = program.get(&format!("/records/samples/1?include={columns}")).json();
        assert_eq!(plain(&one), expected[0], "{kind:?} by key");
    }
}

#[test]
fn records_are_found_and_ordered_by_masked_values() {
    for kind in Kind::ALL {
        let program = program(kind);
        // The rule sees the values behind masks: Dan's score is 20.
        let people = program.get("/records/people?include=id,name,score,joined&order=id").json();
        let expected = json!([
            {"id": 1, "name": "A\\…é", "score": 8, "joined": "2020-01-01"},
            {"id": 2, "name": "B\\…é", "score": 16, "joined": "2020-02-01"},
            {"id": 3, "name": "C\\…é", "score": null, "joined": "2020-02-01"},
            {"id": 5, "name": "e\\…é", "score": -8, "joined": "2021-12-01"},
            {"id": 6, "name": "Ü\\…é", "score": 0, "joined": "2019-06-01"},
        ]);
        assert_eq!(people["records"], expected, "{kind:?}");
        for (query, ids) in [
            ("filter=score,eq,-8", vec![5]),
            ("filter=score,eq,-5", vec![]),
            ("filter=score,ge,8&order=id", vec![1, 2]),
            ("filter=name,eq,%C3%9C%5C%E2%80%A6%C3%A9", vec![6]),
            ("filter=name,cs,da", vec![]),
            ("filter=joined,eq,2021-12-01", vec![5]),
            ("filter=joined,gt,2021-12-01", vec![]),
            ("search=Ada", vec![]),
            ("search=A%5C", vec![1]),
            ("order=joined,desc&order=id&size=2", vec![5, 2]),
        ] {
            let answer = program.get(&format!("/records/people?include=id&{query}"));
            assert_eq!(answer.status, 200, "{kind:?} {query}: {}", answer.body);
            let ids: Vec<Value> = ids.into_iter().map(|id: i64| json!({"id": id})).collect();
            assert_eq!(answer.json()["records"], Value::Array(ids), "{kind:?} {query}");
        }
    }
}

#[test]
fn tables_and_statements_see_masked_values() {
    for kind in Kind::ALL {
        let program = program(kind);
        for (query, rows) in [
            ("columns=id&filter%5Bscore%5D=-8", json!([{"id": 5}])),
            ("columns=id&filter%5Bscore%5D=-5", json!([])),
            ("columns=id&filter%5Bname%5Dlike=A%25&filter%5Bid%5Dgte=1", json!([{"id": 1}])),
            (
                "columns=id&filter%5Bid%5Dlt=9&filter%5Bscore%5Dnot_null=true&sort=-score&limit=2",
                json!([{"id": 2}, {"id": 1}]),
            ),
            (
                "columns=score,count:count()&group=score&sort=score&filter%5Bscore%5Dlt=9",
                json!([
                    {"score": -8, "count": 1}, {"score": 0, "count": 1}, {"score": 8, "count": 1},
                ]),
            ),
        ] {
            let answer = program.get(&format!("/tables/people?{query}"));
            assert_eq!((answer.status, answer.json()), (200, rows), "{kind:?} {query}");
        }
        for (text, rows) in [
            ("select id from people where score = -8", json!([{"id": 5}])),
            ("select id from people where name like '%da%'", json!([])),
            (
                "select sum(score) as s, min(score) as m, count(distinct left(name, 2)) as n from people",
                json!([{"s": 16, "m": -8, "n": 5}]),
            ),
            (
                "select p.id from people p join samples s on p.score = s.id * 8 order by 1",
                json!([{"id": 1}, {"id": 2}]),
            ),
        ] {
            let answer = program.send("POST", "/sql", text);
            assert_eq!((answer.status, plain(&answer.json())), (200, plain(&rows)), "{kind:?} {text}");
        }
    }
}

#[test]
fn nothing_tells_what_is_behind() {
    for kind in Kind::ALL {
        let program = program(kind);
        // Through relations, in both directions.
        let joined = program.ok("/records/messages?join=people&order=id");
        assert!(joined.contains("A\\\\…é") && !joined.contains("Ada"), "{kind:?}: {joined}");
        assert_eq!(program.ids("/records/messages?filter=people.name,sw,Ad"), Vec::<i64>::new(), "{kind:?}");
        let named = program.get("/records/messages?include=id&filter=people.name,ew,%C3%A9&size=1");
        assert_eq!(named.json()["records"].as_array().map(Vec::len), Some(1), "{kind:?}: {}", named.body);
        // What no caller but the boss sees stands nowhere.
        for target in [
            "/records/people",
            "/records/people/1",
            "/records/people/1,2,5",
            "/records/people?page=1,3",
            "/records/people?after=&size=2",
            "/tables/people",
            "/tables/people.csv",
            "/export/people.ndjson",
            "/geojson/people",
            "/records/people?distinct=true&include=name",
            "/records/people?order=name&size=1",
            "/records/people?group=name&count=n",
        ] {
            let answer = program.get(target);
            assert!(answer.status < 500, "{kind:?} {target}: {:?}", answer.said());
            for word in ["Ada", "Bob", "Cid", "Dan", "eve", "nal", "-5"] {
                assert!(!answer.body.contains(word), "{kind:?} {target} has {word}: {}", answer.body);
            }
        }
        let boss = [("x-api-key", "boss-0123456789abcdef")];
        assert!(program.ask("GET", "/records/people/1", &boss, None).body.contains("Ada"), "{kind:?}");
    }
}

#[test]
fn keys_and_mistakes() {
    for kind in Kind::ALL {
        let program = program(kind);
        // By masked values no row is found, and no relation leads anywhere.
        assert_eq!(program.get("/records/stock/north,1").status, 404, "{kind:?}");
        assert_ne!(program.get("/records/stock?after=&size=1").status, 200, "{kind:?}");
        let stock = program.ok("/records/stock?include=warehouse,amount&order=amount");
        let expected =
            r#"{"records":[{"warehouse":"n","amount":0},{"warehouse":"n","amount":5},{"warehouse":"s","amount":7}]}"#;
        assert_eq!(stock, expected, "{kind:?}");
        let joined = program.ok("/records/moves?join=stock&include=id,stock.amount");
        assert!(!joined.contains("amount"), "{kind:?}: {joined}");
        let page = program.get("/tables/stock?sort=amount&limit=1");
        let said = format!("{:?} {}", page.headers, page.body);
        assert!(page.status == 200 && !said.contains("north"), "{kind:?}: {said}");
    }
}

/// A mask that does not fit its column shows nothing, and says nothing of the rule.
#[test]
fn a_mask_of_another_type() {
    for kind in Kind::ALL {
        let rule = "[[access]]\nentries = [\"blog.articles\"]\ncolumns_masked = { net = \"left(net, 1)\" }\n\
                    [[access]]\nentries = [\"*\"]\n";
        let program = Program::start(everything(kind), rule, "");
        program.until("people are there", |program| program.get("/records/people").status == 200);
        for target in ["/records/articles", "/records/articles/1", "/tables/articles"] {
            let answer = program.get(target);
            assert!(answer.status >= 500 && !answer.body.contains("left("), "{kind:?} {target}: {:?}", answer.said());
            assert!(!answer.body.contains("10.10"), "{kind:?} {target}: {}", answer.body);
        }
    }
}

#[test]
fn a_change_neither_takes_nor_tells_what_is_masked() {
    for kind in Kind::ALL {
        let program = program(kind);
        let stored = |id: u32| {
            let text = format!("select name, score from people where id = {id}");
            program.database().run(&text).trim().to_owned()
        };
        let before = stored(5);
        // As any name that the table does not have.
        let written = program.send("PUT", "/records/people/5", r#"{"name":"x","score":1}"#);
        assert_eq!((written.said(), stored(5)), ((200, "0"), before.clone()), "{kind:?}");
        let told = program.send("PUT", "/records/people/5?returning=*", r#"{"boss_id":1}"#);
        assert!(told.status == 200 && told.body.contains("e\\\\…é"), "{kind:?}: {:?}", told.said());
        assert!(!told.body.contains("eve") && !told.body.contains("-5"), "{kind:?}: {}", told.body);
        for filter in ["score,eq,-5", "name,sw,eve", "people.score,eq,-5"] {
            let target = format!("/records/people?filter={filter}&max_affected=9");
            let answer = program.ask("DELETE", &target, &[], None);
            assert!((400..500).contains(&answer.status), "{kind:?} {filter}: {:?}", answer.said());
            assert_eq!(stored(5), before, "{kind:?} {filter}");
        }
        // A tag of what the caller saw is good for what is there.
        let read = program.get("/records/people/5");
        let tag = read.header("etag").expect("a tag").to_owned();
        let matching = program.ask("PUT", "/records/people/5", &[("if-match", &tag)], Some(r#"{"boss_id":1}"#));
        assert_eq!(matching.said(), (200, "1"), "{kind:?}");
        let gone = program.ask("DELETE", "/records/people/6?returning=*", &[], None);
        assert!(gone.status == 200 && gone.body.contains("Ü\\\\…é"), "{kind:?}: {:?}", gone.said());
        assert!(!gone.body.contains("nal"), "{kind:?}: {}", gone.body);
        let several = program.ask("DELETE", "/records/people?filter=id,eq,5&max_affected=9&returning=*", &[], None);
        assert!(several.status == 200 && several.body.contains("e\\\\…é"), "{kind:?}: {:?}", several.said());
        assert!(!several.body.contains("eve"), "{kind:?}: {}", several.body);
    }
}
