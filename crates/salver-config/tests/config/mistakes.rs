//! Every kind of mistake, word for word.

use salver_config::keys::{SETTINGS, SettingKind};
use salver_config::{Sources, load};

use crate::{Written, meant, told};

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(told(text), expected.trim_matches('\n'), "\n{text}");
}

#[test]
fn all_mistakes_are_told_at_once_with_line_and_column() {
    check(
        "[server]\nlisten = \"nowhere\"\n  cros = true\n\n[limits]\nqueries_max = 0\n\n[[dataset]]\nname = \"a/b\"\n",
        r#"
salver.toml:2:10: `nowhere` is not an address to listen on: it has no port
  hint: write HOST:PORT, like "127.0.0.1:8080", "0.0.0.0:80" or "[::1]:8080"
salver.toml:3:3: unknown key `cros` in [server]
  hint: did you mean `cors`?
salver.toml:6:15: `queries_max` is a whole number from 1 on, not 0
  hint: for example queries_max = 16
salver.toml:8:1: [[dataset]] has no `source`
  hint: add source = "data/uk_cities.csv"
salver.toml:9:8: `a/b` can't be a name: it contains `/`
  hint: choose a name like `uk_cities`
"#,
    );
}

#[test]
fn origins_that_no_browser_writes() {
    for origin in
        ["https://a.example/", "a.example", "https://a.example:443", "http://a.example:80", "https://", "a b*"]
    {
        let text = told(&format!("[server]\ncors_origins = [\"{origin}\"]\n"));
        assert!(text.contains(&format!("`{origin}` is not the origin of a page")), "{text}");
    }
    for origin in ["https://a.example", "http://a.example:443", "https://*.a.example", "*", "*.a.example", "null"] {
        meant(&format!("[server]\ncors_origins = [\"{origin}\"]\n"));
    }
}

#[test]
fn syntax() {
    let text = told("[server]\nlisten = \n");
    assert!(text.starts_with("salver.toml:2:10: this is not TOML: "), "{text}");
    let twice = told("[server]\nlisten = \"a:1\"\nlisten = \"b:2\"\n");
    assert!(twice.starts_with("salver.toml:3:1: this is not TOML: duplicate key"), "{twice}");
}

#[test]
fn sections_and_old_names() {
    check(
        "[limit]\n[[tables]]\nname = 'a'\n",
        "
salver.toml:1:2: `limit` is not a section of its own
  hint: write [limits] for all, [[limit]] by role
salver.toml:2:3: unknown section or key `tables`
  hint: here it is [[dataset]]
",
    );
    check(
        "listen = 'a:1'\n",
        "salver.toml:1:1: unknown section or key `listen`\n  hint: here it is `listen` in [server]",
    );
    check("[servr]\n", "salver.toml:1:2: unknown section or key `servr`\n  hint: did you mean `server`?");
    check(
        "[dataset]\nname = 'a'\n",
        "salver.toml:1:2: `dataset` is not a section of its own\n  hint: write [[dataset]]",
    );
    check(
        "[[dataset]]\nname = 'a'\nuri = 'a.csv'\nsource = 'a.csv'\n",
        "salver.toml:3:1: unknown key `uri` in [[dataset]]\n  hint: it is called `source` here: source = \"data/uk_cities.csv\"",
    );
}

#[test]
fn kinds_of_values() {
    check(
        "[server]\ncors = \"true\"\nlog = \"inof\"\nlisten = 8080\n[limits]\nquery_ms_max = \"soon\"\nrows_max = -1\n",
        r#"
salver.toml:2:8: `cors` is true or false, not "true"
  hint: write true without quotes
salver.toml:3:7: `log` is one of "off", "error", "warn", "info", "debug", "trace", not "inof"
  hint: did you mean "info"?
salver.toml:4:10: `listen` is a text, not 8080
  hint: write it in quotes: "8080"
salver.toml:6:16: `query_ms_max` is a whole number of milliseconds, or a time like "30s", not "soon"
  hint: for example query_ms_max = "5s"
salver.toml:7:12: `rows_max` is a whole number, not -1
  hint: for example rows_max = 100000
"#,
    );
}

#[test]
fn times_without_a_unit() {
    check(
        "[[dataset]]\nname = 'a'\nsource = 'a.csv'\nrefresh = 30\n",
        "salver.toml:4:11: `refresh` is a text, not 30\n  hint: write it in quotes with its unit: \"30s\"",
    );
}

