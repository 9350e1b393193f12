//! `+`, `-` and `*` of whole numbers that end with an error where the result is out of range.

use arrow::array::{Array, ArrayRef, Datum};
use arrow::compute::kernels::numeric;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use salver_model::{Code, Error};

/// The operator as a function.
pub(super) fn operator(op: Operator) -> ScalarUDF {
    ScalarUDF::new_from_impl(Checked { op, signature: Signature::any(2, Volatility::Immutable) })
}

/// The minus of one number.
pub(super) fn negative() -> ScalarUDF {
    ScalarUDF::new_from_impl(Negative { signature: Signature::any(1, Volatility::Immutable) })
}

/// What a result that its type can't hold is told as.
pub(super) fn out_of_range(what: &str, data_type: &DataType) -> DataFusionError {
    let (sql, hint) = match data_type {
        DataType::Int8 => ("tinyint", "compute with bigint, as in `x::bigint`"),
        DataType::Int16 => ("smallint", "compute with bigint, as in `x::bigint`"),
        DataType::Int32 => ("integer", "compute with bigint, as in `x::bigint`"),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => {
            ("an integer without sign", "compute with bigint, as in `x::bigint`")
        }
        DataType::UInt64 => ("bigint without sign", "compute with decimals, as in `x::decimal(38, 0)`"),
        _ => ("bigint", "compute with decimals, as in `x::decimal(38, 0)`"),
    };
    let error = Error::new(Code::Execution, format!("{what} is out of the range of {sql}")).with_hint(hint);
    DataFusionError::External(Box::new(error))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    op: Operator,
    signature: Signature,
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        match self.op {
            Operator::Plus => "+",
            Operator::Minus => "-",
            _ => "*",
        }
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = args else { return internal_err!("`{}` has two sides", self.name()) };
        Ok(format!("{left} {} {right}", self.op))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = args else { return internal_err!("`{}` has two sides", self.name()) };
        // The name that the operator has; names of long chains are asked for often, so nothing is copied.
        Ok(format!("{} {} {}", left.schema_name(), self.op, right.schema_name()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [left, _] => Ok(left.clone()),
            _ => internal_err!("`{}` has two sides", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let compute = match self.op {
            Operator::Plus => numeric::add,
            Operator::Minus => numeric::sub,
            _ => numeric::mul,
        };
        let [left, right] = args.args.as_slice() else { return internal_err!("`{}` has two sides", self.name()) };
        let computed = apply(left, right, compute);
        computed.map_err(|error| match error {
            DataFusionError::ArrowError(inner, _) if matches!(*inner, ArrowError::ArithmeticOverflow(_)) => {
                let what = match self.op {
                    Operator::Plus => "a sum",
                    Operator::Minus => "a difference",
                    _ => "a product",
                };
                // The library's message has the two numbers: "Overflow happened on: 1 + 2".
                let text = inner.to_string();
                let numbers = text.rsplit("on: ").next().filter(|numbers| numbers.len() < text.len());
                let what = numbers.map_or_else(|| what.to_owned(), |numbers| format!("`{numbers}`"));
                out_of_range(&what, args.return_field.data_type())
            }
            other => other,
        })
    }
}

/// Applies an operator to columns or constants.
fn apply(
    left: &ColumnarValue,
    right: &ColumnarValue,
    compute: impl Fn(&dyn Datum, &dyn Datum) -> Result<ArrayRef, ArrowError>,
) -> Result<ColumnarValue> {
    Ok(match (left, right) {
        (ColumnarValue::Array(left), ColumnarValue::Array(right)) => ColumnarValue::Array(compute(left, right)?),
        (ColumnarValue::Array(left), ColumnarValue::Scalar(right)) => {
            ColumnarValue::Array(compute(left, &right.to_scalar()?)?)
        }
        (ColumnarValue::Scalar(left), ColumnarValue::Array(right)) => {
            ColumnarValue::Array(compute(&left.to_scalar()?, right)?)
        }
        (ColumnarValue::Scalar(left), ColumnarValue::Scalar(right)) => {
            let computed = compute(&left.to_scalar()?, &right.to_scalar()?)?;
            ColumnarValue::Scalar(ScalarValue::try_from_array(&computed, 0)?)
        }
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Negative {
    signature: Signature,
}

impl ScalarUDFImpl for Negative {
    fn name(&self) -> &'static str {
        "-"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map_or_else(String::new, |expr| format!("(- {expr})")))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map_or_else(String::new, |expr| format!("(- {})", expr.schema_name())))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [only] => Ok(only.clone()),
            _ => internal_err!("a minus takes one number"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let negated = |array: &dyn Array| {
            numeric::neg(array).map_err(|error| match error {
                ArrowError::ArithmeticOverflow(_) => out_of_range("a negated number", array.data_type()),
                other => other.into(),
            })
        };
        match args.args.as_slice() {
            [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(negated(array)?)),
            [ColumnarValue::Scalar(value)] => {
                let array = negated(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?))
            }
            _ => internal_err!("a minus takes one number"),
        }
    }
}
