//! `as_beside(a, b)`, which is `a`, and has the type of `b` until the types of a plan are found. It has no part in
//! names.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// Name of the function.
pub(super) const NAME: &str = "as_beside";

/// Returns the function.
pub(super) fn as_beside() -> ScalarUDF {
    ScalarUDF::new_from_impl(AsBeside { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct AsBeside {
    signature: Signature,
}

impl ScalarUDFImpl for AsBeside {
    fn name(&self) -> &'static str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [_, beside] => Ok(beside.clone()),
            _ => plan_err!("`as_beside` takes two values"),
        }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        match args {
            [value, _] => Ok(value.schema_name().to_string()),
            _ => plan_err!("`as_beside` takes two values"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [value, _] => value.cast_to(args.return_field.data_type(), None),
            _ => plan_err!("`as_beside` takes two values"),
        }
    }
}
