//! `pg_typeof(x)`: the type of a value, by PostgreSQL's name.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;
use super::text_cast::item;

/// Returns the function.
pub(super) fn pg_typeof() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [values] = arrays else { return plan_err!("`pg_typeof` takes one value") };
        let name = name(values.data_type());
        Ok(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, values.len()))))
    };
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "pg_typeof", signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

fn name(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Null => "unknown",
        DataType::Boolean => "boolean",
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => "smallint",
        DataType::Int32 | DataType::UInt16 => "integer",
        DataType::Int64 | DataType::UInt32 => "bigint",
        DataType::UInt64 => "numeric",
        DataType::Float16 | DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Timestamp(_, None) => "timestamp without time zone",
        DataType::Timestamp(_, Some(_)) => "timestamp with time zone",
        DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond) | DataType::Time64(_) => "time without time zone",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => "bytea",
        DataType::Struct(_) => "record",
        DataType::Dictionary(_, values) => return self::name(values),
        decimal if decimal.is_decimal() => "numeric",
        list => match item(list) {
            Some(item) => return self::name(item).trim_end_matches("[]").to_owned() + "[]",
            None => "text",
        },
    };
    name.to_owned()
}
