//! `format`, and the quoting of names and literals by it and by `quote_ident`, `quote_literal`, `quote_nullable`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use salver_model::limits::SQL_FORMAT_WIDTH_MAX;

use super::super::row_function::RowFunction;
use super::text_cast::{TextWriter, is_null, texts, writer};

/// `format('%s %I %L', ...)`.
pub(super) fn format() -> ScalarUDF {
    let signature = Signature::variadic_any(Volatility::Immutable);
    RowFunction { name: "format", signature, returns: |_| Ok(DataType::Utf8), values: formatted }.function()
}

/// `quote_ident(name)`.
pub(super) fn quote_ident() -> ScalarUDF {
    of_text("quote_ident", |arrays, _| each(arrays, |text| Some(ident(text?))))
}

/// `quote_literal(value)`.
pub(super) fn quote_literal() -> ScalarUDF {
    of_text("quote_literal", |arrays, _| each(arrays, |text| Some(literal(text?))))
}

/// `quote_nullable(value)`.
pub(super) fn quote_nullable() -> ScalarUDF {
    of_text("quote_nullable", |arrays, _| each(arrays, |text| Some(text.map_or_else(|| "NULL".to_owned(), literal))))
}

fn of_text(name: &'static str, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name, signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

fn each(arrays: &[ArrayRef], quote: fn(Option<&str>) -> Option<String>) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one value is quoted") };
    Ok(Arc::new(texts(values)?.iter().map(quote).collect::<StringArray>()))
}

/// Quotes a name if necessary.
fn ident(name: &str) -> String {
    let mut chars = name.chars();
    let begins = chars.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_');
    let is_plain = begins && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_plain && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') { format!("E'{}'", quoted.replace('\\', "\\\\")) } else { format!("'{quoted}'") }
}

/// A directive of a pattern, such as `%-10s` or `%2$I`.
struct Directive {
    /// Index of the argument.
    argument: usize,
    kind: char,
    /// Width in characters that the value is padded to.
    width: usize,
    to_the_left: bool,
}

enum FormatPart {
    Text(String),
    Value(Directive),
}

fn formatted(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [patterns, values @ ..] = arrays else { return plan_err!("`format` takes a pattern and values") };
    let patterns = cast(patterns, &DataType::Utf8)?;
    let patterns = patterns.as_string::<i32>();
    let writers = values.iter().map(writer).collect::<Result<Vec<_>>>()?;
    let mut known: Option<(&str, Vec<FormatPart>)> = None;
    let mut texts = Vec::with_capacity(patterns.len());
    for (row, pattern) in patterns.iter().enumerate() {
        let Some(pattern) = pattern else {
            texts.push(None);
            continue;
        };
        let parts = match &known {
            Some((other, parts)) if *other == pattern => parts,
            _ => &known.insert((pattern, parse(pattern)?)).1,
        };
        texts.push(Some(show(parts, values, &writers, row)?));
    }
    Ok(Arc::new(StringArray::from(texts)))
}

fn show(parts: &[FormatPart], values: &[ArrayRef], writers: &[TextWriter], row: usize) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        let directive = match part {
            FormatPart::Text(own) => {
                text.push_str(own);
                continue;
            }
            FormatPart::Value(directive) => directive,
        };
        let (Some(values), Some(writer)) = (values.get(directive.argument), writers.get(directive.argument)) else {
            return exec_err!("`format` has fewer values than its pattern shows");
        };
        let mut own = String::new();
        let is_null = is_null(values, row);
        if !is_null {
            writer(row, &mut own)?;
        }
        let own = match (directive.kind, is_null) {
            ('I', true) => return exec_err!("a null is not a name for `%I` of `format`"),
            ('I', false) => ident(&own),
            ('L', true) => "NULL".to_owned(),
            ('L', false) => literal(&own),
            _ => own,
        };
        let missing = directive.width.saturating_sub(own.chars().count());
        let blanks = " ".repeat(missing);
        if directive.to_the_left {
            text.push_str(&own);
            text.push_str(&blanks);
        } else {
            text.push_str(&blanks);
            text.push_str(&own);
        }
    }
    Ok(text)
}

fn parse(pattern: &str) -> Result<Vec<FormatPart>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut next = 0;
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            text.push('%');
            continue;
        }
        let digits = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let digits: String = std::iter::from_fn(|| rest.next_if(char::is_ascii_digit)).collect();
            digits.parse::<usize>().ok()
        };
        let mut width = digits(&mut rest);
        if let Some(position) = width
            && rest.next_if_eq(&'$').is_some()
        {
            let Some(argument) = position.checked_sub(1) else {
                return exec_err!("`format` counts its values from 1");
            };
            next = argument;
            width = None;
        }
        let to_the_left = std::iter::from_fn(|| rest.next_if_eq(&'-')).count() > 0;
        let width = width.or_else(|| digits(&mut rest)).unwrap_or(0);
        if width > SQL_FORMAT_WIDTH_MAX {
            return exec_err!("`format` fills up to {SQL_FORMAT_WIDTH_MAX} characters at most");
        }
        match rest.next() {
            Some(kind @ ('s' | 'I' | 'L')) => {
                parts.push(FormatPart::Text(std::mem::take(&mut text)));
                parts.push(FormatPart::Value(Directive { argument: next, kind, width, to_the_left }));
                next += 1;
            }
            Some('*') => return exec_err!("`format` takes no width from a value here; write it out, as in `%10s`"),
            _ => return exec_err!("`format` knows `%s`, `%I`, `%L` and `%%`"),
        }
    }
    parts.push(FormatPart::Text(text));
    Ok(parts)
}

/// Keywords that PostgreSQL quotes as names.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];
