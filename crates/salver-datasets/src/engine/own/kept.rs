//! What stands around a value to keep the engine from drawing conclusions from it.
//!
//! A filter reckons back which values of a column its condition leaves (`FilterExec` of DataFusion 55), also through a
//! division of whole numbers and a cast to a date, as if these could be undone: of `t::date = '2024-02-29'` it took `t`
//! for a constant, and dropped the order by it. It does not look into functions.

use std::sync::Arc;

use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::row::RowFunction;

/// The value as it is.
pub(in crate::engine) fn kept() -> ScalarUDF {
    RowFunction {
        name: "kept",
        signature: Signature::any(1, Volatility::Immutable),
        returns: |types| Ok(types[0].clone()),
        values: |values, _| Ok(Arc::clone(&values[0])),
    }
    .function()
}
