//! The parameters of the REST door, one function each, in the order of the reference page.
//!
//! `columns`, `sort`, `limit`, `page` and `filter[column]op` are ROAPI's, with the same semantics: nulls come first in
//! both directions of a sort, a repeated parameter's last value wins (filters add up), `page` without `limit` has no
//! effect. Everything else is Salver's own, and an unknown parameter is an error.

use arrow::datatypes::Fields;
use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::{Code, Cursor, Description, Error, Filter, Query, Result, suggest};

use super::condition;
use super::items;
use super::path::Columns;

/// Names and values of parameters, in order.
pub(super) type Parameters = Vec<(String, String)>;

/// The parameters without brackets.
const NAMES: [&str; 15] = [
    "columns",
    "sort",
    "limit",
    "page",
    "offset",
    "after",
    "count",
    "distinct",
    "group",
    "format",
    "or",
    "and",
    "not",
    "filter[...]",
    "having[...]",
];

/// Parses `parameters` into `query` and returns the value of `format`.
///
/// # Errors
/// Any error in a parameter; unknown parameters too.
pub(super) fn read(
    parameters: &[(String, String)],
    description: &Description,
    query: &mut Query,
) -> Result<Option<String>> {
    let columns = Columns::of(description);
    let mut conditions = Vec::new();
    let mut having = Vec::new();
    let mut format = None;
    let mut page = None;
    // Items first, since a sort and `having` may refer to them.
    for (name, value) in parameters {
        match name.as_str() {
            "columns" => query.items = items::columns(value, &columns)?,
            "group" => query.group = items::group(value, &columns)?,
            _ => {}
        }
    }
    if parameters.len() > LIST_ITEMS_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("there are {} parameters", parameters.len()))
            .with_hint(format!("use at most {LIST_ITEMS_MAX}; `in` and `or` put many conditions into one")));
    }
    items::complete(query, &columns)?;
    for (name, value) in parameters {
        match name.as_str() {
            "columns" | "group" => {}
            "sort" => query.sort = items::sort(value, query, &columns)?,
            "limit" => query.limit = Some(number(name, value)?),
            "offset" => query.offset = number(name, value)?,
            "page" => page = Some(page_number(value)?),
            "after" => query.after = Some(Cursor::decode(value)?),
            "count" => query.count = boolean(name, value)?,
            "distinct" => query.distinct = boolean(name, value)?,
            "format" => format = Some(value.clone()),
            "or" | "and" | "not" => conditions.push(condition::group(name, value, &columns)?),
            _ => match bracketed(name) {
                Some(("filter", column, op)) => conditions.push(condition::filter(column, op, value, &columns)?),
                Some(("having", item, op)) => having.push(condition::having(item, op, value, query)?),
                _ => return Err(unknown(name)),
            },
        }
    }
    if let (Some(page), Some(limit)) = (page, query.limit) {
        turn_to(page, limit, query)?;
    }
    query.filter = all_of(conditions);
    query.having = all_of(having);
    check(query)?;
    Ok(format)
}

/// Parses the conditions among `parameters`, over columns of any name, and returns them with the other parameters.
///
/// # Errors
/// Any error in a condition.
pub(super) fn conditions(parameters: Parameters) -> Result<(Option<Filter>, Parameters)> {
    let none = Fields::empty();
    let columns = Columns::any(&none);
    let (mut conditions, mut others) = (Vec::new(), Vec::new());
    for (name, value) in parameters {
        match (name.as_str(), bracketed(&name)) {
            ("or" | "and" | "not", _) => conditions.push(condition::group(&name, &value, &columns)?),
            // Without known columns, a second pair of brackets would be part of a name that no event has.
            (_, Some(("filter", column, _))) if column.contains("][") => return Err(operator_in_brackets(&name)),
            (_, Some(("filter", column, op))) => conditions.push(condition::filter(column, op, &value, &columns)?),
            _ => others.push((name, value)),
        }
    }
    Ok((all_of(conditions), others))
}

fn operator_in_brackets(name: &str) -> Error {
    Error::new(Code::InvalidFilter, format!("`{name}` has a second pair of brackets"))
        .with_hint("write the operator after the name's brackets, as in `filter[price]gt=4`")
}

fn all_of(mut conditions: Vec<Filter>) -> Option<Filter> {
    match conditions.len() {
        0 => None,
        1 => conditions.pop(),
        _ => Some(Filter::And(conditions)),
    }
}

/// Splits `kind[inner]op` into its three parts. The inner part extends to the last `]`, so that names may contain
/// brackets.
fn bracketed(name: &str) -> Option<(&str, &str, &str)> {
    let (kind, rest) = name.split_once('[')?;
    let (inner, op) = rest.rsplit_once(']')?;
    Some((kind, inner, op))
}

fn page_number(value: &str) -> Result<u64> {
    match number("page", value)? {
        0 => Err(Error::new(Code::InvalidNumber, "`page` counts from 1").with_hint("use `page=1` for the first page")),
        page => Ok(page),
    }
}

fn turn_to(page: u64, limit: u64, query: &mut Query) -> Result<()> {
    let pages_before = page.saturating_sub(1);
    if query.offset != 0 {
        return Err(Error::new(Code::InvalidRequest, "`page` and `offset` exclude each other")
            .with_hint("use one of them; `after` is the fastest way through many pages"));
    }
    query.offset = pages_before.saturating_mul(limit);
    Ok(())
}

/// Refuses combinations of parameters that contradict each other.
fn check(query: &Query) -> Result<()> {
    let refuse = |what: &str, hint: &str| Err(Error::new(Code::InvalidRequest, what).with_hint(hint));
    if query.having.is_some() && !query.is_grouped() {
        return refuse("`having` needs groups", "add `group=`, or use `filter[...]` for conditions on rows");
    }
    if query.after.is_some() && query.offset != 0 {
        return refuse("`after` excludes `offset` and `page`", "use the next page's link as it is");
    }
    if query.after.is_some() && (query.is_grouped() || query.distinct) {
        return refuse("`after` can't go through groups or distinct rows", "use `limit` with `offset`");
    }
    Ok(())
}

fn number(name: &str, value: &str) -> Result<u64> {
    value.parse().map_err(|error| {
        Error::new(Code::InvalidNumber, format!("Failed to parse numeric parameter value: {error}"))
            .with_hint(format!("`{name}` takes a whole number from 0, like `{name}=10`"))
    })
}

fn boolean(name: &str, value: &str) -> Result<bool> {
    match value {
        "" | "true" | "1" | "exact" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(Error::new(Code::InvalidRequest, format!("`{name}` is true or false, not `{value}`"))
            .with_hint(format!("write `{name}=true`"))),
    }
}

fn unknown(name: &str) -> Error {
    let near = suggest::nearest(name, NAMES).map(|near| format!("did you mean `{near}`?"));
    Error::new(Code::InvalidRequest, format!("unknown parameter `{name}`")).with_hint(near.unwrap_or_else(|| {
        format!("a condition on a column is written `filter[{name}]=value`; the parameters are {}", NAMES.join(", "))
    }))
}
