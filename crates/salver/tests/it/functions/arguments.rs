//! Functions called by name and by their own routes: arguments from path, query and body, checked before any code runs.

use super::serve;

const PYTHON: &[u8] = br#"
import asyncio
from typing import Optional


def add(a: int, b: float = 1.5) -> float:
    """Adds two numbers."""
    return a + b


def shout(words: list[str], mark: Optional[str] = None):
    return " ".join(words).upper() + (mark or "")


def flag(on: bool):
    return {"on": on}


async def later(n: int):
    await asyncio.sleep(0)
    return n


def anything(x):
    return {"x": x}


def measure(body: bytes) -> int:
    return len(body)


def _hidden():
    return 1
"#;

/// In a file with annotations only what they say is served.
const ROUTED: &[u8] = br#"
#* The n-th number
#* @get /fib/<n:int>
#* @param n:int* which one
def fib(n) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


#* @get /items/new
def new_item():
    return "new"


#* @get /items/{name}
def item(name: str, size: int = 1):
    return [name] * size


#* @post /items/{name}
def put_item(name: str, tags: list[str]):
    return {"name": name, "tags": tags}


#* @get /count
def count(to: int):
    for n in range(to):
        yield {"n": n}


def unsaid():
    return 1
"#;

const R: &[u8] = br#"
fib <- function(n) {
  x <- c(0L, 1L)
  for (i in seq_len(n)) x <- c(x[2L], x[1L] + x[2L])
  x[1L]
}

frame <- function(rows = 2L) data.frame(a = seq_len(rows), b = c("x", NA))

greet <- function(name, greeting = "Hello") paste0(greeting, ", ", name, "!")
"#;

