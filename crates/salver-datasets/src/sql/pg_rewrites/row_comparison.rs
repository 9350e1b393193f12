//! Comparisons of rows: `(a, b) = (c, d)`, `(a, b) < (c, d)`, `(a, b) in ((1, 2), (3, 4))` and `(a, b) is null`.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};
use salver_model::Error;
use salver_model::limits::SQL_COMPARED_COLUMNS_MAX;

use super::function_names::{arguments, name_of};
use super::{refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let (Some(one), Some(other)) = (row(left), row(right)) else { return Ok(()) };
            same_width(one.len(), other.len())?;
            use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
            if !matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq) {
                return Ok(());
            }
            *expr = compare(one, op, other);
        }
        // A row is null when all of its columns are, and not null when none is.
        Expr::IsNull(inner) | Expr::IsNotNull(inner) if row(inner).is_some() => {
            let columns = row(inner).map(<[Expr]>::to_vec).unwrap_or_default();
            let is_null = matches!(expr, Expr::IsNull(_));
            let test = |column: Expr| {
                let column = Box::new(column);
                if is_null { Expr::IsNull(column) } else { Expr::IsNotNull(column) }
            };
            let all = balanced(columns.into_iter().map(test).collect(), &BinaryOperator::And);
            *expr = Expr::Nested(Box::new(all));
        }
        Expr::InList { expr: value, list, negated } => {
            let Some(one) = row(value).map(<[Expr]>::to_vec) else { return Ok(()) };
            let mut found = Vec::with_capacity(list.len());
            for other in list.iter() {
                let Some(other) = row(other) else {
                    return Err(refused("a row is looked for among single values", "write rows, as in `in ((1, 2))`"));
                };
                same_width(one.len(), other.len())?;
                found.push(compare(&one, &BinaryOperator::Eq, other));
            }
            let found = balanced(found, &BinaryOperator::Or);
            let negated = *negated;
            *expr = Expr::Nested(Box::new(found));
            if negated {
                let inner = take(expr);
                let op = datafusion::sql::sqlparser::ast::UnaryOperator::Not;
                *expr = Expr::UnaryOp { op, expr: Box::new(inner) };
            }
        }
        _ => {}
    }
    Ok(())
}

/// Leaves the word `row` out of compared rows: `row(a, b) = row(c, d)`. As values, rows go by their parts.
pub(super) fn without_word(expr: &mut Expr) {
    match expr {
        Expr::BinaryOp { left, right, .. }
        | Expr::IsDistinctFrom(left, right)
        | Expr::IsNotDistinctFrom(left, right)
            if is_written(left) && is_written(right) =>
        {
            plain(left);
            plain(right);
        }
        Expr::InList { expr, list, .. } if is_written(expr) && list.iter().all(is_written) => {
            plain(expr);
            list.iter_mut().for_each(plain);
        }
        Expr::IsNull(inner) | Expr::IsNotNull(inner) | Expr::InSubquery { expr: inner, .. } => plain(inner),
        _ => {}
    }
}

fn is_written(expr: &Expr) -> bool {
    row(expr).is_some() || named_row(expr).is_some_and(|columns| columns.len() > 1)
}

fn plain(expr: &mut Expr) {
    if let Some(columns) = named_row(expr)
        && columns.len() > 1
    {
        *expr = Expr::Tuple(columns);
    }
}

/// Returns the columns of `row(a, b)`.
fn named_row(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Function(function) if name_of(function).as_deref() == Some("row") => arguments(function),
        Expr::Nested(inner) => named_row(inner),
        _ => None,
    }
}

/// Returns the columns of a row.
pub(in crate::sql) fn row(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(columns) if columns.len() > 1 => Some(columns),
        Expr::Nested(inner) => row(inner),
        _ => None,
    }
}

pub(super) fn same_width(one: usize, other: usize) -> Result<(), Box<Error>> {
    if one != other {
        let message = format!("a row of {one} columns is compared with one of {other}");
        return Err(refused(message, "give both as many columns"));
    }
    if one > SQL_COMPARED_COLUMNS_MAX {
        let message = format!("a row of {one} columns is compared, and {SQL_COMPARED_COLUMNS_MAX} are the most");
        return Err(refused(message, "compare the columns one by one"));
    }
    Ok(())
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// Combines conditions into a balanced tree.
fn balanced(mut parts: Vec<Expr>, op: &BinaryOperator) -> Expr {
    match parts.len() {
        0 | 1 => parts.pop().unwrap_or_else(|| {
            Expr::value(datafusion::sql::sqlparser::ast::Value::Boolean(*op == BinaryOperator::And))
        }),
        n => {
            let right = balanced(parts.split_off(n / 2), op);
            binary(balanced(parts, op), op.clone(), right)
        }
    }
}

fn compare(one: &[Expr], op: &BinaryOperator, other: &[Expr]) -> Expr {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, NotEq, Or};
    let pairs = || one.iter().cloned().zip(other.iter().cloned());
    let compared = match op {
        Eq => balanced(pairs().map(|(a, b)| binary(a, Eq, b)).collect(), &And),
        NotEq => balanced(pairs().map(|(a, b)| binary(a, NotEq, b)).collect(), &Or),
        // The first columns that differ determine the result.
        _ => {
            let strict = if matches!(op, Gt | GtEq) { Gt } else { Lt };
            let last = one.len() - 1;
            let alternatives = (0..=last).map(|at| {
                let mut all: Vec<Expr> = pairs().take(at).map(|(a, b)| binary(a, Eq, b)).collect();
                let op = if at == last { op.clone() } else { strict.clone() };
                all.push(binary(one[at].clone(), op, other[at].clone()));
                Expr::Nested(Box::new(balanced(all, &And)))
            });
            balanced(alternatives.collect(), &Or)
        }
    };
    Expr::Nested(Box::new(compared))
}
