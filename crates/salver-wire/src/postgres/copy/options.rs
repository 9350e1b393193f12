//! The options of a `COPY` to the client: which there are, what fits to what, and what they are where they are not
//! given, all as in PostgreSQL 15.

use super::layout::{Layout, NamedColumn};
use super::statement::{Given, Value};
use super::tokens::{Name, SYNTAX_ERROR, Tokens};
use crate::postgres::refusal::{INVALID_VALUE, NOT_SUPPORTED, Refusal};

/// Characters that stand for something else in text, and so separate nothing.
const NO_DELIMITERS: &str = "\\.abcdefghijklmnopqrstuvwxyz0123456789";

/// How rows are copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) layout: Layout,
    pub(super) has_header: bool,
    /// Columns whose values stand in quotes; `None` is each.
    pub(super) quoted: Option<Vec<NamedColumn>>,
}

/// Options as they are given, each once.
#[derive(Default)]
struct Once<'t> {
    format: Option<Format>,
    freeze: Option<bool>,
    delimiter: Option<String>,
    null: Option<String>,
    header: Option<bool>,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<Value<'t>>,
    force_not_null: Option<Value<'t>>,
    force_null: Option<Value<'t>>,
    encoding: Option<()>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    #[default]
    Text,
    Csv,
    Binary,
}

/// Checks the options of a statement.
///
/// # Errors
/// Those of PostgreSQL, with its `SQLSTATE`.
pub(super) fn check(given: Vec<Given<'_>>, tokens: &Tokens<'_>) -> Result<Options, Refusal> {
    let once = once(given, tokens)?;
    let is_csv = once.format == Some(Format::Csv);
    let layout = match once.format.unwrap_or_default() {
        Format::Binary => binary(&once)?,
        Format::Text => text(&once)?,
        Format::Csv => csv(&once)?,
    };
    let unsupported = |is: bool, message: &str| if is { Err(not_supported(message)) } else { Ok(()) };
    for (value, words) in [(&once.force_not_null, "force not null"), (&once.force_null, "force null")] {
        unsupported(value.is_some() && !is_csv, &format!("COPY {words} available only in CSV mode"))?;
        unsupported(value.is_some(), &format!("COPY {words} only available using COPY FROM"))?;
    }
    check_null(&layout)?;
    let quoted = match once.force_quote {
        Some(Value::Star) => None,
        Some(Value::Names(names)) => Some(names.iter().map(named).collect()),
        _ => Some(Vec::new()),
    };
    Ok(Options { layout, has_header: once.header == Some(true), quoted })
}

fn named(name: &Name<'_>) -> NamedColumn {
    NamedColumn { name: name.meant.clone(), is_exact: name.is_quoted() }
}

fn not_supported(message: &str) -> Refusal {
    Refusal::new(NOT_SUPPORTED, message)
}

/// Reads each option, which may be given once.
fn once<'t>(given: Vec<Given<'t>>, tokens: &Tokens<'_>) -> Result<Once<'t>, Refusal> {
    let mut once = Once::default();
    for Given { name, at, value } in given {
        let is_first = match name.as_str() {
            "format" => once.format.is_none() && put(&mut once.format, format(text_of(&name, value)?, at, tokens)?),
            "freeze" => once.freeze.is_none() && put(&mut once.freeze, switch(&name, &value)?),
            "delimiter" => once.delimiter.is_none() && put(&mut once.delimiter, text_of(&name, value)?),
            "null" => once.null.is_none() && put(&mut once.null, text_of(&name, value)?),
            "header" => once.header.is_none() && put(&mut once.header, header(&value)?),
            "quote" => once.quote.is_none() && put(&mut once.quote, text_of(&name, value)?),
            "escape" => once.escape.is_none() && put(&mut once.escape, text_of(&name, value)?),
            "force_quote" => {
                once.force_quote.is_none() && put(&mut once.force_quote, columns(&name, value, at, tokens)?)
            }
            "force_not_null" => {
                once.force_not_null.is_none() && put(&mut once.force_not_null, columns(&name, value, at, tokens)?)
            }
            "force_null" => once.force_null.is_none() && put(&mut once.force_null, columns(&name, value, at, tokens)?),
            "encoding" => once.encoding.is_none() && put(&mut once.encoding, encoding(&name, value, at, tokens)?),
            _ => return Err(tokens.refusal_at(at, SYNTAX_ERROR, format!("option \"{name}\" not recognized"))),
        };
        if !is_first {
            return Err(tokens.refusal_at(at, SYNTAX_ERROR, "conflicting or redundant options".to_owned()));
        }
    }
    Ok(once)
}

fn put<T>(place: &mut Option<T>, value: T) -> bool {
    *place = Some(value);
    true
}

/// Returns the text that a value stands for.
fn text_of(name: &str, value: Value<'_>) -> Result<String, Refusal> {
    match value {
        Value::None => Err(Refusal::new(SYNTAX_ERROR, format!("{name} requires a parameter"))),
        Value::Text(text) | Value::Number(text) => Ok(text),
        Value::Star => Ok("*".to_owned()),
        Value::Names(names) => Ok(names.iter().map(|name| name.meant.as_str()).collect::<Vec<_>>().join(".")),
    }
}

fn format(text: String, at: usize, tokens: &Tokens<'_>) -> Result<Format, Refusal> {
    match text.as_str() {
        "text" => Ok(Format::Text),
        "csv" => Ok(Format::Csv),
        "binary" => Ok(Format::Binary),
        _ => {
            let refusal = tokens.refusal_at(at, INVALID_VALUE, format!("COPY format \"{text}\" not recognized"));
            Err(refusal.with_hint("there are text, csv and binary"))
        }
    }
}

