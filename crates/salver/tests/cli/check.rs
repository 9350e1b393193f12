//! `salver check` and `salver config`.

use crate::Place;

#[test]
fn every_mistake_with_its_place_and_fix() {
    let place = Place::new();
    place.write("salver.toml", "[server]\nlisen = 'a:1'\n[[dataset]]\nname = 'people'\n");
    let run = place.run(&["check"]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert_eq!(
        run.err,
        "error: salver.toml:2:1: unknown key `lisen` in [server]\n  hint: did you mean `listen`?\n\
         error: salver.toml:3:1: [[dataset]] has no `source`\n  hint: add source = \"data/uk_cities.csv\"\n\
         2 mistakes in the settings\n"
    );
}

#[test]
fn sources_are_opened_unless_told_not_to() {
    let place = Place::new();
    place.write("broken.parquet", "no parquet");
    place.write(
        "salver.toml",
        "[[dataset]]\nname='p'\nsource='people.csv'\n[[dataset]]\nname='b'\nsource='broken.parquet'\n\
         [[store]]\nname='s'\ndataset='p'\nkey='idd'\nvalue='name'\n",
    );
    let run = place.run(&["check", "--config", "salver.toml"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.text().starts_with("ok  p: 3 rows, "), "{run:?}");
    assert!(run.err.contains("error: b: ") && run.err.contains("broken.parquet"), "{run:?}");
    assert!(run.err.contains("error: store `s`: no column `idd` in `p`\n  hint: did you mean `id`?"), "{run:?}");
    assert_eq!(place.run(&["check", "--no-sources"]).good(), "the settings are right\n");
}

#[test]
fn files_of_functions_must_be_there() {
    let place = Place::new();
    place.write("salver.toml", "[[function]]\nfile = 'sums.py'\n");
    let run = place.run(&["check"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("error: sums: the file `") && run.err.contains("sums.py` can't be read"), "{run:?}");
    // It is not run: that would do what it does.
    place.write("sums.py", "open('was_run', 'w')\n");
    let run = place.run(&["check"]);
    assert!(run.good().contains("ok  sums: "), "{run:?}");
    assert!(!place.path().join("was_run").exists());
}

#[test]
fn a_directory_that_is_right() {
    let place = Place::new();
    let run = place.run(&["check", "."]);
    assert!(run.good().ends_with("the settings are right, and every source can be read\n"), "{run:?}");
    assert!(run.text().contains("ok  people: 3 rows, ") && run.text().contains("ok  pets: 2 rows, "), "{run:?}");
}

#[test]
fn config_example_and_show() {
    let place = Place::new();
    let example = place.run(&["config", "example"]);
    assert!(example.good().contains("# listen = \"127.0.0.1:8080\""));
    let shown = place.run(&["config", "show", ".", "--table", "more=people.csv,key=id", "--log", "warn"]);
    assert!(shown.good().contains("log = \"warn\"") && shown.text().contains("key = [\"id\"]"), "{shown:?}");
    for line in ["log_format = \"text\"\n", "slow_ms = 0\n", "server_timing = false\n", "ready_needs_all = false\n"] {
        assert!(shown.text().contains(line), "{line}: {shown:?}");
    }
    place.write("shown.toml", shown.text());
    let again = place.run(&["config", "show", "--config", "shown.toml"]);
    assert_eq!(again.good(), shown.text());
}

#[test]
fn the_environment_is_heard() {
    let place = Place::new();
    let run = place.command(&["config", "show"]).env("SALVER_SERVER_LISTEN", "0.0.0.0:99").output().unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).contains("listen = \"0.0.0.0:99\""), "{run:?}");
    let not_text = std::os::unix::ffi::OsStrExt::from_bytes(b"10.0.0.1\xff");
    let run = place
        .command(&["config", "show"])
        .env::<_, &std::ffi::OsStr>("SALVER_SERVER_FIREWALL", not_text)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&run.stderr).contains("`SALVER_SERVER_FIREWALL` is not text in UTF-8"), "{run:?}");
    let run = place.command(&["config", "show"]).env("SALVER_SEVER_LISTEN", "x").output().unwrap();
    assert!(String::from_utf8_lossy(&run.stderr).contains("did you mean SALVER_SERVER_LISTEN?"), "{run:?}");
}

/// What variables and files put into the settings is read, and told by no command.
#[test]
fn what_comes_from_outside_is_not_told() {
    let place = Place::new();
    place.write("secret", "s3cret-of-a-file\n");
    place.write(
        "salver.toml",
        "[[dataset]]\nname='p'\nsource='${DIRECTORY}/people.csv'\nheaders={ A = '${file:secret}' }\n\
         [[dataset]]\nname='gone'\nsource='${DIRECTORY}/s3cret-${GONE}.csv'\n",
    );
    let run = |arguments: &[&str]| -> crate::Run {
        let mut command = place.command(arguments);
        command
            .env("DIRECTORY", ".")
            .env("GONE", "s3cret-of-a-variable")
            .env("SALVER_DATASET__Q__SOURCE", "pets.ndjson");
        command.output().unwrap().into()
    };
    let checked = run(&["check"]);
    assert!(checked.text().contains("ok  p: 3 rows, ") && checked.text().contains("ok  q: 2 rows, "), "{checked:?}");
    let shown = run(&["config", "show"]);
    assert!(shown.good().contains("{ \"A\" = \"***\" }") || shown.good().contains("{ A = \"***\" }"), "{shown:?}");
    for run in [checked, shown, run(&["query", "select * from gone"]), run(&["serve", "--listen", "nowhere"])] {
        let told = format!("{}{}", run.text(), run.err);
        assert!(!told.contains("s3cret-of-a"), "{told}");
    }
}
