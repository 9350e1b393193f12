//! Functions of files in SQL statements.

use super::{Server, serve};

const R: &[u8] = br#"
#' @pure
fib <- function(n) {
  x <- c(0, 1)
  for (i in seq_len(n)) x <- c(x[2], x[1] + x[2])
  x[1]
}

#' @return text
#' @vectorized
initials <- function(name, mark = ".") paste0(substr(name, 1, 1), mark)

add.tax <- function(x) round(x * 1.19, 2)
twice <- function(x) 2 * x
"#;

const PYTHON: &[u8] = br#"
import time
from typing import Optional


def twice(x: int) -> int:
    return 2 * x


def is_adult(age: Optional[int]) -> Optional[bool]:
    return None if age is None else age >= 18


def fail(x):
    raise ValueError(f"no {x}")


def shout(words: list[str]) -> str:
    return " ".join(words).upper()


def lower(text: str) -> str:
    return "mine"


def spin(x):
    while True:
        pass


def slow(x: int) -> int:
    time.sleep(0.002)
    return x
"#;

const PEOPLE: &[u8] = b"id,name,age,born\n1,Ann,36,1988-02-28\n2,Bob,7,2017-06-01\n3,Cy,,\n";

fn server() -> Server {
    serve("", &[("functions/r.R", R), ("functions/py.py", PYTHON), ("people.csv", PEOPLE)])
}

