//! Formats values as text as PostgreSQL does, for casts to text, `||`, `concat` and `format`.

mod datetimes;

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, DurationMicrosecondType, Field, Float32Type, Float64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, Time64NanosecondType, TimeUnit,
};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use salver_text::pg_float::FloatText;

use super::super::row_function::RowFunction;
pub(super) use datetimes::time;

/// Returns the function that formats a value.
pub(in crate::engine) fn written() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [values] = arrays else { return plan_err!("one value is written") };
        Ok(Arc::new(texts(values)?))
    };
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "written", signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

/// Returns the function that formats the elements of a list.
pub(in crate::engine) fn written_each() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [values] = arrays else { return plan_err!("one list is written") };
        let lists = lists(values)?;
        let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
        let texts = Arc::new(shown(lists.values())?);
        Ok(Arc::new(ListArray::try_new(field, lists.offsets().clone(), texts, lists.nulls().cloned())?))
    };
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "written_each", signature, returns: |_| Ok(list_of_texts()), values }.function()
}

fn list_of_texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

/// Returns whether the text of these values differs from that of the kernels.
pub(in crate::engine) fn differs(data_type: &DataType) -> bool {
    use DataType::{Date32, Date64, Duration, Interval, Struct, Time32, Time64, Timestamp};
    data_type.is_floating()
        || matches!(
            data_type,
            Date32 | Date64 | Duration(_) | Interval(_) | Struct(_) | Time32(_) | Time64(_) | Timestamp(..)
        )
        || item(data_type).is_some()
}

/// Returns the type of the elements of a list.
pub(in crate::engine) fn item(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

pub(super) fn lists(values: &ArrayRef) -> Result<ListArray> {
    let Some(item) = item(values.data_type()) else { return plan_err!("{} is not a list", values.data_type()) };
    let list = DataType::List(Arc::new(Field::new_list_field(item.clone(), true)));
    Ok(cast(values, &list)?.as_list::<i32>().clone())
}

/// Formats values as casts do: a boolean is a word.
pub(super) fn texts(values: &ArrayRef) -> Result<StringArray> {
    match values.data_type() {
        DataType::Boolean => Ok(cast(values, &DataType::Utf8)?.as_string::<i32>().clone()),
        _ => shown(values),
    }
}

/// Formats values as parts of others.
fn shown(values: &ArrayRef) -> Result<StringArray> {
    let writer = writer(values)?;
    let mut texts = StringBuilder::with_capacity(values.len(), values.len() * 16);
    let mut text = String::new();
    for row in 0..values.len() {
        if is_null(values, row) {
            texts.append_null();
            continue;
        }
        text.clear();
        writer(row, &mut text)?;
        texts.append_value(&text);
    }
    Ok(texts.finish())
}

/// Function that appends the value of a row, which is not null, to a text.
pub(super) type TextWriter = Box<dyn Fn(usize, &mut String) -> Result<()>>;

/// Returns a writer of the values of an array, as in `concat` and lists: a boolean is one letter.
pub(super) fn writer(values: &ArrayRef) -> Result<TextWriter> {
    Ok(match values.data_type() {
        DataType::Boolean => {
            let values = values.as_boolean().clone();
            Box::new(move |row, text| {
                text.push(if values.value(row) { 't' } else { 'f' });
                Ok(())
            })
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>().clone();
            Box::new(move |row, text| {
                text.push_str(FloatText::of_f64(values.value(row)).as_str());
                Ok(())
            })
        }
        DataType::Float16 | DataType::Float32 => {
            let values = cast(values, &DataType::Float32)?.as_primitive::<Float32Type>().clone();
            Box::new(move |row, text| {
                text.push_str(FloatText::of_f32(values.value(row)).as_str());
                Ok(())
            })
        }
        DataType::Date32 | DataType::Date64 => {
            let values = cast(values, &DataType::Date32)?.as_primitive::<Date32Type>().clone();
            Box::new(move |row, text| datetimes::date(values.value(row), text))
        }
        DataType::Timestamp(unit, zone) => datetimes::writer(values, *unit, zone.as_deref())?,
        DataType::Time32(_) | DataType::Time64(_) => {
            let time = DataType::Time64(TimeUnit::Nanosecond);
            let values = cast(values, &time)?.as_primitive::<Time64NanosecondType>().clone();
            Box::new(move |row, text| {
                datetimes::clock(values.value(row).unsigned_abs(), text);
                Ok(())
            })
        }
        DataType::Interval(_) => {
            let interval = DataType::Interval(IntervalUnit::MonthDayNano);
            let values = cast(values, &interval)?.as_primitive::<IntervalMonthDayNanoType>().clone();
            Box::new(move |row, text| {
                datetimes::interval(values.value(row), text);
                Ok(())
            })
        }
        DataType::Duration(_) => duration(values)?,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let values = cast(values, &DataType::Binary)?.as_binary::<i32>().clone();
            Box::new(move |row, text| {
                text.push_str("\\x");
                values.value(row).iter().try_for_each(|byte| write!(text, "{byte:02x}")).map_err(Into::into)
            })
        }
        DataType::Struct(_) => record(values)?,
        list if item(list).is_some() => array(values)?,
        _ => {
            let values = cast(values, &DataType::Utf8)?.as_string::<i32>().clone();
            Box::new(move |row, text| {
                text.push_str(values.value(row));
                Ok(())
            })
        }
    })
}

