//! Workbooks over HTTP: what a sheet can't hold is refused before a body begins, and ranges belong to one body.

use super::server::Server;

#[test]
fn refusals_come_before_the_body() {
    let rows = (0..1_048_576).fold(String::from("n\n"), |text, n| text + if n % 2 == 0 { "0\n" } else { "1\n" });
    let long = format!("a,b\nx,{}\n", "y".repeat(32_768));
    let server = Server::of(&[("rows.csv", rows.as_bytes()), ("long.csv", long.as_bytes())]);
    let refused = server.get("/api/export/rows.xlsx");
    assert_eq!((refused.status, refused.json()["error"].as_str()), (413, Some("answer_too_large")));
    assert!(refused.text().contains("1048575 rows") && refused.text().contains("CSV or Parquet"));
    assert_eq!(server.get("/api/tables/rows.xlsx?limit=1048575").status, 200);
    let refused = server.get("/api/tables/long.xlsx");
    assert_eq!(refused.status, 413);
    assert!(refused.text().contains("column `b`, row 1"), "{}", refused.text());
    assert_eq!(server.get("/api/tables/long.xlsx?columns=a").status, 200);
}

#[test]
fn a_body_goes_on_where_it_was_interrupted() {
    let rows = (0..50_000).fold(String::from("id,word\n"), |text, n| text + &format!("{n},word {}\n", n * 7919 % 9973));
    let server = Server::of(&[("t.csv", rows.as_bytes())]);
    let whole = server.get("/api/export/t.xlsx").body;
    assert!(server.get("/api/tables/t.xlsx").body == whole);
    let rest = server.get_with("/api/export/t.xlsx", &[("range", "bytes=100000-")]);
    assert_eq!(rest.status, 206);
    assert!(rest.body == whole[100_000..]);
}
