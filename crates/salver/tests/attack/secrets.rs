//! What answers, logs and child processes must not tell.

#[cfg(feature = "functions")]
mod told;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::siege::ticks;
use crate::server::{Answer, Server};

/// What every answer says to browsers.
const CAUTION: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
const CODE: &[u8] = br#"
import os

def surroundings() -> list:
    return sorted(os.environ)

def value(name: str) -> str:
    return os.environ.get(name, "")

def descriptors() -> list:
    own = "/proc/self/fd"
    out = []
    for number in os.listdir(own):
        try:
            out.append(os.readlink(own + "/" + number))
        except OSError:
            pass
    return out
"#;
const PAGE: &[u8] = b"#* @get /page\ndef page():\n    return '<script>1</script>'\n";

/// A process of the program in a directory of its own, with what it says on both sides.
pub(super) struct Program {
    child: Child,
    pub(super) address: String,
    log: Option<std::thread::JoinHandle<String>>,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    pub(super) fn serve(directory: &Path, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.arg("serve").args(arguments).arg(directory).stdout(Stdio::piped()).stderr(Stdio::piped());
        change(&mut command);
        Self::started(command)
    }

    fn started(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the server starts");
        let log = child.stderr.take().map(|mut errors| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = errors.read_to_string(&mut text);
                text
            })
        });
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = loop {
            let line = lines.next().expect("it says where it listens").expect("text");
            if let Some((_, address)) = line.split_once("http://") {
                break address.trim().to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, log }
    }

    /// Ends it, and gives its log, which is written whole before.
    pub(super) fn end(mut self) -> String {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        let _ = self.child.wait();
        self.log.take().map(|log| log.join().expect("its log")).unwrap_or_default()
    }
}

fn assert_cautious(answer: &Answer, target: &str) {
    let is_page = answer.header("content-type").is_some_and(|media_type| media_type.starts_with("text/html"));
    for (name, expected) in CAUTION.into_iter().filter(|(name, _)| is_page || *name == "x-content-type-options") {
        assert_eq!(answer.header(name), Some(expected), "{target}: {answer:?}");
    }
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert!(
        policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
        "{target}: {policy}"
    );
    assert!(!policy.contains("script-src 'unsafe"), "{target}: {policy}");
}

