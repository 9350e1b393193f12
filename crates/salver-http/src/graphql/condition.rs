//! Converts the arguments of a field (`filter`, `having`, `sort` and paging) into parts of a query. Accepts ROAPI's
//! shorthand (`{a: "x"}`, `{field: "a", order: "desc"}`) as well as the form of the schema.

use salver_model::limits::{FILTER_DEPTH_MAX, FILTER_TERMS_MAX, LIST_ITEMS_MAX};
use salver_model::{
    AggregateFunction, Code, ColumnPath, Comparison, Cursor, Error, Filter, Query, Result, Sort, Value, suggest,
};

use crate::graphql::graph::{ColumnField, ColumnShape, TableType};
use crate::graphql::input::{Arguments, Input};

const OPERATORS: [&str; 16] = [
    "eq",
    "ne",
    "neq",
    "lt",
    "lte",
    "lteq",
    "gt",
    "gte",
    "gteq",
    "in",
    "not_in",
    "like",
    "not_like",
    "ilike",
    "not_ilike",
    "is_null",
];

/// Sets filter, order and page of `query` from the arguments of a field that reads rows.
pub(crate) fn select(table: &TableType, arguments: &Arguments, lax: bool, query: &mut Query) -> Result<()> {
    query.filter = filter(table, arguments)?;
    query.sort = match arguments.get("sort") {
        Some(input) => sort(table, input)?,
        None => Vec::new(),
    };
    query.distinct = arguments.flag("distinct");
    page(arguments, lax, query)
}

/// Converts the `filter` argument.
pub(crate) fn filter(table: &TableType, arguments: &Arguments) -> Result<Option<Filter>> {
    let Some(input) = arguments.get("filter") else { return Ok(None) };
    let mut reader = FilterReader { table, terms: 0 };
    reader.rows(input, 0).map(Some)
}

fn page(arguments: &Arguments, lax: bool, query: &mut Query) -> Result<()> {
    query.limit = arguments.count("limit")?;
    query.offset = arguments.count("offset")?.unwrap_or(0);
    query.after = arguments.text("after").map(Cursor::decode).transpose()?;
    let Some(page) = arguments.count("page")? else { return Ok(()) };
    if page == 0 {
        return Err(Error::new(Code::InvalidNumber, "`page` begins at 1"));
    }
    match query.limit {
        Some(limit) => {
            query.offset = query.offset.saturating_add((page - 1).saturating_mul(limit));
            Ok(())
        }
        None if lax => Ok(()),
        None => Err(Error::new(Code::InvalidRequest, "`page` needs a `limit`, the rows of one page")),
    }
}

struct FilterReader<'a> {
    table: &'a TableType,
    terms: usize,
}

impl FilterReader<'_> {
    fn rows(&mut self, input: &Input, depth: usize) -> Result<Filter> {
        if depth > FILTER_DEPTH_MAX {
            return Err(Error::new(
                Code::InvalidFilter,
                format!("the filter is nested deeper than {FILTER_DEPTH_MAX} levels"),
            ));
        }
        let Input::Object(fields) = input else {
            return Err(Error::new(
                Code::InvalidFilter,
                "a filter is an object of columns, like `{city: {eq: \"Bath\"}}`",
            ));
        };
        let mut all = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("and" | "or" | "not", Input::Null) => {}
                ("and", value) => all.push(Filter::And(self.each(value, depth)?)),
                ("or", value) => all.push(Filter::Or(self.each(value, depth)?)),
                ("not", value) => all.push(self.rows(value, depth + 1)?.negated()),
                (name, value) => {
                    let column = self.table.column(name).ok_or_else(|| {
                        let names = self.table.column_names();
                        Error::unknown_column(Code::InvalidFilter, name, self.table.entry.as_str(), names)
                    })?;
                    self.column(column, ColumnPath::column(&column.column), value, &mut all)?;
                }
            }
        }
        Ok(one_or_and(all))
    }

    fn each(&mut self, value: &Input, depth: usize) -> Result<Vec<Filter>> {
        value.items().iter().map(|item| self.rows(item, depth + 1)).collect()
    }

    fn column(&mut self, field: &ColumnField, path: ColumnPath, value: &Input, all: &mut Vec<Filter>) -> Result<()> {
        let Input::Object(conditions) = value else {
            self.term()?;
            if *value == Input::Null {
                return Err(Error::new(Code::InvalidValue, format!("`{}` is compared with null", field.name))
                    .with_hint(format!("write `{}: {{is_null: true}}`", field.name)));
            }
            all.push(compare(path, Comparison::Eq, value)?);
            return Ok(());
        };
        for (name, value) in conditions {
            let inner = match &field.shape {
                ColumnShape::Object(object) => object.fields.iter().find(|f| f.name == *name || f.column == *name),
                _ => None,
            };
            if let Some(inner) = inner {
                let mut path = path.clone();
                path.fields.push(inner.column.clone());
                self.column(inner, path, value, all)?;
            } else {
                self.term()?;
                self.terms += value.items().len() - usize::from(!value.items().is_empty());
                all.push(operator(path.clone(), name, value)?);
            }
        }
        Ok(())
    }

    fn term(&mut self) -> Result<()> {
        self.terms += 1;
        if self.terms > FILTER_TERMS_MAX {
            return Err(Error::new(Code::InvalidFilter, format!("the filter has more than {FILTER_TERMS_MAX} terms")));
        }
        Ok(())
    }
}

fn one_or_and(mut all: Vec<Filter>) -> Filter {
    match all.pop() {
        Some(one) if all.is_empty() => one,
        Some(last) => {
            all.push(last);
            Filter::And(all)
        }
        None => Filter::And(all),
    }
}

