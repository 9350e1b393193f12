//! Converts bound values to those of the driver.

use mysql_async::Value;

use crate::statement::Bind;

/// Returns the values for a statement's placeholders. References to earlier steps are resolved before.
pub(super) fn values(binds: &[&[Bind]]) -> Vec<Value> {
    let mut values = Vec::with_capacity(binds.iter().map(|some| some.len()).sum());
    values.extend(binds.iter().copied().flatten().map(value));
    values
}

fn value(bind: &Bind) -> Value {
    match bind {
        // An unresolved reference matches nothing.
        Bind::Null | Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => Value::NULL,
        Bind::Bool(value) => Value::Int(i64::from(*value)),
        Bind::Int(value) => Value::Int(*value),
        Bind::Float(value) => Value::Double(*value),
        Bind::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        Bind::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}
