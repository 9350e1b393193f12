//! Regular expressions: translates those of SQL to the engine's, and splits and matches texts.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanBuilder, ListBuilder, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use regex::{Regex, RegexBuilder};
use salver_model::limits::PATTERN_PROGRAM_BYTES_MAX;

use super::super::row_function::RowFunction;
use super::regexp_syntax::CLASSES;
use super::text_function::{TextFunction, Texts};

/// `similar_to_escape(pattern, escape)`: translates the pattern of a `similar to` to a regular expression.
pub(super) fn similar_to_escape() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [patterns, escapes] = arrays else { return plan_err!("`similar_to_escape` takes a pattern and an escape") };
        let (patterns, escapes) = (cast(patterns, &DataType::Utf8)?, cast(escapes, &DataType::Utf8)?);
        let pairs = patterns.as_string::<i32>().iter().zip(escapes.as_string::<i32>());
        let made = pairs.map(|(pattern, escape)| match (pattern, escape) {
            (Some(pattern), Some(escape)) => translated(pattern, escape).map(Some),
            _ => Ok(None),
        });
        Ok(Arc::new(made.collect::<Result<StringArray>>()?))
    };
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "similar_to_escape", signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

/// `regexp_split_to_array(text, pattern, flags)`.
pub(super) fn regexp_split_to_array() -> ScalarUDF {
    let signature = Signature::one_of(
        vec![datafusion::logical_expr::TypeSignature::Any(2), datafusion::logical_expr::TypeSignature::Any(3)],
        Volatility::Immutable,
    );
    TextFunction { name: "regexp_split_to_array", signature, returns: list_of_texts, values: split }.function()
}

/// `regexp_match(text, pattern, flags)`: the groups of the first match, null for a group that did not take part.
pub(super) fn regexp_match() -> ScalarUDF {
    let signature = Signature::one_of(
        vec![datafusion::logical_expr::TypeSignature::Any(2), datafusion::logical_expr::TypeSignature::Any(3)],
        Volatility::Immutable,
    );
    let values = |texts: &[Texts], rows: usize| -> Result<ArrayRef> {
        let mut lists = ListBuilder::new(StringBuilder::new());
        each(texts, rows, |row| {
            let found = row.and_then(|(text, regex)| regex.captures(text));
            if let Some(found) = &found {
                let groups = found.iter().skip(usize::from(found.len() > 1));
                groups.for_each(|group| lists.values().append_option(group.map(|own| own.as_str())));
            }
            lists.append(found.is_some());
        })?;
        Ok(Arc::new(lists.finish()))
    };
    TextFunction { name: "regexp_match", signature, returns: list_of_texts, values }.function()
}

/// `regexp_like(text, pattern, flags)`, which is `text ~ pattern`. The engine's operator keeps all patterns of a batch
/// at once, and does not limit their size.
pub(in crate::engine) fn regexp_like() -> ScalarUDF {
    let signature = Signature::one_of(
        vec![datafusion::logical_expr::TypeSignature::Any(2), datafusion::logical_expr::TypeSignature::Any(3)],
        Volatility::Immutable,
    );
    let values = |texts: &[Texts], rows: usize| -> Result<ArrayRef> {
        let mut matches = BooleanBuilder::with_capacity(rows);
        each(texts, rows, |row| matches.append_option(row.map(|(text, regex)| regex.is_match(text))))?;
        Ok(Arc::new(matches.finish()))
    };
    TextFunction { name: "regexp_like", signature, returns: || DataType::Boolean, values }.function()
}

fn list_of_texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

fn translated(pattern: &str, escape: &str) -> Result<String> {
    let mut signs = escape.chars();
    let (escape, None) = (signs.next(), signs.next()) else {
        return exec_err!("the escape of a pattern is one character, and '{escape}' is none");
    };
    let mut made = String::with_capacity(pattern.len() + 16);
    made.push_str("^(?s:");
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if Some(c) == escape {
            match rest.next() {
                // Classes such as `\d` have the same meaning.
                Some(c) if c.is_alphanumeric() => made.extend(['\\', c]),
                Some(c) => made.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
                None => return exec_err!("the pattern '{pattern}' ends with its escape"),
            }
            continue;
        }
        match c {
            '%' => made.push_str(".*"),
            '_' => made.push('.'),
            '(' => made.push_str("(?:"),
            '\\' | '.' | '^' | '$' => made.extend(['\\', c]),
            '[' => class(&mut rest, &mut made),
            c => made.push(c),
        }
    }
    made.push_str(")$");
    Ok(CLASSES.iter().fold(made, |made, (class, own)| made.replace(class, own)))
}

