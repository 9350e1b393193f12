//! Masks of columns, computed over Arrow arrays.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, LargeStringArray, PrimitiveArray, StringArray, StringViewArray,
    UInt32Array, new_null_array,
};
use arrow::compute::{CastOptions, cast, cast_with_options, take};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, DecimalType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use arrow::error::ArrowError;
use salver_model::Value;
use salver_model::mask::{FLOAT_BOUND, Mask, MaskExpression, MaskPart, MaskedKind, SINGLE_BOUND, Step, TruncUnit};
use salver_text::calendar::{DAY_SECONDS, date_of, days_of};

/// Milliseconds of a day.
const DAY_MS: i64 = DAY_SECONDS * 1000;

/// Returns the kind of columns of this type.
pub(super) fn kind(data_type: &DataType) -> MaskedKind {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => MaskedKind::Text,
        DataType::Boolean => MaskedKind::Boolean,
        DataType::Float32 | DataType::Float64 => MaskedKind::Float,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
            u32::try_from(*scale).map_or(MaskedKind::Other, |scale| MaskedKind::Decimal(Some(scale)))
        }
        DataType::Date32 | DataType::Date64 => MaskedKind::Date,
        DataType::Timestamp(..) => MaskedKind::Timestamp,
        DataType::Dictionary(_, values) => kind(values),
        other if other.is_integer() => MaskedKind::Integer,
        _ => MaskedKind::Other,
    }
}

/// Returns the masked values, of the same type.
///
/// # Errors
/// If the mask does not fit the type.
pub(super) fn masked(mask: &Mask, values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if let MaskExpression::Constant(value) = mask.expression() {
        return constant(value, values.data_type(), values.len());
    }
    if let DataType::Dictionary(_, plain) = values.data_type() {
        return cast(&masked(mask, &cast(values, plain)?)?, values.data_type());
    }
    match mask.expression() {
        MaskExpression::Text(parts) => texts(values, |text| Some(put_together(parts, text))),
        MaskExpression::Floor(step) => floor(*step, values),
        MaskExpression::Trunc(unit) => trunc(*unit, values),
        MaskExpression::Constant(_) => misfit(values.data_type()),
    }
}

fn misfit(data_type: &DataType) -> Result<ArrayRef, ArrowError> {
    Err(ArrowError::CastError(format!("a mask is not for {data_type}")))
}

/// Returns an array that has `value` everywhere.
fn constant(value: &Value, data_type: &DataType, length: usize) -> Result<ArrayRef, ArrowError> {
    let text = match value {
        Value::Null => return Ok(new_null_array(data_type, length)),
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    };
    let one: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let exact = CastOptions { safe: false, ..CastOptions::default() };
    let one = cast_with_options(&one, data_type, &exact)?;
    take(&one, &UInt32Array::from_value(0, length), None)
}

/// Returns what `put` makes of each text.
fn texts(values: &ArrayRef, put: impl Fn(&str) -> Option<String>) -> Result<ArrayRef, ArrowError> {
    let put = |text: Option<&str>| text.and_then(&put);
    Ok(match values.data_type() {
        DataType::Utf8 => Arc::new(values.as_string::<i32>().iter().map(put).collect::<StringArray>()),
        DataType::LargeUtf8 => Arc::new(values.as_string::<i64>().iter().map(put).collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(values.as_string_view().iter().map(put).collect::<StringViewArray>()),
        other => return misfit(other),
    })
}

fn put_together(parts: &[MaskPart], text: &str) -> String {
    let mut all = String::new();
    for part in parts {
        all.push_str(match part {
            MaskPart::Text(own) => own,
            MaskPart::Left(count) => {
                let end = text.char_indices().nth(*count as usize).map_or(text.len(), |(end, _)| end);
                &text[..end]
            }
            MaskPart::Right(0) => "",
            MaskPart::Right(count) => {
                let start = text.char_indices().rev().nth(*count as usize - 1).map_or(0, |(start, _)| start);
                &text[start..]
            }
        });
    }
    all
}

fn floor(step: Step, values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match values.data_type() {
        DataType::Int8 => whole::<Int8Type>(step, values),
        DataType::Int16 => whole::<Int16Type>(step, values),
        DataType::Int32 => whole::<Int32Type>(step, values),
        DataType::Int64 => whole::<Int64Type>(step, values),
        DataType::UInt8 => whole::<UInt8Type>(step, values),
        DataType::UInt16 => whole::<UInt16Type>(step, values),
        DataType::UInt32 => whole::<UInt32Type>(step, values),
        DataType::UInt64 => whole::<UInt64Type>(step, values),
        DataType::Float64 => {
            let step = step.float();
            let floored = |value: f64| (value.abs() < FLOAT_BOUND).then(|| (value / step).floor() * step + 0.0);
            Arc::new(values.as_primitive::<Float64Type>().unary_opt::<_, Float64Type>(floored))
        }
        DataType::Float32 => {
            let step = step.float();
            #[allow(clippy::cast_possible_truncation, reason = "it is rounded, as the column's values are")]
            let floored = |value: f32| {
                let value = f64::from(value);
                (value.abs() < SINGLE_BOUND).then(|| ((value / step).floor() * step + 0.0) as f32)
            };
            Arc::new(values.as_primitive::<Float32Type>().unary_opt::<_, Float32Type>(floored))
        }
        DataType::Decimal128(precision, scale) => {
            let Some(step) = scaled(step, *scale) else { return misfit(values.data_type()) };
            let floored = |value: i128| {
                let floored = value.checked_sub(value.rem_euclid(step))?;
                Decimal128Type::is_valid_decimal_precision(floored, *precision).then_some(floored)
            };
            let floored = values.as_primitive::<Decimal128Type>().unary_opt::<_, Decimal128Type>(floored);
            Arc::new(floored.with_precision_and_scale(*precision, *scale)?)
        }
        DataType::Decimal256(precision, scale) => {
            let Some(step) = scaled(step, *scale).map(i256::from_i128) else { return misfit(values.data_type()) };
            let floored = |value: i256| {
                let rest = value.checked_rem(step)?;
                let rest = if rest < i256::ZERO { rest.checked_add(step)? } else { rest };
                let floored = value.checked_sub(rest)?;
                Decimal256Type::is_valid_decimal_precision(floored, *precision).then_some(floored)
            };
            let floored = values.as_primitive::<Decimal256Type>().unary_opt::<_, Decimal256Type>(floored);
            Arc::new(floored.with_precision_and_scale(*precision, *scale)?)
        }
        other => return misfit(other),
    })
}

