//! Chains of JSON operators: `a -> 'b' -> 'c'`. The planner gives each operator an alias, and computing the type of an
//! alias takes twice as long as that of its expression, so planning time doubles with each operator
//! (datafusion-functions-json 0.55, DataFusion 55). Here only the last operator keeps its alias.

use std::sync::{Arc, OnceLock};

use datafusion::common::{DFSchema, Result};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::sql::sqlparser::ast::BinaryOperator;

/// Registers the JSON functions and the planner for chains of their operators.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let chains = Arc::new(Chains::default());
    state.register_expr_planner(Arc::<Chains>::clone(&chains) as _)?;
    datafusion_functions_json::register_all(state)?;
    if let Some(links) = state.expr_planners().last() {
        let _ = chains.links.set(Arc::clone(links));
    }
    Ok(())
}

/// Planner that takes precedence over the planner of single operators, which it calls.
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
