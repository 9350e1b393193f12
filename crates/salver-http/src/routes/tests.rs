//! The table is consistent: each row is found, and the page of routes in `docs/` matches it.

use std::fmt::Write as _;

use http::Method;

use super::*;

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Returns a path as a client would send it.
fn sample(row: &RouteRow, pattern: &str) -> String {
    let value = if matches!(row.when, When::Number(_)) { "7" } else { "x7" };
    let parts = pattern.split('/').map(|part| if part.starts_with('{') { value } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_row_is_found() {
    for row in rows() {
        for pattern in row.paths {
            let path = sample(row, pattern);
            let query = match row.when {
                When::Parameter(name) => format!("{name}=x"),
                _ => String::new(),
            };
            for method in METHODS.iter().filter(|method| row.methods.allows(method)) {
                match find(method, &path, &query) {
                    Found::Row(found, _) => assert!(std::ptr::eq(found, row), "{method} {path}: {found:?}"),
                    other => panic!("{method} {path}: {other:?}"),
                }
            }
            let Found::OtherMethod(place) = find(&Method::OPTIONS, &path, &query) else { panic!("{path}") };
            assert!(place.methods.ends_with("OPTIONS"), "{path}");
        }
    }
}

#[test]
fn what_changes_is_not_got() {
    for row in rows().filter(|row| row.methods.allows(&Method::GET)) {
        assert_ne!(row.does, Does::Changes, "{row:?}");
    }
    for row in rows().filter(|row| !row.methods.allows(&Method::GET)) {
        assert!(matches!(row.does, Does::Changes | Does::Asks), "{row:?}");
    }
}

#[test]
fn values_are_decoded() {
    for (method, path, query, expected) in [
        (Method::GET, "", "", RouteTarget::Own(own::OwnTarget::Index)),
        (Method::GET, "/api/tables/a%20b.csv", "", RouteTarget::Own(own::OwnTarget::Table("a b.csv".into()))),
        (Method::GET, "/api/kv/s/a/b", "", RouteTarget::Own(own::OwnTarget::Look("s".into(), "a/b".into()))),
        (Method::GET, "/api/schema/", "", RouteTarget::Own(own::OwnTarget::Schemas)),
        (
            Method::GET,
            "/api/records/a%20b/1,2/",
            "",
            RouteTarget::Records(records::RecordsTarget::Row("a b".into(), "1,2")),
        ),
        (
            Method::HEAD,
            "/api/export/x/0",
            "",
            RouteTarget::Exports(exports::ExportsTarget::Stream("x".into(), "0".into())),
        ),
        (Method::POST, "/api/export", "a=1", RouteTarget::Exports(exports::ExportsTarget::Open)),
        (Method::DELETE, "/api/export/token", "", RouteTarget::Exports(exports::ExportsTarget::End("token".into()))),
    ] {
        match find(&method, path, query) {
            Found::Row(_, target) => assert_eq!(target, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
    let arango = |database, asked| RouteTarget::ArangoDb(arangodb::ArangodbTarget { database, asked });
    for (method, path, query, expected) in [
        (Method::POST, "/api/export", "collection=c", arango(None, arangodb::ArangodbRequest::OpenExport)),
        (Method::DELETE, "/api/export/17", "", arango(None, arangodb::ArangodbRequest::EndExport("17"))),
        (
            Method::PUT,
            "/_db/any/_api/cursor/1",
            "",
            arango(Some("any"), arangodb::ArangodbRequest::NextOfCursor("1", None)),
        ),
        (Method::POST, "/api/cursor/1/2", "", arango(None, arangodb::ArangodbRequest::NextOfCursor("1", Some("2")))),
        (Method::GET, "/_api/else/x", "", arango(None, arangodb::ArangodbRequest::Absent("else"))),
    ] {
        match find(&method, path, query) {
            Found::Row(_, target) => assert_eq!(target, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn what_is_not_there() {
    for (path, family) in [
        ("/api", Family::Own),
        ("/api/tables/", Family::Own),
        ("/api/tables/a/", Family::Own),
        ("/api/tables/a/b", Family::Own),
        ("/api/kv/s", Family::Own),
        ("/favicon.ico", Family::Own),
        ("//", Family::Own),
        ("/api/recordsets", Family::Own),
        ("/api/cursors", Family::Own),
        ("/api/records/a/b/c", Family::Records),
        ("/api/records//1", Family::Records),
        ("/api/records/a//", Family::Records),
        ("/api/cache", Family::Records),
        ("/api/streams//tail", Family::Streams),
        ("/api/streams/a/b", Family::Streams),
        ("/v3/clusters/a/b", Family::ConfluentV3),
        ("/consumers", Family::ConfluentV2),
        ("/v0/other", Family::Own),
        ("/_db/any", Family::Own),
        ("/_apis", Family::Own),
        ("/api/export/a/b/c", Family::Exports),
    ] {
        match find(&Method::GET, path, "") {
            Found::Nothing(found) => assert_eq!(found, family, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

/// Writes the page `docs/routes.md`.
fn page() -> String {
    let mut page = String::from(
        "# Routes\n\n\
         Every path that the server answers, relative to `server.base_path`. Files of functions \
         and streams add the routes that\n\
         they declare. HEAD is answered wherever GET is \
         (but at `/auth/callback`), and OPTIONS everywhere. The paths of Confluent, Tinybird and functions\n\
         exist when a stream or a function is configured.\n\n\
         The column *does* tells what [pages of other sites](security.md) may do: a \
         site that the settings do not name may\n\
         request what *reads*, may link to what *runs*, and is refused what *asks* for work or *changes* something.\n",
    );
    let titles = [
        (Family::Own, "Salver's own"),
        (Family::Records, "Records"),
        (Family::Exports, "Exports"),
        (Family::Streams, "Streams"),
        (Family::Functions, "Functions"),
        (Family::ArangoDb, "Cursors, as ArangoDB has them"),
        (Family::ConfluentV2, "Confluent's REST Proxy, v2"),
        (Family::ConfluentV3, "Confluent's REST Proxy, v3"),
    ];
    for (family, title) in titles {
        write!(page, "\n## {title}\n\n| method | path | does | what |\n|---|---|---|---|\n").unwrap();
        for row in rows() {
            let own = row.target_of_any().family();
            if own != family && !(own == Family::Tinybird && family == Family::Streams) {
                continue;
            }
            let methods = match row.methods.has(Methods::ANY) {
                true => "any".to_owned(),
                false => row.methods.list().replace(", OPTIONS", "").replace("GET, HEAD", "GET"),
            };
            let when = match row.when {
                When::Parameter(name) => format!("?{name}="),
                _ => String::new(),
            };
            let paths: Vec<String> = row
                .paths
                .iter()
                .filter(|path| path.len() < 2 || !path.ends_with('/'))
                .map(|path| format!("`{path}{when}`"))
                .collect();
            let does = format!("{:?}", row.does).to_lowercase();
            writeln!(page, "| {methods} | {} | {does} | {} |", paths.join(", "), row.summary).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_table_says() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(file, page()).unwrap();
    }
    let told = std::fs::read_to_string(file).unwrap_or_default();
    assert!(told == page(), "docs/routes.md is stale; run this test with `UPDATE=1`");
}
