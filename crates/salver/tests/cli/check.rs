//! `salver check` and `salver config`.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

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
fn views_and_queries_are_planned() {
    let place = Place::new();
    place.write(
        "salver.toml",
        "[[dataset]]\nname='p'\nsource='people.csv'\n[[view]]\nname='v'\nsql='SELECT nme FROM p'\n\
         [[view]]\nname='w'\nsql='SELECT name FROM p'\n[[query]]\nname='q'\nsql='SELECT name FROM w WHERE name = $n'\n\
         [[stream]]\nname='s'\n[[view]]\nname='of_s'\nsql='SELECT * FROM s'\n",
    );
    let run = place.run(&["check", "--config", "salver.toml"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("error: v: no column `nme` at line 1, column 8\n  hint: did you mean `name`?"), "{run:?}");
    assert!(run.err.contains("note: of_s is not tried here, since it reads a stream"), "{run:?}");
    assert!(run.text().contains("ok  w: a view\n") && run.text().contains("ok  q: a named query\n"), "{run:?}");
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
fn what_runs_functions_must_be_there() {
    let place = Place::new();
    place.write("sums.py", "def f():\n    return 1\n");
    for (setting, why) in [
        ("run_as = 'nosuchuser'", "`sums` can't be run: there is no user `nosuchuser`\n  hint: create the user"),
        (
            "interpreter = '/nosuch/python'",
            "`sums` can't be run: there is no program `/nosuch/python`\n  hint: install",
        ),
        ("interpreter = 'no-such-python'", "there is no program `no-such-python`"),
    ] {
        place.write("salver.toml", &format!("[[function]]\nfile = 'sums.py'\n{setting}\n"));
        let run = place.run(&["check"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.err.contains(why), "{setting}: {run:?}");
    }
    place.write("salver.toml", "[[function]]\nfile = 'sums.py'\ninterpreter = 'python3'\n");
    assert!(place.run(&["check"]).good().contains("ok  sums: "));
}

#[test]
fn who_runs_functions_must_be_able_to_read_them() {
    let place = Place::new();
    place.write("salver.toml", "[[function]]\nfile = 'sums.py'\nrun_as = 'nobody'\n");
    place.write("sums.py", "def f():\n    return 1\n");
    let may_change_users = std::fs::metadata(place.path().join("sums.py")).expect("a file").uid() == 0;
    for (mode, is_right) in [(0o600, false), (0o644, true)] {
        for (name, own) in [("sums.py", mode), (".", 0o755)] {
            let path = place.path().join(name);
            std::fs::set_permissions(path, Permissions::from_mode(own)).expect("permissions");
        }
        let run = place.run(&["check"]);
        let is_told = run.err.contains("`sums` can't be run: `nobody` can't read the file `");
        assert_eq!(is_told, may_change_users && !is_right, "{mode:o}: {run:?}");
    }
}

#[test]
fn what_declares_nothing_is_no_server() {
    let place = Place::new();
    place.write("salver.toml", "[server]\nlisten = '127.0.0.1:0'\n");
    let run = place.run(&["check", "--config", "salver.toml"]);
    assert_eq!(run.good(), "the settings are right, and declare nothing: a server would not start without an entry\n");
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

const ROLES: &str = "[auth]\napi_keys = ['desk:0123456789abcdef']\n[[role]]\nname = 'desk'\n\
    callers = ['api_key:desk']\n[[dataset]]\nname = 'people'\nsource = 'people.csv'\n";

fn mistakes(run: &crate::Run) -> usize {
    run.err.lines().filter(|line| line.starts_with("error: ")).count()
}

/// Rules that restrict nothing, or not what they seem to.
#[test]
fn rules_that_do_not_fit_what_there_is() {
    let place = Place::new();
    for (rules, expected) in [
        ("[[access]]\nentries = ['people']\n", ""),
        (
            "[[access]]\nentries = ['people']\ncolumns_masked = { age = \"left(age, 1)\" }\n",
            "[[access]] 1: `age` of `people` can't be masked: `left(age, 1)` is for columns of text",
        ),
        (
            "[[access]]\nentries = ['people']\ncolumns_masked = { agee = 'null' }\n",
            "[[access]] 1: no entry it is about has a column `agee` to mask",
        ),
        (
            "[[access]]\nentries = ['p*']\n[[access]]\nroles = ['desk']\nentries = ['people']\ncolumns_hidden = ['age']\n",
            "[[access]] 2 never decides: what it is about is decided before, by [[access]] 1",
        ),
        (
            "[[access]]\nroles = ['desk']\nentries = ['people']\n[[access]]\nentries = ['people']\ncolumns_hidden = ['age']\n",
            "",
        ),
        (
            "[[access]]\nentries = ['people']\nrows = \"age > 'old'\"\n",
            "[[access]] 1: `rows` can't choose rows of `people`: 'old' can't be compared with `age`",
        ),
        ("[[access]]\nentries = ['people']\nrows = \"age > 7 and name = caller.user\"\n", ""),
        ("[[access]]\nentries = ['people']\nrows = \"age = caller.age or age in (1, caller.age)\"\n", ""),
        ("[[access]]\nentries = ['peple']\n", "no entry is called `peple`\n  hint: did you mean `people`?"),
    ] {
        place.write("salver.toml", &format!("{ROLES}{rules}"));
        let run = place.run(&["check"]);
        assert_eq!(run.code, Some(i32::from(!expected.is_empty())), "{rules}: {run:?}");
        assert!(run.err.contains(expected) && mistakes(&run) <= 1, "{rules}: {run:?}");
    }
}

/// Rules of databases, and of databases that can't be reached.
#[cfg(feature = "postgres")]
#[test]
fn rules_of_databases() {
    let place = Place::new();
    let statements = "create table items(id integer primary key, name text, region text)";
    let made = std::process::Command::new("sqlite3").arg(place.path().join("shop.db")).arg(statements).status();
    assert!(made.unwrap().success());
    let shop = "[[database]]\nname = 'shop'\nurl = 'sqlite:shop.db'\n";
    for (rules, expected) in [
        ("[[database.rule]]\ntables = ['items']\ncolumns_hidden = ['name']\n", ""),
        ("[[database.rule]]\ntables = ['items']\n", "[[database.rule]] 1 of shop keeps nothing back"),
        (
            "[[database.rule]]\ntables = ['item']\ndeny = true\n",
            "no table is called `item`\n  hint: did you mean `items`",
        ),
        ("[[database.rule]]\ncolumns_hidden = ['nam']\n", "no table it is about has a column `nam` to hide"),
        ("[[database.rule]]\nrows = \"regio = 'a'\"\n", "`rows` names `regio`, which `items` does not have"),
        ("tenant = { 'items.regio' = 'caller.region' }\n", "no table `items` has a column `regio`"),
        ("tenant = { '*.region' = 'caller.region' }\n", ""),
    ] {
        place.write("salver.toml", &format!("{shop}{rules}"));
        let run = place.run(&["check"]);
        assert_eq!(run.code, Some(i32::from(!expected.is_empty())), "{rules}: {run:?}");
        assert!(run.err.contains(expected) && mistakes(&run) <= 1, "{rules}: {run:?}");
    }
    // What can't be reached is one mistake, and says nothing of the rules.
    let gone = "[[database]]\nname = 'gone'\nurl = 'postgres://u:p@127.0.0.1:1/gone'\n\
        [[database.rule]]\ntables = ['items']\ndeny = true\n[[access]]\nentries = ['gone.items', 'gone.*']\n";
    place.write("salver.toml", &format!("{ROLES}{gone}[[access]]\nentries = ['gon.items']\n"));
    let run = place.run(&["check"]);
    assert!(run.err.contains("error: gone: "), "{run:?}");
    assert!(run.err.contains("no entry is called `gon.items`") && !run.err.contains("`gone."), "{run:?}");
    assert_eq!((run.code, mistakes(&run)), (Some(1), 2), "{run:?}");
}

/// `salver access explain` says of whom and of what nothing is known, and explains all the same.
#[test]
fn who_and_what_is_not_known() {
    let place = Place::new();
    let rules = "[[access]]\nroles = ['desk']\nentries = ['*']\nrows = \"name = caller.tenant\"\n";
    place.write("salver.toml", &format!("{ROLES}{rules}"));
    let explain = |arguments: &[&str]| {
        let run = place.run(&[&["access", "explain"], arguments].concat());
        (run.good().to_owned(), run.err)
    };
    let (told, notes) = explain(&["--as", "api_key:desk", "--as", "tenant=a", "--entry", "people"]);
    assert!(told.starts_with("roles: desk\n"), "{told}");
    assert!(["no caller", "no role", "no entry"].iter().all(|unknown| !notes.contains(unknown)), "{notes}");
    let (told, notes) = explain(&["--as", "api_key:des", "--as", "tenat=a", "--entry", "peple"]);
    assert!(told.starts_with("roles: none\n"), "{told}");
    for expected in [
        "no caller can be `api_key:des`",
        "did you mean `api_key:desk`?",
        "no role or rule names `caller.tenat`\n  hint: did you mean `tenant`?",
        "no entry is called `peple`\n  hint: did you mean `people`?",
    ] {
        assert!(notes.contains(expected), "{expected}: {notes}");
    }
    let whens = ["caller.auth = 'api_key'", "caller.auth = 'jwt' and caller.iss = 'https://id'", "caller.sub = '7'"];
    let roles = whens.iter().enumerate().map(|(at, when)| format!("[[role]]\nname = 'r{at}'\nwhen = \"{when}\"\n"));
    place.write("salver.toml", &format!("{ROLES}{}{rules}", roles.collect::<String>()));
    for (who, roles) in [
        (&["api_key:desk"][..], "desk, r0"),
        (&["jwt:https://id 7"], "r1, r2"),
        (&["jwt:7"], "r2"),
        (&["jwt:https://id 7", "auth=api_key", "sub=8"], "r0"),
        (&["proxy:7"], "none"),
    ] {
        let arguments: Vec<&str> = who.iter().flat_map(|one| ["--as", *one]).collect();
        let (told, _) = explain(&arguments);
        assert!(told.starts_with(&format!("roles: {roles}\n")), "{who:?}: {told}");
    }
}

/// Columns that `schema` leaves to be inferred can be the key, and be related.
#[test]
fn schemas_of_some_columns() {
    let place = Place::new();
    let people = "[[dataset]]\nname = 'people'\nsource = 'people.csv'\nschema = [{ name = 'age', type = 'float' }]\n";
    let pets = "[[dataset]]\nname = 'pets'\nsource = 'pets.ndjson'\nschema = [{ name = 'kind', type = 'text' }]\n\
        [[dataset.relation]]\nname = 'whose'\ncolumns = ['owner']\ntarget = 'people'\n";
    place.write("salver.toml", &format!("{people}key = ['id']\n{pets}"));
    assert!(place.run(&["check"]).good().contains("ok  people: 3 rows, "));
    place.write("salver.toml", &format!("{people}key = ['ident']\n"));
    let run = place.run(&["check"]);
    assert!(run.code == Some(1) && run.err.contains("ident"), "{run:?}");
}

/// What a server would refuse at its start is a mistake before it.
#[test]
fn what_a_server_would_refuse() {
    let place = Place::new();
    let rows = "[[dataset]]\nname = 'people'\nsource = 'people.csv'\n";
    std::fs::create_dir(place.path().join("kept")).unwrap();
    place.write("kept/format", "salver-data 99\nwritten by salver 9.9.9\n");
    for (server, expected) in [
        ("listen = '0.0.0.0:9'\n", "whoever can reach 0.0.0.0:9 would be let in, and read everything"),
        ("metrics_listen = '0.0.0.0:9'\n", "whoever can reach 0.0.0.0:9 would be let in, and read what is measured"),
        ("data_dir = 'kept'\n", "has the format 99 of salver 9.9.9"),
        ("listen = '0.0.0.0:9'\nfirewall = ['10.0.0.0/8']\n", ""),
        ("listen = '0.0.0.0:9'\ninsecure = true\n", ""),
        ("listen = 'unix:/tmp/salver.sock'\n", ""),
    ] {
        place.write("salver.toml", &format!("[server]\n{server}{rows}"));
        for arguments in [&["check"][..], &["check", "--no-sources"]] {
            let run = place.run(arguments);
            assert_eq!(run.code, Some(i32::from(!expected.is_empty())), "{server}: {run:?}");
            assert!(run.err.contains(expected), "{server}: {run:?}");
        }
    }
    place.write("salver.toml", &format!("[server]\nlisten = '0.0.0.0:9'\n{rows}"));
    assert!(place.run(&["check", "--insecure"]).good().ends_with("every source can be read\n"));
    place.run(&["check", "--listen", "127.0.0.1:9"]).good();
}
