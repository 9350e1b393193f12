//! What cursors and transactions do, and when they end.

use super::{PEOPLE, WIRE, python};
use crate::it::server::Server;

/// Connects with the key.
const CONNECT: &str = r#"
import os, signal, sys, time, psycopg
host, port = sys.argv[1].rsplit(":", 1)
def connect():
    return psycopg.connect(host=host, port=port, user="x", password="a-long-random-text-for-this-test", dbname="x")
"#;

/// Rights that are taken while a cursor is open are taken from the cursor, too.
#[test]
fn an_open_cursor_ends_with_its_rights() {
    let auth = "[auth]\napi_keys = [\"team:a-long-random-text-for-this-test\"]\n";
    let rule = "[[access]]\nentries = [\"people\"]\npermissions = [\"read\", \"sql\"]\n";
    let server = Server::with(&format!("{WIRE}{auth}{rule}"), &[("people.csv", PEOPLE)]);
    let other = rule.replace("\"people\"", "\"nothing\"");
    let program = format!(
        r#"{CONNECT}
with connect() as c, connect() as watch:
    watch.autocommit = True
    c.execute("declare c cursor for select id from people order by id")
    assert c.execute("fetch 1 from c").fetchall() == [(1,)]
    with open(sys.argv[3], "w") as settings:
        settings.write(sys.argv[4])
    os.kill(int(sys.argv[2]), signal.SIGHUP)
    for turn in range(600):
        try:
            watch.execute("select * from people")
            time.sleep(0.05)
        except psycopg.Error:
            break
    else:
        raise SystemExit("the rule does not count")
    try:
        raise SystemExit(f"rows: {{c.execute('fetch 1 from c').fetchall()}}")
    except psycopg.Error as error:
        assert error.sqlstate == "24000", error
    c.rollback()
print("well")
"#
    );
    let settings = server.file("salver.toml");
    let arguments = [
        server.postgres(),
        &server.pid().to_string(),
        settings.to_str().expect("text"),
        &format!("{WIRE}{auth}{other}"),
    ];
    python("psycopg", &program, &arguments);
}

/// Cursors at rest take no place of a query, however many there are.
#[test]
fn cursors_at_rest_stop_nobody() {
    let limits = "[limits]\nqueries_max = 2\nqueue_ms_max = 2000\n";
    let rows: String = (0..200_000).map(|id| format!("{id}\n")).collect();
    let files = [("many.csv", format!("id\n{rows}"))];
    let files = files.each_ref().map(|(name, content)| (*name, content.as_bytes()));
    let server = Server::with(&format!("{WIRE}{limits}"), &files);
    let program = format!(
        r#"{CONNECT}
with connect() as c, connect() as other:
    for turn in range(8):
        c.execute(f"declare c{{turn}} cursor for select * from many")
    assert other.execute("select count(*) from (select distinct id % 7 from many)").fetchone() == (7,)
    assert len(c.execute("fetch all from c7").fetchall()) == 200000
print("well")
"#
    );
    python("psycopg", &program, &[server.postgres()]);
}

#[test]
fn savepoints_have_names() {
    let server = Server::with(WIRE, &[("people.csv", PEOPLE)]);
    let program = format!(
        r#"{CONNECT}
def refused(state, statement):
    try:
        c.execute(statement)
    except psycopg.Error as error:
        assert error.sqlstate == state, (statement, error.sqlstate)
        return
    raise SystemExit("let through: " + statement)
with connect() as c:
    with c.transaction():
        with c.transaction():
            c.execute("select 1")
    c.execute("savepoint a")
    refused("3B001", "rollback to b")
    refused("25P02", "select 1")
    c.execute("rollback to savepoint a")
    assert c.execute("select 1").fetchone() == (1,)
    c.execute("release a")
    c.execute("declare c cursor for select id from people order by id")
    refused("55000", "fetch prior from c")
    c.rollback()
    c.autocommit = True
    refused("25P01", "savepoint a")
    for statement in ["set role bob", "set session authorization bob"]:
        refused("0A000", statement)
    c.execute("set role none")
    refused("25006", "listen news")
print("well")
"#
    );
    python("psycopg", &program, &[server.postgres()]);
}
