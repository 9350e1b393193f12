//! `date_trunc`, also for decades, centuries and millennia, for intervals, and for times out of the range of
//! nanoseconds.

use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, Time64NanosecondArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, FieldRef, Int64Type, IntervalUnit, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
};
use chrono::{Datelike, Days, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone, Timelike};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::functions::datetime;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::RowFunction;
use super::super::row_function::answered;
use super::interval_arithmetic;
use super::text_cast::time;
use super::time_ranges;

/// `date_trunc(unit, time)`.
pub(super) fn date_trunc() -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(Truncated { inner: datetime::date_trunc(), signature })
}

/// `time_rounded(time, step)`: rounds to a step in microseconds.
pub(super) fn time_rounded() -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    let returns = |types: &[DataType]| match types {
        [time @ (DataType::Timestamp(TimeUnit::Microsecond, _) | DataType::Time64(TimeUnit::Nanosecond)), _] => {
            Ok(time.clone())
        }
        _ => plan_err!("a time is rounded"),
    };
    let values = |arrays: &[ArrayRef], to: &DataType| -> Result<ArrayRef> {
        let [times, steps] = arrays else { return plan_err!("a time is rounded") };
        let steps = cast(steps, &DataType::Int64)?;
        let steps = steps.as_primitive::<Int64Type>();
        if let Some(times) = times.as_primitive_opt::<Time64NanosecondType>() {
            let rounded = |nanos: i64, step: i64| (nanos + step / 2) / step * step;
            let rounded = times.iter().zip(steps).map(|(nanos, step)| Some(rounded(nanos?, step?.max(1) * 1_000)));
            return Ok(Arc::new(rounded.collect::<Time64NanosecondArray>()));
        }
        let times = times.as_primitive::<TimestampMicrosecondType>().iter().zip(steps);
        // Halves are rounded away from 1970.
        let rounded = |micros: i64, step: i64| (micros + micros.signum() * (step / 2)) / step * step;
        let rounded = times.map(|(micros, step)| Some(rounded(micros?, step?.max(1))));
        Ok(Arc::new(rounded.collect::<TimestampMicrosecondArray>().with_data_type(to.clone())))
    };
    RowFunction { name: "time_rounded", signature, returns, values }.function()
}

/// Wrapper of the engine's function, which handles what it can.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Truncated {
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

const MICROS: TimeUnit = TimeUnit::Microsecond;

