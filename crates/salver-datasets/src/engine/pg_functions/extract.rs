//! `extract(field from x)` and `date_part('field', x)`: the same fields, as decimals with PostgreSQL's number of
//! digits, and as floats.

mod field_values;

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array, Float64Array};

use arrow::datatypes::{DataType, Field as Column, FieldRef, TimeUnit};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::answered;
use super::time_ranges;
use field_values::FieldValues;

/// `extract(field from x)`, which returns a decimal.
pub(super) fn extract() -> ScalarUDF {
    ScalarUDF::new_from_impl(ExtractFunction {
        name: "extract",
        signature: Signature::user_defined(Volatility::Immutable),
    })
}

/// `date_part('field', x)`, which returns a float.
pub(super) fn date_part() -> ScalarUDF {
    ScalarUDF::new_from_impl(ExtractFunction {
        name: "date_part",
        signature: Signature::user_defined(Volatility::Immutable),
    })
}

/// A field of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtractField {
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
const WORDS: [(ExtractField, &[&str]); 22] = [
    (ExtractField::Century, &["century", "centuries", "c", "cent"]),
    (ExtractField::Day, &["day", "d", "days"]),
    (ExtractField::Decade, &["decade", "dec", "decades", "decs"]),
    (ExtractField::Dow, &["dow"]),
    (ExtractField::Doy, &["doy"]),
    (ExtractField::Epoch, &["epoch"]),
    (ExtractField::Hour, &["hour", "h", "hours", "hr", "hrs"]),
    (ExtractField::IsoDow, &["isodow"]),
    (ExtractField::IsoYear, &["isoyear"]),
    (ExtractField::Julian, &["julian", "j", "jd"]),
    (ExtractField::Microseconds, &["microseconds", "microsecond", "us", "usec", "usecs", "usecond", "useconds"]),
    (ExtractField::Millennium, &["millennium", "millennia", "mil", "mils"]),
    (ExtractField::Milliseconds, &["milliseconds", "millisecond", "ms", "msec", "msecs", "msecond", "mseconds"]),
    (ExtractField::Minute, &["minute", "m", "min", "mins", "minutes"]),
    (ExtractField::Month, &["month", "mon", "mons", "months"]),
    (ExtractField::Quarter, &["quarter", "qtr"]),
    (ExtractField::Second, &["second", "s", "sec", "secs", "seconds"]),
    (ExtractField::Timezone, &["timezone"]),
    (ExtractField::TimezoneHour, &["timezone_hour"]),
    (ExtractField::TimezoneMinute, &["timezone_minute"]),
    (ExtractField::Week, &["week", "w", "weeks"]),
    (ExtractField::Year, &["year", "y", "yr", "yrs", "years"]),
];

impl ExtractField {
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
struct ExtractFunction {
    name: &'static str,
    signature: Signature,
}

impl ExtractFunction {
    fn gives_decimals(&self) -> bool {
        self.name == "extract"
    }
}

const MICROS: TimeUnit = TimeUnit::Microsecond;

impl ScalarUDFImpl for ExtractFunction {
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
        let field = ExtractField::of(word)?;
        FieldValues::check(field, of.data_type(), self.gives_decimals())?;
        let (precision, scale) = field.digits(of.data_type());
        let gives = if self.gives_decimals() { DataType::Decimal128(precision, scale) } else { DataType::Float64 };
        Ok(Arc::new(Column::new(self.name, gives, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ColumnarValue::Scalar(word), values] = args.args.as_slice() else {
            return exec_err!("`{}` needs its field written out", self.name);
        };
        let field = ExtractField::of(word.try_as_str().flatten().unwrap_or_default())?;
        let is_scalar = matches!(values, ColumnarValue::Scalar(_));
        let values = values.to_array(if is_scalar { 1 } else { args.number_rows })?;
        let (precision, scale) = field.digits(values.data_type());
        let parts = FieldValues::of(&values)?.parts(field, scale)?;
        let parts: ArrayRef = if self.gives_decimals() {
            Arc::new(parts.into_iter().collect::<Decimal128Array>().with_precision_and_scale(precision, scale)?)
        } else {
            let one = 10_f64.powi(scale.into());
            Arc::new(parts.into_iter().map(|part| part.map(|part| part as f64 / one)).collect::<Float64Array>())
        };
        answered(parts, is_scalar)
    }

    fn preimage(&self, args: &[Expr], value: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
        let [word, times] = args else { return Ok(PreimageResult::None) };
        let word = word.as_literal().and_then(|word| word.try_as_str().flatten());
        match word.map(ExtractField::of).transpose()? {
            Some(ExtractField::Year) => time_ranges::of_year(value, times, info),
            _ => Ok(PreimageResult::None),
        }
    }
}