#[test]
fn functions_are_called_by_name() {
    let server = serve("", &[("functions/py.py", PYTHON), ("functions/r.R", R)]);
    for (target, body, answer) in [
        ("/api/functions/py/add", r#"{"a": 1}"#, "2.5"),
        ("/api/functions/py/add", r#"{"a": 2, "b": 3}"#, "5.0"),
        ("/api/functions/py/add?a=2&b=0.5", "", "2.5"),
        ("/api/functions/py/shout", r#"{"words": ["a", "b"], "mark": "!"}"#, r#""A B!""#),
        ("/api/functions/py/shout?words=a&words=b", "", r#""A B""#),
        ("/api/functions/py/flag", r#"{"on": true}"#, r#"{"on":true}"#),
        ("/api/functions/py/flag?on=false", "", r#"{"on":false}"#),
        ("/api/functions/py/later", r#"{"n": 4}"#, "4"),
        ("/api/functions/py/anything", r#"{"x": {"a": [1, null]}}"#, r#"{"x":{"a":[1,null]}}"#),
        ("/api/functions/py/anything?x=007", "", r#"{"x":"007"}"#),
        ("/api/functions/py/anything?x=7", "", r#"{"x":7}"#),
        ("/api/functions/r/fib", r#"{"n": 10}"#, "55"),
        ("/api/functions/r/frame", "", r#"[{"a":1,"b":"x"},{"a":2,"b":null}]"#),
        ("/api/functions/r/greet", r#"{"name": "you"}"#, r#""Hello, you!""#),
        ("/api/functions/r/greet?name=me&greeting=Bye", "", r#""Bye, me!""#),
    ] {
        let got = server.post(target, body);
        assert_eq!((got.status, got.text()), (200, answer), "{target} {body}");
        assert_eq!(got.header("content-type"), Some("application/json"), "{target}");
    }
    let bytes = server.ask("POST", "/api/functions/py/measure", &[("content-type", "image/png")], &[0xff, 0, 1]);
    assert_eq!((bytes.status, bytes.text()), (200, "3"));
}

#[test]
fn wrong_arguments_are_told_before_any_code_runs() {
    let server = serve("", &[("functions/py.py", PYTHON), ("functions/r.R", R)]);
    for (target, body, status, message) in [
        ("/api/functions/py/add", "", 400, "`a` is missing"),
        ("/api/functions/py/add", r#"{"a": "1"}"#, 400, "`a` can't be `\"1\"`"),
        ("/api/functions/py/add", r#"{"a": 1.5}"#, 400, "`a` can't be `1.5`"),
        ("/api/functions/py/add?a=x", "", 400, "`a` can't be `x`"),
        ("/api/functions/py/add?a=1&a=2", "", 400, "`a` is given 2 times"),
        ("/api/functions/py/add", r#"{"a": 1, "c": 2}"#, 400, "`add` has no parameter `c`"),
        ("/api/functions/py/shout", r#"{"words": "a"}"#, 400, "`words` is not a list: `\"a\"`"),
        ("/api/functions/py/shout", r#"{"words": ["a", 1]}"#, 400, "`words` can't be `1`"),
        ("/api/functions/py/flag", r#"{"on": 1}"#, 400, "`on` can't be `1`"),
        ("/api/functions/py/add", "[1, 2]", 400, "the body is not a JSON object"),
        ("/api/functions/py/missing", "", 404, "`py` has no function `missing`"),
        ("/api/functions/py/_hidden", "", 404, "`py` has no function `_hidden`"),
        ("/api/functions/none/fib", "", 404, "there is no file of functions called `none`"),
        ("/api/functions/r/greet", "", 400, "`name` is missing"),
    ] {
        let got = server.post(target, body);
        assert_eq!((got.status, got.json()["message"].as_str()), (status, Some(message)), "{target} {body}");
    }
    let broken = server.post_json("/api/functions/py/add", "{");
    assert_eq!((broken.status, &broken.json()["error"]), (400, &"invalid_body".into()));
    let image = server.ask("POST", "/api/functions/py/add", &[("content-type", "image/png")], b"x");
    assert_eq!(image.status, 415);
    for (method, status) in [("GET", 405), ("PUT", 405), ("OPTIONS", 204)] {
        let answer = server.ask(method, "/api/functions/py/add?a=1", &[], b"");
        assert_eq!((answer.status, answer.header("allow")), (status, Some("POST, OPTIONS")), "{method}");
    }
    let unknown = server.ask("OPTIONS", "/api/functions/py/missing", &[], b"");
    assert_eq!((unknown.status, unknown.header("allow")), (204, Some("GET, HEAD, POST, OPTIONS")));
}

#[test]
fn routes_that_files_declare() {
    let server = serve("", &[("functions/py.py", ROUTED)]);
    for (method, target, body, status, answer) in [
        ("GET", "/fib/10", "", 200, "55"),
        ("GET", "/items/new", "", 200, r#""new""#),
        ("GET", "/items/a%20b?size=2", "", 200, r#"["a b","a b"]"#),
        ("POST", "/items/x", r#"{"tags": ["t"]}"#, 200, r#"{"name":"x","tags":["t"]}"#),
        ("GET", "/count?to=3", "", 200, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n"),
        ("HEAD", "/fib/10", "", 200, ""),
    ] {
        let got = server.ask(method, target, &[], body.as_bytes());
        assert_eq!((got.status, got.text()), (status, answer), "{method} {target}");
    }
    assert_eq!(server.post("/api/functions/py/fib", r#"{"n": 10}"#).text(), "55");
    assert_eq!(server.post("/api/functions/py/unsaid", "").status, 404);
    // What is not a number is another path.
    assert_eq!(server.get("/fib/x").status, 404);
    let refused = server.ask("DELETE", "/items/x", &[], b"");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    let asked = server.ask("OPTIONS", "/items/x", &[], b"");
    assert_eq!((asked.status, asked.header("allow")), (204, Some("GET, HEAD, POST, OPTIONS")));
    let events = server.get_with("/count?to=2", &[("accept", "text/event-stream")]);
    assert_eq!(events.text(), "data: {\"n\":0}\n\ndata: {\"n\":1}\n\n");
}

#[test]
fn what_there_is_is_described() {
    let server = serve("", &[("functions/py.py", ROUTED)]);
    let described = server.get("/api/functions/py").json();
    assert_eq!(described["language"], "Python");
    let endpoints = described["endpoints"].as_array().unwrap();
    let fib = endpoints.iter().find(|endpoint| endpoint["function"] == "fib").unwrap();
    assert_eq!((&fib["method"], &fib["path"]), (&"GET".into(), &"/fib/<n:int>".into()));
    assert_eq!(fib["summary"], "The n-th number");
    assert_eq!(fib["parameters"][0]["type"], "integer");
    assert_eq!(fib["result"], "integer");
    assert!(endpoints.iter().any(|endpoint| endpoint.get("result").is_none()), "where nothing is declared");
    let openapi = server.get("/api/functions.openapi.json").json();
    let get = &openapi["paths"]["/fib/{n}"]["get"];
    assert_eq!(get["parameters"][0]["in"], "path");
    assert_eq!(get["parameters"][0]["schema"]["type"], "integer");
    assert_eq!(get["responses"]["200"]["content"]["application/json"]["schema"]["type"], "integer");
    let post = &openapi["paths"]["/api/functions/py/fib"]["post"];
    assert_eq!(post["requestBody"]["content"]["application/json"]["schema"]["anyOf"][0]["required"][0], "n");
}

const TYPED: &[u8] = br#"
from dataclasses import dataclass
from decimal import Decimal
from typing import Dict, List, Union


@dataclass
class Line:
    name: str
    amounts: List[int]


def whole(x: int):
    return repr(x)


def exact(x: Decimal):
    return repr(x)


def either(x: Union[int, str]):
    return repr(x)


def other(x: Union[str, int]):
    return repr(x)


def untyped(x):
    return repr(x)


def lines(x: List[Line], rates: Dict[str, float] = {}):
    return len(x)


def named(**names: int):
    return repr(names)


#* @get /at/<x>
def at(x):
    return repr(x)


#* @get /number/<x:int>
def number(x: int):
    return repr(x)
"#;

/// The file with all of its functions called by name, and that with its routes.
fn typed() -> super::Server {
    let whole = String::from_utf8_lossy(TYPED);
    let (by_name, routes) = whole.split_once("#* @get").unwrap_or_default();
    let routes = format!("#* @get{routes}");
    serve("", &[("functions/py.py", by_name.as_bytes()), ("functions/at.py", routes.as_bytes())])
}

#[test]
fn numbers_arrive_with_all_their_digits() {
    let server = typed();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for (function, x, told) in [
        ("whole", "123456789012345678901234567890", "123456789012345678901234567890"),
        ("whole", "-9223372036854775809", "-9223372036854775809"),
        ("exact", "1.10", "Decimal('1.10')"),
        ("exact", "12345678901234567890.123456789", "Decimal('12345678901234567890.123456789')"),
        ("untyped", "99999999999999999999999999", "99999999999999999999999999"),
        ("untyped", "1.10", "1.1"),
    ] {
        let target = format!("/api/functions/py/{function}");
        let answers = [
            server.post(&target, &format!("{{\"x\": {x}}}")),
            server.post(&target, x),
            server.post(&format!("{target}?x={x}"), ""),
            server.ask("POST", &target, &form, format!("x={x}").as_bytes()),
        ];
        for (way, got) in answers.iter().enumerate() {
            assert_eq!((got.status, got.json().as_str()), (200, Some(told)), "{function} {x} {way}");
        }
    }
    assert_eq!(server.post("/api/functions/py/whole", r#"{"x": 9007199254740993.0}"#).text(), "\"9007199254740993\"");
    for (target, body) in [("whole?x=1.5", ""), ("whole", r#"{"x": 1.5}"#), ("whole?x=1e400", ""), ("exact?x=nan", "")]
    {
        assert_eq!(server.post(&format!("/api/functions/py/{target}"), body).status, 400, "{target} {body}");
    }
    for (target, told) in [
        ("/at/99999999999999999999999999", "99999999999999999999999999"),
        ("/at/%205", "' 5'"),
        ("/number/99999999999999999999999999", "99999999999999999999999999"),
    ] {
        assert_eq!(server.get(target).json().as_str(), Some(told), "{target}");
    }
}

#[test]
fn a_union_takes_the_first_type_that_takes_a_text() {
    let server = typed();
    for (target, body, told) in [
        ("either?x=5", "", "5"),
        ("either?x=1.5", "", "'1.5'"),
        ("either?x=1e5", "", "'1e5'"),
        ("either?x=true", "", "'true'"),
        ("other?x=5", "", "'5'"),
        ("other", r#"{"x": 5}"#, "5"),
        ("either", r#"{"x": "5"}"#, "'5'"),
        ("named?a=1&b=2", "", "{'a': 1, 'b': 2}"),
    ] {
        let got = server.post(&format!("/api/functions/py/{target}"), body);
        assert_eq!((got.status, got.json().as_str()), (200, Some(told)), "{target} {body}");
    }
}

#[test]
fn what_is_wrong_within_an_argument_is_told_with_its_place() {
    let server = typed();
    for (function, body, message) in [
        (
            "lines",
            r#"{"x": [{"name": "a", "amounts": [1]}, {"name": 1, "amounts": []}]}"#,
            "`x[1].name` is not right: it is not a text",
        ),
        (
            "lines",
            r#"{"x": [{"name": "a", "amounts": [1, "2"]}]}"#,
            "`x[0].amounts[1]` is not right: it is not a whole number",
        ),
        ("lines", r#"{"x": [], "rates": {"a": "b"}}"#, "`rates[\"a\"]` is not right: it is not a number"),
        ("named", r#"{"a": "x"}"#, "`a` can't be `\"x\"`"),
    ] {
        let got = server.post(&format!("/api/functions/py/{function}"), body);
        assert_eq!((got.status, got.json()["message"].as_str()), (400, Some(message)), "{function} {body}");
    }
}

#[test]
fn a_path_that_is_no_text_is_refused() {
    let server = typed();
    for target in ["/at/%ff", "/at/a%C3", "/api/tables/%ff", "/nowhere/%ff"] {
        let got = server.get(target);
        assert_eq!((got.status, &got.json()["error"]), (400, &"rest_query".into()), "{target}");
    }
    assert_eq!(server.get("/at/%C3%A9").json().as_str(), Some("'é'"));
}
