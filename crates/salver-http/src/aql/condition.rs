//! Compiles the expression after FILTER to a filter of the model.
//!
//! AQL has two truth values where SQL has three: `null` equals itself and is less than any other value. So a negation
//! is first pushed down to the comparisons, and each comparison then includes or excludes nulls explicitly.

use std::cmp::Ordering;

use salver_model::{ColumnPath, Comparison, Filter, Value};

use super::bind::Binds;
use super::columns::Columns;
use super::kind::ValueKind;
use super::syntax::{Expression, Operand, Operator, Path};
use super::{BIND_PARAMETER_TYPE, Mistake, NOT_IMPLEMENTED, TOO_MUCH_NESTING};

const TRUE: Filter = Filter::And(Vec::new());
const FALSE: Filter = Filter::Or(Vec::new());

/// Returns the filter that selects the rows for which `expression` is true or, when `negated`, false.
pub(super) fn filter(
    expression: &Expression,
    negated: bool,
    columns: Columns<'_>,
    binds: &Binds<'_>,
) -> Result<Filter, Mistake> {
    let all = |parts: &[Expression]| -> Result<Vec<Filter>, Mistake> {
        parts.iter().map(|part| filter(part, negated, columns, binds)).collect()
    };
    match (expression, negated) {
        (Expression::And(parts), false) | (Expression::Or(parts), true) => Ok(Filter::And(all(parts)?)),
        (Expression::Or(parts), false) | (Expression::And(parts), true) => Ok(Filter::Or(all(parts)?)),
        (Expression::Not(inner), _) => filter(inner, !negated, columns, binds),
        (Expression::Truth(operand), _) => truth(operand, negated, columns, binds),
        (Expression::Compare(left, operator, right), _) => {
            compare(left, *operator, right, columns, binds).map(|compared| compared.filter(negated))
        }
    }
}

/// A comparison of a column, before its result for null is applied.
struct Compared {
    column: ColumnPath,
    /// The result for values that are not null.
    of_values: Filter,
    /// The result for null.
    of_null: bool,
}

impl Compared {
    fn filter(self, negated: bool) -> Filter {
        let of_values = if negated { self.of_values.negated() } else { self.of_values };
        let is_null = Filter::IsNull { column: self.column };
        match (self.of_null != negated, &of_values) {
            // All rows or none.
            (true, values) if *values == TRUE || *values == FALSE.negated() => TRUE,
            (false, values) if *values == FALSE || *values == TRUE.negated() => FALSE,
            // Only null, or everything but null: two very common conditions.
            (true, values) if *values == FALSE || *values == TRUE.negated() => is_null,
            (false, values) if *values == TRUE || *values == FALSE.negated() => is_null.negated(),
            (true, _) => Filter::Or(vec![is_null, of_values]),
            (false, _) => of_values,
        }
    }
}

/// Compiles an operand that stands by itself, as in `FILTER d.active`.
fn truth(operand: &Operand, negated: bool, columns: Columns<'_>, binds: &Binds<'_>) -> Result<Filter, Mistake> {
    match operand {
        Operand::Path(path) if columns.kind(path) == Some(ValueKind::Bool) => {
            let column = columns.path(path);
            let of_values = Filter::Compare { column: column.clone(), op: Comparison::Eq, value: Value::Bool(true) };
            Ok(Compared { column, of_values, of_null: false }.filter(negated))
        }
        Operand::Path(path) => Err(not_here(&format!("the truth of `{}`, which is not a boolean,", path.join(".")))),
        Operand::List(_) => Err(not_here("the truth of a list")),
        Operand::Value(_) | Operand::Bound(_) => {
            let is_true = match value(operand, binds)? {
                Value::Null => false,
                Value::Bool(value) => value,
                Value::Int(number) => number != 0,
                Value::UInt(number) => number != 0,
                Value::Float(number) => number != 0.0,
                Value::Bare(digits) => digits.parse::<f64>().is_ok_and(|number| number != 0.0),
                Value::Text(text) => !text.is_empty(),
            };
            Ok(if is_true == negated { FALSE } else { TRUE })
        }
    }
}

