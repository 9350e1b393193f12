//! `${NAME}`, `${NAME:-default}` and `${file:PATH}` in texts of the file, and that what comes in is shown nowhere.

use salver_config::{Checked, Sources, load, show};

use crate::Written;

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn sources(written: &Written, environment: &[(&str, &str)]) -> Sources {
    Sources { environment: variables(environment), ..written.sources() }
}

#[track_caller]
fn meant(text: &str, environment: &[(&str, &str)]) -> Checked {
    let written = Written::new(text);
    load(&sources(&written, environment)).unwrap_or_else(|mistakes| panic!("{mistakes:?} in {text:?}")).0
}

#[track_caller]
fn told(text: &str, environment: &[(&str, &str)]) -> String {
    let written = Written::new(text);
    let mistakes = load(&sources(&written, environment)).unwrap_err();
    mistakes.iter().map(|mistake| written.shown(mistake)).collect::<Vec<_>>().join("\n")
}

#[test]
fn in_texts_of_every_kind() {
    let checked = meant(
        "[server]\nlisten = '${HOST:-127.0.0.1}:${PORT}'\ncors = '${CORS}'\nthreads = '${THREADS:-3}'\nlog = '${LOG}'\n\
         callbacks = ['https://${HOST}/', 'https://h/$${HOST}']\n[limits]\nquery_ms_max = '${TIMEOUT:-2s}'\n\
         [[dataset]]\nname = '${NAME}'\nsource = 'http://h/a.csv'\nheaders = { Authorization = 'Bearer ${TOKEN}' }\n\
         schema = [{ name = '${COLUMN:-id}', type = 'int' }]\n\
         [[database]]\nname = 'b'\nurl = 'postgres://u:${PASSWORD}@h/app_{caller.tenant}'\n",
        &[
            ("PORT", "81"),
            ("HOST", "h"),
            ("CORS", "true"),
            ("LOG", "warn"),
            ("NAME", "cities"),
            ("TOKEN", "t0ken"),
            ("PASSWORD", "p4ss"),
        ],
    );
    let server = &checked.server;
    assert_eq!(server.listen.to_string(), "h:81");
    assert_eq!((server.cors, server.threads, server.log.as_str()), (true, 3, "warn"));
    assert_eq!(server.callbacks, ["https://h/", "https://h/${HOST}"]);
    assert_eq!(checked.limits.query_ms_max, 2_000);
    let dataset = &checked.datasets[0];
    assert_eq!((dataset.name.as_str(), dataset.headers[0].1.as_str()), ("cities", "Bearer t0ken"));
    assert_eq!(dataset.schema[0].name, "id");
    assert_eq!(checked.databases[0].url, "postgres://u:p4ss@h/app_{caller.tenant}");
    assert_eq!(checked.databases[0].of_caller.as_deref(), Some("tenant"));
}

/// What stands for a placeholder is the text or a part of it: no list, no table, no other setting, no placeholder.
#[test]
fn what_comes_in_stays_in_its_text() {
    let text = "[[dataset]]\nname = 'a'\nsource = ['${X}', 'b.csv']\nnull_tokens = '${X}'\n";
    let value = "', 'c'] ${Y}\ncors = true\n[auth]";
    let checked = meant(text, &[("X", value), ("Y", "no")]);
    assert_eq!(checked.datasets[0].csv.null_tokens, [value]);
    assert_eq!(checked.datasets[0].sources.len(), 2);
    assert!(checked.datasets[0].sources[0].ends_with(value));
    assert!(!checked.server.cors && checked.auth.is_none());
}

#[test]
fn files() {
    let written = Written::new(
        "[[database]]\nname = 'b'\nurl = 'postgres://u:${file:password}@h/x'\n\
         [server]\nbase_path = '${file:path}'\n",
    );
    std::fs::write(written.path().join("password"), "s3cret\n").unwrap();
    std::fs::write(written.path().join("path"), "/data\r\n").unwrap();
    let (checked, _) = load(&written.sources()).unwrap();
    assert_eq!(
        (checked.databases[0].url.as_str(), checked.server.base_path.as_str()),
        ("postgres://u:s3cret@h/x", "/data")
    );
    for (content, expected) in [(vec![0xff; 3], "is not text in UTF-8"), (vec![b'a'; 70_000], "more than 65536 bytes")]
    {
        std::fs::write(written.path().join("password"), content).unwrap();
        let mistakes = load(&written.sources()).unwrap_err();
        assert!(mistakes.iter().any(|mistake| mistake.message.contains(expected)), "{mistakes:?}");
    }
    std::fs::remove_file(written.path().join("password")).unwrap();
    std::fs::create_dir(written.path().join("password")).unwrap();
    let mistakes = load(&written.sources()).unwrap_err();
    assert!(mistakes[0].message.contains("is not a regular file"), "{mistakes:?}");
    assert_eq!(mistakes[0].place.line(), Some(3), "{mistakes:?}");
}