#[test]
fn short_names_that_are_one_slip_away() {
    let text = told("[[dataset]]\nname = 'a'\nsource = 'a.csv'\nschema = [{ name = 'x', type = 'itn' }]\n");
    assert!(text.contains("did you mean `int`?"), "{text}");
}

#[test]
fn server() {
    check(
        "[server]\nbase_path = 'data'\nlisten = 'host:99999'\n",
        r#"
salver.toml:2:13: `data` can't be a base path: it doesn't begin with `/`
  hint: write a path like "/data"
salver.toml:3:10: `host:99999` is not an address to listen on: `99999` is not a port, which is 0 to 65535
  hint: write HOST:PORT, like "127.0.0.1:8080", "0.0.0.0:80" or "[::1]:8080"
"#,
    );
}

#[test]
fn options_of_a_dataset() {
    check(
        r#"[[dataset]]
name = "a"
source = "ftp://host/a.csv"
delimiter = ";;"
encoding = "uft-8"
pointer = "$.data.rows"
array_encoded = true
range = "3B:F"
refresh = "30"
memory = "sometimes"
"#,
        r#"
salver.toml:3:10: sources of kind `ftp://` can't be read by this release
  hint: use a file, a directory, a glob, an http(s) URL, `s3://`, `gs://`, `az://` or `gsheets://`
salver.toml:4:13: `delimiter` is one ASCII character, not ";;"
  hint: for example delimiter = ",", or "tab"
salver.toml:5:12: there is no encoding `uft-8`
  hint: did you mean `utf-8`?
salver.toml:6:11: `$.data.rows` is not a JSON pointer: it doesn't begin with `/`
  hint: write "/data/rows"
salver.toml:7:17: `array_encoded` rows have no names, so `schema` must declare the columns
  hint: add schema = [{ name = "id", type = "int" }, ...]
salver.toml:8:9: `3B:F` is not a range of cells
  hint: write "B3:F100", "B:F", or "B3" for all from there on
salver.toml:9:11: `30` is not a time
  hint: write "30s", "5m", "1h", or "never"
salver.toml:10:10: `memory` is one of "auto", "always", "never", not "sometimes"
  hint: for example memory = "always"
"#,
    );
}

#[test]
fn numbers_and_dates_of_csv() {
    check(
        r#"[[dataset]]
name = "a"
source = "a.csv"
decimal = "point"
thousands = "ab"
dates = "dd.mm.yyyy"
[[dataset]]
name = "b"
source = "b.csv"
decimal = ","
thousands = ","
"#,
        r#"
salver.toml:4:11: `decimal` is one of ".", ",", not "point"
  hint: for example decimal = ","
salver.toml:5:13: `thousands` is one character between digits, not "ab"
  hint: for example thousands = ".", or "'"
salver.toml:6:9: `dates` is one of "dmy", "mdy", "ymd", not "dd.mm.yyyy"
  hint: did you mean "dmy"?
salver.toml:11:13: `decimal` and `thousands` are both ","
  hint: write decimal = "."
"#,
    );
}

#[test]
fn names_twice() {
    check(
        r#"[[dataset]]
name = "a"
source = "a.csv"
[[dataset]]
name = "a"
source = "b.csv"
[[store]]
name = "s"
dataset = "a"
key = "k"
value = "v"
[[store]]
name = "s"
dataset = "a"
key = "k"
value = "v"
"#,
        "
salver.toml:5:8: there are two datasets called `a`
  hint: rename one; or list both sources in one `source = [...]`
salver.toml:13:8: there are two stores called `s`
  hint: rename one
",
    );
}

#[test]
fn columns() {
    check(
        r#"[[dataset]]
name = "a"
source = "a.csv"
key = ["ident"]
schema = [
    { name = "id", type = "integre" },
    { name = "id2", type = "int" },
    { name = "id2", type = "text" },
    { name = "x", typ = "text" },
]
"#,
        "
salver.toml:6:27: `integre` is not a type: there is no type `integre`; did you mean `integer`?
  hint: types are text, int, float, bool, date, timestamp, decimal(10, 2), list(int), ...
salver.toml:8:14: there are two columns called `id2`
  hint: rename or remove one
salver.toml:9:5: [[dataset.schema]] has no `type`
  hint: add type = \"int\"
salver.toml:9:19: unknown key `typ` in [[dataset.schema]]
  hint: did you mean `type`?
",
    );
}

