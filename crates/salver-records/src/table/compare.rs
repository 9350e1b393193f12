//! Columns and literals as SQL that compares them as Arrow would: text by its bytes, numbers as numbers.

use arrow::compute::kernels::cast_utils::{Parser, string_to_timestamp_nanos};
use arrow::datatypes::{DataType, Date32Type};
use salver_model::{Code, Error, Result, Value};

use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::statement::Bind;

/// A column, or an aggregate, that stands in comparisons: its SQL, its type, and its name for messages.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) sql: String,
    pub(super) data_type: DataType,
    pub(super) name: String,
    /// Whether the database holds it as plain text, so that an index on it can be used.
    pub(super) plain_text: bool,
}

impl Operand {
    /// Appends the operand as something whose order and equality are those of bytes.
    pub(super) fn push_ordered(&self, sql: &mut Sql) {
        if self.data_type != DataType::Utf8 {
            sql.push(&self.sql);
            return;
        }
        match sql.dialect {
            Dialect::Sqlite => sql.push(&self.sql).push(" COLLATE BINARY"),
            Dialect::Postgres => sql.push("(").push(&self.sql).push(")::text COLLATE \"C\""),
            Dialect::Mysql => sql.push("CAST(CONVERT(").push(&self.sql).push(" USING utf8mb4) AS BINARY)"),
        };
    }
}

/// A literal of an operand's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// Null, with which everything compares to null.
    Null,
    /// A value.
    Is(Bind),
    /// A number below every value of the type.
    Below,
    /// A number above every value of the type.
    Above,
}

/// The literal for a comparison with `operand`.
///
/// # Errors
/// `InvalidValue` when it can't be one.
pub(super) fn literal(operand: &Operand, value: &Value) -> Result<Literal> {
    let wrong = || {
        let (name, data_type) = (&operand.name, &operand.data_type);
        Error::new(Code::InvalidValue, format!("`{name}` is {data_type} and can't be compared with {value}"))
    };
    if *value == Value::Null {
        return Ok(Literal::Null);
    }
    let found = match &operand.data_type {
        DataType::Boolean => match value {
            Value::Bool(own) => Some(Bind::Bool(*own)),
            Value::Text(text) | Value::Bare(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "t" | "1" => Some(Bind::Bool(true)),
                "false" | "f" | "0" => Some(Bind::Bool(false)),
                _ => None,
            },
            _ => None,
        },
        DataType::Int32 | DataType::Int64 | DataType::UInt64 => match number(value) {
            Some(Value::Int(own)) => Some(Bind::Int(own)),
            Some(Value::UInt(_)) => return Ok(Literal::Above),
            Some(Value::Float(own)) if own > 9.3e18 => return Ok(Literal::Above),
            Some(Value::Float(own)) if own < -9.3e18 => return Ok(Literal::Below),
            Some(Value::Float(own)) => Some(Bind::Float(own)),
            _ => None,
        },
        DataType::Float32 | DataType::Float64 => number(value).and_then(|number| match number {
            Value::Int(own) => Some(Bind::Float(own as f64)),
            Value::UInt(own) => Some(Bind::Float(own as f64)),
            Value::Float(own) => Some(Bind::Float(own)),
            _ => None,
        }),
        DataType::Decimal128(..) => number(value).map(|number| Bind::Text(number.to_string())),
        DataType::Date32 => text(value).filter(|text| Date32Type::parse(text).is_some()).map(Bind::Text),
        DataType::Timestamp(..) => text(value).filter(|text| string_to_timestamp_nanos(text).is_ok()).map(Bind::Text),
        DataType::Utf8 => match value {
            Value::Text(own) | Value::Bare(own) => Some(Bind::Text(own.clone())),
            other => Some(Bind::Text(other.to_string())),
        },
        _ => None,
    };
    found.map(Literal::Is).ok_or_else(wrong)
}

/// Appends the placeholder of a literal so that the database takes it for a value of the operand's type.
pub(super) fn push_literal(operand: &Operand, bind: &Bind, sql: &mut Sql) {
    let cast = match (sql.dialect, &operand.data_type, bind) {
        (Dialect::Postgres, DataType::Boolean, _) => "::boolean",
        (Dialect::Postgres, _, Bind::Float(_)) => "::float8",
        (Dialect::Postgres, DataType::Int32 | DataType::Int64 | DataType::UInt64, _) => "::bigint",
        (Dialect::Postgres, DataType::Decimal128(..), _) => "::numeric",
        (Dialect::Postgres, DataType::Date32, _) => "::date",
        (Dialect::Postgres, DataType::Timestamp(..), _) => "::timestamp",
        (Dialect::Postgres, _, _) => "::text",
        (Dialect::Mysql, DataType::Decimal128(precision, scale), _) => {
            let (precision, scale) = (u32::from(*precision).min(65), (*scale).max(0));
            sql.push("CAST(").bind(bind.clone());
            sql.push(&format!(" AS DECIMAL({precision},{scale}))"));
            return;
        }
        (Dialect::Mysql, DataType::Utf8, _) => {
            sql.push("CAST(").bind(bind.clone()).push(" AS BINARY)");
            return;
        }
        _ => "",
    };
    sql.bind(bind.clone()).push(cast);
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => Some(value.clone()),
        Value::Text(text) | Value::Bare(text) => Value::number(text.trim()),
        Value::Bool(_) | Value::Null => None,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Bare(text) => Some(text.clone()),
        _ => None,
    }
}
