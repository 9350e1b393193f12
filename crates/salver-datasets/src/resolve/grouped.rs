//! Checks queries with groups, aggregates or distinct rows.
//!
//! Groups and distinct rows have no position. Ties in the requested order are broken by the columns of the result, from
//! left to right, so that the result is the same for every request.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, FieldRef};
use salver_model::entry::Description;
use salver_model::{AggregateFunction, Code, ColumnPath, Error, Item, Query, Result};

use super::condition::{self, Condition};
use super::{ResolvedColumn, is_sortable, locate};

/// One column of the result.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name.
    pub(crate) name: String,
    /// Its source.
    pub(crate) from: From,
}

/// The source of a column of the result.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// A column of the entry; a group key if there are groups.
    Column(ResolvedColumn),
    /// An aggregate of a column; without one it counts rows.
    Aggregate(AggregateFunction, Option<ResolvedColumn>),
}

/// The checked query.
#[derive(Clone, Debug)]
pub(crate) struct Grouped {
    /// The columns of the result.
    pub(crate) outputs: Vec<Output>,
    /// Filter of the rows.
    pub(crate) filter: Option<Condition>,
    /// Whether rows are grouped at all.
    pub(crate) is_grouped: bool,
    /// The group keys.
    pub(crate) group: Vec<ResolvedColumn>,
    /// Filter of the groups; its columns are positions in the result.
    pub(crate) having: Option<Condition>,
    /// Whether duplicate rows of the result are removed.
    pub(crate) distinct: bool,
    /// The order: positions in the result, with ties broken.
    pub(crate) sort: Vec<(usize, SortOptions)>,
    /// Number of rows to skip.
    pub(crate) offset: u64,
    /// Most rows to return.
    pub(crate) limit: Option<u64>,
    /// Whether the number of rows is requested.
    pub(crate) count: bool,
}

/// Checks a query with groups or distinct rows. `aggregate_field` returns the field of an aggregate of a column.
pub(crate) fn resolve_grouped(
    query: &Query,
    about: &Description,
    aggregate_field: &dyn Fn(AggregateFunction, Option<&ResolvedColumn>) -> Result<FieldRef>,
) -> Result<Grouped> {
    if query.after.is_some() {
        return Err(Error::new(Code::InvalidCursor, "a grouped or distinct answer has no cursor")
            .with_hint("page through it with `limit` and `offset`"));
    }
    let is_grouped = query.is_grouped();
    let group: Vec<ResolvedColumn> =
        query.group.iter().map(|path| locate(path, about, Code::InvalidColumn)).collect::<Result<_>>()?;
    for (place, path) in group.iter().zip(&query.group) {
        groupable(place, path)?;
    }
    let outputs = outputs(query, about, &group, is_grouped)?;
    let fields = outputs
        .iter()
        .map(|output| match &output.from {
            From::Column(place) => Ok(Arc::clone(&place.field)),
            From::Aggregate(function, place) => aggregate_field(*function, place.as_ref()),
        })
        .collect::<Result<Vec<_>>>()?;
    let find = |path: &ColumnPath, code: Code| -> Result<usize> {
        let name = path.to_string();
        outputs.iter().position(|output| output.name == name).or_else(|| by_place(path, about, &outputs)).ok_or_else(
            || {
                Error::new(code, format!("`{name}` is not a column of the answer"))
                    .with_hint_if(salver_model::suggest::hint(&name, outputs.iter().map(|output| output.name.as_str())))
            },
        )
    };
    let having = query.having.as_ref().map(|having| {
        condition::resolve(having, &|path| {
            let column = find(path, Code::InvalidFilter)?;
            Ok(ResolvedColumn { column, fields: Vec::new(), field: Arc::clone(&fields[column]) })
        })
    });
    let mut sort = Vec::new();
    for key in &query.sort {
        let column = find(&key.column, Code::InvalidSort)?;
        if !is_sortable(fields[column].data_type()) {
            return Err(Error::new(Code::InvalidSort, format!("`{}` has no order", key.column)));
        }
        sort.push((column, SortOptions { descending: key.descending, nulls_first: key.nulls_first }));
    }
    break_ties(&mut sort, &fields);
    Ok(Grouped {
        having: having.transpose()?,
        filter: query
            .filter
            .as_ref()
            .map(|filter| condition::resolve(filter, &|path| locate(path, about, Code::InvalidFilter)))
            .transpose()?,
        is_grouped,
        group,
        distinct: query.distinct,
        sort,
        offset: query.offset,
        limit: query.limit,
        count: query.count,
        outputs,
    })
}

