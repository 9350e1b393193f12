//! Pages by `after` go through every row once, in order, whatever the sort, and end; a reload ends them with 410.

use std::fmt::Write as _;

use super::server::Server;

fn rows() -> String {
    let mut csv = String::from("id,group,score\n");
    for id in 0..500 {
        let score = if id % 7 == 0 { String::new() } else { format!("{}", (id * 37) % 50) };
        csv.push_str(&format!("{id},g{},{score}\n", id % 5));
    }
    csv
}

#[test]
fn every_row_once() {
    let server = Server::of(&[("t.csv", rows().as_bytes())]);
    for sort in ["", "&sort=score", "&sort=-score", "&sort=group,-score", "&sort=-group,score.nullslast"] {
        for filter in ["", "&filter[id]gte=100"] {
            let all = server.get(&format!("/api/tables/t?columns=id{sort}{filter}")).json();
            let mut paged = Vec::new();
            let mut next = Some(format!("/api/tables/t?columns=id&limit=37{sort}{filter}"));
            while let Some(target) = next {
                let answer = server.get(&target);
                assert_eq!(answer.status, 200, "{target}: {}", answer.text());
                paged.extend(answer.json().as_array().expect("rows").clone());
                assert!(paged.len() <= 500, "pages without end");
                next = answer.header("link").map(|link| {
                    let target = link.strip_prefix('<').and_then(|l| l.strip_suffix(">; rel=\"next\""));
                    target.expect("a link").to_owned()
                });
            }
            assert_eq!(serde_json::Value::Array(paged), all, "{sort} {filter}");
        }
    }
}

#[test]
fn totals_and_mistakes() {
    let server = Server::of(&[("t.csv", rows().as_bytes())]);
    let answer = server.get("/api/tables/t?limit=3&offset=10&count=true&columns=id");
    assert_eq!(answer.text(), r#"[{"id":10},{"id":11},{"id":12}]"#);
    assert_eq!(answer.header("x-total-count"), Some("500"));
    for (target, slug) in [
        ("/api/tables/t?after=zz&limit=1", "invalid_cursor"),
        ("/api/tables/t?limit=x", "invalid_numeric_param"),
        ("/api/tables/t?page=0&limit=1", "invalid_numeric_param"),
        ("/api/tables/t?page=0", "invalid_numeric_param"),
        ("/api/tables/t?colums=id", "rest_query"),
        ("/api/tables/t?columns=idd", "invalid_projection"),
        ("/api/tables/t?sort=idd", "invalid_sort"),
        ("/api/tables/t?filter[idd]=1", "invalid_filter"),
        ("/api/tables/t?filter[id]=abc", "rest_query_value"),
        ("/api/tables/t?filter[id]=", "rest_query_value"),
    ] {
        let answer = server.get(target);
        assert_eq!((answer.status, &answer.json()["error"]), (400, &slug.into()), "{target}: {}", answer.text());
    }
    let hint = server.get("/api/tables/t?columns=idd").json()["hint"].clone();
    assert_eq!(hint, "did you mean `id`?");
    let link = server.get("/api/tables/t?limit=1&sort=id").header("link").expect("a link").to_owned();
    let token = link.split("after=").nth(1).and_then(|l| l.split('>').next()).expect("a token").to_owned();
    let other = server.get(&format!("/api/tables/t?limit=1&sort=-id&after={token}"));
    assert_eq!((other.status, &other.json()["error"]), (400, &"invalid_cursor".into()));
}

#[test]
fn the_grammar() {
    let csv =
        "id,name,score,ok,day\n1,Ann,1.5,true,2024-01-01\n2,Bob,-2,false,2024-02-01\n3,,,,\n4,bab,7,true,2024-03-01\n";
    let server = Server::of(&[("t.csv", csv.as_bytes())]);
    for (query, expected) in [
        ("filter[id]ne=1", "2,3,4"),
        ("filter[id]in=1,3", "1,3"),
        ("filter[id]nin=1,3", "2,4"),
        ("filter[name]in='Ann','Bob'", "1,2"),
        ("filter[name]like=%25b", "2,4"),
        ("filter[name]ilike=b%25", "2,4"),
        ("filter[name]nlike=%25b", "1"),
        ("filter[name]null=true", "3"),
        ("filter[name]=null", "3"),
        ("filter[name]ne=null", "1,2,4"),
        ("filter[score]lt=-1", "2"),
        ("filter[score]between=-5,2", "1,2"),
        ("filter[ok]=true", "1,4"),
        ("filter[day]gte=2024-02-01", "2,4"),
        ("filter[day]gt='2024-01-15'&filter[ok]=false", "2"),
        ("or=(id.eq.1,id.eq.3)", "1,3"),
        ("or=(id.eq.1,and(score.gt.1,ok.eq.true))", "1,4"),
        ("not=(id.in.(1,2))", "3,4"),
        ("and=(id.gt.1,not(name.null))", "2,4"),
        ("sort=score.nullslast", "2,1,4,3"),
        ("sort=-id&offset=1&limit=2", "3,2"),
    ] {
        let answer = server.get(&format!("/api/tables/t?columns=id&{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        let ids: Vec<String> =
            answer.json().as_array().expect("rows").iter().map(|row| row["id"].to_string()).collect();
        assert_eq!(ids.join(","), expected, "{query}");
    }
    let grouped = server.get("/api/tables/t?group=ok&columns=ok,n:count(),avg(score)&sort=ok.nullslast");
    let expected = r#"[{"ok":false,"n":1,"avg(score)":-2.0},{"ok":true,"n":2,"avg(score)":4.25},{"ok":null,"n":1,"avg(score)":null}]"#;
    assert_eq!(grouped.text(), expected);
    let having = server.get("/api/tables/t?group=ok&columns=ok,n:count()&having[n]gt=1");
    assert_eq!(having.text(), r#"[{"ok":true,"n":2}]"#);
    assert_eq!(
        server.get("/api/tables/t?columns=ok&distinct=true&sort=ok").text(),
        r#"[{"ok":null},{"ok":false},{"ok":true}]"#
    );
}

/// A name in double quotes is a column's as it is, whatever it begins with or has in it.
#[test]
fn an_order_by_any_name() {
    let names = ["a,b", "dq\"x", "a:b", "-neg", "+plus", " lead", "c.nullslast"];
    let row = |id: i32, value: i32| {
        let mut row = serde_json::json!({ "id": id });
        for name in names {
            row[name] = value.into();
        }
        format!("{row}\n")
    };
    let rows = row(1, 2) + &row(2, 1);
    let server = Server::of(&[("t.ndjson", rows.as_bytes())]);
    let sorted = |sort: &str| {
        let mut encoded = String::new();
        for byte in sort.bytes() {
            let _ = write!(encoded, "%{byte:02X}");
        }
        let answer = server.get(&format!("/api/tables/t?columns=id&sort={encoded}"));
        assert_eq!(answer.status, 200, "{sort}: {}", answer.text());
        answer.text().to_owned()
    };
    let (up, down) = (r#"[{"id":2},{"id":1}]"#, r#"[{"id":1},{"id":2}]"#);
    for name in names {
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        assert_eq!(sorted(&quoted), up, "{name}");
        assert_eq!(sorted(&format!("-{quoted}")), down, "{name}");
        assert_eq!(sorted(&format!("-{quoted}.nullslast")), down, "{name}");
    }
    // A sign inside the quotes, where no column is called so.
    assert_eq!(sorted("\"-a,b\""), down);
}