/// Returns what a value says about something that is or is not; `None` if it says neither.
fn truth(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::None => Some(true),
        Value::Number(number) => match number.as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        },
        Value::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "on" => Some(true),
            "false" | "off" => Some(false),
            _ => None,
        },
        Value::Star | Value::Names(_) => None,
    }
}

fn switch(name: &str, value: &Value<'_>) -> Result<bool, Refusal> {
    truth(value).ok_or_else(|| Refusal::new(SYNTAX_ERROR, format!("{name} requires a Boolean value")))
}

fn header(value: &Value<'_>) -> Result<bool, Refusal> {
    if let Value::Text(text) = value
        && text.eq_ignore_ascii_case("match")
    {
        let refusal = not_supported(&format!("cannot use \"{text}\" with HEADER in COPY TO"));
        return Err(refusal.with_hint("`HEADER` alone writes the names of the columns"));
    }
    let message = "header requires a Boolean value or \"match\"";
    truth(value).ok_or_else(|| Refusal::new(SYNTAX_ERROR, message))
}

fn columns<'t>(name: &str, value: Value<'t>, at: usize, tokens: &Tokens<'_>) -> Result<Value<'t>, Refusal> {
    match value {
        Value::Names(_) => Ok(value),
        Value::Star if name == "force_quote" => Ok(value),
        _ => {
            let message = format!("argument to option \"{name}\" must be a list of column names");
            Err(tokens.refusal_at(at, INVALID_VALUE, message))
        }
    }
}

fn encoding(name: &str, value: Value<'_>, at: usize, tokens: &Tokens<'_>) -> Result<(), Refusal> {
    let text = text_of(name, value)?.to_ascii_lowercase();
    // Only letters and digits count, as in PostgreSQL.
    let bare: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if matches!(bare.as_str(), "utf8" | "unicode") {
        return Ok(());
    }
    let message = "argument to option \"encoding\" must be a valid encoding name".to_owned();
    Err(tokens.refusal_at(at, INVALID_VALUE, message).with_hint("there is only UTF8, which is what is sent without it"))
}

fn binary(once: &Once<'_>) -> Result<Layout, Refusal> {
    for (is_given, option) in [(once.delimiter.is_some(), "DELIMITER"), (once.null.is_some(), "NULL")] {
        if is_given {
            return Err(Refusal::new(SYNTAX_ERROR, format!("cannot specify {option} in BINARY mode")));
        }
    }
    if once.header == Some(true) {
        return Err(not_supported("cannot specify HEADER in BINARY mode"));
    }
    no_quotes(once)?;
    Ok(Layout::Binary)
}

fn text(once: &Once<'_>) -> Result<Layout, Refusal> {
    let (delimiter, null) = delimiter_and_null(once, "\t", "\\N")?;
    if NO_DELIMITERS.contains(char::from(delimiter)) {
        let message = format!("COPY delimiter cannot be \"{}\"", char::from(delimiter));
        return Err(Refusal::new(INVALID_VALUE, message));
    }
    no_quotes(once)?;
    Ok(Layout::Text { delimiter, null })
}

fn csv(once: &Once<'_>) -> Result<Layout, Refusal> {
    let (delimiter, null) = delimiter_and_null(once, ",", "")?;
    let quote = single(once.quote.as_deref().unwrap_or("\""), "quote")?;
    if delimiter == quote {
        return Err(Refusal::new(INVALID_VALUE, "COPY delimiter and quote must be different"));
    }
    let escape = once.escape.as_deref().map_or(Ok(quote), |escape| single(escape, "escape"))?;
    Ok(Layout::Csv { delimiter, null, quote, escape })
}

/// Refuses what only CSV has.
fn no_quotes(once: &Once<'_>) -> Result<(), Refusal> {
    let given = [
        (once.quote.is_some(), "quote"),
        (once.escape.is_some(), "escape"),
        (once.force_quote.is_some(), "force quote"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(not_supported(&format!("COPY {option} available only in CSV mode"))),
        None => Ok(()),
    }
}

/// Returns the one byte that an option is.
fn single(text: &str, option: &str) -> Result<u8, Refusal> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(not_supported(&format!("COPY {option} must be a single one-byte character"))),
    }
}

fn delimiter_and_null(once: &Once<'_>, delimiter: &str, null: &str) -> Result<(u8, String), Refusal> {
    let delimiter = single(once.delimiter.as_deref().unwrap_or(delimiter), "delimiter")?;
    if matches!(delimiter, b'\r' | b'\n') {
        return Err(Refusal::new(INVALID_VALUE, "COPY delimiter cannot be newline or carriage return"));
    }
    let null = once.null.as_deref().unwrap_or(null);
    if null.contains(['\r', '\n']) {
        return Err(Refusal::new(INVALID_VALUE, "COPY null representation cannot use newline or carriage return"));
    }
    Ok((delimiter, null.to_owned()))
}

/// Refuses what stands for null and could be taken for something else.
fn check_null(layout: &Layout) -> Result<(), Refusal> {
    let has = |null: &String, byte: u8| null.as_bytes().contains(&byte);
    match layout {
        Layout::Text { delimiter, null } | Layout::Csv { delimiter, null, .. } if has(null, *delimiter) => {
            Err(not_supported("COPY delimiter must not appear in the NULL specification"))
        }
        Layout::Csv { null, quote, .. } if has(null, *quote) => {
            Err(not_supported("CSV quote character must not appear in the NULL specification"))
        }
        _ => Ok(()),
    }
}
