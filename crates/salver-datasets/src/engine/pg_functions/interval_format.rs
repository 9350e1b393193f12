//! `to_char` of intervals: the fields of an interval are not carried over to greater ones, so that `HH24` of 26 hours
//! is 26. Fields of calendar dates are refused, as in PostgreSQL (`DCH_to_char` of its `formatting.c`).

use arrow::array::{ArrayRef, AsArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::{DataFusionError, Result};
use salver_model::{Code, Error};

use super::datetime_format::{cased, fraction, ordinal};
use super::datetime_pattern::{DatetimeElement, DatetimeField, LastPattern};

const MICRO_NANOS: i64 = 1_000;
const SECOND_MICROS: i64 = 1_000_000;
const MINUTE_SECONDS: i64 = 60;
const HOUR_SECONDS: i64 = 3_600;
const YEAR_MONTHS: i64 = 12;
const MONTH_DAYS: i64 = 30;

/// Formats intervals by patterns.
///
/// # Errors
/// A pattern with a field that an interval lacks.
pub(super) fn texts(values: &ArrayRef, patterns: &StringArray) -> Result<StringArray> {
    let values = cast(values, &DataType::Interval(IntervalUnit::MonthDayNano))?;
    let spans = values.as_primitive::<IntervalMonthDayNanoType>();
    let mut last = LastPattern::default();
    let mut texts = StringBuilder::with_capacity(spans.len(), spans.len() * 16);
    for (span, written) in spans.iter().zip(patterns) {
        match (span, written) {
            (Some(span), Some(written)) => texts.append_value(show(span, last.elements(written))?),
            _ => texts.append_null(),
        }
    }
    Ok(texts.finish())
}

fn show(span: IntervalMonthDayNano, elements: &[DatetimeElement]) -> Result<String> {
    let mut shown = String::new();
    for element in elements {
        match element {
            DatetimeElement::Text(text) | DatetimeElement::Between(text) => shown.push_str(text),
            DatetimeElement::Field(DatetimeField { word: "FX", .. }) => {}
            DatetimeElement::Field(field) => shown.push_str(&one(span, *field)?),
        }
    }
    Ok(shown)
}

fn one(span: IntervalMonthDayNano, field: DatetimeField) -> Result<String> {
    let (months, days) = (i64::from(span.months), i64::from(span.days));
    let (year, month) = (months / YEAR_MONTHS, months % YEAR_MONTHS);
    let micros = span.nanoseconds / MICRO_NANOS;
    let (seconds, micros) = (micros / SECOND_MICROS, micros % SECOND_MICROS);
    let (hour, minute) = (seconds / HOUR_SECONDS, seconds / MINUTE_SECONDS % MINUTE_SECONDS);
    let ordered = |digits: String, number: i64| match field.ordinal {
        Some(case) => digits + &cased(ordinal(number), case),
        None => digits,
    };
    let number = |number: i64, digits: usize| {
        let width = if field.bare { 0 } else { digits + usize::from(number < 0) };
        ordered(format!("{number:0width$}"), number)
    };
    // The sign counts as a digit.
    let fixed = |number: i64, digits: usize| ordered(format!("{number:0digits$}"), number);
    let day = |number: i64, digits: usize| fixed(number, if field.bare { 0 } else { digits });
    let is_morning = hour % 24 < 12;
    Ok(match field.word {
        "HH24" => number(hour, 2),
        "HH12" | "HH" => number(if hour % 12 == 0 { 12 } else { hour % 12 }, 2),
        "MI" => number(minute, 2),
        "SS" => number(seconds % MINUTE_SECONDS, 2),
        "SSSS" | "SSSSS" => number(seconds, 0),
        "AM" | "PM" => cased(if is_morning { "AM" } else { "PM" }, field.case),
        "A.M." | "P.M." => cased(if is_morning { "A.M." } else { "P.M." }, field.case),
        "YYYY" => number(year, 4),
        "YYY" => number(year % 1_000, 3),
        "YY" => number(year % 100, 2),
        "Y" => number(year % 10, 1),
        "CC" => number(year / 100, 2),
        "MM" => number(month, 2),
        "DD" => day(days, 2),
        "DDD" => day(months * MONTH_DAYS + days, 3),
        word => {
            if let Some((number, digits)) = fraction(word, micros) {
                return Ok(fixed(number, digits));
            }
            let error = Error::new(Code::InvalidSql, format!("an interval has no `{word}` for `to_char`"))
                .with_hint("an interval is no date: add it to one, or take `DD`, `HH24`, `MI` or `SS`");
            return Err(DataFusionError::External(Box::new(error)));
        }
    })
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::IntervalMonthDayNano;

    use super::super::datetime_pattern::parse;
    use super::show;

    #[test]
    fn as_postgresql_writes_them() {
        let span = |months, days, micros: i64| IntervalMonthDayNano::new(months, days, micros * 1_000);
        for (span, pattern, expected) in [
            (span(0, 0, 9_000_000_000), "HH24:MI:SS", "02:30:00"),
            (span(14, 3, 93_784_012_345), "YYYY-MM-DD HH24:MI:SS.US", "0001-02-03 26:03:04.012345"),
            (span(0, 0, -93_784_012_345), "HH24:MI:SS MS", "-26:-03:-04 -12"),
            (span(-14, -3, 0), "YYYY-MM-DD", "-0001--02--3"),
            (span(1, 2, 50_000_000_000), "DDD FMDDth HH12 AM SSSS", "032 2nd 01 PM 50000"),
        ] {
            assert_eq!(show(span, &parse(pattern)).unwrap(), expected, "{pattern}");
        }
        let error = show(span(1, 0, 0), &parse("FMMonth")).unwrap_err();
        assert!(error.to_string().contains("`MONTH`"), "{error}");
    }
}
