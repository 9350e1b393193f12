//! psql, with the statements behind its commands.

use std::process::Command;

use super::server;

/// Runs psql with these commands; what it prints, and whether it was satisfied.
fn psql(address: &str, commands: &[&str]) -> Option<(String, bool)> {
    let (host, port) = address.rsplit_once(':').expect("a port");
    let mut program = Command::new("psql");
    program.args([
        "-X",
        "-q",
        "-A",
        "-t",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        host,
        "-p",
        port,
        "-U",
        "ann",
        "-d",
        "salver",
    ]);
    commands.iter().for_each(|command| {
        program.args(["-c", command]);
    });
    let done = program.output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&done.stdout) + &text(&done.stderr), done.status.success()))
}

#[test]
fn lists_tables_and_columns() {
    let server = server("");
    let Some((said, is_well)) = psql(server.postgres(), &["\\d", "\\dt", "\\l", "\\dn", "\\du"]) else { return };
    assert!(is_well, "{said}");
    for line in ["public|people|table|salver", "public|types|table|salver", "public|salver"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let (said, is_well) = psql(server.postgres(), &["\\d types", "\\d+ people", "\\df", "\\dv", "\\di"]).unwrap();
    assert!(is_well, "{said}");
    for line in ["id|integer", "truth|boolean", "huge|numeric", "exact|numeric(12,2)", "words|text[]", "born|date"] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn reads_rows_and_says_what_is_wrong() {
    let server = server("");
    let rows = "select id, name, born from people order by id";
    let Some((said, is_well)) = psql(server.postgres(), &[rows, "begin; select 1; commit", "show server_version"])
    else {
        return;
    };
    assert!(is_well, "{said}");
    assert_eq!(said, "1|Ann|1980-02-03\n2|Ben|1995-12-31\n3||\n1\n15.18\n");
    for (statement, wanted) in [
        ("select nope from people", "ERROR:"),
        ("insert into people values (4)", "only reads"),
        ("select * from nope", "no table `nope`"),
        ("select 1 / 0", "ERROR:"),
    ] {
        let (said, is_well) = psql(server.postgres(), &[statement]).unwrap();
        assert!(!is_well && said.contains(wanted), "{statement}: {said}");
    }
    // The place of an error is that in the statement.
    let (said, _) = psql(server.postgres(), &["select id, nope from people"]).unwrap();
    assert!(said.contains("LINE 1: select id, nope from people") && said.contains('^'), "{said}");
}
