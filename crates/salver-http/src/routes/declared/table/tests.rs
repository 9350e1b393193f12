//! What is found, in which order, for whom; and what is told of routes that can't be reached.

use std::sync::Arc;

use http::Method;
use salver_model::Name;
use salver_model::functions::{Endpoint, Interface, Language};
use salver_model::spec::FunctionSpec;

use super::{DeclaredFound, DeclaredTable, DeclaredTarget, FileState};
use crate::routes::{Family, Methods};

fn spec(name: &str, mount: &str) -> FunctionSpec {
    let file = format!("/files/{name}.py").into();
    FunctionSpec { path: mount.to_owned(), ..FunctionSpec::new(Name::new(name).unwrap(), file, Language::Python) }
}

fn loaded(routes: &[(&str, &str)], application: bool) -> FileState {
    let endpoint = |(method, path): &(&str, &str)| Endpoint {
        route: Some(((*method).to_owned(), (*path).to_owned())),
        ..Endpoint::default()
    };
    let endpoints = routes.iter().map(endpoint).collect();
    FileState::Loaded(Arc::new(Interface { application, endpoints, ..Interface::default() }))
}

fn table(files: Vec<(FunctionSpec, FileState)>) -> Arc<DeclaredTable> {
    let mut table = DeclaredTable::default();
    for (spec, state) in files {
        table.add_file(&spec, state);
    }
    table.arrange(|_, path| path == "/health");
    Arc::new(table)
}

/// Returns what a request leads to, with the values of its path; else its methods, or nothing.
fn found(table: &Arc<DeclaredTable>, method: Method, path: &str) -> String {
    seen(table, &method, path, |_| true)
}

fn seen(table: &Arc<DeclaredTable>, method: &Method, path: &str, may_know: impl Fn(&str) -> bool) -> String {
    match table.find(method, path, may_know) {
        DeclaredFound::Row(found) => {
            let values: Vec<_> = found.values.iter().map(|(_, value)| value.as_str()).collect();
            match found.target() {
                DeclaredTarget::Endpoint(file, number) => format!("{file}.{number} {}", values.join(",")),
                DeclaredTarget::Application(file, _) => format!("{file} {}", found.below(file, path)),
                target => format!("{target:?}"),
            }
        }
        DeclaredFound::OtherMethod(methods, _) => methods.list(),
        DeclaredFound::Nothing => String::new(),
    }
}

#[test]
fn in_order() {
    let first = [("GET", "/a/<x:int>"), ("GET", "/a/<x>"), ("POST", "/a/<x>"), ("*", "/any"), ("HEAD", "/head")];
    let second = [("GET", "/a/b"), ("GET", "/<x>/<y>"), ("GET", "/caf\u{e9}")];
    let table = table(vec![
        (spec("first", ""), loaded(&first, false)),
        (spec("second", ""), loaded(&second, false)),
        (spec("third", "/below"), loaded(&[("GET", "/"), ("GET", "/x/<n:dbl>")], false)),
    ]);
    for (method, path, expected) in [
        // A path without parameters comes first, whichever file it is in.
        (Method::GET, "/a/b", "1.0 "),
        (Method::HEAD, "/a/b/", "1.0 "),
        (Method::POST, "/a/b", "0.2 b"),
        (Method::GET, "/a/7", "0.0 7"),
        (Method::GET, "/a/c%20d", "0.1 c d"),
        (Method::GET, "/b/7", "1.1 b,7"),
        (Method::PUT, "/a/c", "GET, HEAD, POST, OPTIONS"),
        (Method::OPTIONS, "/a/c", "GET, HEAD, POST, OPTIONS"),
        (Method::OPTIONS, "/any", "0.3 "),
        (Method::PATCH, "/any", "0.3 "),
        (Method::HEAD, "/head", "0.4 "),
        (Method::GET, "/head", "HEAD, OPTIONS"),
        (Method::GET, "/caf%C3%A9", "1.2 "),
        (Method::GET, "/a%2Fb", ""),
        (Method::GET, "/below", "2.0 "),
        (Method::GET, "/below/", "2.0 "),
        (Method::GET, "/below/x/1.5", "2.1 1.5"),
        (Method::GET, "/below/x/y", ""),
        (Method::GET, "/nothing", ""),
        (Method::GET, "/", ""),
    ] {
        assert_eq!(found(&table, method.clone(), path), expected, "{method} {path}");
    }
    assert!(matches!(table.find(&Method::PUT, "/a/b", |_| true), DeclaredFound::OtherMethod(_, Family::Functions)));
}

