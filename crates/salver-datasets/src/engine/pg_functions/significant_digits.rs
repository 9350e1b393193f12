//! Casts of floats to decimals: of a `double precision` fifteen significant digits count, and six of a `real`, so that
//! `0.1::real::numeric` is `0.1`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::row_function::RowFunction;

/// `significant_digits(x)`: a float with the digits that count of its type, as a `double precision`.
pub(in crate::engine) fn significant_digits() -> ScalarUDF {
    let returns = |types: &[DataType]| match types {
        [own] if own.is_floating() => Ok(DataType::Float64),
        _ => plan_err!("a float has significant digits"),
    };
    RowFunction::of_one("significant_digits", returns, |arrays, _| match arrays {
        [floats] => shortened(floats),
        _ => internal_err!("one float has significant digits"),
    })
}

/// Returns floats with the digits that count of their type.
pub(super) fn shortened(floats: &ArrayRef) -> Result<ArrayRef> {
    let all: Float64Array = match floats.data_type() {
        DataType::Float32 => floats.as_primitive::<Float32Type>().unary(|x| digits(f64::from(x), 6)),
        DataType::Float64 => floats.as_primitive::<Float64Type>().unary(|x| digits(x, 15)),
        other => return internal_err!("{other} is no float"),
    };
    Ok(Arc::new(all))
}

fn digits(x: f64, most: usize) -> f64 {
    // Whole numbers of fewer digits are exact.
    if x.fract() == 0.0 && x.abs() < 1e5 || !x.is_finite() {
        return x;
    }
    format!("{x:.*e}", most - 1).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn as_many_digits_as_count() {
        for (x, most, wanted) in [
            (f64::from(0.1_f32), 6, 0.1),
            (12_345_678_901_234.568, 15, 12_345_678_901_234.6),
            (-0.5, 15, -0.5),
            (99_999.0, 6, 99_999.0),
            (1_234_567.0, 6, 1_234_570.0),
        ] {
            assert_eq!(digits(x, most), wanted, "{x}");
        }
    }
}
