//! What somebody meets in the first hour: pages in a browser, documents for other programs, a database that is away.

use std::fmt::Write as _;

use super::server::Server;

const BROWSER: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];

/// Lines of CSV with so many columns.
fn csv(rows: usize, columns: usize, cell: &str) -> String {
    let mut text = (0..columns).map(|column| format!("column{column}")).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..rows {
        let _ = writeln!(text, "{row}{}", format!(",{cell}").repeat(columns - 1));
    }
    text
}

#[test]
fn a_page_has_some_rows_and_other_formats_all() {
    let long = csv(500, 2, &"&\u{e9}".repeat(3_000));
    let files = [
        ("many.csv", csv(500, 2, "a word")),
        ("few.csv", csv(100, 2, "a word")),
        ("wide.csv", csv(300, 200, "some words in a cell")),
        ("long.csv", long),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let server = Server::of(&files);
    let rows = |page: &str| page.matches("<tr>").count() - 1;
    for (name, shown) in [("many", 100), ("few", 100), ("wide", 100), ("long", 100)] {
        let sql = format!("/api/sql?q=select%20*%20from%20{name}%20order%20by%201");
        for target in [format!("/api/tables/{name}"), sql] {
            let page = server.get_with(&target, &BROWSER);
            assert_eq!((page.status, rows(page.text())), (200, shown), "{target}");
            assert!(page.body.len() <= 1024 * 1024, "{target}: {} bytes", page.body.len());
            assert_eq!(page.text().contains("At most 100 rows are shown."), name != "few", "{target}");
            assert!(page.text().ends_with("</html>\n"), "{target}");
        }
    }
    let next = server.get_with("/api/tables/many?offset=490", &BROWSER);
    assert_eq!((rows(next.text()), next.text().contains("At most")), (10, false));
    // Words are not broken to make a table narrow, and no reference is cut in two.
    assert!(!server.get_with("/api/tables/wide", &BROWSER).text().contains("anywhere"));
    let cut = server.get_with("/api/tables/long?limit=1", &BROWSER);
    let ends = ["&amp;\u{e9}\u{2026}</td>", "&amp;\u{2026}</td>"];
    assert!(ends.iter().any(|end| cut.text().contains(end)), "a cell is cut");
    assert_eq!(server.get("/api/tables/many").json().as_array().map(Vec::len), Some(500));
    assert_eq!(server.get("/api/tables/long.csv").text().lines().count(), 501);
}

#[test]
fn the_index_stays_small() {
    let tables: Vec<(String, String)> =
        (0..150).map(|table| (format!("table{table:03}.csv"), csv(5, 30, &"words ".repeat(100)))).collect();
    let files: Vec<(&str, &[u8])> = tables.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let server = Server::of(&files);
    let page = server.get_with("/plain", &BROWSER);
    assert!(page.body.len() < 100 * 1024, "{} bytes", page.body.len());
    assert!(page.text().contains("table000") && page.text().contains("150 tables"), "the first, and how many");
    assert!(page.text().contains(" more: <a href"), "what is left out is said");
}

#[cfg(feature = "functions")]
#[test]
fn documents_tell_how_to_authenticate() {
    let database = "[[database]]\nname = 'db'\nurl = 'sqlite:db.db'\nwritable = true\n";
    let auth = "[auth]\nmode = 'optional'\napi_keys = ['a:0123456789abcdef']\n\
                basic_users = ['ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.']\n";
    let function = "[[function]]\nfile = 'one.py'\n";
    let files: [(&str, &[u8]); 1] = [("one.py", b"def one() -> int:\n    return 1\n")];
    let server = Server::with(&format!("{auth}{database}{function}"), &files);
    for target in ["/openapi.json", "/api/openapi", "/api/functions.openapi.json"] {
        let document = server.get(target).json();
        let schemes = &document["components"]["securitySchemes"];
        assert_eq!((&schemes["apiKey"]["in"], &schemes["apiKey"]["name"]), (&"header".into(), &"x-api-key".into()));
        assert_eq!(schemes["bearer"]["scheme"], "bearer", "{target}");
        assert_eq!(schemes["basic"]["scheme"], "basic", "{target}");
        // Who need not say who they are may leave all of them out.
        let ways = document["security"].as_array().expect("ways");
        for way in [serde_json::json!({ "apiKey": [] }), serde_json::json!({})] {
            assert!(ways.contains(&way), "{ways:?}");
        }
    }
    let open = Server::with(database, &[]);
    assert!(open.get("/api/openapi").json()["security"].is_null());
}

#[cfg(feature = "postgres")]
#[test]
fn tables_of_a_database_that_is_away_are_unavailable() {
    let toml = "[[database]]\nname = 'away'\nurl = 'postgres://app:secret@127.0.0.1:1/app'\n\
                [[database]]\nname = 'here'\nurl = 'sqlite:here.db'\nwritable = true\n";
    let server = Server::with(toml, &[("people.csv", b"id\n1\n")]);
    let answers = [
        server.get("/api/tables/users"),
        server.get("/api/tables/away"),
        server.post("/api/sql", "select * from users"),
        server.get("/api/records/users"),
        server.get("/api/records/users/1"),
    ];
    for answer in answers {
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.text().contains("can't be reached"), "{}", answer.text());
        assert!(!answer.text().contains("secret"), "{}", answer.text());
    }
    assert_eq!(server.get("/api/tables/people").text(), "[{\"id\":1}]");
    assert_eq!(server.post("/api/sql", "with x as (select 1 as a) select a from x").text(), "[{\"a\":1}]");
}
