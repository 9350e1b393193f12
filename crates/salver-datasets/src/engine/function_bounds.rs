//! Memory bounds for functions whose results can be larger than their arguments. The result of each call is estimated
//! before it is computed, and the result is accounted to the memory of queries as long as it lives.
//!
//! The functions of the session are wrapped, and so are those that the planner takes from elsewhere; `||` and casts
//! become functions for it. Results of operators on wide rows are bounded in `row_width`.

mod bounded_function;
mod growth_table;
mod minimum_date;
mod operators;
mod result_memory;
mod rewrite;
mod steps_table;
mod value_size;
#[cfg(feature = "ballista")]
mod wire;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{ScalarUDF, ScalarUDFImpl};
use datafusion::optimizer::OptimizerRule;

use bounded_function::Bounded;

pub(crate) use operators::same;
pub(crate) use result_memory::{Allowance, shown, too_large};
pub(crate) use value_size::{held_bytes, leaves, pattern_chars, scalar_bytes, span, widest};
#[cfg(feature = "ballista")]
pub(super) use wire::{Bounds, bounded, concatenation, joined, unbounded, unnamed};

/// Wraps the functions of a session.
///
/// # Errors
/// A session that takes no functions.
pub(crate) fn bound_all(state: &mut SessionState, allowance: &Arc<Allowance>) -> Result<()> {
    let functions: Vec<_> = state.scalar_functions().values().cloned().collect();
    for function in functions {
        if let Some(bounded) = rewrite::bound(&function, allowance) {
            state.register_udf(bounded)?;
        }
    }
    state.add_analyzer_rule(Arc::new(rewrite::BoundExpressions(Arc::clone(allowance))));
    Ok(())
}

/// Returns the optimizer rule that bounds pattern matches. It has to run after all others.
pub(crate) fn bound_matches(allowance: &Arc<Allowance>) -> Arc<dyn OptimizerRule + Send + Sync> {
    Arc::new(rewrite::BoundMatches(Arc::clone(allowance)))
}

/// Returns whether a function is a `T`, wrapped or not.
pub(super) fn is<T: ScalarUDFImpl>(function: &ScalarUDF) -> bool {
    let inner = function.inner();
    inner.is::<T>() || inner.downcast_ref::<Bounded>().is_some_and(Bounded::holds::<T>)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use datafusion::execution::session_state::SessionStateBuilder;

    use super::growth_table;

    /// Aggregates whose state is accounted by their operators, and whose result is no larger: the state has a fixed
    /// size per group or consists of the values themselves. Of those that concatenate values, `string_agg` has its
    /// separator bounded as a constant; as window functions they are bounded in `row_width`.
    const AGGREGATES: &[&str] = &[
        "any_value",
        "approx_distinct",
        "approx_median",
        "approx_percentile_cont",
        "approx_percentile_cont_with_weight",
        "array_agg",
        "avg",
        "bit_and",
        "bit_or",
        "bit_xor",
        "bool_and",
        "bool_or",
        "corr",
        "count",
        "covar_pop",
        "covar_samp",
        "first_value",
        "grouping",
        "last_value",
        "max",
        "median",
        "min",
        "nth_value",
        "percentile_cont",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "stddev",
        "stddev_pop",
        "string_agg",
        "sum",
        "var",
        "var_pop",
    ];
    /// Window functions that return numbers, or values of other rows, which `row_width` bounds.
    const WINDOWS: &[&str] = &[
        "cume_dist",
        "dense_rank",
        "first_value",
        "lag",
        "last_value",
        "lead",
        "nth_value",
        "ntile",
        "percent_rank",
        "rank",
        "row_number",
    ];

    #[test]
    fn every_function_is_known() {
        let mut state = SessionStateBuilder::new().with_default_features().build();
        datafusion_functions_json::register_all(&mut state).unwrap();
        let scalar: BTreeSet<_> = state.scalar_functions().values().map(|function| function.name()).collect();
        let unknown: Vec<_> = scalar.iter().filter(|name| growth_table::bounds(name).is_none()).collect();
        assert!(unknown.is_empty(), "say in `growth_table.rs` what these can give: {unknown:?}");
        let aggregates: BTreeSet<_> = state.aggregate_functions().values().map(|function| function.name()).collect();
        let unknown: Vec<_> = aggregates.iter().filter(|name| !AGGREGATES.contains(*name)).collect();
        assert!(unknown.is_empty(), "aggregates that nobody looked at: {unknown:?}");
        let windows: BTreeSet<_> = state.window_functions().values().map(|function| function.name()).collect();
        let unknown: Vec<_> = windows.iter().filter(|name| !WINDOWS.contains(*name)).collect();
        assert!(unknown.is_empty(), "window functions that nobody looked at: {unknown:?}");
        // These take lambdas only, which the dialect does not have.
        let lambdas: BTreeSet<_> = state.higher_order_functions().values().map(|function| function.name()).collect();
        let known = BTreeSet::from(["array_any_match", "array_filter", "array_first", "array_transform"]);
        assert_eq!(lambdas, known, "functions of functions that nobody looked at");
        let tables: BTreeSet<_> = state.table_functions().keys().map(String::as_str).collect();
        assert_eq!(tables, BTreeSet::from(["generate_series", "range"]), "they give their rows as they are read");
    }
}