fn compare(column: ColumnPath, op: Comparison, value: &Input) -> Result<Filter> {
    match (op, value.value(&format!("`{column}`"))?) {
        (Comparison::Eq, Value::Null) => Ok(Filter::IsNull { column }),
        (Comparison::NotEq, Value::Null) => Ok(Filter::IsNull { column }.negated()),
        (_, Value::Null) => Err(Error::new(Code::InvalidValue, format!("`{column}` is compared with null"))
            .with_hint("null is neither less nor greater than anything; use `is_null`")),
        (op, value) => Ok(Filter::Compare { column, op, value }),
    }
}

/// Converts one operator of a condition on a column.
fn operator(column: ColumnPath, name: &str, value: &Input) -> Result<Filter> {
    let op = match name {
        "eq" => Comparison::Eq,
        "ne" | "neq" => Comparison::NotEq,
        "lt" => Comparison::Lt,
        "lte" | "lteq" => Comparison::LtEq,
        "gt" => Comparison::Gt,
        "gte" | "gteq" => Comparison::GtEq,
        "in" | "not_in" => {
            let what = format!("`{column}`");
            let values = value.items().iter().map(|item| item.value(&what)).collect::<Result<Vec<_>>>()?;
            if values.len() > FILTER_TERMS_MAX {
                let message = format!("`{name}` of `{column}` has more than {FILTER_TERMS_MAX} values");
                return Err(Error::new(Code::InvalidFilter, message));
            }
            let filter = Filter::In { column, values };
            return Ok(if name == "in" { filter } else { filter.negated() });
        }
        "like" | "not_like" | "ilike" | "not_ilike" => {
            let Input::Text(pattern) = value else {
                return Err(Error::new(Code::InvalidValue, format!("`{name}` of `{column}` takes a pattern as text")));
            };
            let filter = Filter::like(column, pattern.clone(), name.ends_with("ilike"))?;
            return Ok(if name.starts_with("not_") { filter.negated() } else { filter });
        }
        "is_null" => {
            let Input::Bool(yes) = value else {
                return Err(Error::new(Code::InvalidValue, format!("`is_null` of `{column}` takes true or false")));
            };
            let filter = Filter::IsNull { column };
            return Ok(if *yes { filter } else { filter.negated() });
        }
        unknown => {
            return Err(Error::new(Code::InvalidFilter, format!("unsupported filter operator {unknown}"))
                .with_hint_if(suggest::hint(unknown, OPERATORS)));
        }
    };
    compare(column, op, value)
}

/// Converts the `sort` argument.
pub(crate) fn sort(table: &TableType, input: &Input) -> Result<Vec<Sort>> {
    prove_length("sort", input)?;
    input
        .items()
        .iter()
        .map(|item| {
            let entry = sort_entry(item)?;
            let name = entry.text("field").ok_or_else(|| malformed_sort("it names no `field`"))?;
            let column = table.column(name).ok_or_else(|| {
                Error::unknown_column(Code::InvalidSort, name, table.entry.as_str(), table.column_names())
            })?;
            direction(&entry, ColumnPath::column(&column.column))
        })
        .collect()
}

/// Checks that the list in the argument `name` is not too long.
pub(crate) fn prove_length(name: &str, input: &Input) -> Result<()> {
    if input.items().len() > LIST_ITEMS_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("`{name}` has more than {LIST_ITEMS_MAX} elements")));
    }
    Ok(())
}

/// Returns the fields of an element of a `sort` list as arguments.
pub(crate) fn sort_entry(item: &Input) -> Result<Arguments> {
    let Input::Object(fields) = item else { return Err(malformed_sort("it is not an object")) };
    if let Some((name, _)) =
        fields.iter().find(|(name, _)| !["field", "order", "nulls", "function"].contains(&name.as_str()))
    {
        return Err(malformed_sort(&format!("it has an unknown field `{name}`")));
    }
    Ok(Arguments(fields.clone()))
}

/// Returns a sort by `column` in the direction given by an element of a `sort` list.
pub(crate) fn direction(entry: &Arguments, column: ColumnPath) -> Result<Sort> {
    let descending = match entry.get("order") {
        None => false,
        Some(Input::Text(order)) if order == "asc" => false,
        Some(Input::Text(order)) if order == "desc" => true,
        Some(_) => return Err(malformed_sort("`order` is `asc` or `desc`")),
    };
    let nulls_first = match entry.get("nulls") {
        None => true,
        Some(Input::Text(nulls)) if nulls == "first" => true,
        Some(Input::Text(nulls)) if nulls == "last" => false,
        Some(_) => return Err(malformed_sort("`nulls` is `first` or `last`")),
    };
    Ok(Sort { column, descending, nulls_first })
}

fn malformed_sort(why: &str) -> Error {
    Error::new(Code::InvalidSort, format!("an element of `sort` is malformed: {why}"))
        .with_hint("write `sort: [{field: \"city\", order: \"desc\"}]`")
}

/// Converts the conditions of an element of a `having` list on the item `name`.
pub(crate) fn having(entry: &[(String, Input)], name: &str) -> Result<Filter> {
    let operators = entry.iter().filter(|(key, _)| key != "function" && key != "column");
    let all =
        operators.map(|(key, value)| operator(ColumnPath::column(name), key, value)).collect::<Result<Vec<_>>>()?;
    Ok(one_or_and(all))
}

/// Returns the function that the argument `function` names.
pub(crate) fn function(entry: &Arguments) -> Result<Option<AggregateFunction>> {
    let Some(name) = entry.text("function") else { return Ok(None) };
    let found = AggregateFunction::named(name);
    found.map(Some).ok_or_else(|| Error::new(Code::InvalidRequest, format!("there is no function `{name}`")))
}