/// Returns the step in units of a decimal with this scale; `None` if it is none, or larger than any decimal.
fn scaled(step: Step, scale: i8) -> Option<i128> {
    let power = u32::try_from(i32::from(scale) - i32::from(step.scale())).ok()?;
    10_i128.checked_pow(power)?.checked_mul(i128::from(step.unscaled()))
}

fn whole<T>(step: Step, values: &ArrayRef) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: Into<i128> + TryFrom<i128>,
{
    let step = i128::from(step.unscaled());
    let floored = |value: T::Native| {
        let value: i128 = value.into();
        T::Native::try_from(value - value.rem_euclid(step)).ok()
    };
    Arc::new(values.as_primitive::<T>().unary_opt::<_, T>(floored))
}

fn trunc(unit: TruncUnit, values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match values.data_type() {
        DataType::Date32 => {
            let day = |days: i32| i32::try_from(first_day(unit, i64::from(days))).ok();
            Arc::new(values.as_primitive::<Date32Type>().unary_opt::<_, Date32Type>(day))
        }
        DataType::Date64 => {
            let day = |ms: i64| first_day(unit, ms.div_euclid(DAY_MS)).checked_mul(DAY_MS);
            Arc::new(values.as_primitive::<Date64Type>().unary_opt::<_, Date64Type>(day))
        }
        DataType::Timestamp(TimeUnit::Second, _) => moments::<TimestampSecondType>(unit, 1, values),
        DataType::Timestamp(TimeUnit::Millisecond, _) => moments::<TimestampMillisecondType>(unit, 1_000, values),
        DataType::Timestamp(TimeUnit::Microsecond, _) => moments::<TimestampMicrosecondType>(unit, 1_000_000, values),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moments::<TimestampNanosecondType>(unit, 1_000_000_000, values),
        _ => return texts(values, |text| truncated(unit, text)),
    })
}

/// Truncates a date, or a date and time, that is a text in ISO 8601 without offset; returns `None` for another.
fn truncated(unit: TruncUnit, text: &str) -> Option<String> {
    let has = |from: usize, form: &str| {
        let bytes = text.as_bytes().get(from..from + form.len());
        bytes.is_some_and(|own| {
            own.iter()
                .zip(form.bytes())
                .all(|(own, form)| if form == b'0' { own.is_ascii_digit() } else { *own == form })
        })
    };
    if !has(0, "0000-00-00") {
        return None;
    }
    let day = |date: &str| match unit {
        TruncUnit::Year => format!("{}-01-01", &date[..4]),
        TruncUnit::Month => format!("{}-01", &date[..7]),
        TruncUnit::Day | TruncUnit::Hour => date.to_owned(),
    };
    if text.len() == 10 {
        return (unit != TruncUnit::Hour).then(|| day(text));
    }
    let is_moment = (has(10, " ") || has(10, "T")) && has(11, "00:00") && !text[16..].contains(['-', '+']);
    if !is_moment {
        return None;
    }
    let hour = if unit == TruncUnit::Hour { &text[11..13] } else { "00" };
    Some(format!("{}{}{hour}:00:00", day(&text[..10]), &text[10..11]))
}

/// Truncates moments that are counted in `second` parts of a second.
fn moments<T: ArrowPrimitiveType<Native = i64>>(unit: TruncUnit, second: i64, values: &ArrayRef) -> ArrayRef {
    let day = DAY_SECONDS * second;
    let truncated = |value: i64| match unit {
        TruncUnit::Hour => value.checked_sub(value.rem_euclid(3_600 * second)),
        _ => first_day(unit, value.div_euclid(day)).checked_mul(day),
    };
    let truncated: PrimitiveArray<T> = values.as_primitive::<T>().unary_opt(truncated);
    Arc::new(truncated.with_data_type(values.data_type().clone()))
}

