//! A server of which everything is broken that can be, and requests for all of it.

use crate::server::Server;

const SETTINGS: &str = r#"
[[dataset]]
name = "missing"
source = "missing.csv"
[[dataset]]
name = "empty_glob"
source = "none/*.csv"
[[dataset]]
name = "directory"
source = "hollow"
[[dataset]]
name = "unsuffixed"
source = "unsuffixed"
[[database]]
name = "broken_db"
url = "sqlite:broken.db"
[[database]]
name = "no_db"
url = "sqlite:none/missing.db"
[[database]]
name = "bad_init"
url = "sqlite:made.db"
init = "bad.sql"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
[[stream]]
name = "unopened"
dir = "a_file"
[[stream]]
name = "clicks"
[[function]]
file = "raises.py"
[[function]]
file = "broken.py"
[[function]]
file = "broken.R"
name = "wrong"
[[function]]
file = "missing.py"
[[function]]
file = "stops.R"
[[store]]
name = "pairs"
dataset = "bad_json"
key = "id"
value = "name"
"#;

/// Names of entries, loaded or not.
const ENTRIES: [&str; 22] = [
    "good",
    "missing",
    "empty_glob",
    "directory",
    "unsuffixed",
    "bad_csv",
    "bad_json",
    "bad_ndjson",
    "bad_parquet",
    "bad_arrow",
    "bad_avro",
    "bad_xlsx",
    "bad_ods",
    "bad_gz",
    "bad_zst",
    "broken_db",
    "no_db",
    "bad_init",
    "unopened",
    "clicks",
    "goods",
    "nothing",
];

/// The server.
pub(super) fn broken() -> Server {
    let junk: &[u8] = b"PAR1 this is not a file of any kind \xff\xfe\x00\x01 PAR0";
    let files: &[(&str, &[u8])] = &[
        ("good.csv", b"id,name\n1,Ann\n"),
        ("hollow/note.txt", b"x"),
        ("unsuffixed", b"x"),
        ("bad_csv.csv", b"id,name\n1,Ann,3\n"),
        ("bad_json.json", b"{\"a\": [1, 2"),
        ("bad_ndjson.ndjson", b"{\"a\":1}\n{\"a\":"),
        ("bad_parquet.parquet", junk),
        ("bad_arrow.arrow", junk),
        ("bad_avro.avro", junk),
        ("bad_xlsx.xlsx", junk),
        ("bad_ods.ods", junk),
        ("bad_gz.csv.gz", junk),
        ("bad_zst.csv.zst", junk),
        ("broken.db", junk),
        ("bad.sql", b"create table oh no;"),
        (
            "shop.sql",
            b"create table goods (id integer primary key, name text not null); insert into goods values (1,'a');",
        ),
        ("a_file", b"x"),
        ("raises.py", b"def fail():\n    raise ValueError(__file__)\n\ndef reads():\n    open(__file__ + '.none')\n"),
        ("broken.py", b"import nothing_of_that_name\n"),
        ("broken.R", b"source(file.path(getwd(), 'none.R'))\n"),
        ("stops.R", b"fail <- function() stop(getwd())\n"),
    ];
    Server::with(SETTINGS, files)
}

/// Requests for everything, by every door.
pub(super) fn requests() -> Vec<(&'static str, String, String)> {
    let mut requests: Vec<(&str, String, String)> = Vec::new();
    let mut get = |target: String| requests.push(("GET", target, String::new()));
    for target in ["/", "/ready", "/api/schema", "/api/openapi", "/api/functions", "/api/functions.openapi.json"] {
        get(target.to_owned());
    }
    for target in ["/api/streams", "/api/columns", "/api/status/ping", "/api/cache/clear", "/topics", "/nothing"] {
        get(target.to_owned());
    }
    get("/openapi.json".to_owned());
    for name in ENTRIES {
        for target in [
            format!("/api/tables/{name}"),
            format!("/api/schema/{name}"),
            format!("/api/records/{name}"),
            format!("/api/records/{name}/1"),
            format!("/api/columns/{name}"),
            format!("/api/export/{name}.csv"),
            format!("/api/streams/{name}"),
            format!("/api/streams/{name}/events"),
            format!("/api/sql?q=select%20*%20from%20{name}"),
            format!("/api/sql?q=explain%20select%20*%20from%20{name}"),
            format!("/api/sql?q=explain%20analyze%20select%20*%20from%20{name}"),
        ] {
            get(target);
        }
    }
    get("/api/kv/pairs/1".to_owned());
    let mut post = |target: String, body: String| requests.push(("POST", target, body));
    for name in ENTRIES {
        post("/api/graphql".to_owned(), format!("{{ {name} {{ id }} }}"));
        post("/_api/cursor".to_owned(), format!("{{\"query\":\"FOR x IN {name} RETURN x\"}}"));
        post(format!("/api/export?collection={name}"), "{}".to_owned());
        post(format!("/api/streams/{name}"), "{\"a\":1}".to_owned());
        post(format!("/topics/{name}"), "{\"records\":[{\"value\":{\"a\":1}}]}".to_owned());
        post(format!("/v0/events?name={name}"), "{\"a\":1}".to_owned());
        post(format!("/api/records/{name}"), "{\"id\":1,\"name\":null}".to_owned());
    }
    for function in ["raises/fail", "raises/reads", "broken/any", "wrong/any", "missing/any", "stops/fail"] {
        post(format!("/api/functions/{function}"), "{}".to_owned());
    }
    requests
}
