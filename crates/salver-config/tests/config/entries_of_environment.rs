//! Entries that environment variables declare or change, and variables that name files.

use salver_config::{Checked, Mistake, Sources, Warning, load, show};

use crate::Written;

fn loaded(text: &str, environment: &[(&str, &str)]) -> Result<(Checked, Vec<Warning>), Vec<Mistake>> {
    let written = Written::new(text);
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    load(&Sources { environment, ..written.sources() })
}

#[track_caller]
fn meant(text: &str, environment: &[(&str, &str)]) -> Checked {
    loaded(text, environment).unwrap_or_else(|mistakes| panic!("{mistakes:?}")).0
}

#[track_caller]
fn told(text: &str, environment: &[(&str, &str)]) -> String {
    loaded(text, environment).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn entries_of_every_kind() {
    let checked = meant(
        "",
        &[
            ("SALVER_DATABASE__SHOP__URL", "postgres://u:p@h/shop"),
            ("SALVER_DATABASE__SHOP__WRITABLE", "true"),
            ("SALVER_DATABASE__SHOP__CHECK", "[{ columns = ['a.b'], is = 'numeric', message = 'no' }]"),
            ("SALVER_DATASET__UK_CITIES__SOURCE", "uk.csv"),
            ("SALVER_DATASET__UK_CITIES__SCHEMA", "[{ name = 'id', type = 'int' }]"),
            ("SALVER_DATASET__A__B__SOURCE", "a.csv,b.csv"),
            ("SALVER_DATASET__X__NAME", "my towns"),
            ("SALVER_DATASET__X__SOURCE", "towns.csv"),
            ("SALVER_STORE__CITY__DATASET", "uk_cities"),
            ("SALVER_STORE__CITY__KEY", "id"),
            ("SALVER_STORE__CITY__VALUE", "id"),
            ("SALVER_STREAM__CLICKS__RETAIN", "7d"),
            ("SALVER_FUNCTION__FIB__FILE", "functions/f.py"),
            ("SALVER_FUNCTION__FIB__WORKERS_MIN", "0"),
        ],
    );
    let database = &checked.databases[0];
    assert_eq!((database.name.as_str(), database.writable, database.checks.len()), ("shop", true, 1));
    let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["a__b", "uk_cities", "my towns"]);
    assert_eq!(checked.datasets[0].sources, ["a.csv", "b.csv"]);
    assert_eq!(checked.datasets[1].schema.len(), 1);
    assert_eq!(checked.stores[0].name.as_str(), "city");
    assert!(checked.streams[0].retain.is_some() && checked.streams[0].dir.ends_with("salver-data/streams/clicks"));
    // Beside the configuration file, as the streams of the file, and not in the current directory.
    assert!(checked.streams[0].dir.is_absolute());
    assert_eq!((checked.functions[0].name.as_str(), checked.functions[0].workers_min), ("fib", 0));
}

#[test]
fn single_settings_of_declared_entries() {
    let text = "[[dataset]]\nname = 'Cities'\nsource = 'a.csv'\nkey = 'id'\nschema = [{ name = 'id', type = 'int' }]\n\
                [[dataset]]\nname = 'uk-towns'\nsource = 'b.csv'\n[[function]]\nfile = 'words.py'\n";
    let checked = meant(
        text,
        &[
            ("SALVER_DATASET__CITIES__REFRESH", "30s"),
            ("SALVER_DATASET__CITIES__SCHEMA", "[{ name = 'id', type = 'text' }, { name = 'b', type = 'int' }]"),
            ("SALVER_DATASET__T__NAME", "uk-towns"),
            ("SALVER_DATASET__T__DELIMITER", ";"),
            ("SALVER_FUNCTION__WORDS__WORKERS", "3"),
        ],
    );
    assert_eq!((checked.datasets.len(), checked.functions.len()), (2, 1));
    let cities = &checked.datasets[0];
    assert_eq!((cities.name.as_str(), cities.refresh.is_some(), cities.schema.len()), ("Cities", true, 2));
    assert!(cities.sources[0].ends_with("a.csv") && cities.key == ["id"]);
    assert_eq!(checked.datasets[1].csv.delimiter, Some(b';'));
    assert_eq!(checked.functions[0].workers_max, 3);
}

