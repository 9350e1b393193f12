//! The console: the same page and files for everybody, and never in the way of programs.

#[cfg(feature = "functions")]
mod walk;

use super::server::Server;

/// What browsers send.
const BROWSER: [(&str, &str); 1] = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
const PEOPLE: (&str, &[u8]) = ("people.csv", b"id,name\n1,Ann\n");

/// The paths of files that a page names.
fn named(page: &str) -> Vec<String> {
    let parts = page.split('"').filter(|part| part.starts_with("console/assets/"));
    parts.map(|part| format!("/{part}")).collect()
}

#[test]
fn browsers_get_the_page_and_programs_the_index() {
    let server = Server::of(&[PEOPLE]);
    let page = server.get_with("/", &BROWSER);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<base href=\"/\" />"), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("script-src 'self'") && policy.contains("base-uri 'self'"), "{policy}");
    for path in ["/console", "/console/", "/console/docs"] {
        assert_eq!(server.get_with(path, &BROWSER).text(), page.text(), "{path}");
    }
    // Only where browsers without scripts go on is another.
    assert!(
        page.text().contains("<noscript><meta http-equiv=\"refresh\" content=\"0; url=/plain\""),
        "{}",
        page.text()
    );
    for path in ["/console/entry/people?sort=-id&tab=rows", "/console/entry/people/row/1?sort=-id"] {
        let (shown, plain) = (server.get_with(path, &BROWSER), "/api/tables/people");
        let plain = if path.contains("row/") { plain.to_owned() } else { format!("{plain}?sort=-id") };
        let without = shown.text().replace(&format!("url={plain}\""), "url=/plain\"");
        assert_eq!(without, page.text(), "{path}");
        let rows = server.get_with(&plain, &BROWSER);
        assert!(rows.header("content-type").is_some_and(|media| media.starts_with("text/html")), "{plain}");
        assert!(rows.text().contains("Ann"), "{}", rows.text());
    }
    for accept in ["application/json", "*/*", "application/json, text/html;q=0.5"] {
        let index = server.get_with("/", &[("accept", accept)]);
        assert!(index.text().starts_with("{\"salver\""), "{accept}: {}", index.text());
    }
    assert!(server.get("/").text().starts_with("{\"salver\""));
    let plain = server.get_with("/plain", &BROWSER);
    assert!(plain.text().contains("people") && plain.text().contains("Ann"), "{}", plain.text());
}

#[test]
fn files_are_kept_for_good() {
    let server = Server::of(&[PEOPLE]);
    let page = server.get_with("/", &BROWSER);
    let files = named(page.text());
    assert!(files.len() >= 2, "{files:?}");
    for path in files {
        let file = server.get(&path);
        assert_eq!(file.status, 200, "{path}");
        assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"));
        let packed = server.get_with(&path, &[("accept-encoding", "gzip")]);
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
        assert!(packed.body.len() < file.body.len());
    }
    assert_eq!(server.get("/console/assets/none.js").status, 404);
    assert_eq!(server.get("/console/assets/index.html").status, 404);
}

#[test]
fn the_index_says_where_to_ask_for_what_is_there() {
    let doors = |server: &Server, headers: &[(&str, &str)]| {
        let index = server.get_with("/", headers);
        assert_eq!(index.status, 200);
        let index: serde_json::Value = serde_json::from_str(index.text()).unwrap();
        index["doors"].clone()
    };
    let open = Server::of(&[PEOPLE]);
    let none = doors(&open, &[]);
    assert!(none["rest"].is_string() && none.get("functions").is_none() && none.get("me").is_none(), "{none}");
    // Keys have no log-in that a browser could ask for.
    let key = "a-long-random-text-for-this-test";
    let keys = Server::with(&format!("[auth]\napi_keys = [\"team:{key}\"]\n"), &[PEOPLE]);
    let none = doors(&keys, &[("x-api-key", key)]);
    assert!(none.get("me").is_none(), "{none}");
}

#[test]
fn the_index_says_who_asks_and_how_one_may_be_known() {
    let told = |server: &Server, headers: &[(&str, &str)]| {
        let index = server.get_with("/", headers);
        assert_eq!(index.status, 200);
        (index.json()["auth"].clone(), index.json()["caller"].clone())
    };
    let null = serde_json::Value::Null;
    let open = Server::of(&[PEOPLE]);
    assert_eq!(told(&open, &[]), (null.clone(), null.clone()));
    // Nor does one that asks nobody take anybody's word.
    assert_eq!(told(&open, &[("authorization", "Bearer team")]), (null.clone(), null.clone()));
    let key = "a-long-random-text-for-this-test";
    let hash = "$2y$05$YOwDoneWtfzQbDc725Io8uEgTWUu7UUPiNY/.S1k3N5I8k7WSR2my";
    let toml = format!("[auth]\nmode = \"optional\"\napi_keys = [\"team:{key}\"]\nbasic_users = [\"ann:{hash}\"]\n");
    let known = Server::with(&toml, &[PEOPLE]);
    let methods = serde_json::json!(["api_key", "basic"]);
    assert_eq!(told(&known, &[]), (methods.clone(), null));
    assert_eq!(told(&known, &[("x-api-key", key)]), (methods, "api_key:team".into()));
    // It is another one for each caller.
    assert_eq!(known.get("/").header("cache-control"), Some("no-store"));
}

#[test]
fn the_page_is_open_and_what_it_asks_is_not() {
    let toml = "[server]\nbase_path = \"/data\"\n[auth]\napi_keys = [\"team:a-long-random-text-for-this-test\"]\n";
    let server = Server::with(toml, &[PEOPLE]);
    for path in ["/data/", "/data/console/entry/people"] {
        let page = server.get_with(path, &BROWSER);
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text().contains("<base href=\"/data/\" />"), "{}", page.text());
        // What is named in the address is told back, whether it is there or not.
        let other = server.get_with(&path.replace("people", "nothing"), &BROWSER);
        assert_eq!(page.text().replace("people", "nothing"), other.text());
        assert!(path.contains("people") || !page.text().contains("people"), "{}", page.text());
        for file in named(page.text()) {
            assert_eq!(server.get(&format!("/data{file}")).status, 200, "{file}");
        }
    }
    for path in ["/data/", "/data/plain", "/data/api/schema", "/data/api/tables/people"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    let both = server.get_with("/data/", &[("accept", "application/json, text/html")]);
    assert_eq!(both.status, 401, "a program that takes pages, too");
}