fn compare(
    left: &Operand,
    operator: Operator,
    right: &Operand,
    columns: Columns<'_>,
    binds: &Binds<'_>,
) -> Result<Compared, Mistake> {
    let (path, operator, other) = sides(left, operator, right)?;
    let column = columns.path(path);
    match operator {
        Operator::In => {
            let mut values = list(other, binds)?;
            let before = values.len();
            values.retain(|value| *value != Value::Null);
            let of_null = values.len() < before;
            // A value of another kind equals nothing in the column.
            values.retain(|value| {
                columns.kind(path).zip(ValueKind::of_value(value)).is_none_or(|(own, other)| own == other)
            });
            let of_values = if values.is_empty() { FALSE } else { Filter::In { column: column.clone(), values } };
            Ok(Compared { column, of_values, of_null })
        }
        Operator::Like => match value(other, binds)? {
            Value::Text(pattern) => {
                let of_values = Filter::like(column.clone(), pattern, false)
                    .map_err(|error| Mistake::new(TOO_MUCH_NESTING, format!("AQL: {}", error.message)))?;
                Ok(Compared { column, of_values, of_null: false })
            }
            _ => Err(Mistake::new(BIND_PARAMETER_TYPE, "AQL: LIKE compares with a text (while parsing)")),
        },
        _ => {
            let value = value(other, binds)?;
            if value == Value::Null {
                return Ok(with_null(column, operator));
            }
            Ok(match columns.kind(path).zip(ValueKind::of_value(&value)) {
                Some((own, other)) if own != other => with_kind(column, operator, own.cmp(&other)),
                _ => with_value(column, operator, value),
            })
        }
    }
}

/// Compares a column with a value of another kind: never equal, and all values of the column lie on one side of it.
fn with_kind(column: ColumnPath, operator: Operator, order: Ordering) -> Compared {
    let (of_values, of_null) = match operator {
        Operator::NotEq => (true, true),
        Operator::Lt | Operator::LtEq => (order.is_lt(), true),
        Operator::Gt | Operator::GtEq => (order.is_gt(), false),
        _ => (false, false),
    };
    Compared { column, of_values: if of_values { TRUE } else { FALSE }, of_null }
}

/// Compares a column with null, which is less than any other value.
fn with_null(column: ColumnPath, operator: Operator) -> Compared {
    let (of_values, of_null) = match operator {
        Operator::NotEq | Operator::Gt => (TRUE, false),
        Operator::GtEq => (TRUE, true),
        Operator::Lt => (FALSE, false),
        _ => (FALSE, true),
    };
    Compared { column, of_values, of_null }
}

fn with_value(column: ColumnPath, operator: Operator, value: Value) -> Compared {
    let (op, of_null) = match operator {
        Operator::NotEq => (Comparison::NotEq, true),
        Operator::Lt => (Comparison::Lt, true),
        Operator::LtEq => (Comparison::LtEq, true),
        Operator::Gt => (Comparison::Gt, false),
        Operator::GtEq => (Comparison::GtEq, false),
        _ => (Comparison::Eq, false),
    };
    let of_values = Filter::Compare { column: column.clone(), op, value };
    Compared { column, of_values, of_null }
}

/// Normalizes a comparison so that the field is on the left.
fn sides<'e>(
    left: &'e Operand,
    operator: Operator,
    right: &'e Operand,
) -> Result<(&'e Path, Operator, &'e Operand), Mistake> {
    match (left, right) {
        (Operand::Path(_), Operand::Path(_)) => Err(not_here("a comparison of two fields")),
        (Operand::Path(path), other) => Ok((path, operator, other)),
        (other, Operand::Path(path)) => {
            let turned = match operator {
                Operator::Lt => Operator::Gt,
                Operator::LtEq => Operator::GtEq,
                Operator::Gt => Operator::Lt,
                Operator::GtEq => Operator::LtEq,
                Operator::In => return Err(not_here("IN with a field that is a list")),
                Operator::Like => return Err(not_here("LIKE with a pattern that is a field")),
                same => same,
            };
            Ok((path, turned, other))
        }
        _ => Err(not_here("a comparison of two values")),
    }
}

fn value(operand: &Operand, binds: &Binds<'_>) -> Result<Value, Mistake> {
    match operand {
        Operand::Value(value) => Ok(value.clone()),
        Operand::Bound(name) => binds.value(name),
        Operand::List(_) => Err(not_here("a comparison with a list")),
        Operand::Path(_) => Err(not_here("a comparison of two fields")),
    }
}

fn list(operand: &Operand, binds: &Binds<'_>) -> Result<Vec<Value>, Mistake> {
    match operand {
        Operand::List(operands) => operands.iter().map(|operand| value(operand, binds)).collect(),
        Operand::Bound(name) => binds.list(name),
        Operand::Value(_) | Operand::Path(_) => Err(not_here("IN anything but a list")),
    }
}

fn not_here(what: &str) -> Mistake {
    Mistake::new(NOT_IMPLEMENTED, format!("AQL: {what} is not understood here; it can be asked in SQL"))
}
