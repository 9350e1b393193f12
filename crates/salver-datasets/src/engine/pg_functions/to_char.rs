//! `to_char`, `to_date` and `to_timestamp` with PostgreSQL's patterns. A pattern with a `%` is passed to the engine's
//! function.

use std::str::FromStr;
use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, AsArray, Date32Array, StringArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, TimeUnit, TimestampMicrosecondType};
use chrono::{DateTime, Datelike, Offset, TimeZone};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::functions::datetime;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::super::row_function::{answered, rows_of};
use super::datetime_pattern::LastPattern;
use super::{datetime_assembly, datetime_format, datetime_parser, interval_format, number_pattern};

/// `to_char(value, pattern)`.
pub(super) fn to_char() -> ScalarUDF {
    Patterned::function("to_char", PatternFunction::Char, datetime::to_char())
}

/// `to_date(text, pattern)`.
pub(super) fn to_date() -> ScalarUDF {
    Patterned::function("to_date", PatternFunction::Date, datetime::to_date())
}

/// `to_timestamp(text, pattern)`.
pub(super) fn to_timestamp() -> ScalarUDF {
    Patterned::function("to_timestamp", PatternFunction::Timestamp, datetime::to_timestamp(&ConfigOptions::default()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PatternFunction {
    Char,
    Date,
    Timestamp,
}

/// Wrapper of the engine's function, which handles all calls without a pattern of PostgreSQL's.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Patterned {
    name: &'static str,
    kind: PatternFunction,
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

impl Patterned {
    fn function(name: &'static str, kind: PatternFunction, inner: Arc<ScalarUDF>) -> ScalarUDF {
        ScalarUDF::new_from_impl(Self { name, kind, inner, signature: Signature::user_defined(Volatility::Immutable) })
    }
}

impl Patterned {
    /// Calls the engine's function; timestamps get a zone.
    fn own(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let answer = self.inner.inner().invoke_with_args(args)?;
        Ok(match answer {
            ColumnarValue::Array(array) if self.kind == PatternFunction::Timestamp => {
                ColumnarValue::Array(cast(&array, &zoned())?)
            }
            ColumnarValue::Scalar(value) if self.kind == PatternFunction::Timestamp => {
                ColumnarValue::Scalar(value.cast_to(&zoned())?)
            }
            other => other,
        })
    }
}

const MOMENT: TimeUnit = TimeUnit::Microsecond;

fn zoned() -> DataType {
    DataType::Timestamp(MOMENT, Some("UTC".into()))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

impl ScalarUDFImpl for Patterned {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(match (self.kind, arg_types) {
            (PatternFunction::Char, [value, _]) if value.is_integer() => {
                vec![DataType::Decimal128(20, 0), DataType::Utf8]
            }
            (PatternFunction::Char, [DataType::Null, _]) => vec![DataType::Timestamp(MOMENT, None), DataType::Utf8],
            (PatternFunction::Char, [value, _]) => vec![value.clone(), DataType::Utf8],
            (PatternFunction::Char, _) => return plan_err!("`to_char` takes a value and a pattern"),
            (_, [_, _]) => vec![DataType::Utf8, DataType::Utf8],
            (_, [value]) if value.is_decimal() => vec![DataType::Float64],
            (_, types) if !types.is_empty() => types.to_vec(),
            _ => return plan_err!("`{}` takes a text and a pattern", self.name),
        })
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match (self.kind, arg_types.len()) {
            (PatternFunction::Char, _) => Ok(DataType::Utf8),
            (PatternFunction::Date, _) => Ok(DataType::Date32),
            (PatternFunction::Timestamp, _) => Ok(zoned()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [_, pattern] = args.args.as_slice() else {
            return match args.args.as_slice() {
                [seconds] if seconds.data_type() == DataType::Float64 => moments(seconds, args.number_rows),
                _ => self.own(args),
            };
        };
        let (all_scalar, rows) = rows_of(&args);
        let patterns = cast(&pattern.to_array(rows)?, &DataType::Utf8)?;
        let patterns = patterns.as_string::<i32>();
        if patterns.iter().flatten().any(|pattern| pattern.contains('%')) {
            return self.own(args);
        }
        let values = args.args[0].to_array(rows)?;
        let made: ArrayRef = match self.kind {
            PatternFunction::Char => Arc::new(texts(&values, patterns)?),
            PatternFunction::Date => {
                let days = times(&values, patterns, self.name)?;
                let days = days.iter().map(|read| read.map(|read| read.local.num_days_from_ce() - EPOCH_FROM_CE));
                Arc::new(days.collect::<Date32Array>())
            }
            PatternFunction::Timestamp => {
                let times = times(&values, patterns, self.name)?;
                let micros = times.iter().map(|read| read.map(|read| read.micros()));
                Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
        };
        answered(made, all_scalar)
    }
}

/// Converts seconds since 1970 to timestamps, rounded to the nearest microsecond.
fn moments(seconds: &ColumnarValue, rows: usize) -> Result<ColumnarValue> {
    let is_scalar = matches!(seconds, ColumnarValue::Scalar(_));
    let seconds = seconds.to_array(if is_scalar { 1 } else { rows })?;
    let moments = seconds.as_primitive::<Float64Type>().iter().map(|seconds| match seconds {
        Some(x) if !x.is_finite() || x.abs() > 8e12 => exec_err!("`to_timestamp` can't tell a time so far away"),
        seconds => Ok(seconds.map(|x| (x * 1e6).round() as i64)),
    });
    let moments = moments.collect::<Result<TimestampMicrosecondArray>>()?.with_timezone("UTC");
    answered(Arc::new(moments), is_scalar)
}

/// Days from the first of the year 1 to the first of 1970, counted from 1.
const EPOCH_FROM_CE: i32 = 719_163;

fn times(values: &ArrayRef, patterns: &StringArray, name: &str) -> Result<Vec<Option<datetime_assembly::Read>>> {
    let texts = values.as_string::<i32>();
    let mut last = LastPattern::default();
    let mut times = Vec::with_capacity(texts.len());
    for (text, written) in texts.iter().zip(patterns) {
        let (Some(text), Some(written)) = (text, written) else {
            times.push(None);
            continue;
        };
        let parts = last.elements(written);
        match datetime_parser::fields(text, parts).and_then(|fields| datetime_assembly::of(&fields)) {
            Ok(read) => times.push(Some(read)),
            Err(wrong) => return exec_err!("`{name}` can't read '{text}' by '{written}': {wrong}"),
        }
    }
    Ok(times)
}

fn texts(values: &ArrayRef, patterns: &StringArray) -> Result<StringArray> {
    let data_type = values.data_type();
    if data_type.is_floating() || data_type.is_decimal() {
        return number_pattern::texts(values, patterns);
    }
    if matches!(data_type, DataType::Interval(_)) {
        return interval_format::texts(values, patterns);
    }
    let zone = match data_type {
        DataType::Timestamp(_, Some(zone)) => Some((zone.parse::<Tz>()?, zone.to_string())),
        DataType::Timestamp(_, None) => None,
        // A day begins by the clock of the session.
        DataType::Date32 | DataType::Date64 => Some((Tz::from_str("UTC")?, "UTC".to_owned())),
        DataType::Time32(_) | DataType::Time64(_) => None,
        text if is_text(text) => return exec_err!("`to_char` takes no text: cast it, as in `x::timestamp`"),
        other => return exec_err!("`to_char` does not take {other}: cast it to a timestamp, an interval or a number"),
    };
    let micros = match data_type {
        DataType::Time32(_) | DataType::Time64(_) => {
            let time = cast(values, &DataType::Time64(MOMENT))?;
            cast(&cast(&time, &DataType::Int64)?, &DataType::Timestamp(MOMENT, None))?
        }
        DataType::Timestamp(_, Some(_)) => cast(values, &zoned())?,
        _ => cast(values, &DataType::Timestamp(MOMENT, None))?,
    };
    let micros = micros.as_primitive::<TimestampMicrosecondType>();
    let mut last = LastPattern::default();
    let mut texts = arrow::array::StringBuilder::with_capacity(micros.len(), micros.len() * 16);
    for (time, written) in micros.iter().zip(patterns) {
        let (Some(time), Some(written)) = (time, written) else {
            texts.append_null();
            continue;
        };
        let parts = last.elements(written);
        let Some(utc) = DateTime::from_timestamp_micros(time).map(|time| time.naive_utc()) else {
            return exec_err!("`to_char` can't write a time so far away");
        };
        let moment = match &zone {
            Some((zone, name)) => {
                let offset = zone.offset_from_utc_datetime(&utc).fix();
                datetime_format::Moment { local: utc + offset, offset: offset.local_minus_utc(), zone: name }
            }
            None => datetime_format::Moment { local: utc, offset: 0, zone: "" },
        };
        texts.append_value(datetime_format::show(&moment, parts));
    }
    Ok(texts.finish())
}
