//! Functions that replace operators and wrap the operands of casts, so that these can be bounded as functions are.

use std::sync::Arc;

use arrow::compute::kernels::concat_elements::concat_elements_dyn;
use arrow::datatypes::{DataType, FieldRef, TimeUnit};
use datafusion::common::{DataFusionError, Result, internal_err};
#[cfg(feature = "ballista")]
use datafusion::logical_expr::TypeSignature;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use salver_model::limits::SHARED_VALUE_BYTES_MAX;

use super::super::row_function::{answered, rows_of};
use super::minimum_date;
use super::result_memory::{shown, too_large};
use super::value_size::{scalar_bytes, widest};

/// `||` of texts. A chain of them is one function, as with integer operators.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Concatenate {
    signature: Signature,
}

impl Concatenate {
    /// Creates the function for this number of texts.
    pub(super) fn of(count: usize) -> Self {
        Self { signature: Signature::any(count, Volatility::Immutable) }
    }
}

/// Returns how many texts a `||` joins.
#[cfg(feature = "ballista")]
pub(in crate::engine) fn joined(function: &ScalarUDF) -> Option<usize> {
    match function.inner().downcast_ref::<Concatenate>()?.signature.type_signature {
        TypeSignature::Any(count) => Some(count),
        _ => None,
    }
}

impl ScalarUDFImpl for Concatenate {
    fn name(&self) -> &'static str {
        "||"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(ToString::to_string).collect::<Vec<_>>().join(" || "))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.iter().map(|arg| arg.schema_name().to_string()).collect::<Vec<_>>().join(" || "))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types.iter().find(|own| **own != DataType::Null).or(arg_types.first()) {
            Some(own) => Ok(own.clone()),
            None => internal_err!("`||` has two sides"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (are_constants, rows) = rows_of(&args);
        // One side after the other, so that constants are repeated for all rows only one at a time.
        let mut sides = args.args.iter().map(|arg| arg.to_array(rows));
        let Some(first) = sides.next() else { return internal_err!("`||` has two sides") };
        let joined =
            sides.try_fold(first?, |left, right| Ok::<_, DataFusionError>(concat_elements_dyn(&left, &right?)?))?;
        answered(joined, are_constants)
    }
}

/// Returns the identity function for values of any size.
pub(crate) fn same() -> ScalarUDF {
    ScalarUDF::new_from_impl(Passing { signature: Signature::any(1, Volatility::Immutable), check: Check::Nothing })
}

/// Returns the identity function for values that are small enough to be repeated in many rows without being copied.
pub(super) fn narrow() -> ScalarUDF {
    ScalarUDF::new_from_impl(Passing { signature: Signature::any(1, Volatility::Immutable), check: Check::Width })
}

/// Wraps the operand of a cast that could produce the value that is not a date; with `tries`, that value becomes null.
pub(super) fn dated_before_cast(expr: Expr, from: &DataType, to: &DataType, tries: bool) -> (Expr, bool) {
    let same_number = matches!(from, DataType::Int64 | DataType::Timestamp(TimeUnit::Millisecond, _));
    let is_dated = |passing: &Passing| matches!(passing.check, Check::Date { .. });
    let is_done = matches!(&expr, Expr::ScalarFunction(call)
        if call.func.inner().downcast_ref::<Passing>().is_some_and(is_dated));
    if *to != DataType::Date64 || !same_number || is_done {
        return (expr, false);
    }
    (Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(dated(tries)), vec![expr])), true)
}

/// Returns the identity function that refuses the value that is not a date; with `tries`, that value becomes null.
pub(super) fn dated(tries: bool) -> ScalarUDF {
    let check = Check::Date { tries };
    ScalarUDF::new_from_impl(Passing { signature: Signature::any(1, Volatility::Immutable), check })
}

/// Property that a value is checked for.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Check {
    Nothing,
    Width,
    Date { tries: bool },
}

/// Identity function, mostly around the operand of a cast.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Passing {
    signature: Signature,
    check: Check,
}

impl ScalarUDFImpl for Passing {
    fn name(&self) -> &'static str {
        match self.check {
            Check::Nothing | Check::Width => "cast",
            Check::Date { .. } => "dated",
        }
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
        match (args.arg_fields, &self.check) {
            ([only], Check::Date { tries: true }) => Ok(Arc::new(only.as_ref().clone().with_nullable(true))),
            ([only], _) => Ok(Arc::clone(only)),
            _ => internal_err!("a cast takes one value"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(given) = args.args.into_iter().next() else { return internal_err!("a cast takes one value") };
        match self.check {
            Check::Nothing => Ok(given),
            Check::Width => {
                check_width(&given)?;
                Ok(given)
            }
            Check::Date { tries } => match given {
                ColumnarValue::Array(values) => Ok(ColumnarValue::Array(minimum_date::values(&values, tries)?)),
                ColumnarValue::Scalar(value) => answered(minimum_date::values(&value.to_array()?, tries)?, true),
            },
        }
    }
}

fn check_width(given: &ColumnarValue) -> Result<()> {
    let bytes = match given {
        ColumnarValue::Array(array) => widest(array),
        ColumnarValue::Scalar(value) => scalar_bytes(value),
    };
    if bytes <= SHARED_VALUE_BYTES_MAX {
        return Ok(());
    }
    let most = shown(SHARED_VALUE_BYTES_MAX);
    Err(too_large(format!(
        "a value of {} can't be made one of a type that repeats values, of which {most} is the most",
        shown(bytes)
    )))
}
