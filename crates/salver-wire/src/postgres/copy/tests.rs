//! Tests of how `COPY` is read; what PostgreSQL 15 says of each statement was asked of it.

use salver_model::{Code, Error};

use super::{CopyOut, code_of};
use crate::postgres::column::Column;
use crate::postgres::message::Format;
use crate::postgres::outbox::Outbox;
use salver_model::pg_type::PgType;

fn refused(text: &str) -> (&'static str, String, Option<usize>) {
    let refusal = CopyOut::read(text).unwrap_err();
    (refusal.state, refusal.message, refusal.position)
}

#[test]
fn a_query_stays_where_it_is() {
    let copy = CopyOut::read("copy /* é\n */ ( select ')', \")\", (1) -- )\n) to stdout").unwrap();
    assert_eq!(copy.query, "         \n      select ')', \")\", (1) -- )\n");
    let error = Error::new(Code::InvalidSql, "no column at line 2, column 14");
    assert_eq!(copy.placed(error, "").message, "no column at line 2, column 14");
}

#[test]
fn a_table_becomes_a_query() {
    for (text, wanted) in [
        ("COPY people TO STDOUT", "select * from people"),
        ("copy binary public.\"A b\" to stdin", "select * from public.\"A b\""),
        ("COPY t (a, \"B\", \"select\") TO STDOUT WITH", "select a, \"B\", \"select\" from t"),
        ("copy t.select to stdout using delimiters '|' csv quote as ''''", "select * from t.select"),
    ] {
        assert_eq!(CopyOut::read(text).unwrap().query, wanted, "{text}");
    }
}

#[test]
fn errors_have_their_places_in_the_statement() {
    let text = "copy\n é.nope (id, \"ü\") to stdout";
    let copy = CopyOut::read(text).unwrap();
    assert_eq!(copy.query, "select id, \"ü\" from é.nope");
    let placed = |place: &str| copy.placed(Error::new(Code::InvalidSql, format!("odd at {place}")), text).message;
    assert_eq!(placed("line 1, column 8"), "odd at line 2, column 10");
    assert_eq!(placed("line 1, column 13"), "odd at line 2, column 14");
    assert_eq!(placed("line 1, column 23"), "odd at line 2, column 4");
    assert_eq!(placed("line 1, column 2"), "odd at line 2, column 10");
    assert_eq!(placed("line 9, column 1"), "odd at line 9, column 1");
}

