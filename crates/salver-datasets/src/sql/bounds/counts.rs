//! Limits on the number of parts of a statement, or of one of its queries.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Function, FunctionArguments};
use salver_model::limits::{SQL_GROUPING_SETS_MAX, SQL_ITEMS_MAX, SQL_KEYS_MAX, SQL_RELATIONS_MAX};
use salver_model::{Code, Error, Result};

use super::Flow;

/// Checks the number of tables and queries that are read.
pub(super) fn relations(count: usize) -> Result<()> {
    if count <= SQL_RELATIONS_MAX {
        return Ok(());
    }
    Err(Error::new(
        Code::InvalidSql,
        format!("the statement reads more than {SQL_RELATIONS_MAX} tables and queries, each as often as it is used"),
    )
    .with_hint("split it, or read one table in place of many"))
}

/// Checks the number of grouping sets of a query.
pub(super) fn grouping_sets(groups: &[Expr]) -> Flow {
    if groupings(groups) <= SQL_GROUPING_SETS_MAX {
        return ControlFlow::Continue(());
    }
    let message = format!("`cube`, `rollup` and `grouping sets` make more than {SQL_GROUPING_SETS_MAX} groupings");
    ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint("group by fewer columns")))
}

/// Returns the number of grouping sets that a list of expressions stands for.
fn groupings(groups: &[Expr]) -> usize {
    groups.iter().fold(1, |sets, group| {
        let own = match group {
            Expr::Cube(columns) => subsets(columns.len()),
            Expr::Rollup(columns) => columns.len() + 1,
            // Within `grouping sets` the parser takes them for functions.
            Expr::Function(Function { name, args: FunctionArguments::List(list), .. }) if name.0.len() == 1 => {
                match name.to_string().to_lowercase().as_str() {
                    "cube" => subsets(list.args.len()),
                    "rollup" => list.args.len() + 1,
                    _ => 1,
                }
            }
            Expr::GroupingSets(sets) => sets.iter().fold(0, |all, set| usize::saturating_add(all, groupings(set))),
            _ => 1,
        };
        usize::saturating_mul(sets, own)
    })
}

/// Returns the number of choices among so many columns.
fn subsets(columns: usize) -> usize {
    u32::try_from(columns).map_or(usize::MAX, |count| 2_usize.saturating_pow(count))
}

/// Checks the number of expressions that one query sorts or groups by.
pub(super) fn keys(count: usize) -> Flow {
    if count <= SQL_KEYS_MAX {
        return ControlFlow::Continue(());
    }
    let message = format!("the statement sorts or groups by {count} expressions, and {SQL_KEYS_MAX} are the most");
    ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint("sort or group by fewer")))
}

/// Checks the number of columns or arguments of one list.
pub(super) fn items(count: usize) -> Flow {
    if count <= SQL_ITEMS_MAX {
        return ControlFlow::Continue(());
    }
    let message = format!("a list of the statement has {count} columns or arguments, and {SQL_ITEMS_MAX} are the most");
    ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint("split the statement")))
}
