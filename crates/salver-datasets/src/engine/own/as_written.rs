//! `as_written(words, x)`, which is `x`: a name for what the engine would give the name of something else. It names a
//! cast as what is cast, so that two casts of one value can't stand side by side.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// The function.
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
