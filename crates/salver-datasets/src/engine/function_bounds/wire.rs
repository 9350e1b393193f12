//! What another process must know of a bounded function to make the same.

use std::sync::Arc;

use datafusion::logical_expr::ScalarUDF;

use super::bounded_function::Bounded;
use super::growth_table::{self, FunctionBounds, Growth};
use super::operators::{self, Concatenate};
use super::result_memory::Allowance;
use super::rewrite;

pub(in crate::engine) use operators::joined;

/// By what the results of a function are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Bounds {
    /// By what the table says of its name.
    Table,
    /// By the size of a list as text.
    Text,
    /// By the size of all arguments.
    Sum,
}

/// Returns the function that is bounded, and how; `None` if it is not, or in another way.
pub(in crate::engine) fn unbounded(function: &ScalarUDF) -> Option<(Bounds, &Arc<ScalarUDF>)> {
    let bounded = function.inner().downcast_ref::<Bounded>()?;
    let inner = bounded.inner();
    if growth_table::bounds(inner.name()).is_some() {
        return Some((Bounds::Table, inner));
    }
    let Growth::Grows(most) = bounded.growth_bound() else { return None };
    if std::ptr::fn_addr_eq(most, growth_table::text as fn(&[_]) -> u64) {
        return Some((Bounds::Text, inner));
    }
    std::ptr::fn_addr_eq(most, growth_table::sum as fn(&[_]) -> u64).then_some((Bounds::Sum, inner))
}

/// Bounds a function.
pub(in crate::engine) fn bounded(inner: &Arc<ScalarUDF>, bounds: Bounds, allowance: &Arc<Allowance>) -> Arc<ScalarUDF> {
    let most = match bounds {
        Bounds::Table => return rewrite::bound(inner, allowance).unwrap_or_else(|| Arc::clone(inner)),
        Bounds::Text => growth_table::text,
        Bounds::Sum => growth_table::sum,
    };
    let bounds = FunctionBounds { growth: Growth::Grows(most), steps: None };
    Arc::new(rewrite::bound_by(Arc::clone(inner), bounds, allowance))
}

/// Returns the `||` of this many texts, without a bound.
pub(in crate::engine) fn concatenation(count: usize) -> ScalarUDF {
    ScalarUDF::new_from_impl(Concatenate::of(count))
}

/// Returns the functions that rules here put into plans and that no session knows by a name, always in the same order.
pub(in crate::engine) fn unnamed() -> Vec<ScalarUDF> {
    vec![operators::same(), operators::narrow(), operators::dated(false), operators::dated(true)]
}
