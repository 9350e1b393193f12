//! The host of R against real R: what it offers, what goes in and comes out, and what user code can do to it.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

#[path = "r_host/server.rs"]
mod server;
#[path = "r_host/tables.rs"]
mod tables;

use serde_json::{Value, json};
use server::{Host, Outcome};

/// One function that evaluates its argument.
const EVALUATE: &str = "evaluate <- function(x) eval(parse(text = x), new.env(parent = globalenv()))";

#[test]
fn a_file_offers_its_functions_and_they_answer() {
    let mut host = Host::loaded("add <- function(a, b = 2L) a + b\nfail <- function() stop('this is wrong')");
    let offer = host.offer();
    assert_eq!(offer["application"], json!(false));
    assert_eq!(offer["endpoints"][0]["function"], json!("add"));
    assert_eq!(offer["endpoints"][0]["parameters"][0]["required"], json!(true));
    assert_eq!(offer["endpoints"][0]["parameters"][1]["required"], json!(false));
    let mut worker = host.fork();
    let Outcome::Answer { status: 200, body, .. } = worker.call(0, &json!({ "a": 40 })) else { panic!() };
    assert_eq!(body, b"42");
    let Outcome::Failed { kind: 0, message, detail } = worker.call(1, &json!({})) else { panic!() };
    assert_eq!(message, "the function raised an error");
    assert!(detail.contains("this is wrong"), "{detail}");
    let Outcome::Failed { kind: 0, detail, .. } = worker.call(0, &json!({ "a": "x" })) else { panic!() };
    assert!(detail.contains("non-numeric argument"), "{detail}");
    let Outcome::Failed { kind: 2, .. } = worker.request(0, "[1]", "/", b"") else { panic!() };
    let Outcome::Answer { status: 200, body, .. } = worker.get(0, r#"{"a": 1, "b": 1.5}"#, "/", "") else { panic!() };
    assert_eq!(body, b"2.5");
}

#[test]
fn json_arguments_become_values() {
    let mut host = Host::loaded("show <- function(x) deparse1(x)");
    let mut worker = host.fork();
    for (argument, shown) in [
        (Value::Null, "NULL"),
        (json!(true), "TRUE"),
        (json!(7), "7L"),
        (json!(2_147_483_648_u64), "2147483648"),
        (json!(-2_147_483_648_i64), "-2147483648"),
        (json!(0.5), "0.5"),
        (json!("é\"中"), "\"é\\\"中\""),
        (json!([1, 2, null]), "c(1L, 2L, NA)"),
        (json!([1, 2.5, null]), "c(1, 2.5, NA)"),
        (json!([true, null]), "c(TRUE, NA)"),
        (json!(["a", null]), "c(\"a\", NA)"),
        (json!([null]), "NA"),
        (json!([]), "list()"),
        (json!([1, "a"]), "list(1L, \"a\")"),
        (json!([[1, 2], [3]]), "list(1:2, 3L)"),
        (json!([{ "a": 1 }, { "a": null }]), "list(list(a = 1L), list(a = NULL))"),
        (json!({ "b": { "c": [0.5] } }), "list(b = list(c = 0.5))"),
        (json!({}), "structure(list(), names = character(0))"),
    ] {
        let text = worker.value(argument.clone());
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), shown, "{argument}");
    }
}

