//! Casts of decimals to the nearest float, which is also the float that the same digits parse to. The engine divides
//! one float by another, which rounds twice.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    self, ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};

use super::super::row_function::computed;
use super::call;

/// Bound up to which integers are exact floats, as powers of ten are up to `EXACT_SCALE`: their quotient is rounded
/// only once.
const EXACT_WHOLE: i128 = 1 << 53;
const EXACT_SCALE: i8 = 22;

/// Returns whether the engine's cast may round twice.
pub(super) fn rounds_twice(from: &DataType, to: &DataType) -> bool {
    from.is_decimal() && matches!(to, DataType::Float32 | DataType::Float64)
}

/// Casts a decimal to the nearest float.
pub(super) fn float(decimal: Expr, to: &DataType) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    call(ScalarUDF::new_from_impl(Nearest { to: to.clone(), signature }), vec![decimal])
}

/// Casts a decimal to a float; a literal becomes the float nearest to what was written.
pub(super) fn floated(expr: Expr) -> Expr {
    if let Expr::Literal(value, _) = &expr {
        if value.is_null() {
            return lit(ScalarValue::Float64(None));
        }
        if let Ok(x) = value.to_string().parse::<f64>() {
            return lit(x);
        }
    }
    logical_expr::cast(expr, DataType::Float64)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Nearest {
    to: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Nearest {
    fn name(&self) -> &'static str {
        "nearest"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        computed(&args, |arrays| match arrays {
            [array] => nearest(array, &self.to),
            _ => internal_err!("one decimal becomes a float"),
        })
    }
}

fn nearest(decimals: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if let (DataType::Decimal128(_, scale @ 0..=EXACT_SCALE), DataType::Float64) = (decimals.data_type(), to) {
        let (own, power) = (decimals.as_primitive::<Decimal128Type>(), 10_f64.powi(i32::from(*scale)));
        if own.iter().flatten().all(|digits| digits.unsigned_abs() <= EXACT_WHOLE.unsigned_abs()) {
            return Ok(Arc::new(
                own.iter().map(|digits| digits.map(|digits| digits as f64 / power)).collect::<Float64Array>(),
            ));
        }
    }
    let texts = cast(decimals, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    Ok(match to {
        DataType::Float32 => Arc::new(texts.iter().map(|text| text?.parse().ok()).collect::<Float32Array>()),
        _ => Arc::new(texts.iter().map(|text| text?.parse().ok()).collect::<Float64Array>()),
    })
}
