//! Reads a `COPY` statement (<https://www.postgresql.org/docs/15/sql-copy.html>): what is copied and where to, and its
//! options as they are written, in both ways of writing them.

use std::collections::HashSet;

use super::tokens::{Name, SYNTAX_ERROR, Tokens};
use crate::postgres::refusal::{NOT_ALLOWED, READ_ONLY, Refusal};
use crate::postgres::statement_text::words;

/// What is copied.
#[derive(Debug)]
pub(super) enum Source<'t> {
    /// The rows of the query between these bytes.
    Query { begin: usize, end: usize },
    /// Columns of a table; all of them if none is named.
    Table { path: Vec<Name<'t>>, columns: Vec<Name<'t>> },
}

/// An option as it is written.
#[derive(Debug)]
pub(super) struct Given<'t> {
    /// Its name, as in parentheses.
    pub(super) name: String,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    pub(super) value: Value<'t>,
}

/// The value of an option.
#[derive(Debug)]
pub(super) enum Value<'t> {
    None,
    /// A word or a text.
    Text(String),
    Number(String),
    /// Each column.
    Star,
    Names(Vec<Name<'t>>),
}

/// Reads a statement up to its options, and these.
///
/// # Errors
/// `42601` for what is no such statement, `25006` for one that writes, `42501` for one about files of the server,
/// `42P02` for one with a parameter, `42701` for a column that is named twice.
pub(super) fn read<'t>(tokens: &mut Tokens<'t>, text: &'t str) -> Result<(Source<'t>, Vec<Given<'t>>), Refusal> {
    tokens.expect("copy")?;
    let mut given = Vec::new();
    let source = if tokens.peek() == "(" {
        let source = query(tokens, text)?;
        tokens.expect("to")?;
        source
    } else {
        let at = tokens.at();
        if tokens.is("binary") {
            given.push(Given { name: "format".to_owned(), at, value: Value::Text("binary".to_owned()) });
        }
        let source = table(tokens)?;
        if tokens.is("from") {
            return Err(from(tokens));
        }
        tokens.expect("to")?;
        source
    };
    target(tokens)?;
    let at = tokens.at();
    let is_table = matches!(source, Source::Table { .. });
    let is_using = is_table && tokens.is("using");
    if is_using || is_table && tokens.peek().eq_ignore_ascii_case("delimiters") {
        tokens.expect("delimiters")?;
        given.push(Given { name: "delimiter".to_owned(), at, value: Value::Text(tokens.text()?) });
    }
    tokens.is("with");
    if tokens.is("(") {
        in_parentheses(tokens, &mut given)?;
    } else {
        while let Some(option) = bare(tokens)? {
            given.push(option);
        }
    }
    match tokens.peek() {
        "" => Ok((source, given)),
        word if word.eq_ignore_ascii_case("where") => {
            let refusal = tokens.refusal(SYNTAX_ERROR, "WHERE clause not allowed with COPY TO".to_owned());
            Err(refusal.with_hint("copy a query: `COPY (SELECT ... WHERE ...) TO STDOUT`"))
        }
        _ => Err(tokens.unexpected()),
    }
}

/// Reads a query in parentheses, up to the one that closes it.
fn query<'t>(tokens: &mut Tokens<'t>, text: &'t str) -> Result<Source<'t>, Refusal> {
    tokens.take();
    let (begin, mut depth) = (tokens.at(), 0_usize);
    if tokens.peek() == ")" {
        return Err(tokens.unexpected());
    }
    let end = loop {
        let at = tokens.at();
        match tokens.peek() {
            "" => return Err(tokens.unexpected()),
            "(" => depth += 1,
            ")" if depth == 0 => break at,
            ")" => depth -= 1,
            _ => {}
        }
        tokens.take();
    };
    tokens.take();
    let mut inside = words(&text[begin..end]).peekable();
    while let Some((at, word)) = inside.next() {
        let number = inside
            .peek()
            .filter(|(next, word)| *next == at + 1 && word.starts_with(|first: char| first.is_ascii_digit()));
        if let ("$", Some((_, number))) = (word, number) {
            let refusal = tokens.refusal_at(begin + at, "42P02", format!("there is no parameter ${number}"));
            return Err(refusal.with_hint("COPY takes no parameters: write the value into the query"));
        }
    }
    Ok(Source::Query { begin, end })
}

/// Reads `table [(column, ...)]`.
fn table<'t>(tokens: &mut Tokens<'t>) -> Result<Source<'t>, Refusal> {
    let mut path = vec![tokens.name()?];
    while tokens.is(".") {
        path.push(tokens.label()?);
    }
    let mut columns = Vec::new();
    if tokens.is("(") {
        columns = tokens.names()?;
        tokens.expect(")")?;
    }
    check_once(&columns)?;
    Ok(Source::Table { path, columns })
}

/// Refuses a column that is named twice.
fn check_once(names: &[Name<'_>]) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.meant.as_str())) {
        Some(twice) => Err(Refusal::new("42701", format!("column \"{}\" specified more than once", twice.meant))),
        None => Ok(()),
    }
}

