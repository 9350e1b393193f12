//! One file or database under two names: what is declared for a purpose of its own is served in no other way, whatever
//! it is called, and wherever it comes to lie.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use salver_testkit::servers::{Kind, database};

use crate::server::Server;

/// A hash of a password, as it stands in the table of users and in the file of `htpasswd`.
const HASH: &str = "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.";
/// What nobody may be told.
const SECRETS: [&str; 6] =
    [HASH, "a-key-of-a-user-1", "a-key-of-a-program-1", "hidden-by-a-dot", "code_of_its_own", "only_in_the_schema"];

/// A database of users and posts.
fn users() -> Vec<u8> {
    let made = database(
        Kind::Sqlite,
        &format!(
            "create table users (id integer primary key, username varchar(40) not null unique, \
             password varchar(255) not null, api_key varchar(255));\n\
             insert into users values (1, 'ann', '{HASH}', 'a-key-of-a-user-1');\n\
             create table posts (id integer primary key, title varchar(40));\ninsert into posts values (1, 'shown');\n"
        ),
    );
    fs::read(made.url().trim_start_matches("sqlite:")).expect("the database")
}

const TOML: &str = r#"
[auth]
mode = "optional"
database = "accounts"
api_keys = ["program:a-key-of-a-program-1"]
basic_file = "x/../users.csv"

[[database]]
name = "accounts"
url = "sqlite:./x/../app.db"
writable = true

[[stream]]
name = "events"
dir = "logs/events"
schema = "x/shape.json"

[[function]]
name = "mine"
file = "./functions/../functions/hooks.py"

[[dataset]]
name = "folder"
source = "folder"
refresh = "100ms"

[[dataset]]
name = "matched"
source = "folder/*.csv"
refresh = "100ms"

[[dataset]]
name = "taken"
source = "folder/*.db"
format = "csv"
refresh = "100ms"
"#;

/// Everything that a client can ask of every entry there is.
fn told(server: &Server) -> String {
    let mut told = String::new();
    let mut ask = |method: &str, target: &str, body: &str| {
        let answer = server.ask(method, target, &[], body.as_bytes());
        told.push_str(&format!("{method} {target}: {} {}\n", answer.status, String::from_utf8_lossy(&answer.body)));
        answer
    };
    let schema = ask("GET", "/api/schema", "").json();
    let names: Vec<String> = schema.as_object().expect("entries").keys().cloned().collect();
    for target in ["/", "/ready", "/openapi.json", "/api/openapi", "/api/columns", "/api/schema"] {
        ask("GET", target, "");
    }
    let guessed =
        ["users", "app", "app_users", "accounts", "copy", "hard", "link", "env", "hooks", "salver", "events_1"];
    for name in names.iter().map(String::as_str).chain(guessed) {
        for target in [
            format!("/api/tables/{name}.json?limit=100"),
            format!("/api/tables/{name}.csv"),
            format!("/api/export/{name}"),
            format!("/api/records/{name}"),
            format!("/api/geojson/{name}"),
            format!("/api/columns/{name}"),
            format!("/api/functions/{name}"),
        ] {
            ask("GET", &target, "");
        }
        ask("POST", "/api/sql", &format!("select * from \"{name}\""));
        ask("POST", "/api/graphql", &format!("{{ {name} {{ __typename }} }}"));
    }
    for text in ["select * from accounts.users", "select * from 'app.db'", "select * from \"folder/link.csv\""] {
        ask("POST", "/api/sql", text);
    }
    told
}

/// The schema of a stream is meant to be read, in the description of what is served; its file isn't served.
fn is_meant(line: &str, secret: &str) -> bool {
    secret == "only_in_the_schema" && line.starts_with("GET /openapi.json: 200 ")
}

fn assert_kept(told: &str) {
    for secret in SECRETS {
        let line = told.lines().find(|line| line.contains(secret) && !is_meant(line, secret));
        assert!(line.is_none(), "`{secret}` was told: {}", line.unwrap_or_default());
    }
}

