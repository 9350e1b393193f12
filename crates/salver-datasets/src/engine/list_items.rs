//! Items of `x in (...)` that are computed from columns.
//!
//! The engine evaluates a list without rows to see whether it is constant (`try_evaluate_constant_list` of DataFusion
//! 55), and takes a `case` for a constant then: with `2 in (case when i = 1 then 9 else i end, 3)` each row was
//! compared with the item of the first row. A function that never has one value for all rows is none.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::row_function::same_type;

/// Wraps the items of a list that are computed from columns; returns whether there are any.
pub(super) fn in_each_row(list: &mut [Expr]) -> bool {
    let is_done = |item: &Expr| matches!(item, Expr::ScalarFunction(call) if call.func.inner().is::<EachRow>());
    let computed =
        |item: &&mut Expr| !matches!(item, Expr::Column(_)) && !item.column_refs().is_empty() && !is_done(item);
    let mut changed = false;
    for item in list.iter_mut().filter(computed) {
        *item = Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(each_row()), vec![std::mem::take(item)]));
        changed = true;
    }
    changed
}

/// Returns the function that computes an item in each row.
pub(super) fn each_row() -> ScalarUDF {
    ScalarUDF::new_from_impl(EachRow { signature: Signature::any(1, Volatility::Immutable) })
}

/// Identity function that returns a value for each row.
#[derive(Debug, PartialEq, Eq, Hash)]
struct EachRow {
    signature: Signature,
}

impl ScalarUDFImpl for EachRow {
    fn name(&self) -> &'static str {
        "each_row"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map_or_else(String::new, ToString::to_string))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        same_type(arg_types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [value] => Ok(ColumnarValue::Array(value.to_array(args.number_rows)?)),
            _ => internal_err!("an item of a list is one value"),
        }
    }
}
