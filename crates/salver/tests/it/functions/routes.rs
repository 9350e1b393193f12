//! The routes that files and streams declare, among each other and beside the server's own: which of them is found,
//! for whom, while a file is loaded, and after it was changed.

use std::path::Path;
use std::process::Command;

use super::super::served::{Served, until};
use super::super::server::{Answer, Server};
use super::serve;
use crate::client::Client;

const FIRST: &[u8] = br#"
#* @get /things/<n:int>
def number(n: int):
    return n + 1


#* @get /things/<name>
def named(name: str):
    return name


#* @post /things/new
def create():
    return "created"


#* @post /
def posted():
    return "posted"
"#;

const SECOND: &str = r#"
#* Makes a thing
#* @get /things/new
def new():
    return "new"


#* @get /café
def coffee():
    return "black"
"#;

#[test]
fn all_files_have_one_table() {
    let toml = "
        [[stream]]
        name = 'clicks'
        route = '/track'
        [[function]]
        file = 'first.py'
        [[function]]
        file = 'second.py'
    ";
    let server = serve(toml, &[("first.py", FIRST), ("second.py", SECOND.as_bytes())]);
    for (method, target, status, answer) in [
        ("GET", "/things/7", 200, "8"),
        ("GET", "/things/x", 200, "\"x\""),
        // A path without parameters comes before the patterns of an earlier file.
        ("GET", "/things/new", 200, "\"new\""),
        ("POST", "/things/new", 200, "\"created\""),
        ("GET", "/caf%C3%A9", 200, "\"black\""),
        ("POST", "/", 200, "\"posted\""),
    ] {
        let got = server.ask(method, target, &[], b"");
        assert_eq!((got.status, got.text()), (status, answer), "{method} {target}");
    }
    // The index is there, and all methods of a path are told, whoever declares them.
    assert_eq!(server.get("/").status, 200);
    for (target, allow) in [
        ("/", "GET, HEAD, POST, OPTIONS"),
        ("/things/new", "GET, HEAD, POST, OPTIONS"),
        ("/things/7", "GET, HEAD, OPTIONS"),
        ("/track", "POST, OPTIONS"),
    ] {
        for (method, status) in [("PUT", 405), ("OPTIONS", 204)] {
            let got = server.ask(method, target, &[], b"");
            assert_eq!((got.status, got.header("allow")), (status, Some(allow)), "{method} {target}");
        }
    }
    let missed = server.get("/thigns/new");
    assert_eq!(missed.status, 404);
    assert!(missed.text().contains("did you mean `/things/new`"), "{}", missed.text());
    let described = server.get("/api/functions.openapi.json").json();
    assert!(described["paths"]["/things/{n}"]["get"].is_object(), "{described}");
}

const RULES: &str = "
[auth]
mode = 'optional'
api_keys = ['in:0123456789abcdef-in']
[[role]]
name = 'insider'
callers = ['api_key:in']
[[access]]
roles = ['insider']
entries = ['inner']
permissions = ['call']
[[access]]
roles = ['insider']
entries = ['clicks']
permissions = ['append']
[[access]]
entries = ['outer']
permissions = ['call']
[[stream]]
name = 'clicks'
route = '/track'
[[function]]
file = 'inner.py'
[[function]]
file = 'outer.py'
";

const INNER: &[u8] = br#"
#* @post /kick
def kick():
    return "kicked"


#* @get /shared/<name>
def inner(name: str):
    return "inner"


#* @get /
def index():
    return "inner"
"#;

const OUTER: &[u8] = br#"
#* @get /shared/<name>
def outer(name: str):
    return "outer"
"#;

/// What of a refusal tells whether there is something.
fn told(answer: &Answer) -> (u16, Option<String>, Option<String>) {
    let header = |name| answer.header(name).map(str::to_owned);
    let json = (!answer.body.is_empty()).then(|| answer.json()["hint"].to_string());
    (answer.status, json, header("allow"))
}

#[test]
fn what_is_hidden_from_a_caller_is_not_there() {
    let server = serve(RULES, &[("inner.py", INNER), ("outer.py", OUTER)]);
    let key = [("x-api-key", "0123456789abcdef-in")];
    for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
        let nothing = told(&server.ask(method, "/nowhere", &[], b""));
        assert_eq!(nothing.0, 404, "{method}");
        for path in ["/kick", "/track"] {
            assert_eq!(told(&server.ask(method, path, &[], b"")), nothing, "{method} {path}");
        }
    }
    // What it hides from others is there for them, as if it was alone.
    assert_eq!(server.get("/shared/a").text(), "\"outer\"");
    assert_eq!(server.get_with("/shared/a", &key).text(), "\"inner\"");
    assert_ne!(server.get("/").text(), "\"inner\"");
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.get_with("/", &key).text(), "\"inner\"");
    let refused = server.ask("DELETE", "/kick", &key, b"");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("POST, OPTIONS")));
    let asked = server.ask("OPTIONS", "/kick", &key, b"");
    assert_eq!((asked.status, asked.header("allow")), (204, Some("POST, OPTIONS")));
    let stranger = [("x-api-key", "not-a-key-of-anybody")];
    for sent in [&[][..], &stranger[..]] {
        assert_eq!(server.ask("OPTIONS", "/kick", sent, b"").status, 404, "{sent:?}");
    }
    assert_eq!(server.ask("POST", "/kick", &key, b"").text(), "\"kicked\"");
}