/// Translates a bracket expression after its opening bracket.
fn class(rest: &mut std::str::Chars<'_>, made: &mut String) {
    made.push('[');
    if rest.as_str().starts_with('^') {
        made.extend(rest.next());
    }
    let mut is_first = true;
    while let Some(c) = rest.next() {
        match c {
            ']' if !is_first => {
                made.push(']');
                return;
            }
            '[' if rest.as_str().starts_with(':') => {
                let end = rest.as_str().find(":]").map_or(rest.as_str().len(), |at| at + 2);
                made.push('[');
                made.extend(rest.by_ref().take(end));
            }
            '[' | ']' | '\\' | '&' | '~' => made.extend(['\\', c]),
            c => made.push(c),
        }
        is_first = false;
    }
}

fn split(texts: &[Texts], rows: usize) -> Result<ArrayRef> {
    let mut lists = ListBuilder::new(StringBuilder::new());
    each(texts, rows, |row| {
        if let Some((text, regex)) = row {
            pieces(text, regex).into_iter().for_each(|piece| lists.values().append_value(piece));
        }
        lists.append(row.is_some());
    })?;
    Ok(Arc::new(lists.finish()))
}

/// Calls `add` with each text and its pattern, or with nothing if one of them or the flags are null. Only one pattern
/// is kept at a time.
fn each(texts: &[Texts], rows: usize, mut add: impl FnMut(Option<(&str, &Regex)>)) -> Result<()> {
    let [values, patterns, flags @ ..] = texts else {
        return plan_err!("a text and a pattern are needed");
    };
    let flags = flags.first();
    let is_same = patterns.is_same && flags.is_none_or(|flags| flags.is_same);
    let mut known: Option<(&str, &str, Regex)> = None;
    for row in 0..rows {
        let flag = flags.map_or(Some(""), |flags| flags.get(row));
        let (Some(value), Some(pattern), Some(flag)) = (values.get(row), patterns.get(row), flag) else {
            add(None);
            continue;
        };
        let regex = match &known {
            Some((own, with, regex)) if is_same || (*own == pattern && *with == flag) => regex,
            _ => &known.insert((pattern, flag, compiled(pattern, flag)?)).2,
        };
        add(Some((value, regex)));
    }
    Ok(())
}

fn compiled(pattern: &str, flags: &str) -> Result<Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(PATTERN_PROGRAM_BYTES_MAX as usize).dot_matches_new_line(true);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'n' | 'm' => builder.multi_line(true).dot_matches_new_line(false),
            'x' => builder.ignore_whitespace(true),
            's' | 'c' => &mut builder,
            other => return exec_err!("a pattern has no flag `{other}` here; it may have `i`, `n`, `s` and `x`"),
        };
    }
    // The prefix that was added is not shown.
    let shown = pattern.strip_prefix("(?s)").unwrap_or(pattern);
    match builder.build() {
        Ok(regex) => Ok(regex),
        Err(regex::Error::CompiledTooBig(bytes)) => {
            exec_err!("the regular expression '{shown}' has more than {bytes} bytes when it is compiled")
        }
        Err(_) => exec_err!("'{shown}' is no regular expression that can be run"),
    }
}

/// Splits a text between matches. Empty matches before the first character, after the last, and directly after another
/// match don't count.
fn pieces<'t>(text: &'t str, regex: &Regex) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for found in regex.find_iter(text) {
        if found.is_empty() && (found.start() >= text.len() || found.start() == begin) {
            continue;
        }
        pieces.push(&text[begin..found.start()]);
        begin = found.end();
    }
    pieces.push(&text[begin..]);
    pieces
}