/// Options with what PostgreSQL 15 says of them, asked of it: `SQLSTATE`, message and position.
const WRONG_OPTIONS: &[(&str, &str, &str, Option<usize>)] = &[
    ("(format csv, format text)", "42601", "conflicting or redundant options", Some(31)),
    ("(header, header off)", "42601", "conflicting or redundant options", Some(27)),
    ("csv header header", "42601", "conflicting or redundant options", Some(29)),
    ("binary csv", "42601", "conflicting or redundant options", Some(25)),
    ("delimiters '|' delimiter ','", "42601", "conflicting or redundant options", Some(33)),
    ("csv quote '\"' quote as ''''", "42601", "conflicting or redundant options", Some(32)),
    ("(encoding utf8, encoding utf8)", "42601", "conflicting or redundant options", Some(34)),
    ("(nope 1)", "42601", "option \"nope\" not recognized", Some(19)),
    ("(format xml)", "22023", "COPY format \"xml\" not recognized", Some(19)),
    ("(format 'CSV')", "22023", "COPY format \"CSV\" not recognized", Some(19)),
    ("(format)", "42601", "format requires a parameter", None),
    ("(null)", "42601", "null requires a parameter", None),
    ("(header match)", "0A000", "cannot use \"match\" with HEADER in COPY TO", None),
    ("(header maybe)", "42601", "header requires a Boolean value or \"match\"", None),
    ("(header 2)", "42601", "header requires a Boolean value or \"match\"", None),
    ("(header -1)", "42601", "header requires a Boolean value or \"match\"", None),
    ("(header 1.5)", "42601", "header requires a Boolean value or \"match\"", None),
    ("(header *)", "42601", "header requires a Boolean value or \"match\"", None),
    ("(delimiter 'ab')", "0A000", "COPY delimiter must be a single one-byte character", None),
    ("(delimiter '')", "0A000", "COPY delimiter must be a single one-byte character", None),
    ("(delimiter 'é')", "0A000", "COPY delimiter must be a single one-byte character", None),
    ("(delimiter e'\\n')", "22023", "COPY delimiter cannot be newline or carriage return", None),
    ("(delimiter 'a')", "22023", "COPY delimiter cannot be \"a\"", None),
    ("(delimiter 1)", "22023", "COPY delimiter cannot be \"1\"", None),
    ("(delimiter '.')", "22023", "COPY delimiter cannot be \".\"", None),
    ("(null e'\\n')", "22023", "COPY null representation cannot use newline or carriage return", None),
    ("(null 'a|b', delimiter '|')", "0A000", "COPY delimiter must not appear in the NULL specification", None),
    ("(null '\"', format csv)", "0A000", "CSV quote character must not appear in the NULL specification", None),
    ("(quote '\"')", "0A000", "COPY quote available only in CSV mode", None),
    ("(quote 'ab', format csv)", "0A000", "COPY quote must be a single one-byte character", None),
    ("(quote ',', format csv)", "22023", "COPY delimiter and quote must be different", None),
    ("(format csv, delimiter '\"')", "22023", "COPY delimiter and quote must be different", None),
    ("(escape '\"')", "0A000", "COPY escape available only in CSV mode", None),
    ("(escape 'ab', format csv)", "0A000", "COPY escape must be a single one-byte character", None),
    ("(force_quote *)", "0A000", "COPY force quote available only in CSV mode", None),
    (
        "(force_quote a, format csv)",
        "22023",
        "argument to option \"force_quote\" must be a list of column names",
        Some(19),
    ),
    ("(force_quote (b, b), format csv)", "42701", "column \"b\" specified more than once", None),
    ("(force_quote (*), format csv)", "42601", "syntax error at or near \"*\"", Some(32)),
    ("(force_not_null (b), format csv)", "0A000", "COPY force not null only available using COPY FROM", None),
    ("(force_null (b), format csv)", "0A000", "COPY force null only available using COPY FROM", None),
    ("(force_null (b))", "0A000", "COPY force null available only in CSV mode", None),
    ("csv force quote a, b force not null a", "0A000", "COPY force not null only available using COPY FROM", None),
    ("(encoding 'nope')", "22023", "argument to option \"encoding\" must be a valid encoding name", Some(19)),
    ("(format binary, delimiter ',')", "42601", "cannot specify DELIMITER in BINARY mode", None),
    ("(format binary, null '')", "42601", "cannot specify NULL in BINARY mode", None),
    ("(format binary, header)", "0A000", "cannot specify HEADER in BINARY mode", None),
    ("()", "42601", "syntax error at or near \")\"", Some(19)),
    ("(header,)", "42601", "syntax error at or near \")\"", Some(26)),
    ("(header true true)", "42601", "syntax error at or near \"true\"", Some(31)),
    ("foo", "42601", "syntax error at or near \"foo\"", Some(18)),
    ("(format csv) csv", "42601", "syntax error at or near \"csv\"", Some(31)),
    ("where a > 1", "42601", "WHERE clause not allowed with COPY TO", Some(18)),
    ("(header) where a", "42601", "WHERE clause not allowed with COPY TO", Some(27)),
    ("program 'x'", "42601", "syntax error at or near \"program\"", Some(18)),
    ("(delimiter 'open", "42601", "unterminated quoted string at or near \"'open\"", Some(29)),
];

#[test]
fn options_are_those_of_postgresql() {
    for (options, state, message, position) in WRONG_OPTIONS {
        let found = refused(&format!("copy t to stdout {options}"));
        assert_eq!(found, (*state, (*message).to_owned(), *position), "{options}");
    }
    for options in [
        "(format \"binary\")",
        "(FORMAT CSV, HEADER 'on')",
        "(format binary, header off)",
        "(header 1)",
        "(null true, format csv)",
        "(freeze)",
        "(encoding 'UTF-8')",
        "(delimiter E'\\011')",
        "(delimiter $$|$$)",
        "with csv header",
        "with binary",
        "with (force_quote *, format csv)",
        "csv force quote * encoding 'utf8' null as 'x' delimiter as ';' escape '\\'",
    ] {
        assert!(CopyOut::read(&format!("copy t to stdout {options}")).is_ok(), "{options}");
    }
}

