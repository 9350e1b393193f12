//! Conditions on `jsonb`: what `@>`, `?`, `?|` and `?&` are rewritten to, and the order of documents.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::json_document::{compare, contains, has};
use super::json_arguments::{Argument, JsonFunction, read};

/// The functions.
pub(super) fn functions() -> [ScalarUDF; 7] {
    let of = |name, values| JsonFunction::of(name, 2, DataType::Boolean, values);
    [
        of("jsonb_contains", |arguments, rows| {
            decided(arguments, rows, |one, other, row| match other.document(row) {
                Some(part) => Ok(Some(contains(one, &read(&part)?))),
                None => Ok(None),
            })
        }),
        of("jsonb_has", |arguments, rows| {
            decided(arguments, rows, |one, other, row| Ok(other.document(row).map(|key| has(one, &key))))
        }),
        of("jsonb_has_any", |arguments, rows| {
            decided(arguments, rows, |one, other, row| {
                Ok(other.path(row)?.map(|keys| keys.iter().flatten().any(|key| has(one, key))))
            })
        }),
        of("jsonb_has_all", |arguments, rows| {
            decided(arguments, rows, |one, other, row| {
                Ok(other.path(row)?.map(|keys| keys.iter().flatten().all(|key| has(one, key))))
            })
        }),
        JsonFunction::of("jsonb_order", 2, DataType::Int64, order),
        JsonFunction::of_any("jsonb_greatest", |arguments, rows| last(arguments, rows, Ordering::is_gt)),
        JsonFunction::of_any("jsonb_least", |arguments, rows| last(arguments, rows, Ordering::is_lt)),
    ]
}

fn decided(
    arguments: &[Argument],
    rows: usize,
    decide: impl Fn(&str, &Argument, usize) -> Result<Option<bool>>,
) -> Result<ArrayRef> {
    let [documents, other] = arguments else { return plan_err!("a document is compared with one value") };
    let decision = |row| match documents.document(row) {
        Some(text) if !other.is_null(row) => decide(&read(&text)?, other, row),
        _ => Ok(None),
    };
    Ok(Arc::new((0..rows).map(decision).collect::<Result<BooleanArray>>()?))
}

/// `jsonb_order(a, b)`: less than 0, 0, or more.
fn order(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    let [one, other] = arguments else { return plan_err!("two documents are compared") };
    let number = |row| match (one.document(row), other.document(row)) {
        (Some(one), Some(other)) => Ok(Some(match compare(&read(&one)?, &read(&other)?) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })),
        _ => Ok(None),
    };
    Ok(Arc::new((0..rows).map(number).collect::<Result<Int64Array>>()?))
}

/// Returns the first document that none of the others is beyond; nulls do not count.
fn last(arguments: &[Argument], rows: usize, is_beyond: fn(Ordering) -> bool) -> Result<ArrayRef> {
    let mut texts = StringBuilder::with_capacity(rows, rows * 32);
    for row in 0..rows {
        let mut found: Option<String> = None;
        for text in arguments.iter().filter_map(|argument| argument.document(row)) {
            let own = read(&text)?;
            if found.as_ref().is_none_or(|found| is_beyond(compare(&own, found))) {
                found = Some(own);
            }
        }
        texts.append_option(found);
    }
    Ok(Arc::new(texts.finish()))
}
