//! Grouping: gather the rows of each group, run each function over them one value after another.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, UInt64Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::record_batch::RecordBatch;
use salver_model::{Aggregate, AggregateFunction, Code, ColumnPath, Description, Error, Item, Query, Result};

use super::cell::Cell;
use super::{batch_of, broken, column, condition, sort, sort_places};

/// The groups of `rows` as a batch, and the order in which those that pass are answered.
pub(crate) fn answer(
    source: &RecordBatch,
    rows: &[usize],
    query: &Query,
    entry: &Description,
) -> Result<(RecordBatch, Vec<usize>)> {
    let groups = groups(source, rows, &query.group, entry)?;
    let mut columns = Vec::new();
    for item in &query.items {
        let array = match item {
            Item::Column { path, .. } => {
                if !query.group.contains(path) {
                    return Err(Error::new(Code::InvalidColumn, format!("`{path}` is not grouped by")));
                }
                let first: UInt64Array = groups.iter().map(|rows| rows.first().map(|row| *row as u64)).collect();
                take(&column(source, path, entry, Code::InvalidColumn)?, &first, None).map_err(broken)?
            }
            Item::Aggregate { aggregate, .. } => aggregated(source, &groups, aggregate, entry)?,
        };
        columns.push((item.name(), array));
    }
    let batch = batch_of(&columns, groups.len())?;
    let mut order = match &query.having {
        Some(having) => condition::passing(&batch, having, entry, Code::InvalidFilter)?,
        None => (0..groups.len()).collect(),
    };
    let places = sort_places(&batch, &query.sort)?;
    sort(&batch, &places, &query.sort, &mut order)?;
    Ok((batch, order))
}

fn groups(source: &RecordBatch, rows: &[usize], by: &[ColumnPath], entry: &Description) -> Result<Vec<Vec<usize>>> {
    let columns = by.iter().map(|path| column(source, path, entry, Code::InvalidColumn)).collect::<Result<Vec<_>>>()?;
    if columns.is_empty() {
        return Ok(vec![rows.to_vec()]);
    }
    let mut keys: Vec<Vec<Cell>> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in rows {
        let key = columns.iter().map(|column| Cell::at(column, *row)).collect::<Result<Vec<_>>>()?;
        match keys.iter().position(|known| *known == key) {
            Some(group) => groups[group].push(*row),
            None => {
                keys.push(key);
                groups.push(vec![*row]);
            }
        }
    }
    Ok(groups)
}

fn aggregated(
    source: &RecordBatch,
    groups: &[Vec<usize>],
    aggregate: &Aggregate,
    entry: &Description,
) -> Result<ArrayRef> {
    let Some(path) = &aggregate.column else {
        return Ok(Arc::new(groups.iter().map(|rows| Some(rows.len() as i64)).collect::<Int64Array>()));
    };
    let array = column(source, path, entry, Code::InvalidColumn)?;
    let present = |rows: &Vec<usize>| rows.iter().copied().filter(|row| !array.is_null(*row)).collect::<Vec<_>>();
    let groups: Vec<Vec<usize>> = groups.iter().map(present).collect();
    Ok(match aggregate.function {
        AggregateFunction::Count => Arc::new(groups.iter().map(|rows| Some(rows.len() as i64)).collect::<Int64Array>()),
        AggregateFunction::CountDistinct => {
            let counts = groups.iter().map(|rows| different(&array, rows)).collect::<Result<Vec<_>>>()?;
            Arc::new(Int64Array::from(counts))
        }
        AggregateFunction::Min => extreme(&array, &groups, Ordering::Less)?,
        AggregateFunction::Max => extreme(&array, &groups, Ordering::Greater)?,
        AggregateFunction::Sum if array.data_type().is_integer() => {
            let whole = cast(&array, &DataType::Int64).map_err(broken)?;
            let values = whole.as_primitive::<Int64Type>();
            let sum = |rows: &Vec<usize>| (!rows.is_empty()).then(|| rows.iter().map(|row| values.value(*row)).sum());
            Arc::new(groups.iter().map(sum).collect::<Int64Array>())
        }
        AggregateFunction::Sum | AggregateFunction::Avg => {
            if !array.data_type().is_numeric() {
                let message = format!("`{path}` is not a number");
                return Err(Error::new(Code::InvalidColumn, message));
            }
            let floats = cast(&array, &DataType::Float64).map_err(broken)?;
            let values = floats.as_primitive::<Float64Type>();
            let mean = aggregate.function == AggregateFunction::Avg;
            let of = |rows: &Vec<usize>| {
                let sum: f64 = rows.iter().map(|row| values.value(*row)).sum();
                (!rows.is_empty()).then(|| if mean { sum / rows.len() as f64 } else { sum })
            };
            Arc::new(groups.iter().map(of).collect::<Float64Array>())
        }
    })
}

fn different(array: &ArrayRef, rows: &[usize]) -> Result<i64> {
    let mut seen: Vec<Cell> = Vec::new();
    for row in rows {
        let cell = Cell::at(array, *row)?;
        if !seen.contains(&cell) {
            seen.push(cell);
        }
    }
    Ok(seen.len() as i64)
}

fn extreme(array: &ArrayRef, groups: &[Vec<usize>], wanted: Ordering) -> Result<ArrayRef> {
    let mut found = Vec::with_capacity(groups.len());
    for rows in groups {
        let mut best: Option<(usize, Cell)> = None;
        for row in rows {
            let cell = Cell::at(array, *row)?;
            if best.as_ref().is_none_or(|(_, known)| cell.order(known) == wanted) {
                best = Some((*row, cell));
            }
        }
        found.push(best.map(|(row, _)| row as u64));
    }
    take(array, &UInt64Array::from(found), None).map_err(broken)
}