#[test]
fn a_change_of_a_file_changes_its_routes_at_once() {
    let server = serve("", &[("functions/a.py", b"#* @get /old\ndef f():\n    return 1\n")]);
    assert_eq!(server.get("/old").text(), "1");
    std::fs::write(server.file("functions/a.py"), "#* @get /new\ndef f():\n    return 2\n").expect("a file");
    server.until(|server| server.get("/new").status == 200);
    assert_eq!((server.get("/new").text(), server.get("/old").status), ("2", 404));
}

#[test]
fn a_file_that_can_not_be_loaded_keeps_its_mount_point_only() {
    let toml = "
        [[function]]
        file = 'root.py'
        [[function]]
        file = 'mounted.py'
        path = '/mounted'
    ";
    let server = serve(toml, &[("root.py", b"def f(:\n"), ("mounted.py", b"def f(:\n")]);
    assert_eq!((server.get("/nothing").status, server.get("/mountedly").status), (404, 404));
    for target in ["/mounted", "/mounted/x"] {
        let got = server.get(target);
        assert_eq!((got.status, &got.json()["error"]), (503, &"entry_unavailable".into()), "{target}");
    }
}

/// Starts a server that need not become ready.
fn started(directory: &Path, files: &[(&str, &str)]) -> (Served, Client) {
    for (name, text) in files {
        std::fs::write(directory.join(name), text).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory);
    let served = Served::start(command);
    let address = served.place.trim_start_matches("http://").trim_end_matches('/').to_owned();
    (served, Client::new(&address))
}

#[test]
fn a_file_that_is_being_loaded_is_waited_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let go = directory.path().join("go");
    let code = |path: &str| {
        let wait = format!("while not os.path.exists({:?}):\n    time.sleep(0.01)\n", go.display().to_string());
        format!("import os\nimport time\n\n{wait}\n\n#* @get {path}\ndef f():\n    return 1\n")
    };
    let settings = "[[function]]\nfile = 'root.py'\n[[function]]\nfile = 'mounted.py'\npath = '/mounted'\n";
    let (root, mounted) = (code("/here"), code("/there"));
    let files = [("salver.toml", settings), ("root.py", root.as_str()), ("mounted.py", mounted.as_str())];
    let (_served, mut client) = started(directory.path(), &files);
    let mut get = |target: &str| client.send("GET", target, &[], None).expect("an answer");
    for target in ["/here", "/mounted", "/mounted/there", "/nowhere"] {
        let got = get(target);
        assert_eq!((got.status, got.header("retry-after")), (503, Some("1")), "{target}: {got:?}");
    }
    // The server's own paths are nobody's.
    for (target, status) in [("/", 200), ("/health", 200), ("/api/nothing", 404)] {
        assert_eq!(get(target).status, status, "{target}");
    }
    std::fs::write(&go, "").expect("a file");
    until("both are loaded", || get("/here").status == 200 && get("/mounted/there").status == 200);
    for target in ["/mounted", "/nowhere"] {
        assert_eq!(get(target).status, 404, "{target}");
    }
}

#[test]
fn routes_that_hide_one_another_are_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = "[[function]]\nfile = 'a.py'\n[[function]]\nfile = 'b.py'\n";
    let a = "#* @get /x/<n>\ndef f(n):\n    return 1\n";
    let b = "#* @get /x/<m:int>\ndef f(m):\n    return 2\n\n\n#* @get /health\ndef g():\n    return 3\n";
    let (served, mut client) = started(directory.path(), &[("salver.toml", settings), ("a.py", a), ("b.py", b)]);
    served.until_logged("can't be reached: `GET /x/<n>` of `a` (");
    served.until_logged("`GET /x/<m:int>` of `b` (");
    served.until_logged("`GET /health` of `b` (");
    let got = client.send("GET", "/x/7", &[], None).expect("an answer");
    assert_eq!((got.status, got.json()), (200, 1.into()));
}

#[test]
fn under_rules_a_route_is_hidden_from_those_who_see_the_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = |source: &'static [u8]| std::str::from_utf8(source).expect("a text");
    let settings = RULES.replace("[[stream]]\nname = 'clicks'\nroute = '/track'\n", "");
    let files = [("salver.toml", settings.as_str()), ("inner.py", text(INNER)), ("outer.py", text(OUTER))];
    let (served, _client) = started(directory.path(), &files);
    served
        .until_logged("its function `outer` can't be reached by callers who may know of `inner`: `GET /shared/<name>`");
}

#[test]
fn a_server_without_functions_declares_nothing() {
    let server = Server::with("[[stream]]\nname = 'clicks'\nroute = '/'\n", &[("a.csv", b"id\n1\n")]);
    assert_eq!(server.get("/").status, 200);
    assert_eq!(server.ask("PUT", "/", &[], b"").header("allow"), Some("GET, HEAD, POST, OPTIONS"));
    assert_eq!(server.post_json("/", "{\"a\":1}").status, 200);
    assert_eq!(server.get("/nowhere").status, 404);
}
