//! Datasets from spreadsheets of Google: served, refreshed, and kept when Google refuses.

use std::process::Command;

use salver_testkit::google_sheets::{Cell, GoogleSheets, ID, Sheet};

use super::server::Server;

fn sheet(price: f64) -> Sheet {
    let text = |text| Some(Cell::Text(text));
    Sheet::new(
        0,
        "Prices",
        (0, 0),
        &[
            &[text("item"), text("price"), text("since")],
            &[text("mug"), Some(Cell::Number(price)), Some(Cell::Formatted(46_053.0, "DATE", "yyyy-mm-dd"))],
        ],
    )
}

fn rows(server: &Server) -> String {
    server.get("/api/tables/prices").text().to_owned()
}

#[test]
fn a_sheet_is_served_and_followed() {
    let google = GoogleSheets::start(vec![sheet(12.5)]);
    let toml = format!(
        "[[dataset]]\nname = \"prices\"\nsource = \"https://docs.google.com/spreadsheets/d/{ID}/edit#gid=0\"\n\
         key = \"item\"\nrefresh = \"100ms\"\nstore_endpoint = \"{}\"\nstore_credentials_file = \"account.json\"\n",
        google.address()
    );
    let server = Server::prepared(&toml, &[], |directory| {
        google.write_account(&directory.join("account.json")).unwrap();
    });
    let state = || server.get("/ready").json()["entries"]["prices"]["state"].as_str().unwrap_or_default().to_owned();
    let row = |price: &str| format!(r#"[{{"item":"mug","price":{price},"since":"2026-01-31"}}]"#);
    assert_eq!(rows(&server), row("12.5"), "{}", server.get("/ready").text());
    assert_eq!(server.get("/api/tables/account").status, 404, "the account's file is no dataset");
    google.change(|sheets| sheets[0] = sheet(13.5));
    server.until(|server| rows(server) == row("13.5"));
    // What was read stays, and `/ready` says what to do.
    google.share(false, false);
    server.until(|_| state() == "stale");
    assert_eq!(rows(&server), row("13.5"));
    let told = server.get("/ready").text().to_owned();
    assert!(told.contains("403 PERMISSION_DENIED") && told.contains(google.email()), "{told}");
    let everything: String =
        ["/ready", "/", "/api/schema", "/metrics"].iter().map(|target| server.get(target).text().to_owned()).collect();
    for secret in google.secrets() {
        assert!(!everything.contains(&secret), "{secret}");
    }
    google.change(|sheets| sheets[0] = sheet(14.5));
    google.share(true, false);
    server.until(|server| rows(server) == row("14.5"));
    server.until(|_| state() == "ready");
    assert_eq!(google.tokens(), 1);
}

/// Without settings, the account is the one that Google's own tools take; without any, nobody is asked.
#[test]
fn the_account_of_the_environment() {
    const VARIABLE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
    let google = GoogleSheets::start(vec![sheet(12.5)]);
    let directory = tempfile::tempdir().unwrap();
    let account = directory.path().join("account.json");
    google.write_account(&account).unwrap();
    let endpoint = google.address();
    let toml =
        format!("[[dataset]]\nname = \"prices\"\nsource = \"gsheets://{ID}\"\nstore_endpoint = \"{endpoint}\"\n");
    let program = || Command::new(env!("CARGO_BIN_EXE_salver"));
    let mut with = program();
    with.env(VARIABLE, &account);
    let server = Server::run_by(with, &toml, &[], |_| {});
    assert_eq!(rows(&server), r#"[{"item":"mug","price":12.5,"since":"2026-01-31"}]"#);
    assert!(!google.take_seen().is_empty());
    let mut without = program();
    without.env_remove(VARIABLE);
    let server = Server::run_by(without, &toml, &[], |_| {});
    let told = server.get("/ready").text().to_owned();
    assert!(told.contains("there are no credentials") && told.contains("store_credentials_file"), "{told}");
    assert!(google.take_seen().is_empty());
}
