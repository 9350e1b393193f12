//! What a newcomer does on the demo in the first minutes, in a browser: `walk.mjs`, where the setup of the tests could
//! install Chromium and the packages that drive it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::demo::{demo, runs};
use super::super::node;
use super::super::server::Server;

const WALK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/console/walk.mjs");
/// Where pictures of the screens stay, for whoever wants to see what a test saw.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/console");
const KEY: &str = "a-long-random-text-for-this-walk";

/// The directory of the packages, if everything is there that the walk needs.
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn home() -> Option<PathBuf> {
    let home = node::home("playwright-core").and(node::home("axe-core"));
    let home = home.filter(|_| runs("node") && runs("chromium"));
    if home.is_none() {
        eprintln!("left out: Chromium or its packages of npm are not there; `xtask/setup.sh test` installs them");
    }
    home
}

/// Walks, and sees that all was well.
fn walk(home: &Path, server: &Server, key: Option<&str>) {
    let mut command = Command::new("node");
    command.arg(WALK).arg(format!("http://{}", server.address())).arg(PICTURES).args(key).current_dir(home);
    let done = command.output().expect("Node");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.trim(), "well", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_newcomer_finds_and_changes_everything() {
    let Some(home) = home() else { return };
    walk(&home, &demo(""), None);
}

#[test]
fn nothing_is_shown_before_a_key_is_given() {
    let Some(home) = home() else { return };
    walk(&home, &demo(&format!("\n[auth]\napi_keys = [\"team:{KEY}\"]\n")), Some(KEY));
}

/// Settings of a server where callers may be known and need not be, with a query of its owner's rights. The hash is of
/// the password in `known.mjs`.
const KNOWN: &str = r#"
[auth]
mode = "optional"
basic_users = ["ann:$2y$05$YOwDoneWtfzQbDc725Io8uEgTWUu7UUPiNY/.S1k3N5I8k7WSR2my"]
api_keys = ["other:a-long-random-text-for-this-walk"]

[[role]]
name = "asks"
callers = ["basic:ann"]

[[access]]
roles = ["asks"]
entries = ["total", "called"]
permissions = ["read"]

[[access]]
roles = ["asks"]
entries = ["people"]
permissions = ["read"]
rows = "id > 1"

[[dataset]]
name = "people"
source = "people.csv"

[[query]]
name = "total"
description = "What all are paid."
sql = "SELECT count(*) AS people, sum(salary) AS paid FROM people"
runs_as = "owner"

[[query]]
name = "called"
sql = "SELECT id FROM people WHERE name = $name AND ($least IS NULL OR id >= $least)"
parameter = [
    { name = "name", description = "how they are called" },
    { name = "least", type = "integer", required = false },
]
"#;

#[test]
fn who_is_not_known_may_log_in_and_run_queries_by_their_names() {
    let Some(home) = home() else { return };
    let people = b"id,name,salary\n1,Ann,10\n2,Bob,30\n3,42,50\n";
    let server = Server::prepared(KNOWN, &[("people.csv", people.as_slice())], |_| {});
    walk(&home, &server, Some("known"));
}

/// Settings of a server that is open, and knows who gives a key or a name.
const OPTIONAL: &str = r#"
[auth]
mode = "optional"
basic_users = ["ann:$2y$05$YOwDoneWtfzQbDc725Io8uEgTWUu7UUPiNY/.S1k3N5I8k7WSR2my"]
api_keys = ["team:a-long-random-text-for-this-walk"]
"#;

#[test]
fn what_the_server_refuses_is_not_kept() {
    let Some(home) = home() else { return };
    let people: &[u8] = b"id,name\n1,Ann\n";
    walk(&home, &Server::with(OPTIONAL, &[("people.csv", people)]), Some("refused"));
}

/// Settings of a closed server with a user of the settings, and one of a database, both with the password in
/// `users.mjs`. More than two attempts a minute are refused.
const USERS: &str = r#"
[auth]
basic_users = ["ann:$2y$05$YOwDoneWtfzQbDc725Io8uEgTWUu7UUPiNY/.S1k3N5I8k7WSR2my"]
database = "app"
attempts_max = 2

[[database]]
name = "app"
url = "sqlite:app.db"
"#;

const USERS_TABLE: &str = "
create table users (id integer primary key, username text, password text);
insert into users values (1, 'bob', '$2y$05$YOwDoneWtfzQbDc725Io8uEgTWUu7UUPiNY/.S1k3N5I8k7WSR2my');
";

#[test]
fn users_of_two_kinds_log_in_with_one_attempt() {
    let Some(home) = home() else { return };
    let people: &[u8] = b"id,name\n1,Ann\n";
    let server = Server::prepared(USERS, &[("people.csv", people)], |directory| {
        make_database(&directory.join("app.db"), USERS_TABLE);
    });
    walk(&home, &server, Some("users"));
}

/// Settings of a server with a database of what is unusual, and entries that can't be loaded.
const EXTREMES: &str = r#"
[[database]]
name = "strange"
url = "sqlite:strange.db"

[[database]]
name = "loose"
url = "sqlite:loose.db"
writable = true

[[dataset]]
name = "gone"
source = "gone.csv"

[[dataset]]
name = "measured"
source = "measured.csv"

[[view]]
name = "took"
sql = "SELECT id, arrow_cast(id * 1000, 'Duration(Millisecond)') AS took FROM measured"

[[dataset]]
name = "places"
source = "places.csv"

[[dataset]]
name = "largest"
source = "largest.csv"

[[dataset]]
name = "grouped"
source = "grouped.csv"
"#;

/// Columns of every type, each in a view of its own.
const TYPES: [(&str, &str); 12] = [
    ("an_interval", "interval '1 month 2 days'"),
    ("a_duration", "arrow_cast(90000, 'Duration(Millisecond)')"),
    ("a_list", "make_array(1, 2)"),
    ("a_struct", "named_struct('a', 1)"),
    ("a_map", "map(make_array('a'), make_array(1))"),
    ("nothing", "null"),
    ("a_time", "arrow_cast('12:30:00', 'Time64(Microsecond)')"),
    ("a_boolean", "true"),
    ("a_decimal", "arrow_cast('1.50', 'Decimal128(10, 2)')"),
    ("bytes", "x'00ff'"),
    ("a_text", "'text'"),
    ("a_date", "date '2024-01-31'"),
];

/// The views of [`TYPES`], as settings.
fn typed_views() -> String {
    TYPES.iter().fold(String::new(), |mut toml, (name, value)| {
        let _ = write!(toml, "\n[[view]]\nname = \"{name}\"\nsql = \"\"\"SELECT {value} AS c\"\"\"\n");
        toml
    })
}

/// A table of 500 columns, one of three million rows, and one of names and values that want to be more than text.
fn strange_tables() -> String {
    let columns: String = (1..500).map(|at| format!(", \"column {at}\" text")).collect();
    let values: String = (1..500).map(|_| ", i || printf(' %.*c', 400, 'w')").collect();
    let mut sql = format!("create table wide (id integer primary key{columns});\n");
    let numbers = |to: u32| format!("with s(i) as (select 1 union all select i + 1 from s where i < {to})");
    let _ = writeln!(sql, "{} insert into wide select i{values} from s;", numbers(300));
    sql += "create table big (id integer primary key, n integer, word text);\n";
    let rows = "select i, i * 7919 % 1000, 'word ' || (i % 977) from s";
    let _ = writeln!(sql, "{} insert into big {rows};", numbers(3_000_000));
    sql + r#"
create table "<b>odd" (id integer primary key, "<i>name</i>" text, "a""b'c" text, "العمود" text);
insert into "<b>odd" values
  (1, '<img src=x onerror="alert(1)"><script>alert(2)</script>', replace(printf('%.*c', 100000, '-'), '-', 'long '),
    char(8238) || 'مرحبا' || char(8236) || '!'),
  (2, 'before' || char(0) || 'after', '', null),
  (3, printf('%.*c', 3000000, 'x'), char(10) || char(9), char(128512));
"#
}

/// Tables whose rows are changed: keys that can't stand in a path, and values that are none of their column's type.
const LOOSE_TABLES: &str = "
create table keyed (k text primary key, v text, note text, size real);
insert into keyed values
  ('i,j', 'old', 'a, b', 0.1), ('k~l', 'old', null, null), ('', 'old', '', 1e300), ('..', 'old', 'x', 2);
create table typed (id integer primary key, n integer, t text);
insert into typed values (1, '', 'first'), (2, 'many', 'second'), (3, 5, 'plain');
";

/// A table whose key has two columns, and more rows than are shown at once that refer to one of its rows.
const REFERRING_TABLES: &str = "
create table parent (a integer, b text, primary key (a, b));
create table child (id integer primary key, pa integer, pb text, foreign key (pa, pb) references parent (a, b));
insert into parent values (1, 'x'), (2, 'y');
with s(i) as (select 1 union all select i + 1 from s where i < 30) insert into child select i, 1, 'x' from s;
insert into child values (31, 2, 'y');
";

/// Makes a database of these statements.
fn make_database(file: &Path, statements: &str) {
    let mut made = Command::new("sqlite3").arg(file).stdin(Stdio::piped()).spawn().expect("sqlite3");
    made.stdin.take().expect("its input").write_all(statements.as_bytes()).expect("it reads");
    assert!(made.wait().expect("sqlite3").success());
}

#[test]
fn what_is_unusual_is_shown_all_the_same() {
    let Some(home) = home() else { return };
    let header: Vec<String> = (0..500).map(|at| format!("column {at}")).collect();
    let mut wide = header.join(",") + "\n";
    for row in 0..2_000 {
        let cells: Vec<String> = (0..500).map(|at| format!("{row}-{at} {}", "v".repeat(60))).collect();
        wide += &(cells.join(",") + "\n");
    }
    let files: [(&str, &[u8]); 6] = [
        ("largest.csv", b"n\n-1.7e308\n0\n1\n2\n3\n4\n5\n6\n7\n1.7e308\n"),
        ("grouped.csv", b"id,g,at,r\n1,a,1,1.5\n2,a,2,\n3,b,3,NaN\n4,b,4,2.5\n5,c,,4.5\n6,d,6,\n7,d,7,\n8,a,8,1.25\n"),
        ("wide_file.csv", wide.as_bytes()),
        ("broken.csv", b"a,b\n1,2\n3,4,5,\"x"),
        ("places.csv", b"id,lat,lng\n1,10,10\n2,95,20\n3,-10,-20\n4,5,400\n5,,7\n"),
        ("measured.csv", b"id,r\n1,NaN\n2,NaN\n3,\n4,inf\n5,1.5\n"),
    ];
    let server = Server::prepared(&(EXTREMES.to_owned() + &typed_views()), &files, |directory| {
        make_database(&directory.join("strange.db"), &strange_tables());
        make_database(&directory.join("loose.db"), &(LOOSE_TABLES.to_owned() + REFERRING_TABLES));
    });
    walk(&home, &server, Some("extremes"));
}
