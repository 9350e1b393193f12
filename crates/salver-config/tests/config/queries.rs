//! What `[[view]]`, `[[query]]` and the files of `server.queries` mean, and mistakes word for word.

use salver_config::{load, query_of_text};
use salver_model::spec::RunsAs;
use salver_model::{Code, ParameterType};

use crate::{Written, told};

/// Settings with a folder of queries, and the files in it.
fn folder(more: &str, files: &[(&str, &str)]) -> Written {
    let written = Written::new(&format!("[server]\nqueries = \"queries\"\n{more}"));
    std::fs::create_dir(written.path().join("queries")).unwrap();
    for (name, sql) in files {
        std::fs::write(written.path().join("queries").join(name), sql).unwrap();
    }
    written
}

#[test]
fn files_of_a_folder_are_queries() {
    let sql = "-- description: People of a city.\n-- param city text = null -- its name\n-- param most integer = 10\n\
               SELECT 1";
    let files = [("b.sql", sql), ("a.sql", "\u{feff}SELECT 2"), ("notes.txt", "no query"), (".c.sql", "hidden")];
    let written = folder("[[query]]\nname = \"c\"\nsql = \"SELECT 3\"\n", &files);
    let (checked, warnings) = load(&written.sources()).unwrap();
    assert_eq!(warnings, []);
    let names: Vec<&str> = checked.queries.iter().map(|query| query.name.as_str()).collect();
    assert_eq!(names, ["c", "a", "b"]);
    assert_eq!(checked.queries[1].sql, "SELECT 2");
    let query = &checked.queries[2];
    assert_eq!(
        (query.sql.as_str(), query.description.as_str(), query.runs_as),
        (sql, "People of a city.", RunsAs::Caller)
    );
    let [city, most] = query.parameters.as_slice() else { panic!("{query:?}") };
    assert_eq!((city.kind, city.required, city.description.as_str()), (Some(ParameterType::Text), false, "its name"));
    assert_eq!((most.kind, most.default.as_deref()), (Some(ParameterType::Integer), Some("10")));
}

#[test]
fn mistakes_in_files_have_their_lines() {
    let files = [("a.sql", "-- param x int\nSELECT 1"), ("b.sql", "\n-- param y date = soon\nSELECT 1")];
    let written = folder("[[view]]\nname = \"v\"\nsql = \"SELECT 1\"\n", &files);
    let mistakes = load(&written.sources()).unwrap_err();
    let shown: Vec<String> = mistakes.iter().map(|mistake| written.shown(mistake)).collect();
    assert!(shown[0].starts_with("queries/a.sql:1:1: `int` is not a type of parameters"), "{shown:?}");
    let wrong = "queries/b.sql:2:1: the default of `y` is `soon`, and not a date like 2024-01-31";
    assert!(shown[1].starts_with(wrong), "{shown:?}");
}

#[test]
fn a_folder_that_is_not_there_is_a_warning() {
    let written = Written::new("[server]\nqueries = \"nowhere\"\n");
    let (checked, warnings) = load(&written.sources()).unwrap();
    assert!(checked.queries.is_empty());
    assert!(warnings[0].message.starts_with("the folder of queries `"), "{warnings:?}");
}

#[test]
fn names_are_those_of_one_thing() {
    let dataset = "[[dataset]]\nname = \"a\"\nsource = \"-\"\n";
    let view = "[[view]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let query = "[[query]]\nname = \"a\"\nsql = \"SELECT 1\"\n";
    let database = "[[database]]\nname = \"a\"\nurl = \"sqlite:a.db\"\n";
    let taken = "there is another dataset, stream, database or view called `a`";
    for (text, message) in [
        (format!("{dataset}{view}"), taken),
        (format!("{database}{view}"), taken),
        (format!("{view}{view}"), taken),
        (format!("{dataset}{query}"), "the query `a` has the name of an entry"),
        (format!("{view}{query}"), "the query `a` has the name of an entry"),
        (format!("{query}{query}"), "there are two queries called `a`"),
    ] {
        assert!(told(&text).contains(message), "{}", told(&text));
    }
}

#[test]
fn parameters_have_names_and_defaults_that_fit() {
    let query = |parameter: &str| format!("[[query]]\nname = \"q\"\nsql = \"SELECT 1\"\nparameter = [{parameter}]\n");
    for (parameter, message) in [
        ("{ name = \"$x\" }", "`$x` is not a name of a parameter"),
        ("{ name = \"1\" }", "`1` is not a name of a parameter"),
        ("{ name = \"format\" }", "`format` chooses the format of the rows"),
        ("{ name = \"x\" }, { name = \"x\" }", "there are two parameters called `x`"),
        (
            "{ name = \"x\", type = \"integer\", default = \"ten\" }",
            "the default of `x` is `ten`, and not a whole number",
        ),
        ("{ name = \"x\", default = 10 }", "write it in quotes: \"10\""),
        ("{ name = \"x\", type = \"int\" }", "did you mean \"integer\"?"),
        ("{ type = \"text\" }", "[[query.parameter]] has no `name`"),
    ] {
        let told = told(&query(parameter));
        assert!(told.contains(message), "{parameter}: {told}");
    }
    assert!(told("[[view]]\nname = \"v\"\n").contains("[[view]] has no `sql`"));
}

#[test]
fn a_text_is_read_as_that_of_a_file() {
    let text = "\u{feff}-- description: All.\n-- param most integer = 10\nSELECT 1 LIMIT $most";
    let query = query_of_text("all", text).unwrap();
    assert_eq!((query.name.as_str(), query.description.as_str(), query.runs_as), ("all", "All.", RunsAs::Caller));
    assert_eq!(query.sql, text.trim_start_matches('\u{feff}'));
    assert_eq!(query.parameters[0].default.as_deref(), Some("10"));
    let error = query_of_text("all", "\n-- param x int\nSELECT 1").unwrap_err();
    assert!(error.message.ends_with("at line 2, column 1"), "{error:?}");
    assert_eq!(error.code, Code::InvalidSql);
    for name in ["", ".", "..", ".a", "a/b", "a\\b", "a:b", "a*", " a", "a\n", "CON", "nul.x", "Com1", "lpt9", "a."] {
        assert_eq!(query_of_text(name, "SELECT 1").unwrap_err().code, Code::InvalidName, "{name:?}");
    }
    for name in ["console", "com", "com0", "com10", "nul_", "a.b"] {
        assert_eq!(query_of_text(name, "SELECT 1").unwrap().name.as_str(), name);
    }
}
