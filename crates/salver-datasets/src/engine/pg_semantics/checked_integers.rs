//! Integer `+`, `-`, `*` and `/` that fail when the result is out of range.
//!
//! A chain of operators is one function. The engine asks for the types and names of nested functions again and again,
//! so planning five hundred of them took ten seconds.

use std::fmt::{self, Write};

use arrow::array::{Array, ArrayRef, Datum};
use arrow::compute::kernels::numeric;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use salver_model::{Code, Error, SqlFault};

use super::super::row_function::{answered, computed};
use super::call;

/// Returns the operator as a function of its two operands.
pub(in crate::engine) fn operator(left: Expr, op: Operator, right: Expr) -> Expr {
    let (mut ops, mut args) = match left {
        Expr::ScalarFunction(ScalarFunction { func, args }) => match func.inner().downcast_ref::<Checked>() {
            Some(chain) => (chain.ops.clone(), args),
            None => (Vec::new(), vec![Expr::ScalarFunction(ScalarFunction { func, args })]),
        },
        left => (Vec::new(), vec![left]),
    };
    ops.push(op);
    args.push(right);
    call(chain(ops), args)
}

/// Returns the function that applies these operators one after the other.
pub(in crate::engine) fn chain(ops: Vec<Operator>) -> ScalarUDF {
    let signature = Signature::any(ops.len() + 1, Volatility::Immutable);
    ScalarUDF::new_from_impl(Checked { ops, signature })
}

/// Returns the operators of such a function.
#[cfg(feature = "ballista")]
pub(in crate::engine) fn chained(function: &ScalarUDF) -> Option<&[Operator]> {
    function.inner().downcast_ref::<Checked>().map(|chain| chain.ops.as_slice())
}

/// Returns the operands of a single `+` or `-`.
pub(in crate::engine) fn plus_or_minus(expr: &Expr) -> Option<(&Expr, Operator, &Expr)> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = expr else { return None };
    let chain = func.inner().downcast_ref::<Checked>()?;
    match (chain.ops.as_slice(), args.as_slice()) {
        ([op @ (Operator::Plus | Operator::Minus)], [left, right]) => Some((left, *op, right)),
        _ => None,
    }
}

/// Returns whether an expression divides whole numbers by something that may be zero.
pub(super) fn divides(expr: &Expr) -> bool {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = expr else { return false };
    let Some(chain) = func.inner().downcast_ref::<Checked>() else { return false };
    let divisors = chain.ops.iter().zip(args.iter().skip(1)).filter(|(op, _)| **op == Operator::Divide);
    divisors.into_iter().any(|(_, divisor)| !matches!(divisor, Expr::Literal(..)))
}

/// Returns the unary minus.
pub(super) fn negative() -> ScalarUDF {
    ScalarUDF::new_from_impl(Negative { signature: Signature::any(1, Volatility::Immutable) })
}

/// Returns the error for a result that its type can't hold.
pub(super) fn out_of_range(what: &str, data_type: &DataType) -> DataFusionError {
    let (sql, hint) = match data_type {
        DataType::Int8 => ("tinyint", "compute with bigint, as in `x::bigint`"),
        DataType::Int16 => ("smallint", "compute with bigint, as in `x::bigint`"),
        DataType::Int32 => ("integer", "compute with bigint, as in `x::bigint`"),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => {
            ("an integer without sign", "compute with bigint, as in `x::bigint`")
        }
        DataType::Decimal256(..) => ("decimals of 76 digits", "compute with floats, as in `x::double precision`"),
        DataType::UInt64 => ("bigint without sign", "compute with decimals, as in `x::decimal(38, 0)`"),
        _ => ("bigint", "compute with decimals, as in `x::decimal(38, 0)`"),
    };
    let error = Error::new(Code::Execution, format!("{what} is out of the range of {sql}")).with_hint(hint);
    DataFusionError::External(Box::new(error.with_sql_fault(SqlFault::OutOfRange)))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    /// Operators between the arguments, evaluated from left to right.
    ops: Vec<Operator>,
    signature: Signature,
}

impl Checked {
    /// Writes the chain as SQL.
    fn written(&self, args: &[Expr], each: fn(&Expr, &mut String) -> fmt::Result) -> Result<String> {
        let mut written = String::new();
        for (at, arg) in args.iter().enumerate() {
            if let Some(op) = at.checked_sub(1).and_then(|before| self.ops.get(before)) {
                write!(written, " {op} ")?;
            }
            each(arg, &mut written)?;
        }
        Ok(written)
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        match self.ops.last() {
            Some(Operator::Plus) => "+",
            Some(Operator::Minus) => "-",
            Some(Operator::Divide) => "/",
            _ => "*",
        }
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        self.written(args, |arg, written| write!(written, "{arg}"))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.written(args, |arg, written| write!(written, "{}", arg.schema_name()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [first, _, ..] => Ok(first.clone()),
            _ => internal_err!("`{}` has two sides", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut sides = args.args.into_iter();
        let Some(first) = sides.next() else { return internal_err!("`{}` has two sides", self.name()) };
        self.ops.iter().zip(sides).try_fold(first, |left, (op, right)| {
            let compute = match op {
                Operator::Plus => numeric::add,
                Operator::Minus => numeric::sub,
                Operator::Divide => numeric::div,
                _ => numeric::mul,
            };
            apply(&left, &right, compute).map_err(|error| range_error(error, *op, args.return_field.data_type()))
        })
    }
}

/// Converts the error of an operator whose result is out of range.
fn range_error(error: DataFusionError, op: Operator, data_type: &DataType) -> DataFusionError {
    match error {
        DataFusionError::ArrowError(inner, _) if matches!(*inner, ArrowError::ArithmeticOverflow(_)) => {
            let what = match op {
                Operator::Plus => "a sum",
                Operator::Minus => "a difference",
                Operator::Divide => "a quotient",
                _ => "a product",
            };
            // The library's message contains both operands: "Overflow happened on: 1 + 2".
            let text = inner.to_string();
            let numbers = text.rsplit("on: ").next().filter(|numbers| numbers.len() < text.len());
            let what = numbers.map_or_else(|| what.to_owned(), |numbers| format!("`{numbers}`"));
            out_of_range(&what, data_type)
        }
        other => other,
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
            answered(compute(&left.to_scalar()?, &right.to_scalar()?)?, true)?
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
        computed(&args, |arrays| match arrays {
            [array] => negated(array),
            _ => internal_err!("a minus takes one number"),
        })
    }
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{Expr, Operator, col};

    use super::operator;

    /// With nested functions, planning time would grow with the third power of their number.
    #[test]
    fn a_chain_is_one_function() {
        let chain = (0..400).fold(col("a"), |left, _| operator(left, Operator::Plus, col("b")));
        let Expr::ScalarFunction(call) = &chain else { panic!("{chain}") };
        assert_eq!(call.args.len(), 401);
        let short = operator(operator(col("a"), Operator::Divide, col("b")), Operator::Minus, col("c"));
        let nested = operator(col("a"), Operator::Multiply, short);
        assert_eq!(nested.schema_name().to_string(), "a * a / b - c");
        let Expr::ScalarFunction(call) = &nested else { panic!("{nested}") };
        assert_eq!(call.args.len(), 2, "what stands in brackets is apart");
    }
}
