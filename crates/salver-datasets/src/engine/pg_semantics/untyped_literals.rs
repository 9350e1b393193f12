//! Text literals beside numbers: `'10'` has no type of its own in PostgreSQL, and is the number 10 if the other
//! results of a `case` are numbers. The engine would cast the numbers to text.

use arrow::datatypes::DataType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, cast};

use super::{TypeOf, typed_literals};

fn is_written(expr: &Expr) -> bool {
    typed_literals::written(expr).is_some()
}

/// Returns the type of the numbers if all other expressions are text literals.
fn numbers<'e>(mut parts: impl Iterator<Item = &'e Expr>, type_of: TypeOf<'_>) -> Option<DataType> {
    let (mut found, mut has_text) = (None, false);
    let fits = parts.all(|part| match part {
        part if is_written(part) => {
            has_text = true;
            true
        }
        part => match type_of(part) {
            Some(DataType::Null) => true,
            Some(own) if own.is_numeric() => {
                found.get_or_insert(own);
                true
            }
            _ => false,
        },
    });
    found.filter(|_| fits && has_text)
}

/// Replaces such literals in a `case` by numbers; returns whether there were any.
pub(super) fn case(case: Case, type_of: TypeOf<'_>) -> (Case, bool) {
    let results = case.when_then_expr.iter().map(|(_, then)| &**then).chain(case.else_expr.as_deref());
    let Some(to) = numbers(results, type_of) else { return (case, false) };
    // The literal gets a decimal type wide enough for its own digits.
    let to = match to {
        DataType::Decimal128(_, scale) => DataType::Decimal128(38, scale),
        to => to,
    };
    let read = |part: Expr| Box::new(if is_written(&part) { cast(part, to.clone()) } else { part });
    let Case { expr, when_then_expr, else_expr } = case;
    let when_then_expr = when_then_expr.into_iter().map(|(when, then)| (when, read(*then))).collect();
    (Case { expr, when_then_expr, else_expr: else_expr.map(|other| read(*other)) }, true)
}
