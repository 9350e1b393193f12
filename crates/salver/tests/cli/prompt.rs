//! `salver sql`: at a prompt, in a terminal that Python makes, and with standard input.

use std::process::{Command, Output};

use crate::{Place, Run};

/// Runs a program in a terminal of 60 columns and 24 lines. Each step waits for a text in what comes, in order, and
/// types something; `^C` is typed once the program runs a statement, and does not read keys.
const TERMINAL: &str = r#"
import fcntl, json, os, pty, select, struct, sys, termios, time
steps, argv = json.loads(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    os.execv(argv[0], argv)
out, at, end = b"", 0, time.monotonic() + 120
def more(wait):
    global out
    if select.select([fd], [], [], wait)[0]:
        try:
            read = os.read(fd, 65536)
        except OSError:
            return False
        out += read
        return bool(read)
    return time.monotonic() < end
for expected, typed in steps:
    expected = expected.encode()
    while out.find(expected, at) < 0:
        if not more(1):
            sys.exit(f"{expected} did not come after {out[at:]}, in {out}")
    at = out.find(expected, at) + len(expected)
    if typed == "^C":
        while not termios.tcgetattr(fd)[3] & termios.ISIG:
            more(0.01)
        typed = "\x03"
    os.write(fd, typed.encode())
while more(1):
    pass
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// Types at a prompt; `None` where there is no Python.
fn at_a_terminal(place: &Place, arguments: &[&str], pager: &str, steps: &[(&str, &str)]) -> Option<Run> {
    let has = Command::new("python3").args(["-c", "import pty, fcntl, termios"]).output();
    if !has.is_ok_and(|done| done.status.success()) {
        return None;
    }
    let told = place.command(&[]);
    let mut command = Command::new("python3");
    command.args(["-c", TERMINAL, &serde_json::to_string(steps).unwrap(), env!("CARGO_BIN_EXE_salver")]);
    command.args(arguments).current_dir(place.path());
    for (name, value) in told.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let state = place.path().join("state");
    let output: Output =
        command.env("TERM", "xterm").env("PAGER", pager).env("XDG_STATE_HOME", state).output().unwrap();
    Some(output.into())
}

/// Shorter than a line, which would be written in two pieces.
const SLOW: &str = "select max(v) from generate_series(1,99999999999) v;\n";

#[test]
fn a_session() {
    let place = Place::new();
    let steps = [
        ("salver> ", "select name\n"),
        ("   ...> ", "from people where id = 1;\n"),
        ("| Ada  |", ""),
        ("1 row", ""),
        ("salver> ", ".mode csv\n"),
        ("salver> ", "select id from people order by id;\n"),
        ("id\r\n1\r\n2\r\n3\r\n", ""),
        ("salver> ", "select nme from people;\n"),
        ("no column `nme` at line 1, column 8", ""),
        ("\r\n  select nme from people\r\n         ^\r\n  hint: did you mean `name`?", ""),
        ("salver> ", "select * from peo\t order by id;\n"),
        ("2,Alan,41", ""),
        ("salver> ", ".schema people\n"),
        ("name  Utf8", ""),
        ("salver> ", ".tables\n"),
        ("pets  2 rows", ""),
        ("salver> ", ".nothing\n"),
        ("there is no command `.nothing`", ""),
        ("salver> ", SLOW),
        ("99999) v;", "^C"),
        ("stopped", ""),
        ("salver> ", " select 'not remembered' as a;\n"),
        ("a\r\nnot remembered", ""),
        ("salver> ", "\x04"),
    ];
    let Some(run) = at_a_terminal(&place, &["sql", "."], "", &steps) else { return };
    assert_eq!(run.code, Some(0), "{run:?}");
    let history = std::fs::read_to_string(place.path().join("state/salver/sql_history")).unwrap();
    assert!(history.contains("\"select name\\nfrom people where id = 1;\"\n"), "{history}");
    assert!(!history.contains("not remembered"), "{history}");
    // The next prompt begins with them: the key up gives the last one.
    let steps = [("salver> ", "select 7 * 6 as answer;\n"), ("42", ""), ("salver> ", "\x04")];
    assert_eq!(at_a_terminal(&place, &["sql", "."], "", &steps).unwrap().code, Some(0));
    let steps = [("salver> ", "\x1b[A\n"), ("42", ""), ("salver> ", ".quit\n")];
    assert_eq!(at_a_terminal(&place, &["sql", "."], "", &steps).unwrap().code, Some(0));
    assert_eq!(place.left_behind(), [""; 0]);
}

#[test]
fn tables_fit_the_terminal() {
    let place = Place::new();
    let steps = [
        ("salver> ", "select 1 as id, repeat('x', 100) as long, repeat('y', 100) as too;\n"),
        ("xxx… | yyy", ""),
        ("1 row (text is cut where it ends in `…`", ""),
        ("salver> ", "select value from generate_series(1, 2000) order by value;\n"),
        ("| 1000", ""),
        ("2 000 rows (the first 1 000 are shown", ""),
        ("salver> ", ".quit\n"),
    ];
    let Some(run) = at_a_terminal(&place, &["sql", ".", "--no-pager"], "echo PAGED", &steps) else { return };
    assert!(run.code == Some(0) && !run.text().contains("PAGED"), "{run:?}");
    let lines = run.text().lines().filter(|line| line.starts_with('|'));
    assert!(lines.clone().count() > 1_000 && lines.clone().all(|line| line.chars().count() <= 60), "{run:?}");
    let wide: Vec<String> = (0..20).map(|at| format!("'{at}' as column{at}")).collect();
    let run = at_a_terminal(&place, &["query", &format!("select {}", wide.join(", "))], "", &[]).unwrap();
    assert!(run.code == Some(0) && run.text().contains(" of 20 columns are shown"), "{run:?}");
}

#[test]
fn long_results_go_through_the_pager() {
    let place = Place::new();
    let steps = [
        ("salver> ", "select 1 as a;\n"),
        ("1 row", ""),
        ("salver> ", "select value from generate_series(1, 100) order by value;\n"),
        ("| 100   |", ""),
        ("PAGED", ""),
        ("salver> ", ".quit\n"),
    ];
    let Some(run) = at_a_terminal(&place, &["sql", "."], "cat; echo PAGED", &steps) else { return };
    assert!(run.code == Some(0) && run.text().matches("PAGED").count() == 1, "{run:?}");
    let steps = [
        ("salver> ", "select value from generate_series(1, 100) order by value;\n"),
        ("`no-such-pager` of PAGER is not there", ""),
        ("| 100   |", ""),
        ("salver> ", ".quit\n"),
    ];
    let run = at_a_terminal(&place, &["sql", "."], "no-such-pager", &steps).unwrap();
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn statements_on_standard_input() {
    let place = Place::new();
    let input =
        "-- a file; of statements\nselect count(*) as n\nfrom people;\n.mode json\nselect ';' as a; select 2 as b";
    let run = place.run_with(&["sql", "."], input);
    assert_eq!(run.good(), "+---+\n| n |\n+---+\n| 3 |\n+---+\n[{\"a\":\";\"}]\n[{\"b\":2}]\n");
    assert_eq!(run.err, "1 row\n");
    let run =
        place.run_with(&["sql", ".", "-f", "csv"], "select 1 as a;\n\nselect nme\n from people;\nselect 2 as b;\n");
    assert_eq!((run.code, run.text()), (Some(1), "a\n1\n"));
    assert!(run.err.starts_with("error: statement of line 3: no column `nme`"), "{run:?}");
    assert!(run.err.contains("\n  select nme\n         ^\n  hint: did you mean `name`?\n"), "{run:?}");
    let run = place.run_with(&["sql", "."], ".mode xml\nselect 1;");
    assert!(run.code == Some(1) && run.text().is_empty() && run.err.contains("`.mode table`"), "{run:?}");
    let run = place.run_with(&["sql", "t=-,format=csv"], "select 1;");
    assert!(run.code == Some(2) && run.err.contains("standard input has the statements"), "{run:?}");
    let run = place.run_with(&["sql", ".", "-f", "csv"], "\u{feff}.mode json\nselect '\u{feff}' as a;");
    assert_eq!(run.good(), "[{\"a\":\"\u{feff}\"}]\n");
    // Every row comes where there is no terminal.
    let run = place.run_with(&["sql", "."], "select value from generate_series(1, 12000);");
    assert_eq!(run.good().lines().filter(|line| line.starts_with('|')).count(), 12_001);
    assert_eq!(place.left_behind(), [""; 0]);
}
