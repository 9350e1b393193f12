//! ArangoDB's own drivers, from PyPI and npm, where the setup of the tests could install them.

use std::process::Command;

use super::super::node;
use super::super::server::Server;
use super::numbers;

/// A user `ann` whose password is `pw`.
const USERS: &[u8] = b"ann:$2b$05$tYmmr/4AJAVAHBEquHM7muJTaVZbwkq.kQEoFtIWggTsHMCzWeJfC\n";

/// What a program does with python-arango 8: it fails by raising.
const PYTHON: &str = r#"
import sys
from arango import ArangoClient
from arango.exceptions import ArangoServerError, ArangoClientError
url, mode = sys.argv[1:]
how = {} if mode == "none" else dict(username="ann", password="pw", auth_method=mode)
db = ArangoClient(hosts=url).db("_system", verify=True, **how)
assert db.version() and db.has_collection("long") and not db.has_collection("nope")
assert [c["name"] for c in db.collections()] == ["long"] and db.has_database("_system")
long = db.collection("long")
assert long.count() == 2500 and long.properties()["name"] == "long" and long.revision()
assert [d["n"] for d in long.all()] == list(range(2500))
assert [d["n"] for d in long.all(skip=10, limit=2)] == [10, 11]
cursor = db.aql.execute("for d in long sort d.n desc return d.n", batch_size=1000, count=True, allow_retry=True)
assert cursor.count() == 2500 and list(cursor) == list(range(2499, -1, -1))
found = db.aql.execute("for d in @@c filter d.label == @l return d", bind_vars={"@c": "long", "l": "label 7"})
assert list(found) == [{"n": 7, "label": "label 7"}]
cursor = db.aql.execute("for d in long return d.n", batch_size=10)
assert cursor.has_more() and len(cursor.batch()) == 10 and cursor.close()
for wrong in ["for d in", "for d in nope return d"]:
    try:
        db.aql.execute(wrong)
        raise SystemExit("no error: " + wrong)
    except ArangoServerError as error:
        assert error.http_code in (400, 404), error
if mode != "none":
    try:
        ArangoClient(hosts=url).db("_system", username="ann", password="no", auth_method=mode, verify=True)
        raise SystemExit("a wrong password is let in")
    except (ArangoServerError, ArangoClientError):
        pass
print("well")
"#;

/// The same with arangojs 10.
const NODE: &str = r#"
import assert from "node:assert";
import { Database, aql } from "arangojs";
const [url, mode] = process.argv.slice(1);
const auth = { username: "ann", password: "pw" };
const db = new Database(mode === "basic" ? { url, auth } : { url });
if (mode === "jwt") await db.login(auth.username, auth.password);
assert((await db.version()).version && await db.exists() && (await db.listDatabases()).includes("_system"));
assert((await db.engine()).name && (await db.time()) > 0 && (await db.availability()) === "readonly");
assert.deepStrictEqual((await db.collections()).map((c) => c.name), ["long"]);
const long = db.collection("long");
assert(await long.exists() && !(await db.collection("nope").exists()) && (await long.count()).count === 2500);
for (const options of [{}, { batchSize: 100 }, { batchSize: 1000, allowRetry: true, count: true }]) {
  const cursor = await db.query(aql`for d in ${long} sort d.n return d.n`, options);
  const all = await cursor.all();
  assert(all.length === 2500 && all[2499] === 2499 && (!options.count || cursor.count === 2500));
}
const some = await db.query(aql`for d in long filter d.label == ${"label 7"} return { n: d.n }`);
assert.deepStrictEqual(await some.all(), [{ n: 7 }]);
const begun = await db.query("for d in long return d", {}, { batchSize: 10 });
await begun.kill();
await assert.rejects(db.query("for d in"), (error) => error.errorNum === 1501);
await assert.rejects(db.query("for d in nope return d"), (error) => error.errorNum === 1203);
if (mode === "jwt") await assert.rejects(new Database({ url }).login("ann", "no"));
console.log("well");
"#;

/// Runs a program against a server without users, and in each of `ways` against one with users.
fn works(ways: &[&str], program: impl Fn(&str, &str) -> Command) {
    let long = numbers(0, 2_500);
    let open = Server::of(&[("long.csv", &long)]);
    let closed =
        Server::with("[auth]\nbasic_file = \"users.htpasswd\"\n", &[("long.csv", &long), ("users.htpasswd", USERS)]);
    for (server, way) in [(&open, "none")].into_iter().chain(ways.iter().map(|way| (&closed, *way))) {
        let done = program(&format!("http://{}", server.address()), way).output().expect("it is there");
        let said = String::from_utf8_lossy(&done.stdout);
        assert_eq!(said.trim(), "well", "{way}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn python_arango() {
    if !Command::new("python3").args(["-c", "import arango"]).output().is_ok_and(|done| done.status.success()) {
        return;
    }
    works(&["basic", "jwt"], |url, way| {
        let mut command = Command::new("python3");
        command.args(["-c", PYTHON, url, way]);
        command
    });
}

#[test]
fn arangojs() {
    let Some(home) = node::home("arangojs") else { return };
    works(&["basic", "jwt"], |url, way| {
        let mut command = Command::new("node");
        // Modules are looked for from the directory, where the program does not come from a file.
        command.args(["--input-type=module", "--eval", NODE, "--", url, way]).current_dir(&home);
        command
    });
}
