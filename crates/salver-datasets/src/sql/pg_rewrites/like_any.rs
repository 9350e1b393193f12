//! `x like any ('{a%,b%}')` and `x not like all (array['a%', 'b%'])`, as one `like` for each pattern.

use datafusion::sql::sqlparser::ast::{Expr, Function};
use salver_model::Error;
use salver_model::limits::SQL_UNTYPED_ELEMENTS_MAX;

use super::function_names::{arguments, name_of};
use super::subqueries::{is_simple, written_out};
use super::{array_literals, expression, refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let is_insensitive = matches!(expr, Expr::ILike { .. });
    let (Expr::Like { negated, any, expr: value, pattern, escape_char: None }
    | Expr::ILike { negated, any, expr: value, pattern, escape_char: None }) = expr
    else {
        return Ok(());
    };
    let of_all = match &**pattern {
        Expr::Function(function) => all_of(function),
        _ => None,
    };
    let (is_all, mut patterns) = match of_all {
        Some(patterns) => (true, patterns),
        None if *any => (false, take(pattern)),
        None => return Ok(()),
    };
    let word = if is_all { "all" } else { "any" };
    array_literals::read_untyped(&mut patterns)?;
    let Some(patterns) = written_out(&patterns).filter(|_| is_simple(value)) else {
        return Err(refused(
            format!("`like {word}` is for a column, or a value, and patterns that are written out"),
            "write `exists (select from unnest(patterns) p where x like p)`",
        ));
    };
    if patterns.len() > SQL_UNTYPED_ELEMENTS_MAX {
        return Err(refused(
            format!("`like {word}` is for up to {SQL_UNTYPED_ELEMENTS_MAX} patterns"),
            "write them as one regular expression, as in `x ~ '^(a|b)'`",
        ));
    }
    let not = if *negated { "not " } else { "" };
    let like = if is_insensitive { "ilike" } else { "like" };
    let each = (2..patterns.len() + 2).map(|number| format!("__1 {not}{like} __{number}")).collect::<Vec<_>>();
    let parts = [take(value)].into_iter().chain(patterns).collect();
    *expr = expression(&format!("({})", each.join(if is_all { " and " } else { " or " })), parts)?;
    Ok(())
}

/// Returns the argument of `all(...)`, which the parser takes for a function.
fn all_of(function: &Function) -> Option<Expr> {
    let mut arguments = arguments(function).filter(|_| name_of(function).as_deref() == Some("all"))?;
    let only = arguments.pop()?;
    arguments.is_empty().then_some(only)
}
