//! `salver query`.

use std::io::Read;
use std::process::Stdio;

use crate::Place;

#[test]
fn lists_and_tables_on_the_command_line() {
    let place = Place::new();
    place.write("n.csv", "id,x,y\n007,NA,-\n008,1,2\n");
    for nulls in ["null_tokens=[\"NA\",\"-\"]", "null_tokens=[NA, -]", "null_tokens=NA,-"] {
        let source = format!("n=n.csv,{nulls},key=id");
        let run = place.run(&["query", "select x, y from n", &source, "-f", "json"]);
        assert_eq!(run.good(), "[{\"x\":null,\"y\":null},{\"x\":1,\"y\":2}]\n", "{nulls}");
    }
    let schema = "n=n.csv,schema=[{ name = \"id\", type = \"int\" }, {name=\"x\",type=\"text\"}],delimiter=,";
    let run = place.run(&["query", "select id, x from n", schema, "-f", "json"]);
    assert_eq!(run.good(), "[{\"id\":7,\"x\":\"NA\"},{\"id\":8,\"x\":\"1\"}]\n");
    let run = place.run(&["query", "select 1", "n=n.csv,schema=[{name=id,type=int}]"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("hint: write schema=[{ name = "), "{run:?}");
}

/// A file of functions is run for a statement that calls a function, and for no other.
#[cfg(feature = "functions")]
#[test]
fn functions_of_files_are_called() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("functions")).unwrap();
    place.write("functions/py.py", "open('ran', 'w').close()\ndef double(x: int) -> int:\n    return 2 * x\n");
    let ran = || ["ran", "functions/ran"].iter().any(|file| place.path().join(file).exists());
    let run = place.run(&["query", "select count(*) as c from people where id in (1, 2)", ".", "-f", "json"]);
    assert_eq!((run.good(), ran()), ("[{\"c\":2}]\n", false));
    let run = place.run(&["query", "select count(idd) from people", "."]);
    assert_eq!((run.code, ran()), (Some(1), false), "{run:?}");
    let run = place.run(&["query", "select double(id) as d from people order by id", ".", "-f", "json"]);
    assert_eq!((run.good(), run.err.as_str()), ("[{\"d\":2},{\"d\":4},{\"d\":6}]\n", ""));
    assert!(ran());
    place.write("functions/broken.py", "def f(:\n");
    let run = place.run(&["query", "select f(1)", "."]);
    assert!(run.err.contains("hint: it may be in a file that is not there now: `broken` can't be loaded"), "{run:?}");
}

const ADULTS: &str = "select name, age from people order by id";

#[test]
fn an_aligned_table_is_the_default() {
    let run = Place::new().run(&["query", ADULTS, "."]);
    assert_eq!(
        run.good(),
        "+-------+------+\n| name  | age  |\n+-------+------+\n| Ada   | 36   |\n| Alan  | 41   |\n| Grace | null |\n+-------+------+\n"
    );
    assert_eq!(run.err, "3 rows\n");
}

#[test]
fn a_table_gives_a_terminal_nothing_to_obey() {
    let place = Place::new();
    let sql = "select 'a' || chr(27) || ']0;title' || chr(7) || chr(10) || chr(155) || 'b' as \"x\u{1b}[2J\"";
    let run = place.run(&["query", sql, "."]);
    let drawn = run.good();
    assert!(drawn.contains("x\u{241b}[2J") && drawn.contains("a\u{241b}]0;title\u{2407}"), "{drawn:?}");
    assert!(!drawn.chars().any(|sign| sign != '\n' && sign.is_control()), "{drawn:?}");
}

#[test]
fn text_formats() {
    let place = Place::new();
    for (format, expected) in [
        ("json", "[{\"name\":\"Ada\",\"age\":36},{\"name\":\"Alan\",\"age\":41},{\"name\":\"Grace\",\"age\":null}]\n"),
        (
            "ndjson",
            "{\"name\":\"Ada\",\"age\":36}\n{\"name\":\"Alan\",\"age\":41}\n{\"name\":\"Grace\",\"age\":null}\n",
        ),
        ("csv", "name,age\nAda,36\nAlan,41\nGrace,\n"),
        ("tsv", "name\tage\nAda\t36\nAlan\t41\nGrace\t\n"),
    ] {
        let run = place.run(&["query", ADULTS, "people.csv", "--format", format]);
        assert_eq!(run.good(), expected, "{format}");
        assert_eq!(run.err, "", "{format}");
    }
    assert!(place.run(&["query", ADULTS, ".", "-f", "html"]).good().contains("Grace"));
}

