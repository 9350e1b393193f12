//! Makes the operators of a statement, those of our own nodes among them.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::common_subplans::{CommonSubplans, SharedByStatement};
use super::planner_rules::Physical;
use crate::first_piece::FirstPiece;
use crate::late_columns::{self, LateColumns};

/// Appends the rules that make these nodes to those of a session, and the planner that knows them, and has scans for the
/// first rows of an order begin with a piece. Plans that ran out of memory do without all that.
pub(super) fn with_own_nodes(session: SessionStateBuilder) -> SessionStateBuilder {
    session
        .with_optimizer_rule(Arc::new(LateColumns))
        .with_optimizer_rule(Arc::new(CommonSubplans))
        .with_physical_optimizer_rule(Arc::new(Physical(Arc::new(FirstPiece))))
        .with_query_planner(Arc::new(StatementPlanner))
}

#[derive(Debug)]
struct StatementPlanner;

#[async_trait]
impl QueryPlanner for StatementPlanner {
    async fn create_physical_plan(&self, plan: &LogicalPlan, session: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        let own: Arc<dyn ExtensionPlanner + Send + Sync> = Arc::new(OwnNodes::default());
        DefaultPhysicalPlanner::with_extension_planners(vec![own]).create_physical_plan(plan, session).await
    }
}

/// Makes the operators of our own nodes, for one statement.
#[derive(Debug, Default)]
struct OwnNodes {
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
        match late_columns::operator(node, inputs)? {
            Some(operator) => Ok(Some(operator)),
            None => Ok(self.shared.operator(node, inputs)),
        }
    }
}
