//! Texts of rows that are cast to timestamps, times of day and intervals, in the forms in which literals are read.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, IntervalMonthDayNanoArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalUnit};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::ScalarUDF;
use salver_text::interval::Span;

use super::super::literal_text;
use super::super::row_function::RowFunction;

/// `timestamp_text(x)`: the text of a timestamp as the engine's kernels read it. Without a zone, it ignores the offset.
pub(super) fn timestamp_text(zoned: bool) -> ScalarUDF {
    match zoned {
        true => {
            RowFunction::of_one("timestamptz_text", returns, |arrays, _| written(arrays, |text| timestamp(text, true)))
        }
        false => {
            RowFunction::of_one("timestamp_text", returns, |arrays, _| written(arrays, |text| timestamp(text, false)))
        }
    }
}

/// `time_text(x)`: the text of a time of day as the engine's kernels read it.
pub(super) fn time_text() -> ScalarUDF {
    RowFunction::of_one("time_text", returns, |arrays, _| written(arrays, |text| Cow::Owned(literal_text::time(text))))
}

/// `read_interval(x)`: the interval that a text tells.
pub(super) fn read_interval() -> ScalarUDF {
    RowFunction::of_one("read_interval", returns_interval, |arrays, _| {
        intervals(arrays, |text| match interval(text) {
            Some(read) => Ok(Some(read)),
            None => exec_err!("invalid input syntax for type interval: \"{text}\""),
        })
    })
}

/// `try_read_interval(x)`: the same, or null.
pub(super) fn try_read_interval() -> ScalarUDF {
    RowFunction::of_one("try_read_interval", returns_interval, |arrays, _| intervals(arrays, |text| Ok(interval(text))))
}

fn returns_interval(types: &[DataType]) -> Result<DataType> {
    returns(types).map(|_| DataType::Interval(IntervalUnit::MonthDayNano))
}

fn intervals(arrays: &[ArrayRef], read: impl Fn(&str) -> Result<Option<IntervalMonthDayNano>>) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one text is read as an interval") };
    let texts = cast(values, &DataType::Utf8)?;
    let all = texts.as_string::<i32>().iter().map(|text| text.map_or(Ok(None), &read));
    Ok(Arc::new(all.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn interval(text: &str) -> Option<IntervalMonthDayNano> {
    let Span { months, days, micros } = salver_text::interval::read(text)?;
    let (months, days) = (i32::try_from(months).ok()?, i32::try_from(days).ok()?);
    Some(IntervalMonthDayNano::new(months, days, micros.checked_mul(1_000)?))
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if own.is_string() => Ok(DataType::Utf8),
        _ => plan_err!("a text is read as a time"),
    }
}

fn written(arrays: &[ArrayRef], write: fn(&str) -> Cow<'_, str>) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one text is read as a time") };
    let texts = cast(values, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    let mut all = StringBuilder::with_capacity(texts.len(), texts.value_data().len());
    for text in texts {
        all.append_option(text.map(write));
    }
    Ok(Arc::new(all.finish()))
}

fn timestamp(text: &str, zoned: bool) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) { Cow::Borrowed(text) } else { Cow::Owned(literal_text::timestamp(text, zoned)) }
}

/// Returns whether a text is `2024-01-31`, or `2024-01-31 12:00:00` with digits and an offset of two digits behind it.
fn is_plain(text: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00 00:00:00";
    let fits = |(own, form): (&u8, &u8)| match form {
        b'0' => own.is_ascii_digit(),
        b' ' => matches!(own, b' ' | b'T'),
        form => own == form,
    };
    let behind = text.get(FORM.len()..).unwrap_or_default();
    let ends_day = text.get(11..13) == Some(b"24");
    (text.len() == 10 || text.len() >= FORM.len())
        && !ends_day
        && text.iter().zip(FORM).all(fits)
        && behind.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn texts_of_rows_are_read_as_literals_are() {
        for (text, wanted) in [
            ("2024-01-31", "2024-01-31"),
            ("2024-01-31T12:00:00.5", "2024-01-31T12:00:00.5"),
            ("2024-1-5 3:4", "2024-01-05 03:04:00"),
            ("2024-01-31 12:00 CET", "2024-01-31 12:00:00+01:00"),
            ("2024-07-01 12:00:00+2", "2024-07-01 12:00:00+02"),
            ("2024-01-31 12:00:00+02:00", "2024-01-31 12:00:00+02:00"),
            ("2024-01-3", "2024-01-03"),
            ("no time", "no time"),
        ] {
            assert_eq!(timestamp(text, true), wanted, "{text}");
        }
        assert_eq!(timestamp("2024-07-01 12:00:00+02", false), "2024-07-01 12:00:00");
    }
}
