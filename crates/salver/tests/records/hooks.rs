//! Functions around requests for records: what they are told, what they may change, and that nothing gets past them.

use salver_testkit::servers::Kind;

use super::fixture::everything;
use super::program::Program;

const PYTHON: &str = r#"
from salver import HTTPError

def before(operation, table, method, path, query, body, caller):
    if table != "tags":
        return None
    if operation == "delete":
        raise HTTPError(403, "nothing goes away here")
    if operation == "update":
        raise ValueError("a word for the log only")
    if operation == "list":
        return {"query": {**query, "filter": ["id,ge,2"]}, "environment": {"path": path, "asked": query}}
    if operation == "create" and isinstance(body, dict):
        return {"body": {**body, "name": body["name"].strip()}}
    if operation == "read" and path.endswith("/99"):
        return {"status": 203, "body": {"id": 99, "name": "none/any"}, "headers": {"X-Made": method + str(len(caller))}}
    if operation == "increment":
        return {"quary": {}}

def after(operation, table, status, body, environment):
    if table != "tags":
        return None
    if operation == "list":
        return {"body": {**body, "count": len(body["records"]), **environment}, "headers": {"X-Count": 1}}
    if status == 404:
        return {"status": 410, "body": {"code": 1003, "message": body["message"] + ", and never was"}}
    if operation == "create" and isinstance(body, int) and body > 5:
        raise ValueError("too many")
"#;

/// The page that shows both languages.
const DOCUMENT: &str = include_str!("../../../../docs/records.md");

/// The blog with the functions of `text` around its records.
fn program(kind: Kind, file: &str, text: &str, settings: &str) -> (Program, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(file);
    std::fs::write(&path, text).expect("the file");
    let functions = format!("[[function]]\nfile = \"{}\"\n", path.display());
    let settings = format!("writable = true\n{settings}");
    (Program::over(everything(kind), &functions, &settings), directory)
}

const BOTH: &str = "before = \"hooks/before\"\nafter = \"hooks/after\"\n";

