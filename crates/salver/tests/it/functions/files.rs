//! Functions of R that take files, bodies of bytes, dots, and arguments that may be missing.

use super::serve;

const R: &[u8] = br#"
#' @param x:bytes
size <- function(x) list(class(x), length(x))

#' @param x:bytes
first <- function(x = as.raw(7), n = 1L) as.integer(x[seq_len(n)])

#' @param file:upload
about <- function(file) list(file$filename, file$content_type, file$size, rawToChar(file$content))

#' @param files:[upload]
names_of <- function(files, title) c(title, vapply(files, function(file) file$filename, ""))

plain <- function(file) file$filename

#' @param count:int
dots <- function(count = 0L, ...) list(count = count, more = list(...))

has <- function(a, b) c(missing(a), missing(b))
needs <- function(a) a
say <- function(text) nchar(text)

#' @vectorized
shout <- function(text) toupper(text)
"#;

const FORM: [(&str, &str); 1] = [("content-type", "multipart/form-data; boundary=X")];

/// A form with a field `title`, if it has one, and files: of each its field, name and content.
fn form(title: Option<&str>, files: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut form = String::new();
    if let Some(title) = title {
        form += &format!("--X\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n{title}\r\n");
    }
    for (field, name, content) in files {
        form += &format!(
            "--X\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\nContent-Type: text/x\r\n\r\n\
             {content}\r\n"
        );
    }
    (form + "--X--\r\n").into_bytes()
}

#[test]
fn files_and_bodies_in_r() {
    let server = serve("", &[("functions/r.R", R)]);
    let binary = [("content-type", "image/png")];
    for (target, headers, body, answer) in [
        ("size", &binary[..], b"\xff\0a".to_vec(), r#"["raw",3]"#),
        ("size", &[("content-type", "application/json")], b"{\"x\":1}".to_vec(), r#"["raw",7]"#),
        ("size?x=AAEC", &[], Vec::new(), r#"["raw",3]"#),
        ("size", &FORM, form(None, &[("x", "a", "abcd")]), r#"["raw",4]"#),
        ("first", &[], Vec::new(), "7"),
        ("first?n=2", &binary, b"\x05\x06".to_vec(), "[5,6]"),
        ("about", &FORM, form(None, &[("file", "b.txt", "hello")]), r#"["b.txt","text/x",5,"hello"]"#),
        ("about", &binary, b"raw".to_vec(), r#"[null,"image/png",3,"raw"]"#),
        ("names_of", &FORM, form(Some("T"), &[("files", "a", "1"), ("files", "b", "2")]), r#"["T","a","b"]"#),
        ("plain", &FORM, form(None, &[("file", "c", "1")]), r#""c""#),
    ] {
        let got = server.ask("POST", &format!("/api/functions/r/{target}"), headers, &body);
        assert_eq!((got.status, got.text()), (200, answer), "{target} {}", String::from_utf8_lossy(&body));
    }
    // What is missing or is none is told before any code runs.
    for (target, headers, body, message) in [
        ("size", &binary[..], &b""[..], "`x` is missing"),
        ("about", &[], b"", "`file` is missing"),
        ("size?x=a", &[], b"", "`x` can't be `a`"),
        ("size?x=1", &[], b"", "`x` can't be `1`"),
    ] {
        let got = server.ask("POST", &format!("/api/functions/r/{target}"), headers, body);
        assert_eq!((got.status, got.json()["message"].as_str()), (400, Some(message)), "{target}");
    }
}

#[test]
fn dots_and_missing_arguments_in_r() {
    let server = serve("", &[("functions/r.R", R)]);
    for (target, body, answer) in [
        ("dots", r#"{"count": 2, "a": 1, "b": [true]}"#, r#"{"count":2,"more":{"a":1,"b":true}}"#),
        ("dots?z=1&z=2", "", r#"{"count":0,"more":{"z":[1,2]}}"#),
        ("dots", "", r#"{"count":0,"more":[]}"#),
        ("has", r#"{"b": 1}"#, "[true,false]"),
        ("has", "", "[true,true]"),
        ("has", r#"{"a": null}"#, "[false,true]"),
        ("say", r#"{"text": "\\u0000"}"#, "6"),
    ] {
        let got = server.post(&format!("/api/functions/r/{target}"), body);
        assert_eq!((got.status, got.text()), (200, answer), "{target} {body}");
    }
    for (target, body, message) in [
        ("needs", "", "`a` is missing"),
        // R takes these for `count`, whose type nobody would have looked at.
        ("dots", r#"{"cou": "x"}"#, "`dots` has no parameter `cou`"),
        ("dots", r#"{"": "x"}"#, "`dots` has no parameter ``"),
        ("dots", r#"{"count": "x"}"#, "`count` can't be `\"x\"`"),
        ("dots", "[1]", "the body is not a JSON object"),
        ("say", r#"{"text": "a\u0000b"}"#, "`text` has the character U+0000, which R has no text with"),
        ("say", r#"{"text": [["\u0000"]]}"#, "`text` has the character U+0000, which R has no text with"),
        ("say", r#"{"text": {"\u0000": 1}}"#, "`text` has the character U+0000, which R has no text with"),
        ("say?text=%00", "", "`text` has the character U+0000, which R has no text with"),
        ("shout", r#"{"text": "a\u0000"}"#, "`text` has the character U+0000, which R has no text with"),
    ] {
        let got = server.post(&format!("/api/functions/r/{target}"), body);
        assert_eq!((got.status, got.json()["message"].as_str()), (400, Some(message)), "{target} {body}");
    }
    let openapi = server.get("/api/functions.openapi.json").json();
    let schema =
        &openapi["paths"]["/api/functions/r/dots"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(
        (&schema["additionalProperties"], &schema["properties"]["..."]),
        (&true.into(), &serde_json::Value::Null)
    );
}