fn outputs(query: &Query, about: &Description, group: &[ResolvedColumn], is_grouped: bool) -> Result<Vec<Output>> {
    if query.items.is_empty() {
        let paths: Vec<ColumnPath> = if is_grouped {
            query.group.clone()
        } else {
            about.schema.fields().iter().map(|field| ColumnPath::column(field.name())).collect()
        };
        return paths
            .iter()
            .map(|path| {
                let place = locate(path, about, Code::InvalidColumn)?;
                groupable(&place, path)?;
                Ok(Output { name: path.to_string(), from: From::Column(place) })
            })
            .collect();
    }
    let one = |item: &Item| -> Result<Output> {
        Ok(match item {
            Item::Column { path, name } => {
                let place = locate(path, about, Code::InvalidColumn)?;
                groupable(&place, path)?;
                if is_grouped && !group.iter().any(|by| by.is(&place)) {
                    return Err(Error::new(
                        Code::InvalidColumn,
                        format!("`{path}` is neither grouped by nor in an aggregate"),
                    )
                    .with_hint(format!("group by `{path}`, or ask for `min({path})` or another aggregate of it")));
                }
                Output { name: name.clone(), from: From::Column(place) }
            }
            Item::Aggregate { aggregate, name } => {
                let place =
                    aggregate.column.as_ref().map(|path| locate(path, about, Code::InvalidColumn)).transpose()?;
                check_aggregate(aggregate.function, aggregate.column.as_ref(), place.as_ref())?;
                Output { name: name.clone(), from: From::Aggregate(aggregate.function, place) }
            }
        })
    };
    query.items.iter().map(one).collect()
}

fn check_aggregate(
    function: AggregateFunction,
    path: Option<&ColumnPath>,
    place: Option<&ResolvedColumn>,
) -> Result<()> {
    use AggregateFunction::{Avg, Count, CountDistinct, Max, Min, Sum};
    let name = function.name();
    let (Some(path), Some(place)) = (path, place) else {
        return match function {
            Count => Ok(()),
            _ => Err(Error::new(Code::InvalidRequest, format!("`{name}` needs a column"))),
        };
    };
    let data_type = place.field.data_type();
    let fits = match function {
        Count => true,
        CountDistinct | Min | Max => is_sortable(data_type) && !matches!(data_type, DataType::Null),
        Sum | Avg => data_type.is_numeric(),
    };
    if fits {
        return Ok(());
    }
    Err(Error::new(Code::InvalidColumn, format!("`{name}` does not work on `{path}`, which is {data_type}"))
        .with_hint("choose another column or another aggregate"))
}

fn groupable(place: &ResolvedColumn, path: &ColumnPath) -> Result<()> {
    if is_sortable(place.field.data_type()) {
        return Ok(());
    }
    let message = format!("`{path}` is {} and can't be grouped by or made distinct", place.field.data_type());
    Err(Error::new(Code::InvalidColumn, message).with_hint("choose other columns, or a field of it"))
}

/// Finds the output that a sort by its source column refers to, even if the output is renamed.
fn by_place(path: &ColumnPath, about: &Description, outputs: &[Output]) -> Option<usize> {
    let place = locate(path, about, Code::InvalidSort).ok()?;
    outputs.iter().position(|output| matches!(&output.from, From::Column(other) if other.is(&place)))
}

fn break_ties(sort: &mut Vec<(usize, SortOptions)>, fields: &[FieldRef]) {
    for (column, field) in fields.iter().enumerate() {
        if is_sortable(field.data_type()) && !sort.iter().any(|(sorted, _)| *sorted == column) {
            sort.push((column, SortOptions { descending: false, nulls_first: false }));
        }
    }
}