impl ScalarUDFImpl for Truncated {
    fn name(&self) -> &'static str {
        "date_trunc"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [_, of] = arg_types else { return plan_err!("`date_trunc` takes a unit and a timestamp") };
        let of = match of {
            DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => of.clone(),
            DataType::Interval(_) | DataType::Duration(_) => DataType::Interval(IntervalUnit::MonthDayNano),
            DataType::Date32 | DataType::Date64 | DataType::Null => DataType::Timestamp(MICROS, None),
            text if text.is_string() => DataType::Timestamp(MICROS, None),
            other => return plan_err!("`date_trunc` takes a timestamp or an interval, and no {other}"),
        };
        Ok(vec![DataType::Utf8, of])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        match args.arg_fields {
            [_, of] if !matches!(of.data_type(), DataType::Time32(_) | DataType::Time64(_)) => Ok(Arc::clone(of)),
            _ => self.inner.inner().return_field_from_args(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut args = args;
        let [ColumnarValue::Scalar(unit), of] = args.args.as_slice() else {
            return exec_err!("`date_trunc` needs its unit written out, as in `date_trunc('month', x)`");
        };
        let Some(unit) = unit.try_as_str().flatten().map(str::to_lowercase) else {
            return exec_err!("`date_trunc` needs its unit written out, as in `date_trunc('month', x)`");
        };
        // PostgreSQL accepts the plural, too.
        let unit = if unit.ends_with("seconds") { unit.trim_end_matches('s').to_owned() } else { unit };
        let own = of.data_type();
        let is_scalar = matches!(of, ColumnarValue::Scalar(_));
        let values = of.clone();
        args.args[0] = ColumnarValue::Scalar(ScalarValue::from(unit.as_str()));
        let rows = if is_scalar { 1 } else { args.number_rows };
        let cut = match &own {
            DataType::Interval(_) => interval_arithmetic::cut(&values.to_array(rows)?, &unit)?,
            DataType::Timestamp(..) if OWN.contains(&unit.as_str()) => cut(&values.to_array(rows)?, &unit)?,
            DataType::Timestamp(..) => match self.inner.inner().invoke_with_args(args) {
                Ok(cut) => return Ok(cut),
                Err(error) if !UNITS.contains(&unit.as_str()) => return Err(error),
                // The engine's function uses nanoseconds.
                Err(_) => cut(&values.to_array(rows)?, &unit)?,
            },
            _ => return self.inner.inner().invoke_with_args(args),
        };
        answered(cast(&cut, &own)?, is_scalar)
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        let [unit, times] = args else { return Ok(PreimageResult::None) };
        match unit.as_literal().and_then(|unit| unit.try_as_str().flatten()).map(str::to_lowercase) {
            Some(unit) => time_ranges::of_cut(&unit, value, times, info, |moment| begin(moment, &unit)),
            None => Ok(PreimageResult::None),
        }
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(input)
    }
}

/// Units that the engine lacks, or truncates towards 1970.
const OWN: [&str; 5] = ["decade", "century", "millennium", "millisecond", "microsecond"];
/// Units that it supports.
const UNITS: [&str; 8] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"];

fn cut(values: &ArrayRef, unit: &str) -> Result<ArrayRef> {
    let DataType::Timestamp(_, zone) = values.data_type() else { return plan_err!("a timestamp is cut") };
    let to = DataType::Timestamp(MICROS, zone.clone());
    let zone = zone.as_deref().map(str::parse::<Tz>).transpose()?;
    let times = cast(values, &to)?;
    let first = |micros: i64| match first(micros, unit, zone) {
        Some(micros) => Ok(micros),
        None => exec_err!("`date_trunc` can't cut a time to `{unit}`"),
    };
    let cut = times.as_primitive::<TimestampMicrosecondType>().iter().map(|micros| micros.map(first).transpose());
    let cut = cut.collect::<Result<TimestampMicrosecondArray>>()?;
    Ok(Arc::new(cut.with_data_type(to)))
}

/// Returns the first moment of a unit.
fn first(micros: i64, unit: &str, zone: Option<Tz>) -> Option<i64> {
    let utc = time(micros, MICROS)?;
    let local = zone.map_or(utc, |zone| utc + zone.offset_from_utc_datetime(&utc).fix());
    let first = begin(local, unit)?;
    let moment = match zone {
        Some(zone) => zone.from_local_datetime(&first).earliest()?.naive_utc(),
        None => first,
    };
    Some(moment.and_utc().timestamp_micros())
}

fn begin(local: NaiveDateTime, unit: &str) -> Option<NaiveDateTime> {
    let date = local.date();
    // Centuries and millennia begin with the year 1, decades with 0.
    let years = |size: i32, begin: i32| {
        NaiveDate::from_ymd_opt((date.year() - begin).div_euclid(size) * size + begin, 1, 1)?.and_hms_opt(0, 0, 0)
    };
    let midnight = |date: NaiveDate| date.and_hms_opt(0, 0, 0);
    let of_time = |nanos: i64| {
        let of_day = i64::from(local.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(local.nanosecond());
        local.checked_sub_signed(TimeDelta::nanoseconds(of_day % nanos))
    };
    match unit {
        "millennium" => years(1_000, 1),
        "century" => years(100, 1),
        "decade" => years(10, 0),
        "year" => years(1, 0),
        "quarter" => midnight(date.with_day(1)?.with_month0(date.month0() / 3 * 3)?),
        "month" => midnight(date.with_day(1)?),
        "week" => midnight(date.checked_sub_days(Days::new(date.weekday().num_days_from_monday().into()))?),
        "day" => midnight(date),
        "hour" => of_time(3_600_000_000_000),
        "minute" => of_time(60_000_000_000),
        "second" => of_time(1_000_000_000),
        "millisecond" => of_time(1_000_000),
        "microsecond" => of_time(1_000),
        _ => None,
    }
}
