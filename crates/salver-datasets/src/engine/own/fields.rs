//! `extract(field from x)` and `date_part('field', x)`: the same fields, as decimals with PostgreSQL's number of
//! digits, and as floats.

mod of;

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array};

use arrow::datatypes::{DataType, Field as Column, FieldRef, TimeUnit};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::ranges;
use of::Source;

/// `extract(field from x)`, which returns a decimal.
pub(super) fn extract() -> ScalarUDF {
    ScalarUDF::new_from_impl(Part { name: "extract", signature: Signature::user_defined(Volatility::Immutable) })
}

/// `date_part('field', x)`, which returns a float.
pub(super) fn date_part() -> ScalarUDF {
    ScalarUDF::new_from_impl(Part { name: "date_part", signature: Signature::user_defined(Volatility::Immutable) })
}

/// A field of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Century,
    Day,
    Decade,
    Dow,
    Doy,
    Epoch,
    Hour,
    IsoDow,
    IsoYear,
    Julian,
    Microseconds,
    Millennium,
    Milliseconds,
    Minute,
    Month,
    Quarter,
    Second,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
    Week,
    Year,
}

/// Names of the fields, as in PostgreSQL.
const WORDS: [(Field, &[&str]); 22] = [
    (Field::Century, &["century", "centuries", "c", "cent"]),
    (Field::Day, &["day", "d", "days"]),
    (Field::Decade, &["decade", "dec", "decades", "decs"]),
    (Field::Dow, &["dow"]),
    (Field::Doy, &["doy"]),
    (Field::Epoch, &["epoch"]),
    (Field::Hour, &["hour", "h", "hours", "hr", "hrs"]),
    (Field::IsoDow, &["isodow"]),
    (Field::IsoYear, &["isoyear"]),
    (Field::Julian, &["julian", "j", "jd"]),
    (Field::Microseconds, &["microseconds", "microsecond", "us", "usec", "usecs", "usecond", "useconds"]),
    (Field::Millennium, &["millennium", "millennia", "mil", "mils"]),
    (Field::Milliseconds, &["milliseconds", "millisecond", "ms", "msec", "msecs", "msecond", "mseconds"]),
    (Field::Minute, &["minute", "m", "min", "mins", "minutes"]),
    (Field::Month, &["month", "mon", "mons", "months"]),
    (Field::Quarter, &["quarter", "qtr"]),
    (Field::Second, &["second", "s", "sec", "secs", "seconds"]),
    (Field::Timezone, &["timezone"]),
    (Field::TimezoneHour, &["timezone_hour"]),
    (Field::TimezoneMinute, &["timezone_minute"]),
    (Field::Week, &["week", "w", "weeks"]),
    (Field::Year, &["year", "y", "yr", "yrs", "years"]),
];

impl Field {
    fn of(word: &str) -> Result<Self> {
        let lower = word.trim_matches(['\'', '"']).to_ascii_lowercase();
        match WORDS.iter().find(|(_, words)| words.contains(&lower.as_str())) {
            Some((field, _)) => Ok(*field),
            None => plan_err!(
                "a time has no field `{word}`; write `year`, `month`, `day`, `hour`, `minute`, `second`, `epoch`, \
                 `dow`, `isodow`, `doy`, `week`, `quarter` or the like"
            ),
        }
    }

    fn word(self) -> &'static str {
        WORDS.iter().find(|(field, _)| *field == self).map_or("", |(_, words)| words[0])
    }

    /// Returns the precision and scale of the field's decimal.
    fn digits(self, of: &DataType) -> (u8, i8) {
        let is_date = matches!(of, DataType::Date32);
        match self {
            Self::Second => (8, 6),
            Self::Milliseconds => (8, 3),
            Self::Epoch if !is_date => (24, 6),
            Self::Julian if !is_date => (38, 20),
            _ => (18, 0),
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Part {
    name: &'static str,
    signature: Signature,
}

impl Part {
    fn gives_decimals(&self) -> bool {
        self.name == "extract"
    }
}

const MICROS: TimeUnit = TimeUnit::Microsecond;

impl ScalarUDFImpl for Part {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [_, of] = arg_types else { return plan_err!("`{}` takes a field and a time", self.name) };
        let of = match of {
            DataType::Date32 | DataType::Interval(_) | DataType::Timestamp(..) | DataType::Duration(_) => of.clone(),
            DataType::Date64 => DataType::Date32,
            DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(MICROS),
            DataType::Null => DataType::Timestamp(MICROS, None),
            text if text.is_string() => DataType::Timestamp(MICROS, None),
            other => return plan_err!("`{}` takes a date, a time or an interval, and no {other}", self.name),
        };
        Ok(vec![DataType::Utf8, of])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        plan_err!("`{}` needs its field written out", self.name)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let word = args.scalar_arguments.first().copied().flatten().and_then(|word| word.try_as_str().flatten());
        let (Some(word), Some(of)) = (word, args.arg_fields.get(1)) else {
            return plan_err!("`{}` needs its field written out", self.name);
        };
        let field = Field::of(word)?;
        Source::check(field, of.data_type(), self.gives_decimals())?;
        let (precision, scale) = field.digits(of.data_type());
        let gives = if self.gives_decimals() { DataType::Decimal128(precision, scale) } else { DataType::Float64 };
        Ok(Arc::new(Column::new(self.name, gives, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ColumnarValue::Scalar(word), values] = args.args.as_slice() else {
            return exec_err!("`{}` needs its field written out", self.name);
        };
        let field = Field::of(word.try_as_str().flatten().unwrap_or_default())?;
        let is_scalar = matches!(values, ColumnarValue::Scalar(_));
        let values = values.to_array(if is_scalar { 1 } else { args.number_rows })?;
        let (precision, scale) = field.digits(values.data_type());
        let parts = Source::of(&values)?.parts(field, scale)?;
        let parts: ArrayRef = if self.gives_decimals() {
            Arc::new(parts.into_iter().collect::<Decimal128Array>().with_precision_and_scale(precision, scale)?)
        } else {
            let one = 10_f64.powi(scale.into());
            Arc::new(parts.into_iter().map(|part| part.map(|part| part as f64 / one)).collect::<Float64Array>())
        };
        if is_scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&parts, 0)?));
        }
        Ok(ColumnarValue::Array(parts))
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        let [word, times] = args else { return Ok(PreimageResult::None) };
        let word = word.as_literal().and_then(|word| word.try_as_str().flatten());
        match word.map(Field::of).transpose()? {
            Some(Field::Year) => ranges::of_year(value, times, info),
            _ => Ok(PreimageResult::None),
        }
    }
}