#[test]
fn values_become_json() {
    let mut host = Host::loaded(EVALUATE);
    let mut worker = host.fork();
    for (code, text) in [
        ("NULL", "null"),
        ("NA", "null"),
        ("c(NA, NaN, Inf, 0.1, 1e300, 3)", "[null,null,null,0.1,1e+300,3]"),
        ("1:3", "[1,2,3]"),
        ("I('one')", "[\"one\"]"),
        ("c(a = TRUE, b = NA)", "{\"a\":true,\"b\":null}"),
        ("list(1, 'a', list(x = NULL, 2))", "[1,\"a\",{\"x\":null,\"2\":2}]"),
        ("character()", "[]"),
        ("setNames(list(), character())", "{}"),
        ("factor(c('u', NA))", "[\"u\",null]"),
        ("as.Date(c('2000-02-29', NA))", "[\"2000-02-29\",null]"),
        ("as.POSIXct('2020-01-01 12:00:00.25', tz = 'UTC')", "\"2020-01-01T12:00:00.25Z\""),
        ("as.POSIXlt('2020-01-01 12:00:00', tz = 'Europe/Vienna')", "\"2020-01-01T11:00:00Z\""),
        ("as.raw(0:3)", "\"AAECAw==\""),
        ("matrix(1:4, 2)", "[[1,3],[2,4]]"),
        (
            "data.frame(n = 1:2, t = c('x', NA), f = factor(c('u', 'v')))",
            concat!("[{\"n\":1,\"t\":\"x\",\"f\":\"u\"},", "{\"n\":2,\"t\":null,\"f\":\"v\"}]"),
        ),
        ("data.frame()", "[]"),
        // As jsonlite writes them.
        ("data.frame(n = 1:2, row.names = c('a', 'b'))", r#"[{"n":1,"_row":"a"},{"n":2,"_row":"b"}]"#),
        ("data.frame(n = 1:3)[c(1, 3), , drop = FALSE]", r#"[{"n":1},{"n":3}]"#),
        (
            "local({ d <- data.frame(n = 1:2); d$i <- data.frame(x = c(TRUE, NA), y = c('p', 'q')); d })",
            r#"[{"n":1,"i":{"x":true,"y":"p"}},{"n":2,"i":{"x":null,"y":"q"}}]"#,
        ),
        (
            "local({ d <- data.frame(n = 1:2); d$m <- matrix(1:4, 2); d$a <- array(1:8, c(2, 2, 2)); d })",
            r#"[{"n":1,"m":[1,3],"a":[[1,5],[3,7]]},{"n":2,"m":[2,4],"a":[[2,6],[4,8]]}]"#,
        ),
        ("list(a = 1, a = 2, 3, b = 4, a.1 = 5)", r#"{"a":1,"a.2":2,"3":3,"b":4,"a.1":5}"#),
        ("setNames(list(1, 2, 3, 4), c('a', NA, 'a', ''))", r#"{"a":1,"2":2,"a.1":3,"4":4}"#),
        ("setNames(as.list(c(1:20, 0)), c(paste0('n', 1:20), 'n20'))[19:21]", r#"{"n19":19,"n20":20,"n20.1":0}"#),
        ("data.frame(a = 1:2, a = 3:4, check.names = FALSE)", r#"[{"a":1,"a.1":3},{"a":2,"a.1":4}]"#),
        ("list(z = c(1+2i, NA, 0.5-1i), one = 1i)", r#"{"z":["1+2i",null,"0.5-1i"],"one":"0+1i"}"#),
        ("array(1:8, c(2, 2, 2))", "[[[1,5],[3,7]],[[2,6],[4,8]]]"),
        ("array(1:3, 3)", "[1,2,3]"),
        ("matrix(1:6, 2)[, 0]", "[[],[]]"),
        ("iconv('\\u00e9', 'UTF-8', 'latin1')", "\"é\""),
        ("'tab\\t\"\\u0001'", "\"tab\\t\\\"\\u0001\""),
    ] {
        assert_eq!(worker.value(code), text, "{code}");
    }
    assert!(worker.failure("function() 1").1.contains("not data"));
    assert!(worker.failure("x <- 1; for (i in 1:1000) x <- list(x); x").1.contains("nested too deep"));
}

#[test]
fn bad_code_fails_alone() {
    let mut host = Host::loaded(EVALUATE);
    let mut worker = host.fork();
    let (kind, detail) = worker.failure("numeric(2e9)");
    assert_eq!(kind, 1, "{detail}");
    assert!(worker.failure("f <- function(n) f(n + 1); f(1)").1.contains("nested too deeply"));
    let deep = "options(expressions = 5e5); f <- function(n) lapply(1, function(i) f(n + 1)); f(1)";
    let (kind, detail) = worker.failure(deep);
    assert_eq!(kind, 0, "{detail}");
    assert!(worker.failure("stop('one')").1.contains("one"));
    assert!(!worker.failure("invokeRestart('abort')").1.contains("one"), "an old error must not be told again");
    assert_eq!(worker.value("warning('careful'); message('err'); cat('out\\n'); print(1); 2"), "2");
    assert_eq!(worker.value("readLines(file('stdin'))"), "[]");
    assert_eq!(worker.value("readline('?')"), "\"\"");
    assert_eq!(worker.value("system('echo it', intern = TRUE)"), "\"it\"");
    assert_eq!(worker.value("system('exit 3')"), "3");
    // Each worker that dies leaves the others as they were, and the files they share.
    assert_eq!(worker.value("file.create(file.path(tempdir(), 'shared'))"), "true");
    for code in ["quit()", "tools::pskill(Sys.getpid(), 9)", "for (i in 1:2) tools::pskill(Sys.getpid(), 11)"] {
        assert_eq!(host.fork().call(0, &json!({ "x": code })), Outcome::Ended, "{code}");
    }
    assert_eq!(worker.value("file.exists(file.path(tempdir(), 'shared'))"), "true");
}

#[test]
fn the_server_ends_workers_and_its_end_ends_all() {
    let mut host = Host::loaded(&format!("set.seed(1)\n{EVALUATE}"));
    let (mut first, mut second) = (host.fork(), host.fork());
    let number = "runif(1)";
    assert_ne!(first.value(number), second.value(number), "workers draw random numbers of their own");
    assert_eq!(first.value("Sys.getpid()"), first.process.to_string());
    first.send(["GET", "/", ""], 0, r#"{"x": "repeat {}"}"#, b"");
    host.order(b'K', first.process);
    assert_eq!(first.receive(), Outcome::Ended);
    assert_eq!(second.value("6 * 7"), "42");
    let directory: String = serde_json::from_str(&second.value("tempdir()")).unwrap();
    host.end();
    assert!(second.has_ended());
    assert!(!std::path::Path::new(&directory).exists());
}

#[test]
fn a_body_of_bytes_goes_both_ways() {
    let mut host = Host::loaded(
        "library(RestRserve)
        app <- Application$new(content_type = 'application/octet-stream', middleware = list())
        app$add_post('/echo', function(request, response) response$set_body(request$body))",
    );
    assert_eq!(host.offer()["application"], json!(true));
    let mut worker = host.fork();
    let sent: Vec<u8> = (0..32_000_000_u32).flat_map(u32::to_le_bytes).take(40_000_000).collect();
    for length in [0, 1, 16_000, sent.len(), 100_000] {
        let Outcome::Answer { status: 200, kind: 0, body, .. } = worker.request(-1, "", "/echo", &sent[..length])
        else {
            panic!("{length}")
        };
        assert!(body == sent[..length], "{length}");
    }
    // More than the process may have: the call fails, the worker stays.
    let outcome = worker.request(-1, "", "/echo", &vec![7; 300_000_000]);
    assert!(matches!(outcome, Outcome::Failed { kind: 1, .. }), "{outcome:?}");
    let outcome = worker.request(-1, "", "/echo", b"");
    assert!(matches!(outcome, Outcome::Answer { status: 200, .. }), "{outcome:?}");
}

#[test]
fn an_application_sees_path_and_query_without_escapes() {
    let mut host = Host::loaded(
        "library(RestRserve)
        app <- Application$new()
        app$add_get('/a/', match = 'partial', FUN = function(request, response) {
          query <- request$parameters_query
          response$set_body(paste(c(request$path, paste(names(query), query)), collapse = '|'))
        })",
    );
    let mut worker = host.fork();
    for (path, query, shown) in [
        ("/a/b", "", "/a/b"),
        ("/a/b%20c+d%", "n=10", "/a/b c+d%|n 10"),
        ("/a/%C3%A9", "a+b=c%3D&d&e=&=f&n=1&n=2==", "/a/é|a b c=|n 1|n 2=="),
    ] {
        let Outcome::Answer { status: 200, body, .. } = worker.get(-1, "", path, query) else { panic!("{path}") };
        assert_eq!(String::from_utf8(body).unwrap(), shown);
    }
}

#[test]
fn a_file_that_does_not_load_says_why() {
    for (text, words) in [
        ("stop('not today')", "not today"),
        ("f <- function( {", "unexpected"),
        ("library(there.is.no.such.package)", "there.is.no.such.package"),
    ] {
        let host = Host::start(text);
        assert_eq!(host.first.0, b'X');
        let reason = String::from_utf8_lossy(&host.first.1);
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn the_compiled_runtime_is_kept_for_the_next_start() {
    let mut first = Host::loaded("f <- function() 1L");
    let directory = first.directory();
    let kept = directory.path().join("runtime.rds");
    let text = std::fs::read(&kept).unwrap();
    let offer = first.offer();
    first.end();
    for (before, after) in [(text.clone(), text.len()), (b"broken".to_vec(), text.len())] {
        std::fs::write(&kept, before).unwrap();
        let mut next = Host::start_in(first.directory(), "f <- function() 1L");
        assert_eq!(next.offer(), offer);
        assert!(matches!(next.fork().call(0, &json!({})), Outcome::Answer { status: 200, .. }));
        assert_eq!(std::fs::metadata(&kept).unwrap().len(), after as u64);
    }
}