#[test]
fn mistakes_name_variable_setting_and_line() {
    assert_eq!(
        told("[server]\nlog = 'info'\nlisten = 'h:${PORT}'\n", &[]),
        "salver.toml:3:10: `server.listen`: the environment variable `PORT` is not set\n  \
         hint: set it, or write `${PORT:-default}`; `$${` stands for `${` itself"
    );
    for (text, expected) in [
        ("${PORT", "`${` has no `}` that closes it"),
        ("${caller.tenant}", "`${` begins no placeholder"),
        ("${file:}", "`${file:}` names no file"),
    ] {
        let told = told(&format!("[server]\nlisten = '{text}'\n"), &[]);
        assert!(told.starts_with(&format!("salver.toml:2:10: `server.listen`: {expected}\n  hint: ")), "{told}");
    }
}

/// Mistakes quote what is wrong, but not what may be a secret.
#[test]
fn mistakes_do_not_tell_what_came_in() {
    for (text, value) in [
        ("[server]\nlisten = '${X}'\n", "h1ddenvalue"),
        ("[server]\ncors = '${X}'\n", "h1ddenvalue"),
        ("[limits]\nquery_ms_max = '${X}'\n", "h1ddenvalue"),
        ("[[dataset]]\nname = 'a'\nsource = '${X}://b'\n", "h1ddenvalue"),
        ("[[dataset]]\nname = 'a'\nsource = 'b.csv'\nrefresh = '${X}'\n", "7h1"),
        ("[[dataset]]\nname = 'a'\nsource = 'b.csv'\ndelimiter = '${X}'\n", "h1dden\n\"value\""),
        ("[[database]]\nname = 'a'\nurl = '${X}'\n", "h1ddenvalue"),
        ("[[database]]\nname = 'a'\nurl = 'postgres://u:${X}@h/x'\n", "h1dden@value"),
    ] {
        let told = told(text, &[("X", value)]);
        assert!(!told.contains("h1"), "{told}");
        assert!(told.starts_with("salver.toml:"), "{told}");
    }
    // A short one is not cut out of words, and stays in mistakes about something else.
    let told = told("[server]\nbase_path = '${X}'\nlisten = 'o'\n", &[("X", "o")]);
    assert!(told.contains("`o` is not an address"), "{told}");
}

#[test]
fn what_came_in_is_not_shown() {
    let checked = meant(
        "[server]\ncaller = { user = '${SHORT}' }\nreverse_proxy = true\n\
         [[dataset]]\nname = '${NAME}'\nsource = ['http://u:${PASSWORD}@h/b.csv?x=${QUERY}', '${DIR}/c.csv']\n\
         headers = { Accept = '${PASSWORD}/x', Plain = '${SHORT}' }\n\
         [[database]]\nname = 'b'\nurl = '${URL}'\n\
         [[database]]\nname = 'c'\nurl = 'postgres://u:${PASSWORD}@h/x'\n\
         [[database.rule]]\nrows = \"owner = '${PASSWORD}'\"\n\
         [[stream]]\nname = 's'\nsink = 'kafka'\nbrokers = '${DIR}:1'\nkafka = { 'client.id' = '${PASSWORD}' }\n\
         [[function]]\nfile = 'f.py'\nenvironment = { A = 'x ${PASSWORD}' }\n",
        &[
            ("NAME", "cities"),
            ("PASSWORD", "s3cret"),
            ("QUERY", "s3cr \"et'"),
            ("DIR", "s3crdir"),
            ("URL", "mysql://s3cruser:s3crpass@s3crhost/s3crbase?s3cr=s3cr"),
            ("SHORT", "s3"),
        ],
    );
    let shown = show(&checked);
    assert!(!shown.contains("s3cr"), "{shown}");
    for expected in [
        "user = \"***\"",
        "Plain = \"***\"",
        "name = \"cities\"",
        "http://***@h/b.csv?x=***",
        "/***/c.csv",
        "Accept = \"***/x\"",
        "url = \"***\"",
        "url = \"postgres://u:***@h/x\"",
        "\"client.id\" = \"***\"",
        "A = \"x ***\"",
        "brokers = [\"***:1\"]",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!format!("{:?}", checked.hidden).contains("s3cr"));
    // Defaults stand in the file, and words of a choice are no secrets.
    let plain =
        meant("[server]\nlisten = '${X:-h:1}'\nlog = '${LOG}'\nthreads = '${N}'\n", &[("LOG", "warn"), ("N", "3")]);
    let shown = show(&plain);
    assert!(["listen = \"h:1\"", "log = \"warn\"", "threads = 3"].iter().all(|line| shown.contains(line)), "{shown}");
}
