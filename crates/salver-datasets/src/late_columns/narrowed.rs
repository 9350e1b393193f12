//! A plan over one table without the columns that it only passes on, and with the positions of its rows.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::{Column, DFSchema, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, TableScan};

use crate::parquet_table::{FILE, ParquetProvider, ParquetTable, ROW};

/// Such a plan.
pub(super) struct Narrowed {
    pub(super) plan: LogicalPlan,
    pub(super) table: Arc<ParquetTable>,
    /// For each column of the original plan where it comes from.
    pub(super) origins: Vec<Origin>,
    /// Columns of the plan: the number of a row's file, and the row's own number in it.
    pub(super) file: Column,
    pub(super) row: Column,
}

/// Where a column comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// From this column of the plan.
    Kept(Column),
    /// From the table, where it has this index.
    Late(usize),
}

impl Origin {
    /// Returns the column's index in the table if it is late.
    pub(super) fn late(&self) -> Option<usize> {
        match self {
            Self::Kept(_) => None,
            Self::Late(index) => Some(*index),
        }
    }
}

/// Narrows a plan down to what gives the columns `needed`; `None` if it is not a plain chain over one table in Parquet.
pub(super) fn narrowed(plan: &LogicalPlan, needed: &HashSet<Column>) -> Result<Option<Narrowed>> {
    match plan {
        LogicalPlan::TableScan(table) => scan(table, needed),
        LogicalPlan::Filter(filter) => {
            let mut needed = needed.clone();
            needed.extend(filter.predicate.column_refs().into_iter().cloned());
            let Some(narrowed) = narrowed(&filter.input, &needed)? else { return Ok(None) };
            let plan = LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), Arc::new(narrowed.plan))?);
            Ok(Some(Narrowed { plan, ..narrowed }))
        }
        LogicalPlan::Projection(own) => projection(own, needed),
        LogicalPlan::SubqueryAlias(own) => alias(own, needed),
        _ => Ok(None),
    }
}

fn scan(scan: &TableScan, needed: &HashSet<Column>) -> Result<Option<Narrowed>> {
    let provider = source_as_provider(&scan.source)?;
    let (Some(provider), None) = ((*provider).downcast_ref::<ParquetProvider>(), scan.fetch) else { return Ok(None) };
    let table = provider.table();
    let placed = provider_as_source(Arc::new(provider.with_places()));
    let width = placed.schema().fields().len();
    let all: Vec<usize> = (0..scan.source.schema().fields().len()).collect();
    let projection = scan.projection.as_ref().unwrap_or(&all);
    let columns = scan.projected_schema.columns();
    let origins = projection.iter().zip(columns).map(|(index, column)| {
        let is_kept = needed.contains(&column) || *index >= width - 2;
        if is_kept { (Origin::Kept(column), Some(*index)) } else { (Origin::Late(*index), None) }
    });
    let (origins, kept): (Vec<Origin>, Vec<Option<usize>>) = origins.unzip();
    let mut kept: Vec<usize> = kept.into_iter().flatten().chain([width - 2, width - 1]).collect();
    kept.sort_unstable();
    kept.dedup();
    let name = scan.table_name.clone();
    let (file, row) = (Column::new(Some(name.clone()), FILE), Column::new(Some(name.clone()), ROW));
    let plan = LogicalPlanBuilder::scan_with_filters(name, placed, Some(kept), scan.filters.clone())?.build()?;
    Ok(Some(Narrowed { plan, table: Arc::clone(table), origins, file, row }))
}

fn projection(own: &Projection, needed: &HashSet<Column>) -> Result<Option<Narrowed>> {
    let outputs = own.schema.columns();
    // A column that is only passed on may be late.
    let passed = |expr: &Expr, output: &Column| plain(expr).filter(|_| !needed.contains(output)).cloned();
    let of_input = own.expr.iter().zip(&outputs).filter(|(expr, output)| passed(expr, output).is_none());
    let needed_below = of_input.flat_map(|(expr, _)| expr.column_refs()).cloned().collect();
    let Some(input) = narrowed(&own.input, &needed_below)? else { return Ok(None) };
    let below = own.input.schema();
    let mut exprs = Vec::new();
    let mut origins = Vec::with_capacity(outputs.len());
    for (expr, output) in own.expr.iter().zip(&outputs) {
        if let Some(column) = passed(expr, output)
            && let Origin::Late(index) = &input.origins[below.index_of_column(&column)?]
        {
            origins.push(Origin::Late(*index));
            continue;
        }
        exprs.push(expr.clone());
        origins.push(Origin::Kept(output.clone()));
    }
    // The positions may be among the columns already.
    for place in [&input.file, &input.row] {
        let place = Expr::Column(place.clone());
        if !exprs.contains(&place) {
            exprs.push(place);
        }
    }
    let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input.plan))?);
    Ok(Some(Narrowed { plan, origins, ..input }))
}

fn alias(own: &SubqueryAlias, needed: &HashSet<Column>) -> Result<Option<Narrowed>> {
    let pairs = || own.schema.columns().into_iter().zip(own.input.schema().columns());
    let below = pairs().filter(|(output, _)| needed.contains(output)).map(|(_, column)| column).collect();
    let Some(input) = narrowed(&own.input, &below)? else { return Ok(None) };
    let above = |column: &Column| Column::new(Some(own.alias.clone()), column.name.clone());
    let origins = input.origins.iter().zip(pairs()).map(|(origin, (output, _))| match origin {
        Origin::Kept(_) => Origin::Kept(output),
        late @ Origin::Late(_) => late.clone(),
    });
    let (origins, file, row) = (origins.collect(), above(&input.file), above(&input.row));
    if is_ambiguous(input.plan.schema()) {
        return Ok(None);
    }
    let plan = LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(input.plan), own.alias.clone())?);
    Ok(Some(Narrowed { plan, origins, file, row, ..input }))
}

/// Returns whether two columns would have the same name under one alias.
fn is_ambiguous(schema: &DFSchema) -> bool {
    let mut names = HashSet::new();
    !schema.fields().iter().all(|field| names.insert(field.name()))
}

/// Returns the column that an expression passes on, under its own or another name.
fn plain(expr: &Expr) -> Option<&Column> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::Alias(alias) => plain(&alias.expr),
        _ => None,
    }
}