/// Every other name that a file can get in a folder.
fn disguise(root: &Path) {
    let at = |name: &str| root.join(name);
    for dir in ["x", "functions", "other"] {
        fs::create_dir_all(at(dir)).expect("a directory");
    }
    for (target, name) in [
        ("app.db", "link.db"),
        ("app.db", "LINK.sqlite3"),
        ("users.csv", "people.csv"),
        ("salver.toml", "settings.csv"),
        (".env.csv", "env.csv"),
        ("x/shape.json", "shape_too.json"),
        ("functions/hooks.py", "code.csv"),
        ("functions", "other/functions"),
        ("x", "way"),
        ("functions/hooks.py", "functions/again.py"),
    ] {
        let target = if name.contains('/') { format!("../{target}") } else { target.to_owned() };
        symlink(target, at(name)).expect("a link");
    }
    for (file, name) in [("app.db", "hard.db"), ("users.csv", "hard.csv"), ("functions/hooks.py", "functions/hard.py")]
    {
        fs::hard_link(at(file), at(name)).expect("a link");
    }
    fs::copy(at("app.db"), at("copy.db")).expect("a copy");
}

fn files(database: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("app.db", database.to_vec()),
        ("users.csv", format!("ann:{HASH}\nben:{HASH}\n").into_bytes()),
        ("people_shown.csv", b"id,name\n1,shown\n".to_vec()),
        (".env.csv", b"id,name\n1,hidden-by-a-dot\n".to_vec()),
        (".hidden.db", database.to_vec()),
        ("x/shape.json", br#"{"type":"object","title":"only_in_the_schema"}"#.to_vec()),
        ("functions/hooks.py", b"def shown():\n    return 'code_of_' + 'its_own'[0:3]\n# code_of_its_own\n".to_vec()),
        ("functions/.#hooks.py", b"def hidden():\n    return 'code_of_its_own'\n".to_vec()),
        ("folder/a.csv", b"id,name\n1,first\n".to_vec()),
    ]
}

#[test]
fn nothing_is_served_twice() {
    let database = users();
    let files = files(&database);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    let server =
        Server::prepared(&TOML[..TOML.find("[[dataset]]\nname = \"taken\"").expect("there")], &files, disguise);
    let answers = told(&server);
    assert_kept(&answers);
    // What is not a secret is served, and what is declared once.
    for target in ["/api/tables/people_shown", "/api/tables/folder", "/api/tables/posts", "/api/records/posts"] {
        assert_eq!(server.get(target).status, 200, "{target}");
    }
    server.until(|server| server.get("/api/functions/mine").status == 200);
    for name in ["again", "hard", "hooks", ".%23hooks"] {
        assert_eq!(server.get(&format!("/api/functions/{name}")).status, 404, "{name}");
    }
    // Files that come later, in folders that are looked into again and again.
    let folder = server.file("folder");
    for (target, name) in
        [("../users.csv", "link.csv"), ("../app.db", "app.csv"), ("../salver.toml", "c.csv"), ("../.env.csv", "e.csv")]
    {
        symlink(target, folder.join(name)).expect("a link");
    }
    fs::hard_link(server.file("users.csv"), folder.join("hard.csv")).expect("a link");
    fs::write(folder.join("b.csv"), "id,name\n2,second\n").expect("a file");
    for entry in ["folder", "matched"] {
        server.until(|server| server.get(&format!("/api/tables/{entry}")).text().contains("second"));
    }
    assert_kept(&told(&server));
    // A file that was rows is one of the users now.
    fs::remove_file(folder.join("a.csv")).expect("it was there");
    symlink("../users.csv", folder.join("a.csv")).expect("a link");
    for entry in ["folder", "matched"] {
        server.until(|server| !server.get(&format!("/api/tables/{entry}")).text().contains("first"));
    }
    assert_kept(&told(&server));
}

