//! The schema of a published table as JSON, and how it follows that of the stream.

use arrow::datatypes::{DataType, FieldRef, Fields};
use serde_json::{Value, json};

/// Schema that follows another.
#[derive(Debug)]
pub(super) struct FollowingSchema {
    pub(super) schema: Value,
    /// Whether a column has another type or another name than before, which files that have it must follow.
    pub(super) is_changed: bool,
}

/// Returns the schema of these columns.
pub(super) fn fields_json(fields: &Fields) -> Value {
    let field = |own: &FieldRef| {
        let data_type = type_json(own.data_type());
        json!({ "name": own.name(), "type": data_type, "nullable": true, "metadata": {} })
    };
    let fields: Vec<_> = fields.iter().map(field).collect();
    json!({ "type": "struct", "fields": fields })
}

fn type_json(data_type: &DataType) -> Value {
    match data_type {
        DataType::Boolean => "boolean".into(),
        DataType::Int64 => "long".into(),
        DataType::Float64 => "double".into(),
        DataType::Decimal128(precision, scale) => format!("decimal({precision},{scale})").into(),
        DataType::Timestamp(_, Some(_)) => "timestamp".into(),
        DataType::Struct(fields) => fields_json(fields),
        DataType::List(item) => {
            json!({ "type": "array", "elementType": type_json(item.data_type()), "containsNull": true })
        }
        DataType::Utf8 => "string".into(),
        // No column is of such a type; a file with one fits no table.
        other => format!("{other}").into(),
    }
}

/// Returns the schema that follows `before`: with the columns of `now`, and those that are only in `before`.
pub(super) fn following(before: &Value, now: &Value) -> FollowingSchema {
    let mut is_changed = false;
    let schema = merged(before, now, &mut is_changed);
    FollowingSchema { schema, is_changed }
}

fn merged(before: &Value, now: &Value, is_changed: &mut bool) -> Value {
    match (kind(before), kind(now)) {
        ("struct", "struct") => {
            let (old, new) = (fields(before), fields(now));
            let same = |one: &Value, other: &Value| name(one).to_lowercase() == name(other).to_lowercase();
            let mut all: Vec<Value> = Vec::with_capacity(new.len());
            for own in old {
                let Some(other) = new.iter().find(|other| same(own, other)) else {
                    all.push(own.clone());
                    continue;
                };
                *is_changed |= name(own) != name(other);
                let mut field = other.clone();
                field["type"] = merged(&own["type"], &other["type"], is_changed);
                all.push(field);
            }
            all.extend(new.iter().filter(|own| !old.iter().any(|other| same(own, other))).cloned());
            json!({ "type": "struct", "fields": all })
        }
        ("array", "array") => {
            let item = merged(&before["elementType"], &now["elementType"], is_changed);
            json!({ "type": "array", "elementType": item, "containsNull": true })
        }
        _ => {
            *is_changed |= before != now;
            now.clone()
        }
    }
}

/// Returns whether files with the columns of `file` can be part of a table with those of `table`: they have the same
/// types where both have them, and no others.
pub(super) fn fits(file: &Value, table: &Value) -> bool {
    match (kind(file), kind(table)) {
        ("struct", "struct") => fields(file).iter().all(|own| {
            let same = fields(table).iter().find(|other| name(own) == name(other));
            same.is_some_and(|other| fits(&own["type"], &other["type"]))
        }),
        ("array", "array") => fits(&file["elementType"], &table["elementType"]),
        _ => file == table,
    }
}

fn kind(data_type: &Value) -> &str {
    data_type["type"].as_str().unwrap_or_default()
}

fn fields(data_type: &Value) -> &[Value] {
    data_type["fields"].as_array().map_or(&[], Vec::as_slice)
}

fn name(field: &Value) -> &str {
    field["name"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Fields};
    use serde_json::Value;

    use super::{fields_json, fits, following};

    fn schema(columns: &[(&str, DataType)]) -> Value {
        fields_json(&columns.iter().map(|(name, own)| Field::new(*name, own.clone(), true)).collect())
    }

    fn object(columns: &[(&str, DataType)]) -> DataType {
        DataType::Struct(columns.iter().map(|(name, own)| Field::new(*name, own.clone(), true)).collect::<Fields>())
    }

    #[test]
    fn columns_come_and_change() {
        let (int, float, text) = (DataType::Int64, DataType::Float64, DataType::Utf8);
        let list = |item: DataType| DataType::new_list(item, true);
        let before = schema(&[("a", int.clone()), ("gone", text.clone()), ("o", object(&[("x", int.clone())]))]);
        let wider = schema(&[
            ("a", int.clone()),
            ("o", object(&[("y", list(int.clone())), ("x", int.clone())])),
            ("b", float.clone()),
        ]);
        let next = following(&before, &wider);
        assert!(!next.is_changed);
        let expected = schema(&[
            ("a", int.clone()),
            ("gone", text.clone()),
            ("o", object(&[("x", int.clone()), ("y", list(int.clone()))])),
            ("b", float.clone()),
        ]);
        assert_eq!(next.schema, expected);
        assert!(fits(&before, &next.schema) && fits(&wider, &next.schema) && !fits(&next.schema, &before));
        for changed in [
            schema(&[("a", float.clone())]),
            schema(&[("A", int.clone())]),
            schema(&[("o", object(&[("x", text.clone())]))]),
            schema(&[("o", list(text))]),
        ] {
            let next = following(&before, &changed);
            assert!(next.is_changed, "{changed}");
            assert!(fits(&changed, &next.schema) && !fits(&before, &next.schema), "{changed}");
        }
        let (before, now) = (schema(&[("l", list(int.clone()))]), schema(&[("l", list(float))]));
        assert!(following(&before, &now).is_changed && !fits(&before, &now));
        assert!(!following(&before, &before).is_changed);
    }
}
