//! No plan knows which columns determine others. The engine derives that from `group by` and takes it for true above a
//! join or an `unnest`, which give a group several rows (DataFusion 55):
//!
//! ```sql
//! select distinct g from (select g, unnest(array_agg(x)) as x from t group by g) s
//! ```
//!
//! Rows would be there twice, as here, or groups be one, sorts lack a key and joins be left out. No table has a key
//! that the engine is told of, so that nothing else depends on it.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, Projection};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::sql::sqlparser::ast::{Ident, TableFactor, TableSample, TableSampleKind, TableSampleModifier};

/// Mark of a table that is planned already. The planner reads neither partitions nor samples of tables.
const PLANNED: &str = "(salver: planned)";

/// Rules of the optimizer that trust dependencies: before them, none are left.
pub(super) fn are_trusted_by(rule: &str) -> bool {
    matches!(
        rule,
        "replace_distinct_aggregate" | "eliminate_join" | "eliminate_duplicated_expr" | "optimize_projections"
    )
}

/// Takes the dependencies out of a plan.
#[derive(Debug)]
pub(super) struct NoDependencies;

impl OptimizerRule for NoDependencies {
    fn name(&self) -> &'static str {
        "no_dependencies"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        plan.transform_up_with_subqueries(|mut node| {
            let Some(schema) = own_schema(&mut node) else { return Ok(Transformed::no(node)) };
            let Some(without) = without_dependencies(schema)? else { return Ok(Transformed::no(node)) };
            *schema = without;
            Ok(Transformed::yes(node))
        })
    }
}

/// Returns the schema that a node has of its own, if it can have dependencies.
fn own_schema(node: &mut LogicalPlan) -> Option<&mut DFSchemaRef> {
    match node {
        LogicalPlan::Projection(own) => Some(&mut own.schema),
        LogicalPlan::Window(own) => Some(&mut own.schema),
        LogicalPlan::Aggregate(own) => Some(&mut own.schema),
        LogicalPlan::Join(own) => Some(&mut own.schema),
        LogicalPlan::Union(own) => Some(&mut own.schema),
        LogicalPlan::SubqueryAlias(own) => Some(&mut own.schema),
        LogicalPlan::Unnest(own) => Some(&mut own.schema),
        LogicalPlan::Distinct(Distinct::On(own)) => Some(&mut own.schema),
        LogicalPlan::TableScan(own) => Some(&mut own.projected_schema),
        _ => None,
    }
}

/// Returns the schema without its dependencies; `None` if it has none.
fn without_dependencies(schema: &DFSchemaRef) -> Result<Option<DFSchemaRef>> {
    if schema.functional_dependencies().is_empty() {
        return Ok(None);
    }
    schema.as_ref().clone().with_functional_dependencies(FunctionalDependencies::empty()).map(|own| Some(Arc::new(own)))
}

/// Plans subqueries and common tables so that a query over them knows no dependencies: it would group by columns that
/// it was not asked to, and take the frames of its windows for those of unique keys.
#[derive(Debug)]
pub(super) struct PlainRelations;

impl RelationPlanner for PlainRelations {
    fn plan_relation(
        &self,
        mut relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        if !mark(&mut relation) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let mut plan = context.plan(relation)?;
        if let Some(without) = without_dependencies(plan.schema())? {
            match own_schema(&mut plan) {
                Some(schema) => *schema = without,
                None => {
                    let columns = without.columns().into_iter().map(Expr::Column).collect();
                    plan = LogicalPlan::Projection(Projection::try_new_with_schema(columns, Arc::new(plan), without)?);
                }
            }
        }
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, None))))
    }
}

/// Marks a subquery or a name, and returns whether it was not marked before.
fn mark(relation: &mut TableFactor) -> bool {
    match relation {
        TableFactor::Table { partitions, args: None, .. } if partitions.is_empty() => {
            partitions.push(Ident::new(PLANNED));
            true
        }
        TableFactor::Derived { sample, .. } if sample.is_none() => {
            let (modifier, name) = (TableSampleModifier::TableSample, None);
            let mark = TableSample { modifier, name, quantity: None, seed: None, bucket: None, offset: None };
            *sample = Some(TableSampleKind::AfterTableAlias(Box::new(mark)));
            true
        }
        _ => false,
    }
}
