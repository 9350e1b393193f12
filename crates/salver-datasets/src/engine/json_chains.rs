//! Chains of JSON operators: `a -> 'b' -> 'c'`. Each operator is planned under a name, to tell its type takes twice as
//! long as to tell that of what is named, and so a chain takes twice as long with each link (datafusion-functions-json
//! 0.55, DataFusion 55). Here only the last link keeps its name.

use std::sync::{Arc, OnceLock};

use datafusion::common::{DFSchema, Result};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::sql::sqlparser::ast::BinaryOperator;

/// Registers the JSON functions, and how chains of their operators are planned.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let chains = Arc::new(Chains::default());
    state.register_expr_planner(Arc::<Chains>::clone(&chains) as _)?;
    datafusion_functions_json::register_all(state)?;
    if let Some(links) = state.expr_planners().last() {
        let _ = chains.links.set(Arc::clone(links));
    }
    Ok(())
}

/// Asked before the planner of single links, which it asks itself.
#[derive(Debug, Default)]
struct Chains {
    links: OnceLock<Arc<dyn ExprPlanner>>,
}

impl ExprPlanner for Chains {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{Arrow, HashArrow, HashLongArrow, LongArrow, Question};
        let Some(links) = self.links.get() else { return Ok(PlannerResult::Original(expr)) };
        if !matches!(expr.op, Arrow | HashArrow | HashLongArrow | LongArrow | Question) {
            return Ok(PlannerResult::Original(expr));
        }
        let mut planned = links.plan_binary_op(expr, schema)?;
        if let PlannerResult::Planned(Expr::Alias(named)) = &mut planned
            && let Expr::ScalarFunction(call) = &mut *named.expr
        {
            call.args = std::mem::take(&mut call.args).into_iter().map(Expr::unalias).collect();
        }
        Ok(planned)
    }
}
