//! The one value that is no date of 64 bits: the least of the numbers. The engine can't show it (`ScalarValue` panics,
//! DataFusion 55), so that no cast makes it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Int64Type, TimeUnit};
use datafusion::common::{Result, ScalarValue, exec_err, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// What is cast, without that value, where the cast would make it; with `tries`, null in its place.
pub(super) fn before_cast(expr: Expr, from: &DataType, to: &DataType, tries: bool) -> (Expr, bool) {
    let same_number = matches!(from, DataType::Int64 | DataType::Timestamp(TimeUnit::Millisecond, _));
    let is_done = matches!(&expr, Expr::ScalarFunction(call) if call.func.inner().is::<Dated>());
    if *to != DataType::Date64 || !same_number || is_done {
        return (expr, false);
    }
    let dated = ScalarUDF::new_from_impl(Dated { signature: Signature::any(1, Volatility::Immutable), tries });
    (Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(dated), vec![expr])), true)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Dated {
    signature: Signature,
    tries: bool,
}

impl ScalarUDFImpl for Dated {
    fn name(&self) -> &'static str {
        "dated"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map_or_else(String::new, ToString::to_string))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map_or_else(String::new, |expr| expr.schema_name().to_string()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [only] => Ok(only.clone()),
            _ => internal_err!("a cast takes one value"),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            [only] => Ok(Arc::new(only.as_ref().clone().with_nullable(only.is_nullable() || self.tries))),
            _ => internal_err!("a cast takes one value"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Array(values)] => Ok(ColumnarValue::Array(self.dated(values)?)),
            [ColumnarValue::Scalar(value)] => {
                let values = self.dated(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?))
            }
            _ => internal_err!("a cast takes one value"),
        }
    }
}

impl Dated {
    fn dated(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let numbers = cast(values, &DataType::Int64)?;
        let numbers = numbers.as_primitive::<Int64Type>();
        if !numbers.iter().any(|number| number == Some(i64::MIN)) {
            return Ok(Arc::clone(values));
        }
        if !self.tries {
            return exec_err!("{} is out of the range of Date64", i64::MIN);
        }
        let dated: Int64Array = numbers.iter().map(|number| number.filter(|number| *number != i64::MIN)).collect();
        Ok(cast(&dated, values.data_type())?)
    }
}