#[test]
fn functions_stand_wherever_an_expression_does() {
    let server = server();
    for (sql, expected) in [
        ("select fib(id * 10) as f from people order by id", r#"[{"f":55.0},{"f":6765.0},{"f":832040.0}]"#),
        ("select r.fib(10) as f", r#"[{"f":55.0}]"#),
        ("select FIB(10) as f", r#"[{"f":55.0}]"#),
        ("select initials(name) as i from people where initials(name, '') <> 'B'", r#"[{"i":"A."},{"i":"C."}]"#),
        ("select sum(fib(id)) as s, max(py.twice(id)) as m from people", r#"[{"s":4.0,"m":6}]"#),
        (
            "select py.twice(id) as t, count(*) as c from people group by py.twice(id) order by t desc limit 1",
            r#"[{"t":6,"c":1}]"#,
        ),
        ("select name from people order by -py.twice(id)", r#"[{"name":"Cy"},{"name":"Bob"},{"name":"Ann"}]"#),
        ("select py.twice(py.twice(id)) as t from people where id = 2", r#"[{"t":8}]"#),
        ("select a.name from people a join people b on py.twice(a.id) = b.id + 1 and b.id = 3", r#"[{"name":"Bob"}]"#),
        ("select is_adult(age) as a from people order by id", r#"[{"a":true},{"a":false},{"a":null}]"#),
        ("select case when id > 5 then fail(id) else 1 end as c from people where id = 1", r#"[{"c":1.0}]"#),
        ("select add.tax(10) as t", r#"[{"t":11.9}]"#),
        ("select initials(born, '') as i from people where id = 1", r#"[{"i":"1"}]"#),
        (
            "select lower(name) as own, py.lower(name) as theirs from people where id = 1",
            r#"[{"own":"ann","theirs":"mine"}]"#,
        ),
        ("with t as (select twice.x from (select 1 as x) twice) select fib(x) as f from t", r#"[{"f":1.0}]"#),
        ("select fib(id) from people where id = 1", r#"[{"fib(people.id)":1.0}]"#),
        ("select fib(null) as f from people where false", "[]"),
        (
            "select count(slow(value)) as c, sum(slow(value)) as s from generate_series(1, 400)",
            r#"[{"c":400,"s":80200}]"#,
        ),
    ] {
        let answer = server.post("/api/sql", sql);
        assert_eq!((answer.status, answer.text()), (200, expected), "{sql}");
    }
}

#[test]
fn what_is_wrong_is_told_before_any_code_runs() {
    let server = server();
    for (sql, message, hint) in [
        ("select twice(id) from people", "`twice` may be `py.twice` or `r.twice`", "write the file's name"),
        ("select fib() from people", "`fib` takes 1 arguments, and 0 are given", "they are `n`"),
        (
            "select initials('a', 'b', 'c')",
            "`initials` takes 1 to 2 arguments, and 3 are given",
            "they are `name`, `mark`",
        ),
        ("select py.twice(1.5)", "`py.twice` takes a whole number for `x`, and Decimal128(2, 1) is given", "cast"),
        ("select py.twice(name) from people", "takes a whole number for `x`, and Utf8 is given", "cast"),
        ("select shout('a')", "`shout` can't be called in SQL: its parameter `words` takes no plain value", "plain"),
        ("select fibb(1)", "Invalid function 'fibb' at line 1, column 8", "did you mean `fib`?"),
        ("select py.twise(1)", "Invalid function 'py.twise'", "did you mean `py.twice`?"),
        ("select * from fib(3)", "`fib` is not one of the table functions", "use SELECT"),
    ] {
        let answer = server.post("/api/sql", sql);
        let (told, own_hint) = (answer.json()["message"].clone(), answer.json()["hint"].clone());
        let has = |json: &serde_json::Value, part: &str| json.as_str().is_some_and(|text| text.contains(part));
        assert!(has(&told, message) && has(&own_hint, hint), "{sql}: {}", answer.text());
        assert!((400..500).contains(&answer.status), "{sql}: {}", answer.status);
    }
}

#[test]
fn what_user_code_raises_reaches_who_asks() {
    let server = server();
    for sql in ["select fail(id) from people", "select count(*) from people group by fail(id)"] {
        let answer = server.post("/api/sql", sql);
        assert_eq!(answer.status, 500, "{}", answer.text());
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("`fail` raised ValueError: no "), "{message}");
    }
    assert_eq!(server.post("/api/sql", "select py.twice(1) as t").text(), r#"[{"t":2}]"#);
}

/// The reader of Parquet applies conditions that can't fail, and takes an error for a damaged file. `ordered` is a name
/// of the engine's own among those, which statements can't call.
#[test]
fn a_condition_of_user_code_is_not_taken_for_the_engines() {
    let code = b"def ordered(x: int) -> bool:\n    raise ValueError(f'no {x}')\n";
    let maker = serve("", &[("people.csv", PEOPLE)]);
    let parquet = maker.get("/api/tables/people.parquet").body;
    let toml =
        "[[dataset]]\nname = \"p\"\nsource = \"p.parquet\"\nmemory = \"never\"\n[[function]]\nfile = \"py.py\"\n";
    let server = serve(toml, &[("p.parquet", &parquet), ("py.py", code)]);
    let answer = server.post("/api/sql", "select id from p where ordered(id)");
    assert_eq!(answer.status, 500, "{}", answer.text());
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("`ordered` raised ValueError: no "), "{message}");
}

/// The worker of a statement that took too long ends with it, and does not keep others waiting.
#[test]
fn a_statement_that_takes_too_long_ends_its_calls() {
    let toml = "[limits]\nquery_ms_max = 1500\n[[function]]\nfile = \"py.py\"\nworkers = 1\n";
    let server = serve(toml, &[("py.py", PYTHON)]);
    assert_eq!(server.post("/api/sql", "select twice(1) as t").text(), r#"[{"t":2}]"#);
    let answer = server.post("/api/sql", "select spin(1)");
    assert_eq!((answer.status, &answer.json()["error"]), (503, &"timeout".into()), "{}", answer.text());
    server.until(|server| server.post("/api/sql", "select twice(1) as t").text() == r#"[{"t":2}]"#);
    assert_eq!(server.get("/api/functions/py").json()["workers"]["lost"], 1);
}

/// Answers of user code are made anew each time, and by the file as it is now.
#[test]
fn a_file_that_changes_changes_what_statements_call() {
    let pure = b"#* @pure\ndef f(x: int) -> int:\n    return x\n";
    let server = serve("", &[("functions/py.py", pure)]);
    let ask = || server.post("/api/sql", "select f(1) as f, f(2) as g from generate_series(1, 1)").text().to_owned();
    assert_eq!(ask(), r#"[{"f":1,"g":2}]"#);
    let other = "#* @pure\ndef f(x: int) -> int:\n    return 10 * x\n";
    std::fs::write(server.file("functions/py.py"), other).unwrap();
    server.until(|_| ask() == r#"[{"f":10,"g":20}]"#);
    std::fs::write(server.file("functions/py.py"), "def g(x: int) -> int:\n    return x\n").unwrap();
    server.until(|server| server.post("/api/sql", "select g(1) as g").text() == r#"[{"g":1}]"#);
    assert_eq!(server.post("/api/sql", "select f(1)").status, 400);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let server = serve("", &[("functions/r.R", b"fib <- function(n) {")]);
    let answer = server.post("/api/sql", "select fib(1)");
    assert_eq!(answer.status, 400);
    let hint = answer.json()["hint"].as_str().unwrap().to_owned();
    assert!(hint.starts_with("it may be in a file that is not there now: `r` can't be loaded"), "{hint}");
}
