//! Columns of a table that are read only for the rows that remain. The first rows of an order are found by what the
//! order and the conditions need; the other columns are read afterwards, of these rows alone:
//!
//! ```sql
//! select * from hits where url like '%google%' order by event_time limit 10
//! ```
//!
//! The scan reads two columns and the positions of rows, and the other hundred are read of ten rows.

mod late_rows;
mod narrowed;

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Column, DFSchemaRef, Result, internal_err};
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, Sort, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;

use crate::parquet_table::ParquetTable;
use late_rows::LateRows;
use narrowed::{Narrowed, Origin, narrowed};

/// Most rows that are read by their positions.
const LATE_ROWS: usize = 1_000;
/// Rows of a table for each of them, from which on the others are worth skipping. A page has about as many, and is
/// decoded up to the row.
const ROWS_FOR_EACH: u64 = 10_000;
/// Most bytes of these rows' wide columns: they are in memory at once.
const WIDE_BYTES: u64 = 4 * 1024 * 1024;

/// Makes columns late where a sort with a limit only carries them along.
#[derive(Debug)]
pub(crate) struct LateColumns;

impl OptimizerRule for LateColumns {
    fn name(&self) -> &'static str {
        "late_columns"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        plan.transform_down_with_subqueries(|node| match &node {
            LogicalPlan::Extension(own) if own.node.as_any().is::<Late>() => {
                Ok(Transformed::new(node, false, TreeNodeRecursion::Jump))
            }
            LogicalPlan::Sort(sort) => match late(sort)? {
                Some(late) => Ok(Transformed::new(late, true, TreeNodeRecursion::Jump)),
                None => Ok(Transformed::no(node)),
            },
            _ => Ok(Transformed::no(node)),
        })
    }
}

fn late(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let Some(rows) = sort.fetch.filter(|rows| *rows <= LATE_ROWS) else { return Ok(None) };
    let needed = sort.expr.iter().flat_map(|key| key.expr.column_refs()).cloned().collect();
    let Some(Narrowed { plan, table, origins, file, row }) = narrowed(&sort.input, &needed)? else { return Ok(None) };
    let columns: Vec<usize> = origins.iter().filter_map(Origin::late).collect();
    let rows = rows as u64;
    let bytes = table.row_bytes(&columns).saturating_mul(rows);
    if columns.is_empty() || table.is_remote() || bytes > WIDE_BYTES || table.rows() < rows * ROWS_FOR_EACH {
        return Ok(None);
    }
    let input = LogicalPlan::Sort(Sort { expr: sort.expr.clone(), input: Arc::new(plan), fetch: sort.fetch });
    let schema = Arc::clone(sort.input.schema());
    let node = Late { input, schema, origins, file, row, table: SameTable(table) };
    Ok(Some(LogicalPlan::Extension(Extension { node: Arc::new(node) })))
}

/// The rows of its input with the columns that are read late.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Late {
    input: LogicalPlan,
    schema: DFSchemaRef,
    /// Where each column of the schema comes from.
    origins: Vec<Origin>,
    /// Columns of the input: the number of a row's file, and the row's own number in it.
    file: Column,
    row: Column,
    table: SameTable,
}

/// The table, equal only to itself.
#[derive(Clone, Debug)]
struct SameTable(Arc<ParquetTable>);

impl SameTable {
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl PartialEq for SameTable {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for SameTable {}

impl std::hash::Hash for SameTable {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl PartialOrd for Late {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for Late {
    fn name(&self) -> &'static str {
        "LateColumns"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = self.schema.fields().iter().zip(&self.origins).filter(|(_, origin)| origin.late().is_some());
        let names: Vec<&str> = late.map(|(field, _)| field.name().as_str()).collect();
        write!(f, "LateColumns: {}", names.join(", "))
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        let Some(input) = inputs.pop() else { return internal_err!("late columns without rows") };
        Ok(Self {
            input,
            schema: Arc::clone(&self.schema),
            origins: self.origins.clone(),
            file: self.file.clone(),
            row: self.row.clone(),
            table: self.table.clone(),
        })
    }
}

/// Returns the operator of a plan's node, over the operator of its input; `None` if the node is another one.
pub(crate) fn operator(
    node: &dyn UserDefinedLogicalNode,
    inputs: &[Arc<dyn ExecutionPlan>],
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let (Some(late), [input]) = (node.as_any().downcast_ref::<Late>(), inputs) else { return Ok(None) };
    let index = |column: &Column| late.input.schema().index_of_column(column);
    let kept = late.origins.iter().map(|origin| match origin {
        Origin::Kept(column) => index(column).map(Some),
        Origin::Late(_) => Ok(None),
    });
    let columns = late.origins.iter().filter_map(Origin::late).collect();
    let place = (index(&late.file)?, index(&late.row)?);
    let schema = Arc::clone(late.schema.inner());
    LateRows::over(Arc::clone(input), &late.table.0, schema, kept.collect::<Result<_>>()?, columns, place).map(Some)
}