#[cfg(feature = "functions")]
#[test]
fn every_answer_tells_browsers_to_be_careful() {
    let rows: String = (0..20_000).map(|n| format!("{n},<script>alert({n})</script>\n")).collect();
    let large = format!("id,name\n{rows}");
    let toml = "[[stream]]\nname = \"clicks\"\n[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\n\
        init = \"shop.sql\"\nwritable = true\n[[function]]\nfile = \"code.py\"\n";
    let files: &[(&str, &[u8])] = &[
        ("large.csv", large.as_bytes()),
        ("small.csv", b"id,name\n1,<img src=x onerror=alert(1)>\n"),
        ("shop.sql", b"create table goods (id integer primary key, name text);"),
        ("code.py", PAGE),
    ];
    let server = Server::with(toml, files);
    server.until(|server| server.get("/page").status == 200 && server.get("/api/tables/goods").status == 200);
    for target in [
        "/",
        "/health",
        "/ready",
        "/nothing",
        "/api/version",
        "/api/schema",
        "/api/tables/small",
        "/api/tables/small",
        "/api/tables/small.csv",
        "/api/tables/small.html",
        "/api/tables/large.html",
        "/api/tables/large",
        "/api/tables/none",
        "/api/tables/small?nonsense=1",
        "/api/sql?q=select%201",
        "/api/sql?q=selec",
        "/api/graphql?query=%7B__typename%7D",
        "/api/graphql/start.js",
        "/api/records/goods",
        "/api/records/goods/1",
        "/api/records/none",
        "/openapi.json",
        "/api/openapi",
        "/api/functions",
        "/api/jobs/1",
        "/api/export/small.csv",
        "/api/export/small.parquet",
        "/api/streams/clicks",
        "/api/streams/clicks/events",
        "/topics",
        "/_api/version",
        "/_api/else",
    ] {
        assert_cautious(&server.get(target), target);
        assert_cautious(&server.ask("HEAD", target, &[], b""), target);
        assert_cautious(&server.ask("OPTIONS", target, &[], b""), target);
        assert_cautious(&server.get_with(target, &[("accept", "text/html")]), target);
        let foreign = server.ask("POST", target, &[("origin", "http://evil.example")], b"x");
        assert_cautious(&foreign, target);
    }
    assert_cautious(&server.post_json("/api/streams/clicks", "{\"a\":1}"), "an append at once");
    assert_cautious(&server.post_json("/api/streams/clicks?ack=memory", "{\"a\":1}"), "an append to memory");
    assert_cautious(&server.post_json("/api/records/goods", "{\"name\":\"a\"}"), "a write");
    assert_cautious(&server.get("/api/records/goods/1"), "a record at once");
    let tag = server.get("/api/tables/small").header("etag").expect("a tag").to_owned();
    let unchanged = server.get_with("/api/tables/small", &[("if-none-match", &tag)]);
    assert_eq!(unchanged.status, 304);
    assert_cautious(&unchanged, "304");
    // Pages: rows are text, and GraphiQL runs the scripts beside it only.
    let page = server.get("/api/tables/small.html");
    assert!(page.text().contains("&lt;img") && !page.text().contains("<img"), "{}", page.text());
    let index = server.get("/plain");
    assert!(index.text().contains("&lt;img") && !index.text().contains("<img"), "{}", index.text());
    let editor = server.get_with("/api/graphql", &[("accept", "text/html")]);
    assert!(editor.header("content-security-policy").is_some_and(|policy| policy.contains("script-src 'self'")));
    // What user code answers may have scripts, and is not framed by others.
    let own = server.get("/page");
    assert_eq!(own.header("content-security-policy"), Some("frame-ancestors 'self'"));
    assert_eq!(own.header("x-content-type-options"), Some("nosniff"));
}

#[cfg(feature = "functions")]
#[test]
fn no_answer_tells_where_files_are() {
    let server = told::broken();
    let directory = server.directory().to_str().unwrap().to_owned();
    let real = server.directory().canonicalize().unwrap().to_str().unwrap().to_owned();
    let mut answers = 0;
    for (method, target, body) in told::requests() {
        let headers: &[(&str, &str)] =
            if body.starts_with('{') { &[("content-type", "application/json")] } else { &[] };
        for accept in ["application/json", "text/html"] {
            let mut headers = headers.to_vec();
            headers.push(("accept", accept));
            let answer = server.ask(method, &target, &headers, body.as_bytes());
            assert!(answer.status > 0, "{method} {target}");
            let text = String::from_utf8_lossy(&answer.body);
            for path in [&directory, &real] {
                for path in [path.as_str(), path.trim_start_matches('/')] {
                    assert!(!text.contains(path), "{method} {target} ({body}) tells a path: {text}");
                }
            }
            assert!(!text.contains("/site-packages") && !text.contains("File \"/"), "{method} {target}: {text}");
            let inner = ["panicked at", "stack backtrace", ".rs:"].iter().find(|part| text.contains(**part));
            assert_eq!(inner, None, "{method} {target}: {text}");
            assert!(answer.header("server").or(answer.header("x-powered-by")).is_none(), "{target}: {answer:?}");
            answers += 1;
        }
    }
    assert!(answers > 100);
    let ready = server.get("/ready").json();
    assert_eq!(ready["entries"]["bad_json"]["state"], "failed", "{ready}");
    assert_eq!(ready["entries"]["good"]["source"], "good.csv (CSV), in memory", "{ready}");
    assert!(ready["entries"]["bad_json"]["message"].as_str().unwrap().contains("bad_json.json"), "{ready}");
}

