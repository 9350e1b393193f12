//! Grouping sets as a list of sets. The engine has `rollup` and `cube` of single expressions, and takes neither
//! `rollup((a, b), c)` nor `grouping sets (rollup(a, b), c)`:
//!
//! ```text
//! rollup((a, b), c)              grouping sets ((a, b, c), (a, b), ())
//! grouping sets (cube(a, b), c)  grouping sets ((a, b), (a), (b), (), (c))
//! ```
//!
//! It takes no column twice in one place, and a cast for the column that is cast. What is written twice counts once,
//! and a cast of what rows are grouped by makes no other groups.

use std::collections::HashSet;

use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr};
use salver_model::Error;
use salver_model::limits::SQL_EXPRESSIONS_MAX;

use super::function_names::{arguments, name_of};
use super::refused;

/// Columns that are grouped by together.
type Set = Vec<Expr>;

/// Rewrites the groups of a query.
pub(super) fn rewrite(groups: &mut GroupByExpr) -> Result<(), Box<Error>> {
    let GroupByExpr::Expressions(exprs, _) = groups else { return Ok(()) };
    for expr in exprs.iter_mut() {
        let sets = match expr {
            Expr::Rollup(elements) if !are_different_columns(elements) => rolled_up(elements)?,
            Expr::Cube(elements) if !are_different_columns(elements) => cube(elements)?,
            Expr::GroupingSets(sets) if sets.iter().any(|set| nested(set).is_some()) => flat(sets)?,
            _ => continue,
        };
        *expr = Expr::GroupingSets(sets);
    }
    all_rows(exprs);
    without_casts(exprs);
    Ok(())
}

/// Returns whether each element is a single expression, and no other one is the same.
fn are_different_columns(elements: &[Set]) -> bool {
    let mut seen = HashSet::with_capacity(elements.len());
    elements.iter().all(|element| element.len() == 1 && seen.insert(element))
}

/// Removes casts of expressions that rows are grouped by as well.
fn without_casts(exprs: &mut Vec<Expr>) {
    let has_sets = |expr: &Expr| matches!(expr, Expr::Rollup(_) | Expr::Cube(_) | Expr::GroupingSets(_));
    if exprs.iter().any(has_sets) {
        return;
    }
    let keys: HashSet<Expr> = exprs.iter().map(|expr| bare(expr).clone()).collect();
    exprs.retain(|expr| cast_of(expr).is_none_or(|cast| !keys.contains(cast)));
}

/// Returns an expression without its parentheses.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => bare(inner),
        other => other,
    }
}

/// Returns what is cast, also more than once; `None` if nothing is.
fn cast_of(expr: &Expr) -> Option<&Expr> {
    match bare(expr) {
        Expr::Cast { expr, .. } => Some(cast_of(expr).unwrap_or_else(|| bare(expr))),
        _ => None,
    }
}

/// Returns a set without what stands in it before.
fn unique(mut set: Set) -> Set {
    let mut seen = HashSet::with_capacity(set.len());
    set.retain(|expr| seen.insert(expr.clone()));
    set
}

/// Rewrites `group by ()`, which is one group of all rows, and has no effect beside other groups.
fn all_rows(exprs: &mut Vec<Expr>) {
    let is_all = |expr: &Expr| matches!(expr, Expr::Tuple(parts) if parts.is_empty());
    if !exprs.iter().any(is_all) {
        return;
    }
    exprs.retain(|expr| !is_all(expr));
    if exprs.is_empty() {
        exprs.push(Expr::GroupingSets(vec![Vec::new()]));
    }
}

/// Returns the sets of `rollup`: all elements, and then one less each time.
fn rolled_up(elements: &[Set]) -> Result<Vec<Set>, Box<Error>> {
    few(width(elements).saturating_mul(elements.len()))?;
    Ok((0..=elements.len()).rev().map(|length| unique(elements[..length].concat())).collect())
}

/// Returns the sets of `cube`: every choice of elements.
fn cube(elements: &[Set]) -> Result<Vec<Set>, Box<Error>> {
    let choices = u32::try_from(elements.len()).ok().and_then(|count| 1_usize.checked_shl(count));
    few(width(elements).saturating_mul(choices.unwrap_or(usize::MAX)))?;
    let mut sets = vec![Vec::new()];
    for element in elements.iter().rev() {
        let with = sets.iter().map(|set| element.iter().chain(set).cloned().collect());
        sets = with.chain(sets.iter().cloned()).collect();
    }
    Ok(sets.into_iter().map(unique).collect())
}

/// Returns the sets of `grouping sets`, in which others stand.
fn flat(sets: &[Set]) -> Result<Vec<Set>, Box<Error>> {
    let mut all = Vec::new();
    for set in sets {
        match nested(set) {
            Some((name, elements)) if name == "rollup" => all.extend(rolled_up(&elements)?),
            Some((_, elements)) => all.extend(cube(&elements)?),
            None => all.push(set.clone()),
        }
        few(width(&all))?;
    }
    Ok(all)
}

/// Returns the name and the elements of `rollup` or `cube`, which the parser takes for a function there.
fn nested(set: &[Expr]) -> Option<(String, Vec<Set>)> {
    let [Expr::Function(function)] = set else { return None };
    let name = name_of(function).filter(|name| matches!(name.as_str(), "rollup" | "cube"))?;
    let element = |expr| match expr {
        Expr::Tuple(columns) => columns,
        Expr::Nested(column) => vec![*column],
        column => vec![column],
    };
    Some((name, arguments(function)?.into_iter().map(element).collect()))
}

fn width(sets: &[Set]) -> usize {
    sets.iter().map(Vec::len).sum()
}

/// Refuses sets of too many columns together, before they are written out.
fn few(columns: usize) -> Result<(), Box<Error>> {
    if columns <= SQL_EXPRESSIONS_MAX {
        return Ok(());
    }
    Err(refused(
        format!("`cube`, `rollup` and `grouping sets` name more than {SQL_EXPRESSIONS_MAX} columns together"),
        "group by fewer columns at once",
    ))
}