/// Returns the first day of the year or month that a day is in.
fn first_day(unit: TruncUnit, days: i64) -> i64 {
    match unit {
        TruncUnit::Year => days_of(date_of(days).0, 1, 1),
        TruncUnit::Month => {
            let (year, month, _) = date_of(days);
            days_of(year, u32::from(month), 1)
        }
        TruncUnit::Day | TruncUnit::Hour => days,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int8Array, Int64Array, StringArray, UInt64Array};
    use arrow::compute::cast;
    use arrow::datatypes::{DataType, TimeUnit};
    use arrow::util::display::array_value_to_string;
    use salver_model::Mask;

    use super::masked;

    /// Masks the values and shows them, null as `-`.
    fn told(text: &str, values: ArrayRef) -> String {
        let masked = masked(&Mask::parse("c", text).unwrap(), &values).unwrap();
        assert_eq!(masked.data_type(), values.data_type());
        let shown =
            |row| if masked.is_null(row) { "-".to_owned() } else { array_value_to_string(&masked, row).unwrap() };
        (0..masked.len()).map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("Ĝoé😀"), Some(""), None, Some("ab")]));
        let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        for data_type in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View, dictionary] {
            let texts = || cast(&texts, &data_type).unwrap();
            assert_eq!(told("left(c, 1) || '*'", texts()), "Ĝ* * - a*");
            assert_eq!(told("'*' || right(c, 2)", texts()), "*é😀 * - *ab");
            assert_eq!(told("left(c, 0) || right(c, 0) || '.'", texts()), ". . - .");
            assert_eq!(told("left(c, 99)", texts()), "Ĝoé😀  - ab");
            assert_eq!((told("'x'", texts()), told("null", texts())), ("x x x x".into(), "- - - -".into()));
        }
    }

    #[test]
    fn numbers() {
        let whole: ArrayRef = Arc::new(Int64Array::from(vec![Some(17), Some(-3), Some(0), None, Some(i64::MIN)]));
        assert_eq!(told("floor(c, 10)", whole), "10 -10 0 - -");
        let small: ArrayRef = Arc::new(Int8Array::from(vec![127, -128, -1]));
        assert_eq!(told("floor(c, 1000)", small), "0 - -");
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert_eq!(told("floor(c, 10)", large), "18446744073709551610");
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![0.74, -0.1, -0.0, f64::NAN, f64::INFINITY, 1e308]));
        assert_eq!(told("floor(c, 0.5)", floats), "0.5 -0.5 0.0 - - -");
        let decimals = Decimal128Array::from(vec![12345, -1, -99999]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(told("floor(c, 0.5)", Arc::new(decimals.clone())), "123.00 -0.50 -");
        assert_eq!(told("7", Arc::new(decimals)), "7.00 7.00 7.00");
    }

    #[test]
    fn texts_that_are_dates() {
        let texts = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
        let few = || texts(&["2024-02-29", "2024-02-29 01:30:00", "2024-02-29T01:30:00.25Z"]);
        assert_eq!(told("trunc(c, 'year')", few()), "2024-01-01 2024-01-01 00:00:00 2024-01-01T00:00:00");
        assert_eq!(told("trunc(c, 'day')", few()), "2024-02-29 2024-02-29 00:00:00 2024-02-29T00:00:00");
        assert_eq!(told("trunc(c, 'hour')", few()), "- 2024-02-29 01:00:00 2024-02-29T01:00:00");
        let none = texts(&["2024-02-29T01:30:00+02:00", "2024-02-29x", "24-02-29", "", "é024-02-29"]);
        assert_eq!(told("trunc(c, 'day')", none), "- - - - -");
    }

    #[test]
    fn dates_and_times() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("1969-12-31"), Some("2024-02-29"), None]));
        for data_type in [DataType::Date32, DataType::Date64] {
            let dates = || cast(&texts, &data_type).unwrap();
            assert!(told("trunc(c, 'year')", dates()).starts_with("1969-01-01"));
            assert!(told("trunc(c, 'month')", dates()).contains(" 2024-02-01"));
        }
        let texts: ArrayRef =
            Arc::new(StringArray::from(vec![Some("1969-12-31T23:59:59"), Some("2024-02-29T01:30:00")]));
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            let times = || cast(&texts, &DataType::Timestamp(unit, None)).unwrap();
            assert_eq!(told("trunc(c, 'year')", times()), "1969-01-01T00:00:00 2024-01-01T00:00:00");
            assert_eq!(told("trunc(c, 'month')", times()), "1969-12-01T00:00:00 2024-02-01T00:00:00");
            assert_eq!(told("trunc(c, 'day')", times()), "1969-12-31T00:00:00 2024-02-29T00:00:00");
            assert_eq!(told("trunc(c, 'hour')", times()), "1969-12-31T23:00:00 2024-02-29T01:00:00");
            assert_eq!(told("'2000-01-01 00:00:00'", times()), "2000-01-01T00:00:00 2000-01-01T00:00:00");
        }
    }
}