/// Every secret of [`SECRETIVE`].
const SECRETS: [&str; 11] = [
    "pw-of-postgres",
    "pw/of@mysql",
    "pw%2Fof%40mysql",
    "token-of-source",
    "userinfo-of-source",
    "header-of-source",
    "key-of-programs-16",
    "pw-of-kafka",
    "misspelt-secret",
    "key-of-nobody",
    "env-of-function",
];

/// Settings with a secret wherever one may stand.
const SECRETIVE: &str = r#"
[server]
listen = "127.0.0.1:0"
log = "trace"
access_log = true
[auth]
mode = "optional"
api_keys = ["ann:key-of-programs-16"]
[[dataset]]
name = "far"
source = "http://ann:userinfo-of-source@127.0.0.1:1/a.csv?token=token-of-source"
headers = { Authorization = "header-of-source" }
[[database]]
name = "pg"
url = "postgres://ann:pw-of-postgres@127.0.0.1:1/x"
[[database]]
name = "my"
url = "mysql://ann:pw%2Fof%40mysql@127.0.0.1:1/x"
[[stream]]
name = "clicks"
sink = "kafka"
brokers = ["127.0.0.1:1"]
kafka = { "sasl.password" = "pw-of-kafka", "sasl.username" = "ann", "security.protocol" = "SASL_PLAINTEXT", "sasl.mechanism" = "PLAIN" }
[[stream]]
name = "misspelt"
sink = "kafka"
brokers = ["127.0.0.1:1"]
kafka = { "sasl.pasword" = "misspelt-secret" }
[[stream]]
name = "unsupported"
sink = "kafka"
brokers = ["127.0.0.1:1"]
kafka = { "ssl.key.password" = "key-of-nobody" }
[[function]]
file = "code.py"
environment = { API_TOKEN = "env-of-function" }
"#;

#[cfg(all(feature = "functions", feature = "kafka", feature = "mysql", feature = "postgres"))]
#[test]
fn passwords_are_told_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("salver.toml"), SECRETIVE).unwrap();
    std::fs::write(directory.path().join("code.py"), CODE).unwrap();
    std::fs::write(directory.path().join("good.csv"), "id\n1\n").unwrap();
    let assert_discreet = |what: &str, text: &str| {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{what} tells `{secret}`: {text}");
        }
    };
    let program = |arguments: &[&str]| {
        let told = Command::new(env!("CARGO_BIN_EXE_salver")).args(arguments).arg(directory.path()).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr))
    };
    let shown = program(&["config", "show"]);
    // Whose settings they are sees what stands under a name that is none.
    assert_discreet("config show", &shown.replace("misspelt-secret", ""));
    for expected in ["postgres://ann:***@127.0.0.1:1/x", "mysql://ann:***@", "Authorization\" = \"***\"", "token=***"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_discreet("check", &program(&["check"]));
    let server = Program::serve(directory.path(), &[], |_| {});
    let ask = |target: &str| {
        let told =
            Command::new("curl").args(["-s", "-m", "60", &format!("http://{}{target}", server.address)]).output();
        String::from_utf8_lossy(&told.unwrap().stdout).into_owned()
    };
    for target in [
        "/ready",
        "/",
        "/api/schema",
        "/api/tables/far",
        "/api/records/any",
        "/api/functions",
        "/openapi.json",
        "/api/openapi",
        "/api/streams",
        "/api/streams/misspelt",
        "/api/streams/unsupported",
    ] {
        assert_discreet(target, &ask(target));
    }
    let log = server.end();
    assert!(log.contains("far"), "it logs: {log}");
    assert_discreet("the log", &log);
}

