//! Cursor values of a SQLite column that may have texts, numbers and bytes: the value as it is stored.

use arrow::array::{Array, BinaryArray, BooleanArray};
use arrow::datatypes::DataType;
use salver_model::{Code, Comparison, Error, Result, Value};

use super::compare::Operand;
use crate::dialect::Sql;
use crate::json::base64;
use crate::statement::Bind;

/// Prefixes of cursor values: a text, the bytes of a text that is not UTF-8, bytes.
const TEXT: &str = "t";
const RAW: &str = "r";
const BYTES: &str = "b";

/// Returns the two expressions fetched of such an operand for the next page: its bytes, and whether it is a blob.
pub(super) fn fetched(operand: &Operand) -> [Operand; 2] {
    let Operand { sql, name, .. } = operand;
    let (bytes, is_bytes) = if operand.untyped {
        // There, everything is compared as text.
        (format!("CAST(CAST({sql} AS TEXT) AS BLOB)"), "0".to_owned())
    } else {
        // A number is fetched unchanged: as text SQLite gives it fewer digits.
        let bytes = format!("CASE typeof({sql}) WHEN 'text' THEN CAST({sql} AS BLOB) ELSE {sql} END");
        (bytes, format!("typeof({sql}) = 'blob'"))
    };
    [
        Operand::computed(bytes, DataType::Binary, name.clone()),
        Operand::computed(is_bytes, DataType::Boolean, name.clone()),
    ]
}

/// Returns the cursor value of a row.
pub(super) fn value(bytes: &BinaryArray, is_bytes: &BooleanArray, row: usize) -> Result<Value> {
    if bytes.is_null(row) {
        return Ok(Value::Null);
    }
    let own = bytes.value(row);
    let encoded = |mark: &str| {
        let mut out = mark.as_bytes().to_vec();
        base64::encode(own, &mut out);
        String::from_utf8(out).map_err(|error| Error::internal("base64 is not text").with_source(error))
    };
    Ok(Value::Text(match std::str::from_utf8(own) {
        _ if is_bytes.value(row) => encoded(BYTES)?,
        Ok(text) => format!("{TEXT}{text}"),
        Err(_) => encoded(RAW)?,
    }))
}

/// Appends a comparison with a cursor value, in SQLite's order: text before bytes.
pub(super) fn push(operand: &Operand, op: Comparison, value: &Value, sql: &mut Sql) -> Result<()> {
    let none = || Error::new(Code::InvalidCursor, "`after` has a value that is none");
    let (Value::Text(text) | Value::Bare(text)) = value else { return Err(none()) };
    sql.push("(");
    operand.push_ordered(sql);
    sql.push(match op {
        Comparison::Lt => " < ",
        Comparison::Gt => " > ",
        _ => " = ",
    });
    let bytes = |text: &str| base64::decode(text).map(Bind::Bytes).ok_or_else(none);
    match (text.strip_prefix(TEXT), text.strip_prefix(RAW), text.strip_prefix(BYTES)) {
        (Some(text), ..) => drop(sql.bind(Bind::Text(text.to_owned()))),
        (_, Some(raw), _) => drop(sql.push("CAST(").bind(bytes(raw)?).push(" AS TEXT)")),
        (_, _, Some(own)) => drop(sql.bind(bytes(own)?)),
        _ => return Err(none()),
    }
    sql.push(")");
    Ok(())
}