/// Returns whether a value is null; arrays of type null don't report their own nulls.
pub(super) fn is_null(values: &ArrayRef, row: usize) -> bool {
    values.data_type() == &DataType::Null || values.is_null(row)
}

const DAY_MICROS: i64 = 86_400_000_000;

/// Returns a writer of the difference of two times, which PostgreSQL counts in days and hours.
fn duration(values: &ArrayRef) -> Result<TextWriter> {
    let duration = DataType::Duration(TimeUnit::Microsecond);
    let values = cast(values, &duration)?.as_primitive::<DurationMicrosecondType>().clone();
    Ok(Box::new(move |row, text| {
        let micros = values.value(row);
        let Ok(days) = i32::try_from(micros / DAY_MICROS) else {
            return exec_err!("a time between two is too long to be written");
        };
        datetimes::interval(IntervalMonthDayNano::new(0, days, micros % DAY_MICROS * 1_000), text);
        Ok(())
    }))
}

/// Returns a writer of lists: `{1,NULL,"a b"}`.
fn array(values: &ArrayRef) -> Result<TextWriter> {
    let lists = lists(values)?;
    let items = Arc::clone(lists.values());
    let is_nested = item(items.data_type()).is_some();
    let write = writer(&items)?;
    Ok(Box::new(move |row, text| {
        text.push('{');
        let (start, end) = (lists.value_offsets()[row], lists.value_offsets()[row + 1]);
        for at in start..end {
            if at > start {
                text.push(',');
            }
            let at = usize::try_from(at).unwrap_or_default();
            if is_null(&items, at) {
                text.push_str("NULL");
                continue;
            }
            let begin = text.len();
            write(at, text)?;
            let own = &text[begin..];
            let is_plain = !own.is_empty()
                && !own.eq_ignore_ascii_case("null")
                && !own.contains(|c: char| matches!(c, '"' | '\\' | '{' | '}' | ',') || is_space(c));
            if !is_nested && !is_plain {
                let own = text.split_off(begin);
                quote(&own, |c| matches!(c, '"' | '\\').then_some('\\'), text);
            }
        }
        text.push('}');
        Ok(())
    }))
}

/// Returns a writer of rows: `(1,,"a b")`.
fn record(values: &ArrayRef) -> Result<TextWriter> {
    let fields = values.as_struct().columns().to_vec();
    let writers = fields.iter().map(writer).collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |row, text| {
        text.push('(');
        for (number, (field, write)) in fields.iter().zip(&writers).enumerate() {
            if number > 0 {
                text.push(',');
            }
            if is_null(field, row) {
                continue;
            }
            let begin = text.len();
            write(row, text)?;
            let own = &text[begin..];
            if own.is_empty() || own.contains(|c: char| matches!(c, '"' | '\\' | '(' | ')' | ',') || is_space(c)) {
                let own = text.split_off(begin);
                quote(&own, |c| matches!(c, '"' | '\\').then_some(c), text);
            }
        }
        text.push(')');
        Ok(())
    }))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// Writes a text in double quotes, with the given escapes before its characters.
fn quote(own: &str, before: impl Fn(char) -> Option<char>, text: &mut String) {
    text.push('"');
    for c in own.chars() {
        text.extend(before(c));
        text.push(c);
    }
    text.push('"');
}
