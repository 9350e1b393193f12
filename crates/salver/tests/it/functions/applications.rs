//! Applications written for RestRserve and for plumber, unmodified.

use super::{FOUNDING, serve};

const PLUMBER: &str = r#"
#* @apiTitle Shop

#* Echo a text
#* @param msg The text
#* @get /echo
function(msg = "") list(msg = paste0("The text is: '", msg, "'"))

#* @post /sum
function(a, b) as.numeric(a) + as.numeric(b)

#* @get /users/<id:int>
#* @serializer unboxedJSON
function(id) list(id = id, kind = class(id))

#* @get /wrong
function() stop("no way")
"#;

#[test]
fn the_founding_service_runs_as_it_stands() {
    let server = serve("", &[("functions/fib.R", FOUNDING.as_bytes())]);
    let answer = server.get("/fib?n=10");
    assert_eq!((answer.status, answer.text(), answer.header("content-type")), (200, "55", Some("text/plain")));
    assert_eq!(answer.header("server"), Some("RestRserve/1.2.4; Salver"));
    for target in ["/fib", "/fib?n=", "/fib?n=x"] {
        let answer = server.get(target);
        assert_eq!((answer.status, answer.text()), (400, "400 Bad Request"), "{target}");
    }
    let answer = server.get("/fib?n=-1");
    assert_eq!((answer.status, answer.text()), (500, "500 Internal Server Error"));
    let answer = server.get("/nothing");
    assert_eq!((answer.status, answer.text()), (404, "404 Not Found"));
    let answer = server.ask("POST", "/fib?n=10", &[], b"");
    assert_eq!((answer.status, answer.text()), (405, "405 Method Not Allowed"), "nothing takes this method");
    let head = server.ask("HEAD", "/fib?n=10", &[], b"");
    assert_eq!((head.status, head.text()), (200, ""));
    // What the server has itself stays its own.
    assert_eq!(server.get("/health").text(), "OK");
    assert_eq!(server.get("/api/functions/fib").json()["application"], true);
    assert_eq!(server.get("/api/nothing").json()["error"], "not_found");
}

#[test]
fn a_file_of_plumber_runs_as_it_stands() {
    let server = serve("", &[("functions/shop.R", PLUMBER.as_bytes())]);
    let answer = server.get("/echo?msg=hi%20there");
    assert_eq!((answer.status, answer.text()), (200, r#"{"msg":["The text is: 'hi there'"]}"#));
    let json = [("content-type", "application/json")];
    let answer = server.ask("POST", "/sum", &json, br#"{"a": 2, "b": 3.5}"#);
    assert_eq!((answer.status, answer.text()), (200, "[5.5]"));
    let answer = server.ask("POST", "/sum", &[("content-type", "application/x-www-form-urlencoded")], b"a=2&b=3");
    assert_eq!((answer.status, answer.text()), (200, "[5]"));
    let answer = server.get("/users/7");
    assert_eq!((answer.status, answer.text()), (200, r#"{"id":7,"kind":"integer"}"#));
    let answer = server.get("/wrong");
    assert_eq!((answer.status, answer.text()), (500, r#"{"error":"500 - Internal server error"}"#));
    let answer = server.get("/nothing");
    assert_eq!((answer.status, answer.text()), (404, r#"{"error":"404 - Resource Not Found"}"#));
}

#[test]
fn applications_are_mounted_where_the_settings_say() {
    let toml = "
        [[function]]
        file = 'fib.R'
        path = '/maths/'
        [[function]]
        file = 'shop.R'
        name = 'store'
        path = '/shop'
    ";
    let files: [(&str, &[u8]); 2] = [("fib.R", FOUNDING.as_bytes()), ("shop.R", PLUMBER.as_bytes())];
    let server = serve(toml, &files);
    assert_eq!(server.get("/maths/fib?n=20").text(), "6765");
    assert_eq!(server.get("/maths/else").text(), "404 Not Found");
    assert_eq!(server.get("/shop/echo?msg=a").text(), r#"{"msg":["The text is: 'a'"]}"#);
    assert_eq!(server.get("/fib?n=20").json()["error"], "not_found");
    assert_eq!(server.get("/api/functions/store").json()["path"], "/shop/");
}

/// What a file of plumber serves only to who logs in.
const GUARDED: &[u8] = br#"
#* @filter guard
function(req, res) {
  if (identical(req$HTTP_X_KEY, "right")) return(forward())
  res$status <- 401
  list(error = "who are you?")
}

#* @get /guarded/secret
function() "treasure"
"#;

#[test]
fn a_filter_is_never_left_out() {
    // With the package, whose names the file uses without attaching it, the filter is asked.
    let server = serve("", &[("functions/guarded.R", GUARDED)]);
    let answer = server.get("/guarded/secret");
    assert_eq!((answer.status, answer.text()), (401, r#"{"error":["who are you?"]}"#));
    let answer = server.ask("GET", "/guarded/secret", &[("x-key", "right")], b"");
    assert_eq!((answer.status, answer.text()), (200, r#"["treasure"]"#));
    // Without it, the file is not served: also what would need no package is not.
    let without = "
        [[function]]
        file = 'guarded.R'
        environment = { R_LIBS_SITE = '/none', R_LIBS_USER = '/none', R_LIBS = '/none' }
    ";
    let server = serve(without, &[("guarded.R", GUARDED)]);
    assert_eq!(server.get("/ready").json()["functions"]["guarded"]["state"], "failed");
    let answer = server.ask("GET", "/guarded/secret", &[("x-key", "right")], b"");
    assert!(answer.status >= 400 && !answer.text().contains("treasure"), "{}: {}", answer.status, answer.text());
}

#[test]
fn a_function_of_rserve_is_an_application() {
    let file = br#"
        .http.request <- function(url, query, body, headers) {
          if (url == "/raw") return(list(paste("a is", query[["a"]]), "text/plain", "X-Own: yes", 203L))
          list("not here", "text/plain", character(), 404L)
        }
    "#;
    let server = serve("", &[("functions/raw.R", file)]);
    let answer = server.get("/raw?a=b%20c");
    assert_eq!((answer.status, answer.text(), answer.header("x-own")), (203, "a is b c", Some("yes")));
    assert_eq!((server.get("/none").status, server.get("/none").text()), (404, "not here"));
}

#[test]
fn a_file_of_nothing_but_assets_serves_them() {
    let files: [(&str, &[u8]); 2] =
        [("site.R", b"#* @assets ./pages /pages\nlist()\n"), ("pages/a.html", b"<p>hello</p>")];
    let server = serve("[[function]]\nfile = 'site.R'\n", &files);
    let answer = server.get("/pages/a.html");
    assert_eq!((answer.status, answer.text()), (200, "<p>hello</p>"));
    assert_eq!(answer.header("content-type"), Some("text/html; charset=UTF-8"));
    assert_eq!(server.get("/pages/b.html").status, 404);
}
