//! The filter of the rows that are left.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use salver_model::entry::Description;
use salver_model::rule::{exact_number, exact_truth};
use salver_model::{Code, ColumnPath, Comparison, Filter, Result, Value};

use crate::resolve::{self, Condition};

/// Returns why the rows of such a table can't be chosen by the filter; `None` if they can.
#[must_use]
pub fn rows_misfit(filter: &Filter, about: &Description) -> Option<String> {
    exact(filter, about).err().map(|error| error.message)
}

/// Returns the filter with attributes of the caller as values of their columns' types, and checks that it fits.
///
/// A client may have chosen the text of an attribute: `07` and `7.0` are not the user 7, and equal nothing.
///
/// # Errors
/// Those of a query with this filter.
pub(super) fn exact(filter: &Filter, about: &Description) -> Result<Filter> {
    let filter = converted(filter, about)?;
    resolve::resolve_filter(&filter, about)?;
    Ok(filter)
}

fn converted(filter: &Filter, about: &Description) -> Result<Filter> {
    let all = |filters: &[Filter]| filters.iter().map(|inner| converted(inner, about)).collect::<Result<Vec<_>>>();
    Ok(match filter {
        Filter::And(filters) => Filter::And(all(filters)?),
        Filter::Or(filters) => Filter::Or(all(filters)?),
        Filter::Not(inner) => Filter::Not(Box::new(converted(inner, about)?)),
        Filter::Compare { column, op, value } => match value_of(value, column, about)? {
            Some(value) => Filter::Compare { column: column.clone(), op: *op, value },
            None => different(column, *op),
        },
        Filter::In { column, values } => {
            let values: Result<Vec<Option<Value>>> =
                values.iter().map(|value| value_of(value, column, about)).collect();
            let values: Vec<Value> = values?.into_iter().flatten().collect();
            match values.is_empty() {
                true => different(column, Comparison::Eq),
                false => Filter::In { column: column.clone(), values },
            }
        }
        Filter::Like { .. } | Filter::IsNull { .. } => filter.clone(),
    })
}

/// Returns the comparison of a column with a text that is no value of its type: it differs from each, and is neither
/// greater nor less.
fn different(column: &ColumnPath, op: Comparison) -> Filter {
    let unknown = Filter::compare(column.clone(), op, Value::Null);
    match op {
        // False, but unknown where the column is null.
        Comparison::Eq => Filter::And(vec![Filter::IsNull { column: column.clone() }, unknown]),
        Comparison::NotEq => different(column, Comparison::Eq).negated(),
        Comparison::Lt | Comparison::LtEq | Comparison::Gt | Comparison::GtEq => unknown,
    }
}

/// Returns the value to compare the column with; `None` for a text that is no value of its type.
fn value_of(value: &Value, column: &ColumnPath, about: &Description) -> Result<Option<Value>> {
    let Value::Bare(text) = value else { return Ok(Some(value.clone())) };
    let place = resolve::locate(column, about, Code::InvalidFilter)?;
    let mut data_type = place.field.data_type();
    while let DataType::Dictionary(_, values) = data_type {
        data_type = values;
    }
    Ok(match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Value::Text(text.clone())),
        DataType::Boolean => exact_truth(text).map(Value::Bool),
        kind if kind.is_numeric() => {
            let is_exact = exact_number(text).is_some() && (!kind.is_integer() || !text.contains('.'));
            is_exact.then(|| Value::Bare(text.clone()))
        }
        // Times, binary and the like: a text that can't be read is no value.
        _ => {
            let equals = Filter::compare(column.clone(), Comparison::Eq, Value::Text(text.clone()));
            resolve::resolve_filter(&equals, about).is_ok().then(|| Value::Text(text.clone()))
        }
    })
}

/// Returns the condition over the columns `fields`, in their order.
///
/// # Errors
/// `Config` when the filter does not fit them.
pub(super) fn condition(filter: &Filter, fields: &[Arc<Field>], about: &Description) -> Result<Condition> {
    let schema = Arc::new(arrow::datatypes::Schema::new(fields.to_vec()));
    resolve::resolve_filter(filter, &Description { schema, ..about.clone() })
}