#[cfg(feature = "functions")]
#[test]
fn workers_have_no_settings_and_no_descriptors_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let toml = "[[function]]\nfile = \"code.py\"\ninherit_environment = [\"MODEL_*\"]\nenvironment = { OWN = \"x\" }\n\
        [[function]]\nfile = \"more.R\"\n[[stream]]\nname = \"clicks\"\n[[database]]\nname = \"shop\"\n\
        url = \"sqlite:shop.db\"\ninit = \"shop.sql\"\n";
    for (name, text) in [
        ("salver.toml", toml.as_bytes()),
        ("code.py", CODE),
        ("more.R", b"surroundings <- function() names(Sys.getenv())\n"),
        ("shop.sql", b"create table goods (id integer primary key);"),
        ("rows.csv", b"id\n1\n"),
    ] {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let secrets = [
        ("SALVER_AUTH_API_KEYS", "a-key-of-sixteen-or-more"),
        ("SALVER_AUTH_MODE", "optional"),
        ("DATABASE_URL", "postgres://ann:s3cret@db/x"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("MODEL_DIR", "/models"),
    ];
    // A descriptor that does not close itself, as a shell may leave one.
    let script = "exec 9</etc/passwd; exec \"$0\" \"$@\"";
    let server = {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_salver"), "serve", "--listen", "127.0.0.1:0"]);
        command.arg(directory.path()).envs(secrets).stdout(Stdio::piped()).stderr(Stdio::inherit());
        Program::started(command)
    };
    let call = |path: &str, body: &str| {
        let url = format!("http://{}/api/functions/{path}", server.address);
        loop {
            let told = Command::new("curl").args(["-s", "-m", "60", "-X", "POST", &url, "-d", body]).output().unwrap();
            let text = String::from_utf8_lossy(&told.stdout).into_owned();
            if !text.contains("entry_unavailable") {
                return text;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    };
    for file in ["code", "more"] {
        let names: Vec<String> = serde_json::from_str(&call(&format!("{file}/surroundings"), "{}")).expect("names");
        let has = |name: &str| names.iter().any(|own| own == name);
        assert!(has("PATH"), "{file}: {names:?}");
        for name in ["SALVER_AUTH_API_KEYS", "SALVER_AUTH_MODE", "DATABASE_URL", "AWS_SECRET_ACCESS_KEY"] {
            assert!(!has(name), "{file}: {names:?}");
        }
        assert_eq!(has("MODEL_DIR"), file == "code", "{file}: {names:?}");
        assert_eq!(has("OWN"), file == "code", "{file}: {names:?}");
    }
    assert_eq!(call("code/value", "{\"name\":\"MODEL_DIR\"}"), "\"/models\"");
    let open = call("code/descriptors", "{}");
    let there: Vec<String> = serde_json::from_str(&open).expect("descriptors");
    let root = directory.path().to_str().unwrap();
    for file in &there {
        assert!(!file.starts_with(root) && file != "/etc/passwd", "{file} is open in a worker: {there:?}");
    }
    server.end();
}

#[test]
fn what_the_server_writes_is_for_nobody_else() {
    let toml = "[server]\ndata_dir = \"state\"\n[[stream]]\nname = \"clicks\"\n[[stream]]\nname = \"old\"\n\
        schema = \"{\\\"required\\\":[\\\"a\\\"]}\"\n";
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("salver.toml"), toml).unwrap();
    std::fs::write(directory.path().join("rows.csv"), "id\n1\n").unwrap();
    let script = "umask 000; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_salver"), "serve", "--listen", "127.0.0.1:0"]);
    command.arg(directory.path()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let server = Program::started(command);
    let post = |path: &str, body: &str| {
        let url = format!("http://{}{path}", server.address);
        let media = "content-type: application/json";
        let told = Command::new("curl").args(["-s", "-m", "60", "-H", media, &url, "-d", body]).output().unwrap();
        String::from_utf8_lossy(&told.stdout).into_owned()
    };
    for _ in 0..3 {
        post("/api/streams/clicks", "[{\"a\":1},{\"a\":2}]");
        post("/api/streams/old", "[{\"a\":1},{\"b\":2}]");
    }
    post("/api/streams/clicks/groups/g/commit", "{\"offset\":2}");
    let mut left = vec![directory.path().join("state")];
    let mut files = 0;
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        // What is in a directory that nobody else may enter is private.
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("salver-run-")) {
            assert_eq!(mode, 0o700, "{}", path.display());
        } else if metadata.is_dir() {
            left.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert!(files > 3, "{files} files");
    server.end();
}

