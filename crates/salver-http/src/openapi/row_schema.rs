//! The schema of rows in JSON, as `docs/formats.md` says how each type is written.

use arrow::datatypes::{DataType, Field, Schema};
use salver_model::Description;
use serde_json::{Map, Value as Json, json};

use crate::openapi_document::allow_null;

/// Returns the schema of the rows of an entry.
pub(super) fn of(description: &Description) -> Json {
    let mut schema = object(description.schema.fields().iter().map(AsRef::as_ref));
    if !description.key.is_empty() {
        let key: Vec<String> = description.key.iter().map(|column| format!("`{column}`")).collect();
        schema["description"] = format!("Key: {}.", key.join(", ")).into();
    }
    schema
}

/// Returns the schema of rows with these columns.
pub(super) fn of_columns(schema: &Schema) -> Json {
    object(schema.fields().iter().map(AsRef::as_ref))
}

/// Returns the schema of a value that is neither null nor made of others; `None` for a type that has no such values.
pub(super) fn scalar(data_type: &DataType) -> Option<Json> {
    Some(match data_type {
        DataType::Boolean => json!({ "type": "boolean" }),
        DataType::Int8 | DataType::Int16 | DataType::Int32 => json!({ "type": "integer", "format": "int32" }),
        DataType::Int64 => json!({ "type": "integer", "format": "int64" }),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            json!({ "type": "integer", "minimum": 0 })
        }
        DataType::Float16 | DataType::Float32 => json!({ "type": "number", "format": "float" }),
        DataType::Float64 => json!({ "type": "number", "format": "double" }),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            json!({ "type": "number" })
        }
        DataType::Date32 => json!({ "type": "string", "format": "date" }),
        DataType::Timestamp(_, Some(_)) => json!({ "type": "string", "format": "date-time" }),
        DataType::Duration(_) => json!({ "type": "string", "format": "duration" }),
        // A time without a zone is not one of RFC 3339.
        DataType::Timestamp(_, None) | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) => {
            json!({ "type": "string" })
        }
        DataType::Interval(_) | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            json!({ "type": "string" })
        }
        DataType::Dictionary(_, values) => scalar(values)?,
        DataType::RunEndEncoded(_, values) => scalar(values.data_type())?,
        _ => return None,
    })
}

fn object<'f>(fields: impl Iterator<Item = &'f Field>) -> Json {
    let properties: Map<String, Json> = fields.map(|field| (field.name().clone(), value(field))).collect();
    json!({ "type": "object", "properties": properties })
}

/// Returns the schema of the values of a column. A float that JSON can't represent is null.
fn value(field: &Field) -> Json {
    let mut schema = plain(field.data_type());
    if (field.is_nullable() || field.data_type().is_floating())
        && let Json::Object(schema) = &mut schema
    {
        allow_null(schema);
    }
    schema
}

fn plain(data_type: &DataType) -> Json {
    match data_type {
        DataType::Null => json!({ "type": "null" }),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            json!({ "type": "string", "pattern": "^([0-9a-f]{2})*$" })
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => json!({ "type": "array", "items": value(item) }),
        DataType::Struct(fields) => object(fields.iter().map(AsRef::as_ref)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                json!({ "type": "object", "additionalProperties": value(&fields[1]) })
            }
            _ => json!({ "type": "object", "additionalProperties": true }),
        },
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        // A union has values of several types.
        data_type => scalar(data_type).unwrap_or_else(|| json!({})),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, TimeUnit};
    use serde_json::{Value as Json, json};

    use super::{scalar, value};

    fn nullable(data_type: DataType) -> Json {
        value(&Field::new("a", data_type, true))
    }

    #[test]
    fn types() {
        let item = |data_type| Arc::new(Field::new("item", data_type, false));
        for (data_type, expected) in [
            (DataType::Int64, json!({ "type": ["integer", "null"], "format": "int64" })),
            (DataType::Utf8View, json!({ "type": ["string", "null"] })),
            (DataType::Decimal128(10, 2), json!({ "type": ["number", "null"] })),
            (DataType::Timestamp(TimeUnit::Second, None), json!({ "type": ["string", "null"] })),
            (DataType::Null, json!({ "type": "null" })),
        ] {
            assert_eq!(nullable(data_type.clone()), expected, "{data_type}");
        }
        let zoned = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
        assert_eq!(value(&Field::new("a", zoned, false)), json!({ "type": "string", "format": "date-time" }));
        // Whatever its field says, a float may be NaN.
        assert_eq!(value(&Field::new("a", DataType::Float64, false))["type"], json!(["number", "null"]));
        let list = value(&Field::new("a", DataType::List(item(DataType::Int32)), false));
        assert_eq!(list, json!({ "type": "array", "items": { "type": "integer", "format": "int32" } }));
        let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        assert_eq!(nullable(dictionary.clone()), json!({ "type": ["string", "null"] }));
        assert_eq!(scalar(&dictionary), Some(json!({ "type": "string" })));
        assert_eq!(scalar(&DataType::Binary), None);
        assert_eq!(nullable(DataType::Binary)["type"], json!(["string", "null"]));
    }
}
