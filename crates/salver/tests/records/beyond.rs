//! What PHP-CRUD-API does not have: composite keys, upserts, changes by filter, answers of written rows, orders and
//! limits on joined rows, aggregates, cursors, several operations at once, entity tags, idempotency, loads, strictness.

use salver_testkit::servers::Kind;

use super::fixture::MAPPING;
use super::program::Program;

const WRITABLE: &str = "writable = true";

/// Runs steps of method, target, body, status and body on each database. A body that ends in `...` is a beginning.
fn steps(settings: &str, steps: &[(&str, &str, &str, u16, &str)]) {
    for kind in Kind::ALL {
        let program = Program::new(kind, settings);
        for (method, target, body, status, expected) in steps {
            let answer = program.ask(method, target, &[], (!body.is_empty()).then_some(*body));
            let same = match expected.strip_suffix("...") {
                Some(start) => answer.body.starts_with(start),
                None => answer.body == *expected,
            };
            assert!(answer.status == *status && same, "{kind:?} {method} {target} {body}: {:?}", answer.said());
        }
    }
}

#[test]
fn keys_of_two_columns() {
    steps(
        WRITABLE,
        &[
            ("GET", "/records/stock/north~1", "", 200, r#"{"warehouse":"north","product":1,"amount":5}"#),
            (
                "GET",
                "/records/stock/north~2,south~1,south~9",
                "",
                200,
                r#"[{"warehouse":"north","product":2,"amount":0},{"warehouse":"south","product":1,"amount":7},null]"#,
            ),
            ("GET", "/records/stock/north", "", 422, r#"{"code":1002,"message":"Argument count mismatch in 'north'"}"#),
            ("PUT", "/records/stock/north~1", r#"{"amount":6}"#, 200, "1"),
            ("PATCH", "/records/stock/north~1", r#"{"amount":4}"#, 200, "1"),
            ("GET", "/records/stock/north~1?include=amount", "", 200, r#"{"amount":10}"#),
            ("DELETE", "/records/stock/north~2", "", 200, "1"),
            ("DELETE", "/records/stock/north~2", "", 200, "0"),
            (
                "GET",
                "/records/stock",
                "",
                200,
                r#"{"records":[{"warehouse":"north","product":1,"amount":10},{"warehouse":"south","product":1,"amount":7}]}"#,
            ),
            ("GET", "/records/moves/1?join=stock", "", 200, r#"{"id":1,"warehouse":..."#),
        ],
    );
}

#[test]
fn rows_of_writes() {
    steps(
        WRITABLE,
        &[
            ("POST", "/records/people?returning=id,name", r#"{"name":"Fay"}"#, 200, r#"{"id":7,"name":"Fay"}"#),
            (
                "POST",
                "/records/people?returning=id",
                r#"[{"name":"Gil"},{"name":"Hal"}]"#,
                200,
                r#"[{"id":8},{"id":9}]"#,
            ),
            ("PUT", "/records/people/7?returning=score", r#"{"score":3}"#, 200, r#"{"score":3}"#),
            ("PATCH", "/records/people/7?returning=id,score", r#"{"score":4}"#, 200, r#"{"id":7,"score":7}"#),
            (
                "DELETE",
                "/records/people/7?returning=*",
                "",
                200,
                r#"{"id":7,"name":"Fay","boss_id":null,"score":7,"joined":null}"#,
            ),
            ("POST", "/records/people?returning=nothing", r#"{"name":"x"}"#, 400, "..."),
            ("GET", "/records/people?filter=id,gt,6&include=id", "", 200, r#"{"records":[{"id":8},{"id":9}]}"#),
        ],
    );
}

#[test]
fn upserts() {
    steps(
        WRITABLE,
        &[
            (
                "POST",
                "/records/articles?on_conflict=code&returning=id,net",
                r#"{"code":"pen","net":"3.00"}"#,
                200,
                r#"{"id":1,"net":"3.00"}"#,
            ),
            ("POST", "/records/articles?upsert=ignore&on_conflict=code", r#"{"code":"pen","net":"9.00"}"#, 200, "..."),
            ("GET", "/records/articles/1?include=net", "", 200, r#"{"net":"3.00"}"#),
            ("POST", "/records/stock?upsert=update", r#"{"warehouse":"north","product":1,"amount":50}"#, 200, "..."),
            ("POST", "/records/stock?upsert=update", r#"{"warehouse":"west","product":1,"amount":1}"#, 200, "..."),
            ("GET", "/records/stock/north~1?include=amount", "", 200, r#"{"amount":50}"#),
            ("GET", "/records/stock/west~1?include=amount", "", 200, r#"{"amount":1}"#),
            ("POST", "/records/articles?on_conflict=net", r#"{"code":"pen","net":"9.00"}"#, 400, "..."),
        ],
    );
}

#[test]
fn changes_by_filter() {
    steps(
        WRITABLE,
        &[
            ("PUT", "/records/people?filter=score,eq,20&max_affected=5", r#"{"score":21}"#, 200, "2"),
            ("PATCH", "/records/people?filter=score,eq,21&max_affected=2", r#"{"score":1}"#, 200, "2"),
            ("GET", "/records/people?filter=score,eq,22&include=id", "", 200, r#"{"records":[{"id":2},{"id":4}]}"#),
            ("PUT", "/records/people?filter=score,ge,0&max_affected=1", r#"{"score":0}"#, 409, "..."),
            ("PUT", "/records/people?filter=score,ge,0", r#"{"score":0}"#, 400, "..."),
            ("DELETE", "/records/people?max_affected=9", "", 400, "..."),
            // Of two ways to a table, a filter takes the first.
            ("DELETE", "/records/messages?filter=people.name,eq,Cid&max_affected=9", "", 200, "1"),
            ("DELETE", "/records/messages?filter=id,gt,0&max_affected=1", "", 409, "..."),
            ("GET", "/records/messages?include=id", "", 200, r#"{"records":[{"id":1},{"id":2},{"id":4}]}"#),
            ("GET", "/records/people?filter=score,eq,22&include=id", "", 200, r#"{"records":[{"id":2},{"id":4}]}"#),
        ],
    );
}

#[test]
fn orders_and_children() {
    let settings = format!("{WRITABLE}\n{MAPPING}");
    steps(
        &settings,
        &[
            (
                "GET",
                "/records/posts?include=id,comments.id&join=comments&comments.order=id,desc&comments.size=1",
                "",
                200,
                r#"{"records":[{"id":1,"comments":[{"id":2,"post_id":1}]},{"id":2,"comments":[{"id":4,"post_id":2}]}]}"#,
            ),
            (
                "GET",
                "/records/posts?include=id,comments.id&join=comments&comments.filter=message,cs,great",
                "",
                200,
                r#"{"records":[{"id":1,"comments":[{"id":1,"post_id":1}]},{"id":2,"comments":[]}]}"#,
            ),
            (
                "GET",
                "/records/comments?include=id&order=categories.name&order=id,desc&size=2&strict=1",
                "",
                200,
                r#"{"records":[{"id":4},{"id":3}]}"#,
            ),
            (
                "GET",
                "/records/comments?include=id&order=posts.content,desc&order=id&size=1&strict=1",
                "",
                200,
                r#"{"records":[{"id":..."#,
            ),
            ("GET", "/records/posts?comments.size=1", "", 400, "..."),
            ("GET", "/records/posts?join=comments&comments.order=nothing", "", 400, "..."),
        ],
    );
}

#[test]
fn aggregates() {
    steps(
        WRITABLE,
        &[
            ("GET", "/records/people?aggregate=count,*,n", "", 200, r#"{"records":[{"n":6}]}"#),
            (
                "GET",
                "/records/people?group=score&aggregate=count,*,n&having=n,gt,1",
                "",
                200,
                r#"{"records":[{"score":20,"n":2}]}"#,
            ),
            (
                "GET",
                "/records/people?aggregate=sum,score,s&aggregate=min,score,low&aggregate=max,score,high&aggregate=count,score,n",
                "",
                200,
                r#"{"records":[{"s":45,"low":-5,"high":20,"n":5}]}"#,
            ),
            ("GET", "/records/people?aggregate=avg,score,a", "", 200, r#"{"records":[{"a":9}]}"#),
            (
                "GET",
                "/records/people?include=joined&distinct=1&order=joined&filter=joined,nis",
                "",
                200,
                r#"{"records":[{"joined":"2019-06-30"},{"joined":"2020-01-01"},{"joined":"2020-02-01"},{"joined":"2021-12-31"}]}"#,
            ),
            (
                "GET",
                "/records/people?group=joined&aggregate=count,*,n&order=n,desc&size=1",
                "",
                200,
                r#"{"records":[{"joined":"2020-02-01","n":2}]}"#,
            ),
            ("GET", "/records/people?aggregate=median,score", "", 400, "..."),
            ("GET", "/records/people?having=n,gt,1", "", 400, "..."),
        ],
    );
}

/// Every row comes once, whatever the order, ties and nulls included, and rows in between change nothing before them.
#[test]
fn cursors() {
    for kind in Kind::ALL {
        let program = Program::new(kind, WRITABLE);
        for order in
            ["order=id", "order=score", "order=score,desc", "order=joined&order=score,desc", "order=name,desc", ""]
        {
            let whole = program.ids(&format!("/records/people?include=id&{order}"));
            let mut found = Vec::new();
            let mut after = String::new();
            for _ in 0..10 {
                let target =
                    format!("/records/people?include=id&size=2&after={}&{order}", super::client::value(&after));
                let page = program.get(&target);
                assert_eq!(page.status, 200, "{kind:?} {target}: {}", page.body);
                let page = page.json();
                found.extend(page["records"].as_array().expect("records").iter().filter_map(|row| row["id"].as_i64()));
                match page["next"].as_str() {
                    Some(next) => next.clone_into(&mut after),
                    None => break,
                }
            }
            if !order.contains("id") && !order.is_empty() && !order.contains("name") {
                // Ties stand in any order, but no row is missing and none comes twice.
                let (mut a, mut b) = (whole.clone(), found.clone());
                a.sort_unstable();
                b.sort_unstable();
                assert_eq!(a, b, "{kind:?} {order}");
            } else {
                assert_eq!(found, whole, "{kind:?} {order}");
            }
        }
        for bad in ["x", "e30", "' or 1=1"] {
            let answer = program.get(&format!("/records/people?after={}", super::client::value(bad)));
            assert!((400..500).contains(&answer.status), "{kind:?} {bad}: {:?}", answer.said());
        }
    }
}

#[test]
fn several_operations_at_once() {
    for kind in Kind::ALL {
        let program = Program::new(kind, &format!("{WRITABLE}\n{MAPPING}"));
        let body = r#"{"operations":[
            {"create":"people","record":{"name":"Ivy"}},
            {"create":"messages","record":{"from_id":{"$ref":"0.id"},"to_id":1,"body":"new"},"returning":["from_id","body"]},
            {"update":"people","id":1,"record":{"score":99}},
            {"increment":"stock","id":["north",1],"record":{"amount":1}},
            {"delete":"messages","id":1}]}"#;
        let answer = program.send("POST", "/records", body);
        assert_eq!(answer.said(), (200, r#"[7,{"from_id":7,"body":"new"},1,1,1]"#), "{kind:?}");
        // The last fails, and with it all.
        let body = r#"{"operations":[{"update":"people","id":1,"record":{"score":1}},{"delete":"messages","id":2},
            {"create":"messages","record":{"from_id":99,"to_id":1,"body":"x"}}]}"#;
        let answer = program.send("POST", "/records", body);
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
        assert_eq!(program.ok("/records/people/1?include=score"), r#"{"score":99}"#, "{kind:?}");
        assert_eq!(program.ids("/records/messages?include=id"), [2, 3, 4, 5], "{kind:?}");
        for bad in [
            r#"{"operations":[{"create":"nothing","record":{}}]}"#,
            r#"{"operations":[{"create":"people","record":{"nothing":1}}]}"#,
            r#"{"operations":[{"create":"people","record":{"name":{"$ref":"0.id"}}}]}"#,
            r#"{"operations":[{"make":"people"}]}"#,
            "[]",
        ] {
            let answer = program.send("POST", "/records", bad);
            assert!((400..500).contains(&answer.status), "{kind:?} {bad}: {:?}", answer.said());
        }
    }
}

#[test]
fn entity_tags() {
    for kind in Kind::ALL {
        let program = Program::new(kind, WRITABLE);
        let first = program.get("/records/people/1");
        let tag = first.header("etag").unwrap_or_else(|| panic!("{kind:?}: no ETag: {:?}", first.headers)).to_owned();
        let same = program.ask("GET", "/records/people/1", &[("if-none-match", tag.as_str())], None);
        assert_eq!(same.status, 304, "{kind:?}: {:?}", same.said());
        let matching = [("if-match", tag.as_str())];
        let change = program.ask("PUT", "/records/people/1", &matching, Some(r#"{"score":11}"#));
        assert_eq!(change.said(), (200, "1"), "{kind:?}");
        for method in ["PUT", "PATCH", "DELETE"] {
            let body = (method != "DELETE").then_some(r#"{"score":12}"#);
            let answer = program.ask(method, "/records/people/1", &matching, body);
            assert_eq!(answer.status, 412, "{kind:?} {method}: {:?}", answer.said());
        }
        assert_eq!(program.ok("/records/people/1?include=score"), r#"{"score":11}"#, "{kind:?}");
        // A change behind the program's back counts too.
        let tag = program.get("/records/people/1").header("etag").expect("a tag").to_owned();
        let _ = program.database().run("update people set score = 13 where id = 1");
        let stale = program.ask("PUT", "/records/people/1", &[("if-match", &tag)], Some(r#"{"score":14}"#));
        assert_eq!(stale.status, 412, "{kind:?}: {:?}", stale.said());
        let fresh = program.ask("GET", "/records/people/1", &[("if-none-match", &tag)], None);
        assert_eq!(fresh.status, 200, "{kind:?}: {:?}", fresh.said());
    }
}

/// What was read in part can be changed on the condition that this part is still the same, whatever was joined to it.
#[test]
fn entity_tags_of_parts() {
    for kind in Kind::ALL {
        let program = Program::new(kind, WRITABLE);
        let put = |tag: &str, body: &str| program.ask("PUT", "/records/people/1", &[("if-match", tag)], Some(body));
        for (number, query) in
            ["include=score", "exclude=score", "include=name,score", "include=score&join=messages", "join=messages"]
                .into_iter()
                .enumerate()
        {
            let target = format!("/records/people/1?{query}");
            let Some(tag) = program.get(&target).header("etag").map(str::to_owned) else {
                // Only SQLite knows at once whether what is joined is still the same.
                assert!(query.contains("join") && kind != Kind::Sqlite, "{kind:?} {query}: no ETag");
                continue;
            };
            let what = format!("{kind:?} {query} {tag}");
            assert_eq!(put(&tag, &format!(r#"{{"score":{}}}"#, 100 + number)).said(), (200, "1"), "{what}");
            let same = program.ask("GET", &target, &[("if-none-match", &tag)], None);
            if query == "exclude=score" {
                // The part that was read is what it was.
                assert_eq!(same.status, 304, "{what}");
                assert_eq!(put(&tag, r#"{"name":"Ada"}"#).status, 200, "{what}");
                let _ = program.database().run("update people set name = 'Eve' where id = 1");
            } else {
                assert_eq!(same.status, 200, "{what}");
            }
            assert_eq!(put(&tag, r#"{"score":1}"#).status, 412, "{what}");
            let _ = program.database().run("update people set name = 'Ada' where id = 1");
        }
        assert_eq!(put("*", r#"{"score":5}"#).said(), (200, "1"), "{kind:?}");
        for method in ["PUT", "DELETE"] {
            let body = (method == "PUT").then_some(r#"{"score":5}"#);
            let answer = program.ask(method, "/records/people/99", &[("if-match", "*")], body);
            assert_eq!(answer.status, 412, "{kind:?} {method}: {:?}", answer.said());
        }
        for forged in ["\"0123456789abcdef.zz\"", "\"0123456789abcdef.ffff\"", "\"0123456789abcdef.\""] {
            assert_eq!(put(forged, r#"{"score":6}"#).status, 412, "{kind:?} {forged}");
        }
        assert_eq!(program.ok("/records/people/1?include=score"), r#"{"score":5}"#, "{kind:?}");
    }
}

/// A word of the grammar of `/api/tables` is an error, strict or not: passed over, it would give other rows.
#[test]
fn words_of_the_other_grammar() {
    let program = Program::new(Kind::Sqlite, WRITABLE);
    for query in [
        "limit=1",
        "offset=1",
        "sort=-id",
        "columns=id",
        "select=id",
        "filter[id]=1",
        "filter[id]eq=1",
        "filter[score]gt=15&include=id",
        "or=(id.eq.1)",
        "strict=0&limit=1",
        "strict=1&limit=1",
    ] {
        for target in [format!("/records/people?{query}"), format!("/records/people/1?{query}")] {
            let answer = program.get(&target);
            assert_eq!(answer.status, 400, "{target}: {:?}", answer.said());
            assert!(answer.body.contains("\"hint\":\"write `"), "{target}: {}", answer.body);
        }
        let delete =
            program.ask("DELETE", &format!("/records/people?filter=id,gt,0&max_affected=9&{query}"), &[], None);
        assert_eq!(delete.status, 400, "{query}: {:?}", delete.said());
    }
    // As before: what PHP-CRUD-API passes over, and its lists.
    assert_eq!(program.ids("/records/people?_=17&filter[]=id,eq,1&what=ever"), [1]);
    assert_eq!(program.ids("/records/people?filter[0]=id,eq,1"), [1]);
    assert_eq!(program.database().run("select count(*) from people").trim(), "6");
}

#[test]
fn once_for_a_key() {
    for kind in Kind::ALL {
        let program = Program::new(kind, WRITABLE);
        let key = [("idempotency-key", "6f1c7e2a-0001")];
        let body = Some(r#"{"name":"Once"}"#);
        let first = program.ask("POST", "/records/people", &key, body);
        assert_eq!(first.said(), (200, "7"), "{kind:?}");
        for _ in 0..3 {
            assert_eq!(program.ask("POST", "/records/people", &key, body).said(), (200, "7"), "{kind:?}");
        }
        let other = program.ask("POST", "/records/people", &key, Some(r#"{"name":"Other"}"#));
        assert!((400..500).contains(&other.status), "{kind:?}: {:?}", other.said());
        assert_eq!(program.database().run("select count(*) from people").trim(), "7", "{kind:?}");
        // All at the same time: one does it, all are told the same.
        let key = [("idempotency-key", "6f1c7e2a-0002")];
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut client = super::client::Client::new(program.address());
                    let body = br#"{"batch":"once","item":1}"#;
                    let answer = client.send("POST", "/api/records/ledger", &key, Some(body)).expect("an answer");
                    assert_eq!(answer.said(), (200, "1"), "{kind:?}");
                });
            }
        });
    }
}

#[test]
fn loads() {
    for kind in Kind::ALL {
        let program = Program::new(kind, WRITABLE);
        let count = || program.database().run("select count(*) from ledger").trim().to_owned();
        let lines: String = (0..2500).map(|item| format!("{{\"batch\":\"nd\",\"item\":{item}}}\n")).collect();
        let ndjson = [("content-type", "application/x-ndjson")];
        let answer = program.ask("POST", "/records/ledger?dry_run=1", &ndjson, Some(&lines));
        assert_eq!((answer.status, count().as_str()), (200, "0"), "{kind:?}: {}", answer.body);
        let answer = program.ask("POST", "/records/ledger", &ndjson, Some(&lines));
        assert_eq!(answer.said(), (200, r#"{"read":2500,"loaded":2500,"refused":0,"problems":[]}"#), "{kind:?}");
        // One bad row undoes all, and is named.
        let bad = "{\"batch\":\"bad\",\"item\":1}\n{\"batch\":\"bad\",\"item\":null}\n{\"batch\":\"bad\",\"item\":3}\n";
        let answer = program.ask("POST", "/records/ledger", &ndjson, Some(bad));
        let report = answer.json();
        assert_eq!((answer.status, &report["problems"][0]["row"]), (422, &2.into()), "{kind:?}: {report}");
        assert_eq!((count().as_str(), &report["loaded"]), ("2500", &0.into()), "{kind:?}: {report}");
        let answer = program.ask("POST", "/records/ledger?keep_good=1", &ndjson, Some(bad));
        let report = answer.json();
        assert_eq!(
            (answer.status, &report["loaded"], &report["refused"]),
            (200, &2.into(), &1.into()),
            "{kind:?}: {report}"
        );
        assert_eq!(count(), "2502", "{kind:?}");
        let csv = "batch,item\n\"a \"\"b\"\", c\",1\nplain,2\n";
        let answer = program.ask("POST", "/records/ledger", &[("content-type", "text/csv")], Some(csv));
        assert_eq!(answer.said(), (200, r#"{"read":2,"loaded":2,"refused":0,"problems":[]}"#), "{kind:?}");
        let found = program.ok("/records/ledger?filter=batch,sw,a&include=batch");
        assert_eq!(found, r#"{"records":[{"batch":"a \"b\", c"}]}"#, "{kind:?}");
        let answer =
            program.ask("POST", "/records/ledger", &[("content-type", "text/csv")], Some("batch,nothing\nx,1\n"));
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
    }
}

#[test]
fn strictness() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for (target, word) in [
            ("/records/people?strict=1&sise=2", "size"),
            ("/records/people?strict=1&order=scor", "score"),
            ("/records/people?strict=1&include=nam", "name"),
            ("/records/people?strict=1&filter=nam,eq,x", "name"),
            ("/records/people?strict=1&filter=name,eqq,x", "eq"),
            ("/records/people?strict=1&join=mesages", "messages"),
            ("/records/people?strict=1&size=x", "size"),
        ] {
            let answer = program.get(target);
            assert_eq!(answer.status, 400, "{kind:?} {target}: {:?}", answer.said());
            assert!(answer.body.contains(word), "{kind:?} {target}: {}", answer.body);
        }
        let strict = Program::new(kind, "strict = true");
        assert_eq!(strict.get("/records/people?sise=2").status, 400, "{kind:?}");
        assert_eq!(strict.get("/records/people?sise=2&strict=0").status, 200, "{kind:?}");
    }
}