#[test]
fn requests_and_answers_are_changed() {
    for kind in Kind::ALL {
        let (program, _directory) = program(kind, "hooks.py", PYTHON, BOTH);
        // Another order, another answer, and what one function told the other.
        let answer = program.get("/records/tags?include=id&order=id,desc&size=1&filter=id,eq,1");
        let golden = r#"{"records":[{"id":2}],"count":1,"path":"\/records\/tags","asked":{"include":["id"],"order":["id,desc"],"size":["1"],"filter":["id,eq,1"]}}"#;
        assert_eq!((answer.said(), answer.header("x-count")), ((200, golden), Some("1")), "{kind:?}");
        assert_eq!(answer.header("etag"), None, "{kind:?}");
        let golden = r#"{"id":1,"name":"funny","is_important":false}"#;
        assert_eq!(program.get("/records/tags/1").said(), (200, golden), "{kind:?}");
        let golden = r#"{"code":1003,"message":"Record '98' not found, and never was"}"#;
        assert_eq!(program.get("/records/tags/98").said(), (410, golden), "{kind:?}");
        let answer = program.get("/records/tags/99");
        assert_eq!(answer.said(), (203, r#"{"id":99,"name":"none\/any"}"#), "{kind:?}");
        assert_eq!(answer.header("x-made"), Some("GET1"), "{kind:?}");
        // Bodies as JSON, as a form, as XML, and several at once, which it leaves as they are.
        for (target, body, id) in [
            ("/records/tags", r#"{"name":" json ","is_important":false}"#, "3"),
            ("/records/tags", "name=+form+&is_important=0", "4"),
            (
                "/records/tags?format=xml",
                "<root><name> xml </name><is_important>0</is_important></root>",
                "<root>5</root>",
            ),
        ] {
            assert_eq!(program.send("POST", target, body).said(), (200, id), "{kind:?} {body}");
        }
        let names = program.database().run("select name from tags where id > 2 order by id");
        assert_eq!(names.lines().collect::<Vec<_>>(), ["json", "form", "xml"], "{kind:?}");
        let xml = "<root><id>3</id><name>json</name><is_important>false</is_important></root>";
        assert_eq!(program.get("/records/tags/3?format=xml").said(), (200, xml), "{kind:?}");
        let several = r#"[{"name":" a ","is_important":false},{"name":"b","is_important":true}]"#;
        assert_eq!(program.send("POST", "/records/tags", several).said(), (200, "[6,7]"), "{kind:?}");
        // Other tables are as ever, digits and all.
        let answer = program.get("/records/comments?filter=id,eq,1&join=abc_posts&include=id");
        assert!(answer.status == 200 && answer.body.starts_with(r#"{"records":[{"id":1"#), "{kind:?} {}", answer.body);
        assert_eq!(program.get("/records/nothing").status, 404, "{kind:?}");
        assert_eq!(program.send("POST", "/records/tags", "{").status, 422, "{kind:?}");
    }
}

#[test]
fn a_long_list_is_told_whole() {
    let counts = "def after(operation, table, body):\n    return {\"body\": {\"count\": len(body[\"records\"])}}\n";
    let (program, _directory) = program(Kind::Sqlite, "hooks.py", counts, "after = \"hooks/after\"\n");
    let long = "with recursive n(i) as (select 3 union all select i + 1 from n where i < 3000)
        insert into tags (id, name, is_important) select i, printf('%01000d', i), 0 from n";
    let _ = program.database().run(long);
    // Three megabytes, more than lie between who makes a body and who takes it.
    assert_eq!(program.get("/records/tags").said(), (200, r#"{"count":3000}"#));
}

#[test]
fn what_they_refuse_and_what_fails() {
    for kind in Kind::ALL {
        let (program, _directory) = program(kind, "hooks.py", PYTHON, BOTH);
        let before = program.database().run("select count(*), min(name) from tags");
        let answer = program.ask("DELETE", "/records/tags/1", &[], None);
        assert_eq!(answer.status, 403, "{kind:?}");
        assert!(answer.body.contains("nothing goes away here"), "{kind:?} {}", answer.body);
        let answer = program.send("PUT", "/records/tags/1", r#"{"name":"x"}"#);
        assert!(answer.status == 500 && answer.body.starts_with(r#"{"code":9999"#), "{kind:?} {:?}", answer.said());
        assert!(!answer.body.contains("a word for the log only"), "{kind:?} {}", answer.body);
        let answer = program.send("PATCH", "/records/tags/1", r#"{"id":1}"#);
        assert!(
            answer.status == 500 && answer.body.contains("`quary`, which means nothing"),
            "{kind:?} {}",
            answer.body
        );
        // Nothing gets past them.
        let several = r#"{"operations":[{"delete":"tags","id":1}]}"#;
        let refused =
            |operation: &str| format!("{{\"code\":1015,\"message\":\"Operation '{operation}' not supported\"}}");
        assert_eq!(program.send("POST", "/records", several).said(), (405, refused("transact").as_str()), "{kind:?}");
        let rows = [("content-type", "application/x-ndjson")];
        let answer = program.ask("POST", "/records/tags", &rows, Some("{\"name\":\"x\",\"is_important\":false}\n"));
        assert_eq!(answer.said(), (405, refused("load").as_str()), "{kind:?}");
        let json = [("content-type", "application/json")];
        let mutation = r#"{"query":"mutation { delete_tags(id: 1) }"}"#;
        let answer = program.ask("POST", "/graphql", &json, Some(mutation));
        assert!(answer.body.contains("\"errors\""), "{kind:?} {}", answer.body);
        assert_eq!(program.database().run("select count(*), min(name) from tags"), before, "{kind:?}");
        // A write under a key is done, and its functions are called, once.
        let key = [("idempotency-key", "again")];
        for _ in 0..2 {
            let answer = program.ask("POST", "/records/tags", &key, Some(r#"{"name":" x ","is_important":false}"#));
            assert_eq!(answer.said(), (200, "3"), "{kind:?}");
        }
        // What the function after meets is told with what was done before.
        for name in ["p", "q"] {
            let sql =
                format!("insert into tags (name, is_important) select '{name}', is_important from tags where id = 1");
            let _ = program.database().run(&sql);
        }
        let answer = program.send("POST", "/records/tags", r#"{"name":"late","is_important":false}"#);
        assert!(
            answer.status == 500 && answer.body.contains("after the request was answered"),
            "{kind:?} {}",
            answer.body
        );
        assert_eq!(program.database().run("select count(*) from tags where name = 'late'").trim(), "1", "{kind:?}");
    }
}

#[test]
fn one_of_them_alone() {
    let (program, directory) = program(Kind::Sqlite, "hooks.py", PYTHON, "before = \"hooks/before\"\n");
    // What is not changed keeps its tag.
    let answer = program.get("/records/tags/1");
    let tag = answer.header("etag").expect("a tag").to_owned();
    assert_eq!(program.ask("GET", "/records/tags/1", &[("if-none-match", &tag)], None).status, 304);
    assert_eq!(program.send("POST", "/records/tags", r#"{"name":" n ","is_important":false}"#).said(), (200, "3"));
    // A file that is changed counts, and one without the function lets nothing through.
    std::fs::write(directory.path().join("hooks.py"), "def other(x):\n    return x\n").expect("the file");
    program.until("the function is gone", |program| program.get("/records/tags/1").status == 503);
    let answer = program.get("/records/tags");
    assert!(answer.body.contains("`hooks` has no function `before`"), "{}", answer.body);
    std::fs::write(directory.path().join("hooks.py"), "def before(operation, what):\n    return None\n")
        .expect("the file");
    program.until("it wants too much", |program| program.get("/records/tags/1").status == 500);
    assert!(program.get("/records/tags").body.contains("wants `what`"));
}

/// What the document shows.
#[test]
fn as_documented() {
    let code = |language: &str| {
        let (_, rest) = DOCUMENT.split_once(&format!("```{language}\n")).expect("a block");
        rest.split_once("```").expect("its end").0
    };
    for (kind, file, language) in
        Kind::ALL.iter().flat_map(|kind| [(*kind, "hooks.py", "python"), (*kind, "hooks.R", "R")])
    {
        let (program, _directory) = program(kind, file, code(language), BOTH);
        let new = r#"{"post_id":1,"category_id":1,"message":"  spaces  "}"#;
        let made = program.send("POST", "/records/comments", new);
        assert_eq!(made.status, 200, "{kind:?} {language} {}", made.body);
        let row = program.ok(&format!("/records/comments/{}?include=message", made.body));
        assert_eq!(row, r#"{"message":"spaces"}"#, "{kind:?} {language}");
        let answer = program.ask("DELETE", "/records/comments/1", &[], None);
        assert!(answer.status == 403 && answer.body.contains("nothing is thrown away here"), "{language} {answer:?}");
        let answer = program.get("/records/tags?size=2");
        assert_eq!((answer.status, answer.header("x-rows")), (200, Some("2")), "{kind:?} {language} {}", answer.body);
        assert_eq!(program.get("/records/tags/1").status, 200, "{kind:?} {language}");
    }
}