#[test]
fn what_a_caller_must_not_know_of_is_not_there() {
    let table = table(vec![
        (spec("inner", ""), loaded(&[("GET", "/a/<x>"), ("POST", "/b")], false)),
        (spec("outer", ""), loaded(&[("GET", "/a/<x>")], false)),
        (spec("late", "/late"), FileState::Loading),
    ]);
    let outer = |method: Method, path: &str| seen(&table, &method, path, |name| name == "outer");
    assert_eq!(found(&table, Method::GET, "/a/1"), "0.0 1");
    assert_eq!(outer(Method::GET, "/a/1"), "1.0 1");
    assert_eq!(found(&table, Method::GET, "/b"), "POST, OPTIONS");
    assert_eq!((outer(Method::GET, "/b"), outer(Method::GET, "/late/x")), (String::new(), String::new()));
    let hint = |may_know: fn(&str) -> bool| table.suggestion("/bb", may_know);
    assert!(hint(|_| true).is_some_and(|hint| hint.contains("`/b`")));
    assert_eq!(hint(|name| name == "outer"), None);
}

#[test]
fn slips() {
    let table = table(vec![(spec("first", ""), loaded(&[("GET", "/things/<n:int>"), ("GET", "/health")], false))]);
    let told = table.suggestion("/thigns/7", |_| true).unwrap_or_default();
    assert!(told.contains("`/things/7`"), "{told}");
    for none in ["/things/x", "/thigns", "/healt"] {
        assert_eq!(table.suggestion(none, |_| true), None, "{none}");
    }
    assert_eq!(table.suggestion("/thigns/7", |_| false), None);
}

#[test]
fn mount_points() {
    let table = table(vec![
        (spec("root", ""), loaded(&[("GET", "/"), ("GET", "/shop/own")], true)),
        (spec("shop", "/shop"), loaded(&[], true)),
        (spec("late", "/late"), FileState::Loading),
        (spec("later", "/late"), FileState::Failed),
        (spec("gone", ""), FileState::Failed),
        (spec("plain", "/late"), loaded(&[("POST", "/x")], false)),
    ]);
    for (method, path, expected) in [
        (Method::GET, "/", "0 /"),
        (Method::GET, "/else", "0 /else"),
        (Method::GET, "/shop", "1 /"),
        (Method::GET, "/shop/a%20b", "1 /a%20b"),
        // An application takes any method of the paths that it tells.
        (Method::PUT, "/shop/own", "0 /shop/own"),
        (Method::GET, "/shopping", "0 /shopping"),
        (Method::GET, "/api/else", ""),
        (Method::GET, "/late", "Unloaded(2)"),
        (Method::GET, "/late/y", "Unloaded(2)"),
        (Method::POST, "/late/x", "5.0 "),
        // A file that is not loaded yet may have the method.
        (Method::GET, "/late/x", "Unloaded(2)"),
    ] {
        assert_eq!(found(&table, method.clone(), path), expected, "{method} {path}");
    }
    assert_eq!(Methods::named("*").list(), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
}

#[test]
fn what_hides_what() {
    let told = |files| table(files).hidden.clone();
    let first = || (spec("first", ""), loaded(&[("GET", "/a/<x>"), ("*", "/b"), ("GET", "/c/<n:int>")], false));
    let second = |routes: &[(&str, &str)]| (spec("second", ""), loaded(routes, false));
    for (route, earlier) in [
        (("GET", "/a/<y>"), Some("`GET /a/<x>`")),
        (("GET", "/a/<y:int>"), Some("`GET /a/<x>`")),
        (("HEAD", "/a/<y>"), Some("`GET /a/<x>`")),
        (("PUT", "/b/"), Some("`* /b`")),
        (("GET", "/health"), None),
    ] {
        let hidden = told(vec![first(), second(&[route])]);
        let by = earlier.map_or("the server".to_owned(), |earlier| format!("{earlier} of `first` (/files/first.py)"));
        assert_eq!(hidden.len(), 1, "{hidden:?}");
        assert!(hidden[0].contains(&format!("can't be reached: {by}")), "{hidden:?}");
        assert!(hidden[0].contains("of `second` (/files/second.py)"), "{hidden:?}");
    }
    let files =
        vec![first(), (spec("second", ""), loaded(&[("GET", "/a/<y>"), ("GET", "/a/<z>"), ("GET", "/c/<y>")], false))];
    let mut ruled = DeclaredTable { has_rules: true, ..DeclaredTable::default() };
    for (spec, state) in files {
        ruled.add_file(&spec, state);
    }
    ruled.arrange(|_, _| false);
    let of = |route: &str| ruled.hidden.iter().find(|told| told.starts_with(&format!("`GET {route}` of `second`")));
    assert!(of("/a/<y>").is_some_and(|told| told.contains("reached by callers who may know of `first`: `GET /a/<x>`")));
    assert!(of("/a/<z>").is_some_and(|told| told.contains("can't be reached: `GET /a/<y>` of `second`")));
    assert_eq!(of("/c/<y>"), None);
    let others = [("POST", "/a/<y>"), ("GET", "/a/b"), ("GET", "/c/<y>"), ("*", "/a/<y>"), ("GET", "/d")];
    assert!(told(vec![first(), second(&others)]).is_empty());
    let application = |name: &str| (spec(name, "/x"), loaded(&[("GET", "/a"), ("POST", "/a")], true));
    assert!(told(vec![application("one")]).is_empty());
    let hidden = told(vec![application("one"), application("two")]);
    assert!(hidden.iter().any(|told| told.contains("the application `two`")), "{hidden:?}");
}
