//! Makes the operators of a statement, those of our own nodes among them.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::optimizer::OptimizerRule;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::common_subplans::{CommonSubplans, SharedByStatement};
use super::empty_text::EmptyTexts;
use super::planner_rules::Physical;

/// Makes the operator of a node over the operators of its inputs; `None` if the node is another one.
pub(crate) type MakeOperator =
    fn(&dyn UserDefinedLogicalNode, &[Arc<dyn ExecutionPlan>]) -> Result<Option<Arc<dyn ExecutionPlan>>>;

/// Rules for particular tables, of which the engine itself knows nothing.
#[derive(Debug)]
pub(crate) struct TableRules {
    /// Makes nodes of our own.
    pub(crate) logical: Arc<dyn OptimizerRule + Send + Sync>,
    /// Choose how the columns of tables are read, in this order.
    pub(crate) columns: Vec<Arc<dyn OptimizerRule + Send + Sync>>,
    /// Makes the operators of these nodes.
    pub(crate) operator: MakeOperator,
    /// Comes after the engine's own physical rules.
    pub(crate) physical: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
    /// Sees each plan when it is complete, also one that ran out of memory.
    pub(crate) last: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
}

/// Appends these rules, and that for common groups, to those of a session, with the planner that knows their nodes.
/// Plans that ran out of memory do without all that.
pub(super) fn with_own_nodes(session: SessionStateBuilder, rules: &TableRules) -> SessionStateBuilder {
    let session = session.with_optimizer_rule(Arc::clone(&rules.logical));
    let session = rules.columns.iter().fold(session, |session, rule| session.with_optimizer_rule(Arc::clone(rule)));
    session
        .with_optimizer_rule(Arc::new(CommonSubplans))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::clone(&rules.physical))))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::new(EmptyTexts))))
        .with_query_planner(Arc::new(StatementPlanner(rules.operator)))
}

#[derive(Debug)]
struct StatementPlanner(MakeOperator);

#[async_trait]
impl QueryPlanner for StatementPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let own = OwnNodes { operator: self.0, shared: SharedByStatement::default() };
        let own: Arc<dyn ExtensionPlanner + Send + Sync> = Arc::new(own);
        DefaultPhysicalPlanner::with_extension_planners(vec![own]).create_physical_plan(plan, session).await
    }
}

/// Makes the operators of our own nodes, for one statement.
#[derive(Debug)]
struct OwnNodes {
    operator: MakeOperator,
    shared: SharedByStatement,
}

#[async_trait]
impl ExtensionPlanner for OwnNodes {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        match (self.operator)(node, inputs)? {
            Some(operator) => Ok(Some(operator)),
            None => Ok(self.shared.operator(node, inputs)),
        }
    }
}
