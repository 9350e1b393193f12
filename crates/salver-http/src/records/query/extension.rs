//! Salver's own parameters. A request that has one of them is strict.

use salver_model::records::{BytesText, Child, Condition, RecordAggregate, RecordQuery};
use salver_model::{AggregateFunction, Code, Error, Result, suggest};

use super::filter;
use super::{RecordParams, boolean, order, relation_paths, size};

/// Reads a parameter without a path.
pub(super) fn take(ask: &mut RecordParams, name: &str, value: &str) -> Result<()> {
    let query = &mut ask.query;
    match name {
        "after" => query.after = Some(value.to_owned()),
        "distinct" => query.distinct = boolean(name, value)?,
        "group" => query.group = named(name, value)?,
        "aggregate" => query.aggregates.push(aggregate(value)?),
        "returning" => ask.returning = Some(named(name, value)?),
        "on_conflict" => ask.on_conflict = named(name, value)?,
        "upsert" => ask.upsert = Some(upsert(value)?),
        "max_affected" => ask.affected_max = size(name, value, true)?,
        "dry_run" => ask.dry_run = boolean(name, value)?,
        "keep_good" => ask.keep_good = boolean(name, value)?,
        "bytes" => ask.bytes = Some(bytes(value)?),
        _ => return Err(Error::new(Code::InvalidRequest, format!("unknown parameter `{name}`"))),
    }
    Ok(())
}

/// Parses a list that must not be empty.
fn named(name: &str, value: &str) -> Result<Vec<String>> {
    let names = relation_paths::names(name, value)?;
    if names.is_empty() {
        return Err(Error::new(Code::InvalidRequest, format!("`{name}` names no column")));
    }
    Ok(names)
}

fn upsert(value: &str) -> Result<bool> {
    match value {
        "update" | "1" => Ok(false),
        "ignore" => Ok(true),
        _ => Err(Error::new(Code::InvalidRequest, format!("`upsert` is `update` or `ignore`, not `{value}`"))),
    }
}

fn bytes(value: &str) -> Result<BytesText> {
    match value {
        "base64" => Ok(BytesText::Base64),
        "hex" => Ok(BytesText::Hexadecimal),
        _ => Err(Error::new(Code::InvalidRequest, format!("`bytes` is `base64` or `hex`, not `{value}`"))),
    }
}

/// Parses `function,column[,name]`.
fn aggregate(value: &str) -> Result<RecordAggregate> {
    let mut parts = value.splitn(3, ',');
    let word = parts.next().unwrap_or_default();
    let column = parts.next().unwrap_or("*");
    let Some(function) = AggregateFunction::named(word) else {
        let hint = suggest::hint(word, AggregateFunction::ALL.iter().map(|(word, _)| *word));
        return Err(Error::new(Code::InvalidRequest, format!("no aggregate `{word}`")).with_hint_if(hint));
    };
    let column = (!matches!(column, "*" | "")).then(|| column.to_owned());
    if column.is_none() && function != AggregateFunction::Count {
        return Err(Error::new(Code::InvalidRequest, format!("`{word}` takes a column"))
            .with_hint(format!("write `aggregate={word},column,name`")));
    }
    let name = match parts.next() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => column.as_ref().map_or_else(|| word.to_owned(), |column| format!("{word}_{column}")),
    };
    Ok(RecordAggregate { function, column, name })
}

/// Reads `path.filter`, `path.order` or `path.size`.
pub(super) fn child(query: &mut RecordQuery, path: &str, word: &str, value: &str) -> Result<()> {
    let path = relation_paths::path("join", path, Code::InvalidRequest)?;
    let at = query.children.iter().position(|child| child.path == path).unwrap_or_else(|| {
        query.children.push(Child { path, ..Child::default() });
        query.children.len() - 1
    });
    let child = &mut query.children[at];
    match word {
        "order" => match order(value, true)? {
            Some(order) => child.order.push(order),
            None => return Err(Error::new(Code::InvalidSort, "`order` names no column")),
        },
        "size" => child.size = size("size", value, true)?,
        _ => {
            // Conditions of joined rows are combined with AND; filter trees per path are not supported.
            if word != "filter" {
                return Err(Error::new(Code::InvalidRequest, format!("`{word}` of joined rows can't have a number"))
                    .with_hint("repeat `filter`: all of them must hold; `in` takes several values"));
            }
            let Some(condition) = filter::condition(value, true)? else { return Ok(()) };
            child.filter = Some(match child.filter.take() {
                None => condition,
                Some(Condition::All(mut all)) => {
                    all.push(condition);
                    Condition::All(all)
                }
                Some(other) => Condition::All(vec![other, condition]),
            });
        }
    }
    Ok(())
}

/// Refuses parameters that can't be combined.
pub(super) fn check(ask: &RecordParams) -> Result<()> {
    let query = &ask.query;
    let refuse = |what: &str, hint: &str| Err(Error::new(Code::InvalidRequest, what).with_hint(hint));
    let is_grouped = !query.group.is_empty() || !query.aggregates.is_empty();
    if query.having.is_some() && !is_grouped {
        return refuse(
            "`having` needs groups",
            "add `group=` or `aggregate=`, or use `filter=` for conditions on rows",
        );
    }
    if query.after.is_some() && query.page.is_some() {
        return refuse("`after` excludes `page`", "use `size` with `after`, and the answer's `next` for what follows");
    }
    if query.after.is_some() && (is_grouped || query.distinct) {
        return refuse("`after` can't go through groups or distinct rows", "use `page`");
    }
    if is_grouped && !query.joins.is_empty() {
        return refuse("groups have no joined rows", "leave `join` out; a filter may go through related tables");
    }
    if is_grouped && query.distinct {
        return refuse("groups are distinct as they are", "leave `distinct` out");
    }
    for child in &query.children {
        if !query.joins.iter().any(|join| join.starts_with(&child.path)) {
            let shown = child.path.join(".");
            return Err(Error::new(Code::InvalidRequest, format!("`{shown}` is not joined"))
                .with_hint(format!("add `join={}`", child.path.join(","))));
        }
    }
    Ok(())
}