/// The key of tokens is no entry, also where rows are kept in the data directory.
#[test]
fn the_key_is_no_entry() {
    let toml = "[server]\ndata_dir = \".\"\n[[dataset]]\nname = \"folder\"\nsource = \"folder\"\nrefresh = \"100ms\"\n";
    let server = Server::prepared(toml, &[("folder/a.csv", b"id,name\n1,first\n")], |_| {});
    let folder = server.file("folder");
    let key = fs::read_to_string(server.file("tokens.key")).expect("the key");
    fs::hard_link(server.file("tokens.key"), folder.join("b.csv")).expect("a link");
    symlink("../tokens.key", folder.join("c.csv")).expect("a link");
    fs::write(folder.join("d.csv"), "id,name\n2,second\n").expect("a file");
    server.until(|server| server.get("/api/tables/folder").text().contains("second"));
    for target in ["/api/tables/folder", "/ready", "/api/schema"] {
        let told = server.get(target);
        let text = told.text();
        assert!(!key.lines().any(|line| line.len() > 20 && text.contains(line)), "{target}: {text}");
        assert!(text.contains("folder") || text.contains("first"), "{target}: {text}");
    }
}

#[test]
fn what_was_declared_once_is_served_never() {
    let database = users();
    let files = files(&database);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    let kept = |root: &Path| fs::hard_link(root.join("users.csv"), root.join("kept.csv")).expect("a link");
    let toml = TOML[..TOML.find("[[dataset]]\nname = \"taken\"").expect("there")].to_owned();
    let server = Server::prepared(&toml, &files, kept);
    let folder = server.file("folder");
    let is_shown = |entry: &str, text: &str| server.get(&format!("/api/tables/{entry}")).text().contains(text);
    // The file of users is replaced: the one before it keeps its second name, and is moved where files are served.
    fs::write(server.file("new"), format!("ann:{HASH}\n")).expect("a file");
    fs::rename(server.file("new"), server.file("users.csv")).expect("moved");
    fs::rename(server.file("kept.csv"), folder.join("kept.csv")).expect("moved");
    fs::write(folder.join("b.csv"), "id,name\n2,second\n").expect("a file");
    server.until(|_| is_shown("folder", "second") && is_shown("matched", "second"));
    assert_kept(&told(&server));
    // The file of users itself is moved.
    fs::rename(server.file("users.csv"), folder.join("moved.csv")).expect("moved");
    fs::write(folder.join("c.csv"), "id,name\n3,third\n").expect("a file");
    server.until(|_| is_shown("folder", "third") && is_shown("matched", "third"));
    assert_kept(&told(&server));
}

/// Runs `salver check` over a configuration; what it says of mistakes, or nothing.
fn checked(toml: &str, arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let database = users();
    for (name, bytes) in files(&database) {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }
    disguise(directory.path());
    fs::write(directory.path().join("salver.toml"), toml).expect("the configuration");
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.current_dir(directory.path()).args(["check", "--no-sources", "--config", "salver.toml"]).args(arguments);
    let output = command.output().expect("the program runs");
    match output.status.success() {
        true => String::new(),
        false => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    }
}

