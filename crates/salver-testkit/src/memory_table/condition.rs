//! Conditions with the three-valued logic of SQL: true, false, or null as `None`.

use std::cmp::Ordering;

use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use salver_model::{Code, ColumnPath, Comparison, Description, Error, Filter, Result};

use super::cell::Cell;
use super::column;

/// The rows for which `filter` is true; unknown columns are `code`.
pub(crate) fn passing(rows: &RecordBatch, filter: &Filter, entry: &Description, code: Code) -> Result<Vec<usize>> {
    let condition = Condition { rows, entry, code };
    // Once for no row, so that a mistake in a filter is told of an empty table too.
    condition.check(filter)?;
    let mut passing = Vec::new();
    for row in 0..rows.num_rows() {
        if condition.is(filter, row)? == Some(true) {
            passing.push(row);
        }
    }
    Ok(passing)
}

struct Condition<'a> {
    rows: &'a RecordBatch,
    entry: &'a Description,
    code: Code,
}

impl Condition<'_> {
    fn array(&self, path: &ColumnPath) -> Result<ArrayRef> {
        column(self.rows, path, self.entry, self.code)
    }

    fn check(&self, filter: &Filter) -> Result<()> {
        match filter {
            Filter::And(all) | Filter::Or(all) => all.iter().try_for_each(|inner| self.check(inner)),
            Filter::Not(inner) => self.check(inner),
            Filter::Compare { column, value, .. } => Cell::of(value, self.array(column)?.data_type()).map(drop),
            Filter::In { column, values } => {
                let array = self.array(column)?;
                values.iter().try_for_each(|value| Cell::of(value, array.data_type()).map(drop))
            }
            Filter::Like { column, .. } => {
                let array = self.array(column)?;
                match Cell::of(&salver_model::Value::Text(String::new()), array.data_type()) {
                    Ok(Cell::Text(_)) => Ok(()),
                    _ => Err(Error::new(Code::InvalidValue, format!("`{column}` is not text"))),
                }
            }
            Filter::IsNull { column } => self.array(column).map(drop),
        }
    }

    fn is(&self, filter: &Filter, row: usize) -> Result<Option<bool>> {
        Ok(match filter {
            Filter::And(all) => {
                let all = all.iter().map(|inner| self.is(inner, row)).collect::<Result<Vec<_>>>()?;
                if all.contains(&Some(false)) {
                    Some(false)
                } else if all.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }
            Filter::Or(any) => {
                let any = any.iter().map(|inner| self.is(inner, row)).collect::<Result<Vec<_>>>()?;
                if any.contains(&Some(true)) {
                    Some(true)
                } else if any.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Filter::Not(inner) => self.is(inner, row)?.map(|truth| !truth),
            Filter::IsNull { column } => Some(Cell::at(&self.array(column)?, row)? == Cell::Null),
            Filter::Compare { column, op, value } => {
                let array = self.array(column)?;
                compare(&Cell::at(&array, row)?, *op, &Cell::of(value, array.data_type())?)
            }
            Filter::In { column, values } => {
                let array = self.array(column)?;
                let cell = Cell::at(&array, row)?;
                let equal = |value| Ok(compare(&cell, Comparison::Eq, &Cell::of(value, array.data_type())?));
                let equals = values.iter().map(equal).collect::<Result<Vec<_>>>()?;
                match () {
                    () if equals.contains(&Some(true)) => Some(true),
                    () if equals.contains(&None) => None,
                    () => Some(false),
                }
            }
            Filter::Like { column, pattern, ignore_case } => match Cell::at(&self.array(column)?, row)? {
                Cell::Text(text) if *ignore_case => Some(like(&text.to_lowercase(), &pattern.to_lowercase())),
                Cell::Text(text) => Some(like(&text, pattern)),
                _ => None,
            },
        })
    }
}

fn compare(a: &Cell, op: Comparison, b: &Cell) -> Option<bool> {
    if *a == Cell::Null || *b == Cell::Null {
        return None;
    }
    let order = a.order(b);
    Some(match op {
        Comparison::Eq => order == Ordering::Equal,
        Comparison::NotEq => order != Ordering::Equal,
        Comparison::Lt => order == Ordering::Less,
        Comparison::LtEq => order != Ordering::Greater,
        Comparison::Gt => order == Ordering::Greater,
        Comparison::GtEq => order != Ordering::Less,
    })
}

fn like(text: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('%') => {
            let mut tails = text.char_indices().map(|(at, _)| &text[at..]).chain([""]);
            tails.any(|tail| like(tail, rest.as_str()))
        }
        Some('_') => {
            let mut chars = text.chars();
            chars.next().is_some() && like(chars.as_str(), rest.as_str())
        }
        Some('\\') => {
            let wanted = rest.next().unwrap_or('\\');
            text.strip_prefix(wanted).is_some_and(|tail| like(tail, rest.as_str()))
        }
        Some(wanted) => text.strip_prefix(wanted).is_some_and(|tail| like(tail, rest.as_str())),
    }
}
