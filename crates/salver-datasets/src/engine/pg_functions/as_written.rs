//! `as_written(words, x)`, which is `x` under the name `words`. The engine names a cast after its operand, so that two
//! casts of one value can't be in the same projection.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// Returns the function.
pub(super) fn as_written() -> ScalarUDF {
    ScalarUDF::new_from_impl(AsWritten { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AsWritten {
    signature: Signature,
}

impl ScalarUDFImpl for AsWritten {
    fn name(&self) -> &'static str {
        "as_written"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [_, value] => Ok(value.clone()),
            _ => plan_err!("`as_written` takes words and a value"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [_, value] => Ok(value.clone()),
            _ => plan_err!("`as_written` takes words and a value"),
        }
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        match <[Expr; 2]>::try_from(args) {
            Ok([_, value]) => Ok(ExprSimplifyResult::Simplified(value)),
            Err(args) => Ok(ExprSimplifyResult::Original(args)),
        }
    }
}