#[test]
fn a_server_that_is_open_to_others_is_meant_to_be() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("rows.csv"), "id\n1\n").unwrap();
    let log = |arguments: &[&str], settings: &[(&str, &str)]| {
        let program = Program::serve(directory.path(), arguments, |command| {
            command.envs(settings.iter().copied());
        });
        // Written before requests are answered.
        let told = Command::new("curl").args(["-s", &format!("http://{}/health", program.address)]).output();
        assert_eq!(told.unwrap().stdout, b"OK");
        program.end()
    };
    let refused = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["serve", "--listen", "0.0.0.0:0"])
        .arg(directory.path())
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
    assert!(why.contains("[auth]") && why.contains("server.firewall") && why.contains("--insecure"), "{why}");
    let open = log(&["--listen", "0.0.0.0:0", "--insecure"], &[]);
    assert!(open.contains("is let in"), "{open}");
    for (listen, settings) in [
        ("127.0.0.1:0", &[][..]),
        ("0.0.0.0:0", &[("SALVER_SERVER_FIREWALL", "127.0.0.1")]),
        ("0.0.0.0:0", &[("SALVER_AUTH_API_KEYS", "a-key-of-sixteen-or-more"), ("SALVER_AUTH_MODE", "optional")]),
    ] {
        let quiet = log(&["--listen", listen], settings);
        assert!(!quiet.contains("let in"), "{listen}: {quiet}");
    }
}

#[test]
fn a_wrong_password_takes_as_long_as_a_wrong_name() {
    // Of `right`, by a cost of 12, which takes four times what hashes of our own do.
    const HASH: &str = "$2y$12$iWN5xRwDE7i9R5jVJvCyqOxS1CNnwUggQaF8O2W9Bg8TuXQz.ngrS";
    let toml = format!(
        "[auth]\nmode = \"optional\"\ndatabase = \"shop\"\nattempts_max = 1000\nbasic_users = [\"ann:{HASH}\"]\n\
         [[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\nwritable = true\n"
    );
    let sql = format!(
        "create table users (id integer primary key, username text, password text);\
         insert into users (username, password) values ('ann', '{HASH}');"
    );
    let server = Server::with(&toml, &[("shop.sql", sql.as_bytes())]);
    let work = |ask: &dyn Fn()| {
        let before = ticks(server.pid());
        (0..8).for_each(|_| ask());
        ticks(server.pid()) - before
    };
    let login = |name: &str| {
        let body = format!("{{\"username\":\"{name}\",\"password\":\"wrong\"}}");
        let answer = server.post_json("/api/login", &body);
        assert_eq!(answer.status, 403, "{answer:?}");
    };
    // Basic: `ann:wrong` and `bob:wrong`.
    let basic = |credentials: &str| {
        let answer = server.get_with("/api/schema", &[("authorization", credentials)]);
        assert_eq!(answer.status, 401, "{answer:?}");
    };
    let (nobody, there) = (work(&|| login("bob")), work(&|| login("ann")));
    assert!(nobody * 2 > there && there * 2 > nobody, "login: {nobody} ticks for nobody, {there} for a user");
    let (nobody, there) = (work(&|| basic("Basic Ym9iOndyb25n")), work(&|| basic("Basic YW5uOndyb25n")));
    assert!(nobody * 2 > there && there * 2 > nobody, "basic: {nobody} ticks for nobody, {there} for a user");
}