#[test]
fn links() {
    check(
        r#"[[dataset]]
name = "cities"
source = "cities.csv"
schema = [{ name = "id", type = "int" }, { name = "country_id", type = "int" }]
[[dataset.relation]]
name = "country"
columns = ["contry_id"]
target = "countries"
[[dataset.relation]]
name = "id"
columns = ["country_id"]
target = "contries"
[[dataset.relation]]
name = "pair"
columns = ["id", "country_id"]
target = "countries"
target_columns = ["id"]
[[dataset]]
name = "countries"
source = "countries.csv"
[[store]]
name = "s"
dataset = "citis"
key = "id"
value = "name"
[[store]]
name = "t"
dataset = "cities"
key = "id"
value = "name"
"#,
        "
salver.toml:5:1: `countries` has no `key`, so the relation must name its columns
  hint: add target_columns = [...], or `key` to that dataset
salver.toml:10:8: the relation `id` has the name of a column of `cities`
  hint: rename the relation
salver.toml:12:10: there is no dataset `contries`
  hint: did you mean `countries`?
salver.toml:15:11: the relation `pair` joins 2 columns here with 1 there
  hint: name as many there as here
salver.toml:23:11: there is no dataset `citis`
  hint: did you mean `cities`?
",
    );
}

#[test]
fn files_that_cannot_be_read() {
    let written = Written::new("");
    let missing = Sources { file: Some(written.path().join("none.toml")), ..Sources::default() };
    let mistakes = load(&missing).unwrap_err();
    assert!(written.shown(&mistakes[0]).starts_with("none.toml: can't be read: No such file"), "{mistakes:?}");
    let directory = Sources { file: Some(written.path().to_owned()), ..Sources::default() };
    let mistakes = load(&directory).unwrap_err();
    assert_eq!(mistakes[0].hint.as_deref(), Some("name a file of settings, like `--config salver.toml`"));
    std::fs::write(written.file(), [0xff, 0xfe, 0x00]).unwrap();
    let mistakes = load(&written.sources()).unwrap_err();
    assert_eq!(written.shown(&mistakes[0]), "salver.toml: this is not text in UTF-8\n  hint: save it as UTF-8");
}

#[test]
fn random_text_is_told_and_never_panics() {
    let pieces =
        ["[", "]", "[[dataset]]", "=", "\"", "'", "\n", "name", "source", "{", "}", ",", "é", "#", "1e9", "\u{0}"];
    let mut state = 7_u64;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let written = Written::new(&text);
        if let Err(mistakes) = load(&written.sources()) {
            assert!(!mistakes.is_empty(), "{text:?}");
        }
    }
}

