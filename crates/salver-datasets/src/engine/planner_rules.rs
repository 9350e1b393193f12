//! The planner's rules, each behind a checkpoint. Planning ends when the query is cancelled, and also when a rule makes
//! the plan grow too large.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{NullEquality, Result, plan_err};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan};
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::{Analyzer, AnalyzerRule, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_optimizer::{PhysicalOptimizerContext, PhysicalOptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use salver_model::limits::SQL_EXPRESSIONS_MAX;

use super::correlated::Correlated;
use super::date_bounds::DateBounds;
use super::derived_aggregates::DerivedAggregates;
use super::duplicate_names;
use super::functional_dependencies::{NoDependencies, are_trusted_by};
use super::join_keys;
use super::join_order::JoinOrder;
use super::lateral::Lateral;
use super::literal_scales::LiteralScales;
use super::nullable_constants::Unfixed;
use super::offsets::Offsets;
use super::pg_functions::TextReading;
use super::pg_semantics::{Exact, Mixed};
use super::subquery_hoisting::Hoisted;
use super::whole_sort_keys::WholeKeys;
use super::work::QueryWork;

/// Wraps the session's own rules in checkpoints.
pub(super) fn checked(session: SessionStateBuilder) -> SessionStateBuilder {
    let own = |rule: Arc<dyn OptimizerRule + Send + Sync>| rule;
    let logical = Optimizer::new().rules.into_iter().flat_map(|rule| {
        let after = match rule.name() {
            "simplify_expressions" => {
                vec![own(Arc::new(DateBounds)), own(Arc::new(LiteralScales)), own(Arc::new(DerivedAggregates))]
            }
            "push_down_filter" => vec![own(Arc::new(JoinOrder))],
            _ => Vec::new(),
        };
        let before = are_trusted_by(rule.name()).then(|| own(Arc::new(NoDependencies)));
        before.into_iter().chain([rule]).chain(after).map(|rule| Arc::new(Logical(rule)) as _)
    });
    let own = |rule: Arc<dyn AnalyzerRule + Send + Sync>| rule;
    let before = [
        own(Arc::new(Hoisted)),
        own(Arc::new(Lateral)),
        own(Arc::new(TextReading)),
        own(Arc::new(Mixed)),
        own(Arc::new(Correlated)),
    ];
    let analyzers = before.into_iter().chain(Analyzer::new().rules).chain([own(Arc::new(Exact))]);
    let analyzers = analyzers.map(|rule| Arc::new(Analysis(rule)) as _);
    let own = |rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>| rule;
    let physical = PhysicalOptimizer::new().rules.into_iter().flat_map(|rule| {
        let before = match rule.name() {
            "EnsureRequirements" => vec![own(Arc::new(Unfixed)), own(Arc::new(Offsets))],
            "FilterPushdown(Post)" => vec![own(Arc::new(WholeKeys))],
            _ => Vec::new(),
        };
        before.into_iter().chain([rule]).map(|rule| Arc::new(Physical(rule)) as _)
    });
    session
        .with_analyzer_rules(analyzers.collect())
        .with_optimizer_rules(logical.collect())
        .with_physical_optimizer_rules(physical.collect())
}

#[derive(Debug)]
struct Logical(Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for Logical {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        QueryWork::of(&config.options()).check()?;
        let makes_keys = match self.0.name() {
            "extract_equijoin_predicate" => joins_nulls(&plan),
            "eliminate_cross_join" => plan.exists(|node| Ok(joins_nulls(node)))?,
            _ => false,
        };
        if makes_keys {
            return Ok(Transformed::no(plan));
        }
        let rewritten = self.0.rewrite(plan, config)?;
        if rewritten.transformed && matches!(self.0.name(), "extract_equijoin_predicate" | "eliminate_cross_join") {
            return rewritten.map_data(join_keys::apart);
        }
        // A filter that moves below a projection copies the projected expressions, once per reference.
        if rewritten.transformed && self.0.name() == "push_down_filter" {
            bound(&rewritten.data)?;
        }
        Ok(rewritten)
    }
}

/// Returns whether a plan is a join in which null equals null, by `is not distinct from`. An equality of a filter above
/// must not become one of its keys.
fn joins_nulls(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(Join { join_type: JoinType::Inner, null_equality, .. }) => {
            *null_equality == NullEquality::NullEqualsNull
        }
        _ => false,
    }
}

/// Refuses a node whose expressions have grown too large.
fn bound(node: &LogicalPlan) -> Result<()> {
    let mut left = SQL_EXPRESSIONS_MAX;
    for node in std::iter::once(node).chain(node.inputs()) {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                // Lists of literals are as long as they were written.
                left = left.saturating_sub(usize::from(!matches!(part, Expr::Literal(..))));
                Ok(if left == 0 { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })?;
    }
    if left == 0 {
        return plan_err!("the statement computes more than {SQL_EXPRESSIONS_MAX} expressions when it is written out");
    }
    Ok(())
}

/// An analyzer rule behind a checkpoint.
#[derive(Debug)]
pub(super) struct Analysis(pub(super) Arc<dyn AnalyzerRule + Send + Sync>);

impl AnalyzerRule for Analysis {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        QueryWork::of(config).check()?;
        self.0.analyze(plan, config)
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

/// A physical optimizer rule behind a checkpoint.
#[derive(Debug)]
pub(super) struct Physical(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl PhysicalOptimizerRule for Physical {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        QueryWork::of(config).check()?;
        if duplicate_names::mixes_up(&*self.0) {
            return duplicate_names::apart(plan, |plan| self.0.optimize(plan, config));
        }
        self.0.optimize(plan, config)
    }

    fn optimize_with_context(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        QueryWork::of(context.config_options()).check()?;
        if duplicate_names::mixes_up(&*self.0) {
            return duplicate_names::apart(plan, |plan| self.0.optimize_with_context(plan, context));
        }
        self.0.optimize_with_context(plan, context)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