/// Returns why nothing is copied from where it should come.
fn from(tokens: &mut Tokens<'_>) -> Refusal {
    if tokens.is("program") {
        return if tokens.is_at_text() {
            of_server("COPY can't run programs on the server")
        } else {
            tokens.unexpected()
        };
    }
    if tokens.is_at_text() {
        return of_server("COPY can't read files of the server");
    }
    if !tokens.is("stdin") && !tokens.is("stdout") {
        return tokens.unexpected();
    }
    let refusal = Refusal::new(READ_ONLY, "cannot execute COPY FROM: PostgreSQL's protocol only reads here");
    refusal.with_hint("send rows to `/api/records` of a table, or events to `/api/streams`; `COPY ... TO STDOUT` reads")
}

/// Reads where rows are copied to, which must be the client.
fn target(tokens: &mut Tokens<'_>) -> Result<(), Refusal> {
    if tokens.is("program") {
        if tokens.is("stdin") || tokens.is("stdout") {
            return Err(Refusal::new(SYNTAX_ERROR, "STDIN/STDOUT not allowed with PROGRAM"));
        }
        tokens.text()?;
        return Err(of_server("COPY can't run programs on the server"));
    }
    if tokens.is_at_text() {
        tokens.text()?;
        return Err(of_server("COPY can't write files of the server"));
    }
    // As in PostgreSQL, both mean the client.
    if tokens.is("stdout") || tokens.is("stdin") { Ok(()) } else { Err(tokens.unexpected()) }
}

fn of_server(message: &str) -> Refusal {
    Refusal::new(NOT_ALLOWED, message).with_hint("copy to STDOUT; psql's `\\copy` writes what comes into a file")
}

/// Reads options in parentheses, behind the first of these.
fn in_parentheses<'t>(tokens: &mut Tokens<'t>, given: &mut Vec<Given<'t>>) -> Result<(), Refusal> {
    loop {
        let name = tokens.label()?;
        given.push(Given { name: name.meant, at: name.at, value: value(tokens)? });
        if tokens.is(")") {
            return Ok(());
        }
        tokens.expect(",")?;
    }
}

/// Reads the value of an option in parentheses.
fn value<'t>(tokens: &mut Tokens<'t>) -> Result<Value<'t>, Refusal> {
    match tokens.peek() {
        "," | ")" => Ok(Value::None),
        "*" => {
            tokens.take();
            Ok(Value::Star)
        }
        "(" => {
            tokens.take();
            let names = tokens.names()?;
            tokens.expect(")")?;
            check_once(&names)?;
            Ok(Value::Names(names))
        }
        "+" | "-" => number(tokens),
        word if word.starts_with(|first: char| first.is_ascii_digit()) => number(tokens),
        _ if tokens.is_at_text() => tokens.text().map(Value::Text),
        _ => Ok(Value::Text(tokens.label()?.meant)),
    }
}

fn number<'t>(tokens: &mut Tokens<'t>) -> Result<Value<'t>, Refusal> {
    let mut number = String::new();
    if matches!(tokens.peek(), "+" | "-") {
        number.push_str(tokens.take().trim_start_matches('+'));
    }
    if !tokens.peek().starts_with(|first: char| first.is_ascii_digit()) {
        return Err(tokens.unexpected());
    }
    number.push_str(tokens.take());
    if tokens.peek() == "." {
        number.push_str(tokens.take());
        if tokens.peek().starts_with(|first: char| first.is_ascii_digit()) {
            number.push_str(tokens.take());
        }
    }
    Ok(Value::Number(number))
}

/// Reads an option without parentheses, as before PostgreSQL 9; `None` if the next word is none.
fn bare<'t>(tokens: &mut Tokens<'t>) -> Result<Option<Given<'t>>, Refusal> {
    let at = tokens.at();
    let given = |name: &str, value| Ok(Some(Given { name: name.to_owned(), at, value }));
    let word = tokens.peek().to_ascii_lowercase();
    match word.as_str() {
        "binary" | "csv" => {
            tokens.take();
            given("format", Value::Text(word))
        }
        "freeze" | "header" => {
            tokens.take();
            given(&word, Value::None)
        }
        "delimiter" | "null" | "quote" | "escape" => {
            tokens.take();
            tokens.is("as");
            given(&word, Value::Text(tokens.text()?))
        }
        "encoding" => {
            tokens.take();
            given(&word, Value::Text(tokens.text()?))
        }
        "force" => {
            tokens.take();
            let name = match () {
                () if tokens.is("quote") => "force_quote",
                () if tokens.is("null") => "force_null",
                () => {
                    tokens.expect("not")?;
                    tokens.expect("null")?;
                    "force_not_null"
                }
            };
            if name == "force_quote" && tokens.is("*") {
                return given(name, Value::Star);
            }
            let names = tokens.names()?;
            check_once(&names)?;
            given(name, Value::Names(names))
        }
        _ => Ok(None),
    }
}
