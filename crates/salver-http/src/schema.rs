//! `/api/schema[/{name}]`: Arrow schemas in ROAPI's format, which is the serialisation of the Rust Arrow library.
//! Written by hand, so that a new release of that library does not change the format for clients.

use arrow::datatypes::{DataType, Field, Fields, Schema};
use http::Response;
use salver_model::{Code, Error, Permission, Result, suggest};
use serde_json::{Map, Value as Json, json};

use crate::body::Body;
use crate::redaction;
use crate::request_context::RequestContext;
use crate::status::json_response;

/// Responds with every entry's schema by name; an entry that did not load has `error` instead of `fields`.
pub(crate) async fn answer_all(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let snapshot = context.app.service.snapshot_settled(context.caller, Permission::Read).await;
    let mut all = Map::new();
    for entry in snapshot.entries() {
        let shown = match (entry.table(), entry.require()) {
            (Some(table), _) => {
                let mut object = of_schema(&table.describe().schema);
                if let (Some(failure), Json::Object(object)) = (entry.failure(), &mut object) {
                    object.insert("stale".to_owned(), redaction::text(&failure.message).into());
                }
                object
            }
            (None, Err(error)) => json!({ "error": redaction::message(&error), "hint": redaction::hint(&error) }),
            (None, Ok(_)) => continue,
        };
        all.insert(entry.name.to_string(), shown);
    }
    Ok(json_response(&Json::Object(all)))
}

/// Responds with one entry's schema.
pub(crate) async fn answer_one(context: &RequestContext<'_>, name: &str) -> Result<Response<Body>> {
    let snapshot = context.app.service.snapshot_with(context.caller, Permission::Read, name).await;
    let Some(entry) = snapshot.entry(name) else {
        let names = snapshot.entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>();
        return Err(Error::new(Code::NotFound, "invalid table name").with_hint_if(suggest::hint(name, names)));
    };
    Ok(json_response(&of_schema(&entry.require()?.describe().schema)))
}

fn of_schema(schema: &Schema) -> Json {
    json!({ "fields": of_fields(schema.fields()), "metadata": schema.metadata() })
}

fn of_fields(fields: &Fields) -> Vec<Json> {
    fields.iter().map(|field| of_field(field)).collect()
}

fn of_field(field: &Field) -> Json {
    json!({
        "name": field.name(),
        "data_type": of_type(field.data_type()),
        "nullable": field.is_nullable(),
        "dict_id": 0,
        "dict_is_ordered": field.dict_is_ordered().unwrap_or(false),
        "metadata": field.metadata(),
    })
}

/// Converts a type to a plain name, or to an object of the name and its parameters.
fn of_type(data_type: &DataType) -> Json {
    let unit = |unit: &dyn std::fmt::Debug| format!("{unit:?}");
    match data_type {
        DataType::Timestamp(u, zone) => json!({ "Timestamp": [unit(u), zone.as_deref()] }),
        DataType::Time32(u) => json!({ "Time32": unit(u) }),
        DataType::Time64(u) => json!({ "Time64": unit(u) }),
        DataType::Duration(u) => json!({ "Duration": unit(u) }),
        DataType::Interval(u) => json!({ "Interval": unit(u) }),
        DataType::FixedSizeBinary(size) => json!({ "FixedSizeBinary": size }),
        DataType::Decimal32(p, s) => json!({ "Decimal32": [p, s] }),
        DataType::Decimal64(p, s) => json!({ "Decimal64": [p, s] }),
        DataType::Decimal128(p, s) => json!({ "Decimal128": [p, s] }),
        DataType::Decimal256(p, s) => json!({ "Decimal256": [p, s] }),
        DataType::List(field) => json!({ "List": of_field(field) }),
        DataType::LargeList(field) => json!({ "LargeList": of_field(field) }),
        DataType::ListView(field) => json!({ "ListView": of_field(field) }),
        DataType::LargeListView(field) => json!({ "LargeListView": of_field(field) }),
        DataType::FixedSizeList(field, size) => json!({ "FixedSizeList": [of_field(field), size] }),
        DataType::Struct(fields) => json!({ "Struct": of_fields(fields) }),
        DataType::Map(field, sorted) => json!({ "Map": [of_field(field), sorted] }),
        DataType::Dictionary(key, value) => json!({ "Dictionary": [of_type(key), of_type(value)] }),
        DataType::RunEndEncoded(ends, values) => json!({ "RunEndEncoded": [of_field(ends), of_field(values)] }),
        DataType::Union(fields, mode) => {
            let fields: Vec<Json> = fields.iter().map(|(id, field)| json!([id, of_field(field)])).collect();
            json!({ "Union": [fields, unit(mode)] })
        }
        // The other types have no parameters, and are named like their debug output.
        plain => Json::String(format!("{plain:?}")),
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

    use super::of_schema;

    #[test]
    fn roapis_shape() {
        let schema = Schema::new(vec![
            Field::new("city", DataType::Utf8, true),
            Field::new("at", DataType::Timestamp(TimeUnit::Second, None), true),
        ]);
        let text = of_schema(&schema).to_string();
        let city = concat!(
            r#"{"name":"city","data_type":"Utf8","nullable":true,"#,
            r#""dict_id":0,"dict_is_ordered":false,"metadata":{}}"#
        );
        assert!(text.starts_with(&format!(r#"{{"fields":[{city},"#)), "{text}");
        assert!(text.contains(r#""data_type":{"Timestamp":["Second",null]}"#), "{text}");
        assert!(text.ends_with(r#"],"metadata":{}}"#), "{text}");
    }
}
