//! Interval literals in PostgreSQL's syntax: `1 day 02:00`, `1 month - 1 day`, `P1Y2M3DT4H`, `2 weeks ago`. The engine
//! reads only numbers with units, so all are rewritten to these.

use datafusion::sql::sqlparser::ast::{DataType, Expr, Interval, TypedString, Value};
use salver_model::Error;
use salver_text::interval::{Span, read};

use super::expression;

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let text = match expr {
        Expr::Interval(Interval { value, leading_field: None, last_field: None, .. }) => text_of(value),
        Expr::Cast { data_type: DataType::Interval { .. }, expr: value, .. } => text_of(value),
        Expr::TypedString(TypedString { data_type: DataType::Interval { .. }, value, .. }) => {
            value.value.clone().into_string()
        }
        _ => None,
    };
    if let Some(span) = text.as_deref().and_then(read) {
        let Span { months, days, micros } = span;
        let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
        let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
        let words = format!("interval '{months} months {days} days {sign}{seconds}.{fraction:06} seconds'");
        *expr = expression(&words, Vec::new())?;
    }
    Ok(())
}

/// Reads an element of an array of intervals.
pub(super) fn read_element(element: &mut Expr) -> Result<(), Box<Error>> {
    if text_of(element).is_some() {
        *element = expression("cast(__1 as interval)", vec![element.clone()])?;
        return rewrite(element);
    }
    Ok(())
}

fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