#[test]
fn every_format_is_read_back_from_its_file() {
    let place = Place::new();
    for suffix in ["json", "ndjson", "csv", "tsv", "arrow", "arrows", "parquet", "xlsx"] {
        let file = format!("copy.{suffix}");
        assert_eq!(place.run(&["query", ADULTS, ".", "-o", &file]).good(), "", "{suffix}");
        let copy = place.run(&["query", "select * from copy order by name", &file, "-f", "csv"]);
        assert_eq!(copy.good(), "name,age\nAda,36\nAlan,41\nGrace,\n", "{suffix}");
        std::fs::remove_file(place.path().join(file)).unwrap();
    }
    assert!(!place.path().join("copy.csv.part").exists());
}

#[test]
fn a_failed_query_leaves_no_file() {
    let place = Place::new();
    place.write("old.csv", "kept\n");
    let run = place.run(&["query", "select 1/0 from people", ".", "-o", "old.csv"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("old.csv")).unwrap(), "kept\n");
    assert!(!place.path().join("old.csv.part").exists());
}

#[test]
fn joins_over_files_standard_input_and_names() {
    let place = Place::new();
    let sql = "select p.name, a.kind from who p join animals a on a.owner = p.id order by 1";
    let run = place.run(&["query", sql, "who=people.csv", "--table", "animals=pets.ndjson", "-f", "csv"]);
    assert_eq!(run.good(), "name,kind\nAda,cat\nGrace,dog\n");
    let run = place.run_with(&["query", "select sum(n) as n from t", "t=-,format=csv", "-f", "csv"], "n\n1\n2\n");
    assert_eq!(run.good(), "n\n3\n");
    let run = place.run_with(&["query", "-", ".", "-f", "csv"], "select count(*) as n from people");
    assert_eq!(run.good(), "n\n3\n");
}

#[test]
fn parameters() {
    let place = Place::new();
    let run = place.run(&[
        "query",
        "select name from people where age > $1 and name <> $2",
        ".",
        "-f",
        "csv",
        "-p",
        "30",
        "-p",
        "a=b",
    ]);
    assert_eq!(run.good(), "name\nAda\nAlan\n");
    let run =
        place.run(&["query", "select name from people where name = $who", ".", "-f", "csv", "--param", "who=Ada"]);
    assert_eq!(run.good(), "name\nAda\n");
    let run = place.run(&["query", "select $a, $1", ".", "-p", "a=1", "-p", "2"]);
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn errors_name_the_thing_and_the_way_out() {
    let place = Place::new();
    let run = place.run(&["query", "select agee from people", "."]);
    assert_eq!((run.code, run.text()), (Some(1), ""));
    assert!(
        run.err.starts_with("error: ") && run.err.contains("agee") && run.err.contains("did you mean `age`?"),
        "{}",
        run.err
    );
    let run = place.run(&["query", "select * from poeple", "."]);
    assert!(run.err.contains("did you mean `people`?"), "{}", run.err);
    let run = place.run(&["query", "drop table people", "."]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let run = place.run(&["query", "select * from gone", "gone=gone.csv"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("gone.csv"), "{}", run.err);
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let place = Place::new();
    let sql = "select a.value from generate_series(1, 3000000) as a(value)";
    let mut child = place
        .command(&["query", sql, ".", "-f", "ndjson"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let run = child.wait_with_output().unwrap();
    assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn nothing_is_left_behind() {
    let place = Place::new();
    // What a killed process left: nobody holds its lock.
    let stale = place.path().join("cache/salver/salver-run-1-0");
    std::fs::create_dir_all(&stale).unwrap();
    std::fs::write(stale.join("lock"), "").unwrap();
    place.run(&["query", ADULTS, "."]).good();
    assert_eq!(place.left_behind(), [""; 0]);
}

/// What stands where the answer goes stays what it is: a link leads to the same file, a pipe has its reader.
#[cfg(unix)]
#[test]
fn links_and_pipes_stay_what_they_are() {
    let place = Place::new();
    place.write("target.csv", "old");
    std::os::unix::fs::symlink("target.csv", place.path().join("link.csv")).unwrap();
    assert_eq!(place.run(&["query", "select 1 as a", "-o", "link.csv"]).good(), "");
    assert!(place.path().join("link.csv").is_symlink());
    assert_eq!(std::fs::read_to_string(place.path().join("target.csv")).unwrap(), "a\n1\n");
    let pipe = place.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(place.run(&["query", "select 1 as a", "-o", "pipe", "-f", "csv"]).good(), "");
    assert_eq!(reader.join().unwrap(), "a\n1\n");
    assert!(!std::fs::metadata(&pipe).unwrap().is_file());
    let run = place.run(&["export", "http://127.0.0.1:1/a", "-o", "pipe", "-f", "csv"]);
    assert!(run.code == Some(2) && run.err.contains("is not a file that parts could come together in"), "{run:?}");
}