#[test]
fn what_is_no_copy_to_the_client() {
    for (text, state, message, position) in [
        ("copy", "42601", "syntax error at end of input", Some(5)),
        ("copy t", "42601", "syntax error at end of input", Some(7)),
        ("copy t to", "42601", "syntax error at end of input", Some(10)),
        ("copy t to x", "42601", "syntax error at or near \"x\"", Some(11)),
        ("copy select to stdout", "42601", "syntax error at or near \"select\"", Some(6)),
        ("copy 1 to stdout", "42601", "syntax error at or near \"1\"", Some(6)),
        ("copy 'x' to stdout", "42601", "syntax error at or near \"'x'\"", Some(6)),
        ("copy t () to stdout", "42601", "syntax error at or near \")\"", Some(9)),
        ("copy t (a b) to stdout", "42601", "syntax error at or near \"b\"", Some(11)),
        ("copy t (a, A) to stdout", "42701", "column \"a\" specified more than once", None),
        ("copy () to stdout", "42601", "syntax error at or near \")\"", Some(7)),
        ("copy (select (1) to stdout", "42601", "syntax error at end of input", Some(27)),
        ("copy (select 1) from stdin", "42601", "syntax error at or near \"from\"", Some(17)),
        ("copy (select 1) (a) to stdout", "42601", "syntax error at or near \"(\"", Some(17)),
        ("copy (select $1) to stdout", "42P02", "there is no parameter $1", Some(14)),
        ("copy (select 1) to stdout using delimiters '|'", "42601", "syntax error at or near \"using\"", Some(27)),
        ("copy t using delimiters '|' to stdout", "42601", "syntax error at or near \"using\"", Some(8)),
        ("copy t to program stdout", "42601", "STDIN/STDOUT not allowed with PROGRAM", None),
        ("copy t to '/x' csv", "42501", "COPY can't write files of the server", None),
        ("copy t to program 'x'", "42501", "COPY can't run programs on the server", None),
        ("copy t from '/x'", "42501", "COPY can't read files of the server", None),
        ("copy t from program 'x'", "42501", "COPY can't run programs on the server", None),
        (
            "copy t (a) from stdin with csv",
            "25006",
            "cannot execute COPY FROM: PostgreSQL's protocol only reads here",
            None,
        ),
    ] {
        assert_eq!(refused(text), (state, message.to_owned(), position), "{text}");
    }
    let hinted = ["copy t to '/x'", "copy t from stdin", "copy t to stdout where a", "copy (select $1) to stdout"];
    for (text, code) in hinted.into_iter().zip([Code::Forbidden, Code::ReadOnly, Code::InvalidSql, Code::InvalidSql]) {
        let refusal = CopyOut::read(text).unwrap_err();
        assert!(refusal.hint.is_some(), "{text}");
        assert_eq!(code_of(&refusal), code, "{text}");
    }
    // What is no parameter.
    assert!(CopyOut::read("copy (select '$1', $$ $2 $$, a$3 -- $4\n) to stdout").is_ok());
}

fn columns(names: &[&str]) -> Vec<Column> {
    let column = |name: &&str| Column {
        name: (*name).to_owned(),
        pg_type: PgType::of(&arrow::datatypes::DataType::Utf8),
        data_type: arrow::datatypes::DataType::Utf8,
    };
    names.iter().map(column).collect()
}

#[test]
fn a_copy_begins_with_its_columns_and_their_names() {
    let begun = |text: &str, names: &[&str]| {
        let mut out = Outbox::default();
        let begun = CopyOut::read(text).unwrap().begin(&columns(names), &mut out);
        begun.map(|writer| (writer.format(), out.bytes)).map_err(|refusal| (refusal.state, refusal.message))
    };
    let (format, bytes) = begun("copy t to stdout", &["a", "b"]).unwrap();
    assert_eq!((format, &bytes[..]), (Format::Text, &b"H\0\0\0\x0b\0\0\x02\0\0\0\0"[..]));
    let (format, bytes) = begun("copy t to stdout binary", &["a"]).unwrap();
    assert_eq!((format, &bytes[..]), (Format::Binary, &b"H\0\0\0\x09\x01\0\x01\0\x01"[..]));
    let (_, bytes) = begun("copy t to stdout csv header force quote *", &["a", "b,c"]).unwrap();
    assert_eq!(bytes[12..], b"d\0\0\0\x0ca,\"b,c\"\n"[..]);
    let (_, bytes) = begun("copy t to stdout (header)", &["a\tb", "c"]).unwrap();
    assert_eq!(bytes[12..], b"d\0\0\0\x0ba\\tb\tc\n"[..]);
    assert!(begun("copy t to stdout csv force quote City", &["id", "City"]).is_ok());
    let no = |message: &str| Err(("42703", message.to_owned()));
    assert_eq!(
        begun("copy t to stdout csv force quote nope", &["a"]),
        no("column \"nope\" of relation \"t\" does not exist")
    );
    assert_eq!(begun("copy (select 1) to stdout csv force quote b", &["a"]), no("column \"b\" does not exist"));
    assert_eq!(begun("copy t to stdout csv force quote \"a\"", &["A"]).unwrap_err().0, "42703");
    assert_eq!(begun("copy t (a) to stdout csv force quote b", &["a"]).unwrap_err().0, "42P10");
}