#[test]
fn what_is_only_a_warning() {
    let written =
        Written::new("[[dataset]]\nname = 'a'\nsource = ['uk_citties.csv', 'parts/*.csv']\nheaders = { A = 'b' }\n");
    std::fs::write(written.path().join("uk_cities.csv"), "a\n1\n").unwrap();
    let environment = [("SALVER_LIMTS_QUERY_MS_MAX", "1"), ("SALVER_SERVICE_HOST", "x"), ("SALVER_PORT", "tcp://x:1")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let (_, warnings) = load(&Sources { environment, ..written.sources() }).unwrap();
    let shown: Vec<String> =
        warnings.iter().map(|w| w.to_string().replace(&format!("{}/", written.path().display()), "")).collect();
    assert_eq!(
        shown.join("\n"),
        "salver.toml:3:10: `a`: no file matches `parts/*.csv`
salver.toml:3:10: `a`: there is no file `uk_citties.csv`
  hint: did you mean `uk_cities.csv`?
salver.toml:4:11: `headers` of `a` go nowhere: none of its sources is an http(s) URL
  hint: remove `headers`
environment variable SALVER_LIMTS_QUERY_MS_MAX: no setting has this name
  hint: did you mean SALVER_LIMITS_QUERY_MS_MAX?"
    );
}

#[test]
fn options_that_no_source_hears() {
    let shown = |text: &str| {
        let (_, warnings) = meant(text);
        let idle = warnings.into_iter().filter(|w| w.message.contains("has no effect"));
        idle.map(|w| w.message).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        shown(
            "[[dataset]]\nname='a'\nsource='a.csv.gz'\nsheet='x'\npointer='/a'\ndelimiter=';'\n\
             [[dataset]]\nname='b'\nsource='b.parquet'\nheader=false\n"
        ),
        "`sheet` of `a` has no effect: it is for spreadsheets, and no source is that\n\
         `pointer` of `a` has no effect: it is for JSON documents, and no source is that\n\
         `header` of `b` has no effect: it is for CSV and spreadsheets, and no source is that"
    );
    // One of several, by the format that is said, or by a name that doesn't tell.
    assert_eq!(
        shown(
            "[[dataset]]\nname='a'\nsource=['a.csv', 'b.xlsx']\nsheet='x'\n\
             [[dataset]]\nname='b'\nsource='b.csv'\nformat='xlsx'\nsheet='x'\n\
             [[dataset]]\nname='c'\nsource='directory'\nsheet='x'\ndelimiter=';'\n"
        ),
        ""
    );
    // Spreadsheets of Google, by their id or their page, hear what workbooks do, and what says how they are reached.
    assert_eq!(
        shown(
            "[[dataset]]\nname='a'\nsource='gsheets://1a'\nsheet='x'\nrange='B3'\nstore_api_key='k'\ndelimiter=';'\n\
             [[dataset]]\nname='b'\nsource='https://docs.google.com/spreadsheets/d/1a/edit#gid=0'\nheader=false\n\
             store_token='t'\nstore_region='r'\n\
             [[dataset]]\nname='c'\nsource='b.csv'\nstore_api_key='k'\n"
        ),
        "`delimiter` of `a` has no effect: it is for CSV, and no source is that\n\
         `store_region` of `b` has no effect: it is for `s3://`, and no source is that\n\
         `store_api_key` of `c` has no effect: it is for `gsheets://`, and no source is that"
    );
    check(
        "[[dataset]]\nname='a'\nsource='gsheets://'\n",
        "salver.toml:3:8: `gsheets://` names no spreadsheet of Google\n  \
         hint: write `gsheets://ID` with the id, or the address of the page as it is",
    );
}

#[test]
fn a_store_and_a_relation_that_are_right() {
    let (checked, _) = meant(
        "[[dataset]]\nname='a'\nsource='a.csv'\nkey='id'\n[[dataset]]\nname='b'\nsource='b.csv'\n\
         relation=[{name='a',columns='a_id',target='a'}]\n[[store]]\nname='s'\ndataset='a'\nkey='id'\nvalue='v'\n",
    );
    assert_eq!(checked.datasets[1].relations[0].target_columns, ["id"]);
    assert_eq!(checked.stores[0].dataset.as_str(), "a");
}

/// An empty path would stand for the directory of the configuration, and an empty address for none.
#[test]
fn paths_and_addresses_that_are_empty() {
    check(
        "[server]\ndata_dir = ''\nmetrics_listen = \"${NOT_SET:-}\"\notlp_endpoint = ' '\n\n[[stream]]\nname = 'a'\ndir = ''\n",
        r#"
salver.toml:2:12: `data_dir` is a path or an address, and can't be empty
  hint: write one, for example data_dir = "/var/cache/salver", or leave it out
salver.toml:3:18: `metrics_listen` is a path or an address, and can't be empty
  hint: write one, for example metrics_listen = "127.0.0.1:9090", or leave it out
salver.toml:4:17: `otlp_endpoint` is a path or an address, and can't be empty
  hint: write one, for example otlp_endpoint = "http://collector:4318", or leave it out
salver.toml:8:7: `dir` is a path or an address, and can't be empty
  hint: write one, for example dir = "/var/lib/salver/clicks", or leave it out
"#,
    );
    let environment = vec![("SALVER_SERVER_DATA_DIR".to_owned(), String::new())];
    let mistakes = load(&Sources { environment, ..Sources::default() }).unwrap_err();
    assert!(mistakes.len() == 1 && mistakes[0].to_string().contains("`data_dir` is a path"), "{mistakes:?}");
}

/// No setting of this kind takes an empty text, wherever it stands.
#[test]
fn every_path_and_address() {
    for setting in SETTINGS.iter().filter(|setting| setting.kind == SettingKind::Location) {
        let name = if setting.section.named_key().is_some() { "name = 'a'\n" } else { "" };
        let text = told(&format!("{}\n{name}{} = ''\n", setting.section.header(), setting.key));
        let expected = format!("`{}` is a path or an address, and can't be empty", setting.key);
        assert_eq!(text.matches(&expected).count(), 1, "{text}");
    }
}
