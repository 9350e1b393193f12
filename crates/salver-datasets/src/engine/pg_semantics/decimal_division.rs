//! `/` of decimals, with at least sixteen fractional digits, rounded half away from zero, as in PostgreSQL. The
//! engine's own truncates after four more digits than the dividend has.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Decimal256Array};
use arrow::compute::cast;
use arrow::datatypes::{ArrowNativeTypeOp, DataType, Decimal256Type, i256};
use arrow::error::ArrowError;
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::computed;

/// Minimum number of fractional digits of a quotient.
pub(super) const FRACTION_DIGITS: i8 = 16;
/// Maximum precision of the engine's decimals.
const LONG_PRECISION: u8 = 76;
/// Maximum precision of decimals of 128 bits.
const SHORT_PRECISION: u8 = 38;

/// Returns the operator as a function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Quotient { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Quotient {
    signature: Signature,
}

/// Returns whether an expression divides decimals by something that may be zero.
pub(super) fn divides(expr: &Expr) -> bool {
    let Expr::ScalarFunction(call) = expr else { return false };
    call.func.inner().is::<Quotient>() && !matches!(call.args.get(1), Some(Expr::Literal(..)))
}

/// Returns the precision and scale of an exact number; `None` for any other type.
pub(super) fn digits(data_type: &DataType) -> Option<(u8, i8)> {
    Some(match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => (*precision, *scale),
        DataType::Int8 | DataType::UInt8 => (3, 0),
        DataType::Int16 | DataType::UInt16 => (5, 0),
        DataType::Int32 | DataType::UInt32 => (10, 0),
        DataType::Int64 => (19, 0),
        DataType::UInt64 => (20, 0),
        _ => return None,
    })
}

/// Returns the decimal type with this many integral and fractional digits, or with fewer integral ones if the precision
/// is exhausted.
pub(super) fn decimal(before: i16, behind: i8) -> DataType {
    let precision = u8::try_from((before.max(1) + i16::from(behind)).clamp(1, i16::from(LONG_PRECISION)));
    match precision.unwrap_or(LONG_PRECISION) {
        short @ ..=SHORT_PRECISION => DataType::Decimal128(short, behind),
        wide => DataType::Decimal256(wide, behind),
    }
}

impl ScalarUDFImpl for Quotient {
    fn name(&self) -> &'static str {
        "/"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = args else { return internal_err!("`/` has two sides") };
        Ok(format!("{left} / {right}"))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let [left, right] = args else { return internal_err!("`/` has two sides") };
        Ok(format!("{} / {}", left.schema_name(), right.schema_name()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let [Some((precision, scale)), Some((_, divisor_scale))] = arg_types.iter().map(digits).collect::<Vec<_>>()[..]
        else {
            return plan_err!("`/` divides a number by a number");
        };
        let behind = FRACTION_DIGITS.max(scale).max(divisor_scale).min(SHORT_PRECISION as i8);
        Ok(decimal(i16::from(precision) - i16::from(scale) + i16::from(divisor_scale.max(0)), behind))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        computed(&args, |sides| match sides {
            [left, right] => Ok(divide(left, right, args.return_field.data_type())?),
            _ => internal_err!("`/` has two sides"),
        })
    }
}

fn divide(left: &ArrayRef, right: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let scale_of = |array: &ArrayRef| digits(array.data_type()).map_or(0, |(_, scale)| scale);
    let wide = |array: &ArrayRef| cast(array, &DataType::Decimal256(LONG_PRECISION, scale_of(array)));
    let (left_scale, right_scale) = (scale_of(left), scale_of(right));
    let (left, right) = (wide(left)?, wide(right)?);
    let (left, right) = (left.as_primitive::<Decimal256Type>(), right.as_primitive::<Decimal256Type>());
    let Some((_, scale)) = digits(to) else { return Err(ArrowError::ComputeError("no decimal".to_owned())) };
    let shift = i16::from(scale) + i16::from(right_scale) - i16::from(left_scale);
    let power = i256::from_i128(10).pow_checked(u32::from(shift.unsigned_abs()))?;
    let short = 10_i128.checked_pow(u32::from(shift.unsigned_abs()));
    let quotient = |left: i256, right: i256| -> Result<i256, ArrowError> {
        if right == i256::ZERO {
            return Err(ArrowError::DivideByZero);
        }
        if let (Some(power), Some(left), Some(right)) = (short, left.to_i128(), right.to_i128())
            && shift >= 0
            && let Some(left) = left.checked_mul(power)
            && left != i128::MIN
        {
            return Ok(i256::from_i128(nearest_short(left, right)));
        }
        let (left, right) =
            if shift >= 0 { (left.mul_checked(power)?, right) } else { (left, right.mul_checked(power)?) };
        nearest(left, right)
    };
    let quotients: Decimal256Array = arrow::compute::try_binary(left, right, quotient)?;
    match to {
        DataType::Decimal128(precision, scale) => {
            let short = quotients.iter().map(|value| {
                let short = value.map(|value| value.to_i128().ok_or_else(|| too_large(*precision)));
                short.transpose()
            });
            let short: Decimal128Array = short.collect::<Result<_, _>>()?;
            let short = short.with_precision_and_scale(*precision, *scale)?;
            short.validate_decimal_precision(*precision).map_err(|_| too_large(*precision))?;
            Ok(Arc::new(short))
        }
        DataType::Decimal256(precision, scale) => {
            let quotients = quotients.with_precision_and_scale(*precision, *scale)?;
            quotients.validate_decimal_precision(*precision).map_err(|_| too_large(*precision))?;
            Ok(Arc::new(quotients))
        }
        other => Err(ArrowError::ComputeError(format!("{other} is not a decimal"))),
    }
}

fn too_large(precision: u8) -> ArrowError {
    ArrowError::ComputeError(format!("a quotient has more than {precision} digits"))
}

fn nearest_short(left: i128, right: i128) -> i128 {
    let (whole, rest) = (left / right, left % right);
    let away = if (left < 0) == (right < 0) { 1 } else { -1 };
    // Doubling the remainder might overflow.
    if rest.unsigned_abs() >= right.unsigned_abs() - rest.unsigned_abs() { whole + away } else { whole }
}

/// Returns the integer nearest to a quotient, rounding half away from zero.
pub(super) fn nearest(left: i256, right: i256) -> Result<i256, ArrowError> {
    let (whole, rest) = (left.div_checked(right)?, left.mod_checked(right)?);
    let away = if left.is_negative() == right.is_negative() { i256::ONE } else { i256::MINUS_ONE };
    let magnitude = |value: i256| if value.is_negative() { value.wrapping_neg() } else { value };
    let (rest, right) = (magnitude(rest), magnitude(right));
    if rest >= right.wrapping_sub(rest) { whole.add_checked(away) } else { Ok(whole) }
}
