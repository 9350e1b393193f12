//! Paths over related tables, in `join` and in the columns of `filter` and `order`. Each table of a path becomes a
//! nested part of the statement, so their number is limited before the statement is built.

use salver_model::limits::{LIST_ITEMS_MAX, WAY_TABLES_MAX, WAYS_TABLES_MAX};
use salver_model::records::{Condition, RecordQuery};
use salver_model::{Code, Error, Result};

/// Splits comma-separated names; empty names are dropped.
pub(super) fn names(word: &str, value: &str) -> Result<Vec<String>> {
    let names = || value.split(',').map(str::trim).filter(|name| !name.is_empty());
    if names().nth(LIST_ITEMS_MAX).is_some() {
        return Err(Error::new(Code::InvalidRequest, format!("`{word}` lists more than {LIST_ITEMS_MAX} names"))
            .with_hint(format!("up to {LIST_ITEMS_MAX} are taken")));
    }
    Ok(names().map(str::to_owned).collect())
}

/// Parses the tables of one `join`.
pub(super) fn join(value: &str) -> Result<Vec<String>> {
    let names = || value.split(',').map(str::trim).filter(|name| !name.is_empty());
    if names().nth(WAY_TABLES_MAX).is_some() {
        return Err(too_long("join", Code::InvalidRequest));
    }
    Ok(names().map(str::to_owned).collect())
}

/// Splits a dotted path into its tables and its column.
pub(super) fn path(word: &str, value: &str, code: Code) -> Result<Vec<String>> {
    if value.split('.').nth(WAY_TABLES_MAX + 1).is_some() {
        return Err(too_long(word, code));
    }
    Ok(value.split('.').map(str::to_owned).collect())
}

fn too_long(word: &str, code: Code) -> Error {
    Error::new(code, format!("a way of `{word}` leads over more than {WAY_TABLES_MAX} tables"))
        .with_hint(format!("lead over {WAY_TABLES_MAX} tables at most, or ask for the rest in requests of its own"))
}

/// Checks that all paths together do not exceed the limit on tables.
pub(super) fn check(query: &RecordQuery) -> Result<()> {
    fn of_condition(condition: &Condition) -> usize {
        match condition {
            Condition::All(parts) | Condition::Any(parts) => parts.iter().map(of_condition).sum(),
            Condition::Test { path, .. } => path.len().saturating_sub(1),
        }
    }
    let joins: usize = query.joins.iter().map(Vec::len).sum();
    let filters = query.filter.iter().chain(query.children.iter().filter_map(|child| child.filter.as_ref()));
    let filters: usize = filters.map(of_condition).sum();
    let orders = query.order.iter().chain(query.children.iter().flat_map(|child| &child.order));
    let orders: usize = orders.map(|order| order.path.len().saturating_sub(1)).sum();
    if joins + filters + orders > WAYS_TABLES_MAX {
        let message = format!("`join`, `filter` and `order` lead over more than {WAYS_TABLES_MAX} tables together");
        return Err(Error::new(Code::InvalidRequest, message).with_hint("ask for less at once, in several requests"));
    }
    Ok(())
}