#[test]
fn what_is_meant_by_a_wrong_variable() {
    let prefix = "environment variable SALVER_";
    for (name, expected) in [
        ("DATASET__A__PATH", "unknown key `path` in [[dataset]]\n  hint: it is called `source` here"),
        ("DATABASE__A__TABELS", "unknown key `tabels` in [[database]]\n  hint: did you mean `tables`?"),
        ("DATABASE__URL", "no name of a [[database]] stands in it\n  hint: write SALVER_DATABASE__NAME__URL"),
        ("DATASET____SOURCE", "no name of a [[dataset]] stands in it\n"),
        ("STREAM__A__ACK", "`stream.ack` can't be `x`: it is one of "),
    ] {
        let told = told("", &[(&format!("SALVER_{name}"), "x")]);
        assert!(told.contains(&format!("{prefix}{name}: {expected}")), "{told}");
    }
    // Two that differ in case alone.
    let text = "[[dataset]]\nname = 'AB'\nsource = 'a.csv'\n[[dataset]]\nname = 'Ab'\nsource = 'b.csv'\n";
    let told = told(text, &[("SALVER_DATASET__AB__REFRESH", "1s")]);
    assert!(told.contains("this may be the [[dataset]] `AB` or `Ab`\n  hint: say which with "), "{told}");
    // Two groups of variables that are about one entry.
    let groups = [
        ("SALVER_DATASET__A__NAME", "towns"),
        ("SALVER_DATASET__A__SOURCE", "a.csv"),
        ("SALVER_DATASET__B__NAME", "towns"),
        ("SALVER_DATASET__B__SOURCE", "b.csv"),
    ];
    let merged = self::told("", &groups);
    assert!(merged.contains("is about the [[dataset]] `towns`, too\n  hint: begin the variables"), "{merged}");
    // What may be another program's is a warning.
    for (name, expected) in [
        ("SALVER_DATABASE_SHOP_URL", "between double underscores: SALVER_DATABASE__NAME__URL"),
        ("SALVER_DATASETS__A__SOURCE", "between double underscores: SALVER_DATASET__NAME__SOURCE"),
        ("SALVER_SERVER_LISTN", "did you mean SALVER_SERVER_LISTEN?"),
    ] {
        let (_, warnings) = loaded("", &[(name, "x")]).unwrap();
        assert!(warnings.iter().any(|w| w.hint.as_deref().is_some_and(|hint| hint.contains(expected))), "{warnings:?}");
    }
}

#[test]
fn files_with_values() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = place.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let url = file("url", "postgres://s3cruser:s3crpass@s3crhost/s3crbase\n");
    let keys = file("keys", "one:s3cret-0123456789,two:s3cret-abcdefghijk\n");
    let checked = meant(
        "",
        &[
            ("SALVER_DATABASE__SHOP__URL_FILE", &url),
            ("SALVER_SERVER_LISTEN_FILE", &file("listen", "h:1")),
            ("SALVER_SERVER_CALLBACKS_FILE", &file("callbacks", "https://s3cr/,https://s3cralso/")),
            ("SALVER_AUTH_API_KEYS", "three:0123456789abcdef"),
            // A setting of its own.
            ("SALVER_AUTH_API_KEYS_FILE", &keys),
        ],
    );
    assert_eq!(checked.databases[0].url, "postgres://s3cruser:s3crpass@s3crhost/s3crbase");
    assert_eq!(checked.server.listen.to_string(), "h:1");
    assert_eq!(checked.auth.as_ref().and_then(|auth| auth.api_keys_file.as_deref()), Some(std::path::Path::new(&keys)));
    assert_eq!(checked.server.callbacks.len(), 2);
    let shown = show(&checked);
    assert!(
        !shown.contains("s3cr") && shown.contains("url = \"***\"") && shown.contains("[\"***\", \"***\"]"),
        "{shown}"
    );

    let both = [("SALVER_SERVER_LISTEN", "h:2"), ("SALVER_SERVER_LISTEN_FILE", "listen")];
    assert_eq!(
        told("", &both),
        "environment variable SALVER_SERVER_LISTEN_FILE: `SALVER_SERVER_LISTEN` and `SALVER_SERVER_LISTEN_FILE` are \
         both set\n  hint: unset one of them"
    );
    let gone = told("", &[("SALVER_SERVER_LISTEN_FILE", "/no/such/file")]);
    assert!(gone.contains("`server.listen`: the file `/no/such/file` can't be read: "), "{gone}");
    // What is wrong is not quoted.
    for name in ["SALVER_SERVER_LISTEN_FILE", "SALVER_LIMITS_QUERIES_MAX_FILE", "SALVER_DATASET__A__MEMORY_FILE"] {
        let told = told("", &[(name, &file("wrong", "s3cret"))]);
        assert!(told.contains("`***`") && !told.contains("s3cret"), "{told}");
    }
}