#[test]
fn a_second_name_is_a_mistake() {
    let rule = "[[database.rule]]\ntables = [\"users\"]\ndeny = true\n";
    let app = format!("[[database]]\nname = \"app\"\nurl = \"sqlite:app.db\"\n{rule}");
    let auth = "[auth]\nbasic_file = \"users.csv\"\n";
    assert_eq!(checked(&format!("{auth}{app}"), &[]), "");
    for url in ["app.db", "./app.db", "x/../app.db", "//app.db", "link.db", "LINK.sqlite3", "hard.db", "way/../app.db"]
    {
        let said = checked(&format!("{app}[[database]]\nname = \"again\"\nurl = \"sqlite:{url}\"\n"), &[]);
        assert!(said.contains("`again` is the database that `app` is"), "{url}: {said}");
        let said = checked(&app, &[&format!("again=sqlite:{url}")]);
        assert!(said.contains("`again` is the database that `app` is"), "{url}: {said}");
    }
    let said = checked(&app, &["app=sqlite:app.db,writable=true"]);
    assert!(said.contains("would replace the [[database]] `app`"), "{said}");
    for (one, other) in [
        ("postgres://u:p@localhost/app", "postgresql://v@127.0.0.1:5432/app?sslmode=disable"),
        ("mysql://u:p@localhost/app", "mariadb://v@[::1]:3306/app"),
        ("sqlite:x/{caller.tenant}.db", "sqlite:way/north.db"),
    ] {
        let said = checked(
            &format!(
                "[[database]]\nname = \"a\"\nurl = \"{one}\"\n{rule}[[database]]\nname = \"b\"\nurl = \"{other}\"\n"
            ),
            &[],
        );
        assert!(said.contains("`b` is the database that `a` is"), "{other}: {said}");
    }
    let streams = "[[stream]]\nname = \"e\"\ndir = \"logs\"\nschema = \"x/shape.json\"\n[[function]]\nfile = \"functions/hooks.py\"\n";
    for source in [
        "app.db",
        "./app.db",
        "hard.db",
        "app.db-wal",
        "users.csv",
        "x/../users.csv",
        "people.csv",
        "hard.csv",
        "salver.toml",
        "settings.csv",
        "logs",
        "logs/segment-1.parquet",
        "way/shape.json",
        "shape_too.json",
        "functions/hooks.py",
        "code.csv",
        "functions/again.py",
    ] {
        let toml = format!("{auth}{app}{streams}");
        let dataset = format!("[[dataset]]\nname = \"d\"\nsource = \"{source}\"\nformat = \"csv\"\n");
        let typed = format!("d={source},format=csv");
        // Code on the command line is code.
        let typed = (!source.ends_with(".py")).then(|| checked(&toml, &[&typed]));
        for said in std::iter::once(checked(&format!("{toml}{dataset}"), &[])).chain(typed) {
            assert!(said.contains("is declared for another purpose"), "{source}: {said}");
        }
    }
    let said = checked("[server]\ndata_dir = \"x\"\n[[dataset]]\nname = \"d\"\nsource = \"x/a.parquet\"\n", &[]);
    assert!(said.contains("is declared for another purpose"), "{said}");
}

/// What lies at the path of a database becomes the file of another while the server runs.
#[test]
fn a_database_does_not_become_another() {
    const TOML: &str = "[[database]]\nname = \"app\"\nurl = \"sqlite:app.db\"\nrefresh = \"100ms\"\n\
        [[database.rule]]\ntables = [\"users\"]\ndeny = true\n\
        [[database]]\nname = \"open\"\nurl = \"sqlite:open.db\"\nrefresh = \"100ms\"\nwritable = true\n";
    let (ruled, open) = (users(), database(Kind::Sqlite, "create table notes (id integer primary key)"));
    let open = fs::read(open.url().trim_start_matches("sqlite:")).expect("the database");
    for is_hard in [false, true] {
        let server = Server::with(TOML, &[("app.db", &ruled), ("open.db", &open)]);
        let listed = |server: &Server| server.get("/api/records/open.notes");
        server.until(|server| listed(server).status == 200);
        let path = server.file("open.db");
        fs::remove_file(&path).expect("it was there");
        if is_hard {
            fs::hard_link(server.file("app.db"), &path).expect("a link");
        } else {
            symlink("app.db", &path).expect("a link");
        }
        server.until(|server| {
            let answer = server.get("/api/records/open.users");
            assert_kept(answer.text());
            let sql = server.get("/api/sql?query=select%20*%20from%20open.users");
            assert_kept(sql.text());
            listed(server).status == 503
        });
        let answer = listed(&server);
        assert!(answer.text().contains("is that of another, with other rules"), "{}", answer.text());
        assert_eq!(server.get("/api/records/app.posts").status, 200);
        // Once it is its own again, it is served.
        fs::remove_file(&path).expect("it was there");
        fs::write(&path, &open).expect("the database");
        server.until(|server| listed(server).status == 200);
    }
}
