//! A scan for the first rows of an order begins with a piece of a row group. A sort with a limit learns after its first
//! rows which others can't be among them, and the scan is told; but the reader filters a whole row group before it
//! gives a row. With a piece of it first, the rest of the row group is filtered by what came of the piece.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use datafusion::datasource::physical_plan::parquet::{ParquetAccessPlan, RowGroupAccess};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

use crate::held_rows::{Number, Opened, RowGroup};
use crate::parquet_filters::SureSource;

/// Rows of the piece. The reader gives batches of a quarter of it.
const PIECE_ROWS: usize = 32 * 1024;
/// Fewest rows of a row group that is worth two readers.
const LEAST_ROWS: usize = 4 * PIECE_ROWS;

/// Divides such scans.
#[derive(Debug)]
pub(crate) struct FirstPiece;

impl PhysicalOptimizerRule for FirstPiece {
    fn name(&self) -> &'static str {
        "first_piece"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let divided = plan.transform_down(|node| {
            let Some(sort) = node.downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_some()) else {
                return Ok(Transformed::no(node));
            };
            let is_last_best = sort.expr().first().options.descending;
            match divided(sort.input(), is_last_best)? {
                Some(input) => with_input(node, input).map(Transformed::yes),
                None => Ok(Transformed::no(node)),
            }
        })?;
        Ok(divided.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn with_input(node: Arc<dyn ExecutionPlan>, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    #[expect(deprecated)]
    node.with_new_children(vec![input])
}

/// Returns the plan over a scan that begins with a piece; `None` if there is no such scan.
fn divided(node: &Arc<dyn ExecutionPlan>, is_last_best: bool) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = node.downcast_ref::<DataSourceExec>() {
        let Some((config, source)) = scan.downcast_to_file_source::<SureSource>() else { return Ok(None) };
        if !source.has_later_conditions() || config.preserve_order {
            return Ok(None);
        }
        let mut config = config.clone();
        config.file_groups = pieces_first(&config.file_groups, source.opened(), is_last_best)?;
        return Ok(Some(DataSourceExec::from_data_source(config)));
    }
    if !node.is::<ProjectionExec>() && !node.is::<FilterExec>() {
        return Ok(None);
    }
    let Some(input) = node.children().first().map(|input| Arc::clone(input)) else { return Ok(None) };
    match divided(&input, is_last_best)? {
        Some(input) => with_input(Arc::clone(node), input).map(Some),
        None => Ok(None),
    }
}

/// Divides the first file of each group. All partitions take files from the groups one after the other, so all pieces
/// come before the first group's others: none of these is begun before something came of a piece.
fn pieces_first(groups: &[FileGroup], opened: &Opened, is_last_best: bool) -> Result<Vec<FileGroup>> {
    let mut pieces = Vec::with_capacity(groups.len());
    let mut rests = Vec::with_capacity(groups.len());
    for group in groups {
        let Some((file, others)) = group.files().split_first() else {
            rests.push(Vec::new());
            continue;
        };
        let mut rest = match in_pieces(file, opened, is_last_best)? {
            Some((piece, rest)) => {
                pieces.push(piece);
                rest
            }
            None => vec![file.clone()],
        };
        rest.extend(others.iter().cloned());
        rests.push(rest);
    }
    if let Some(first) = rests.first_mut() {
        first.splice(0..0, pieces);
    }
    Ok(rests.into_iter().map(FileGroup::new).collect())
}

/// Returns a piece of a row group, and the rest of the file; `None` if its row groups are small.
fn in_pieces(
    file: &PartitionedFile,
    opened: &Opened,
    is_last_best: bool,
) -> Result<Option<(PartitionedFile, Vec<PartitionedFile>)>> {
    let Some(number) = file.extension::<Number>() else { return Ok(None) };
    if opened.is_remote() || file.extension::<ParquetAccessPlan>().is_some() {
        return Ok(None);
    }
    let row_groups = opened.row_groups(number.0).map_err(|error| DataFusionError::External(Box::new(error)))?;
    let is_own = |group: &RowGroup| file.range.as_ref().is_none_or(|range| range.contains(group.offset));
    let mut large = row_groups.iter().enumerate().filter(|(_, group)| is_own(group) && group.rows >= LEAST_ROWS);
    let chosen = if is_last_best { large.next_back() } else { large.next() };
    let Some((chosen, RowGroup { rows, .. })) = chosen else { return Ok(None) };
    let part = |selectors: [RowSelector; 2]| {
        let mut plan = ParquetAccessPlan::new_none(row_groups.len());
        plan.set(chosen, RowGroupAccess::Selection(RowSelection::from(selectors.to_vec())));
        file.clone().with_extension(plan)
    };
    let piece = part([RowSelector::select(PIECE_ROWS), RowSelector::skip(rows - PIECE_ROWS)]);
    let mut rest = vec![part([RowSelector::skip(PIECE_ROWS), RowSelector::select(rows - PIECE_ROWS)])];
    if row_groups.iter().enumerate().any(|(at, group)| at != chosen && is_own(group)) {
        let mut plan = ParquetAccessPlan::new_all(row_groups.len());
        plan.skip(chosen);
        rest.push(file.clone().with_extension(plan));
    }
    Ok(Some((piece, rest)))
}
