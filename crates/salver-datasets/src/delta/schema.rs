//! The columns of a table: from the JSON of its schema to types of Arrow, with the names they have in files.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};
use salver_model::Result;
use salver_model::limits::{DELTA_COLUMNS_MAX, PARQUET_DEPTH_MAX};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::fault;
use crate::infer::UTC;

/// A column, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Its name in the table.
    pub(super) name: String,
    /// Its name in files.
    pub(super) physical: String,
    /// Its number in files, if the table has them.
    pub(super) id: Option<String>,
    pub(super) kind: Kind,
}

/// The type of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Leaf(DataType),
    Struct(Vec<Column>),
    List(Box<Kind>),
    Map(Box<Kind>, Box<Kind>),
}

/// The columns of a table.
#[derive(Debug)]
pub(super) struct TableSchema {
    pub(super) columns: Vec<Column>,
    /// Whether a type was another one when older files were written.
    pub(super) is_widened: bool,
}

#[derive(Deserialize)]
struct StructJson {
    fields: Vec<FieldJson>,
}

#[derive(Deserialize)]
struct FieldJson {
    name: String,
    #[serde(rename = "type")]
    kind: Value,
    #[serde(default)]
    metadata: Map<String, Value>,
}

impl TableSchema {
    /// Parses the schema of the table at `root`; `is_mapped` if columns have other names in files.
    pub(super) fn parse(root: &str, text: &str, is_mapped: bool) -> Result<Self> {
        let parsed: StructJson = serde_json::from_str(text)
            .map_err(|cause| fault::damaged(format!("{root}/_delta_log"), format!("its schema: {cause}")))?;
        let mut parser = Parser { root, is_mapped, is_widened: false, count: 0 };
        let columns = parser.columns(parsed.fields, 1)?;
        Ok(Self { columns, is_widened: parser.is_widened })
    }
}

impl Kind {
    /// Returns the type in Arrow. Everything is nullable, because files may lack columns.
    pub(super) fn data_type(&self) -> DataType {
        let field = |name: &str, kind: &Self, nullable: bool| -> FieldRef {
            Arc::new(Field::new(name, kind.data_type(), nullable))
        };
        match self {
            Self::Leaf(data_type) => data_type.clone(),
            Self::Struct(columns) => {
                DataType::Struct(columns.iter().map(|column| field(&column.name, &column.kind, true)).collect())
            }
            Self::List(item) => DataType::List(field("element", item, true)),
            Self::Map(key, value) => {
                let entry = Fields::from(vec![field("key", key, false), field("value", value, true)]);
                DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(entry), false)), false)
            }
        }
    }
}

struct Parser<'a> {
    root: &'a str,
    is_mapped: bool,
    is_widened: bool,
    /// Columns so far, with nested ones.
    count: usize,
}

impl Parser<'_> {
    fn columns(&mut self, fields: Vec<FieldJson>, depth: usize) -> Result<Vec<Column>> {
        self.count = self.count.saturating_add(fields.len());
        if self.count > DELTA_COLUMNS_MAX {
            let what = format!("more than {DELTA_COLUMNS_MAX} columns");
            return Err(fault::unsupported(self.root, &what, "write a copy of the table with fewer columns"));
        }
        let columns: Vec<Column> = fields.into_iter().map(|field| self.column(field, depth)).collect::<Result<_>>()?;
        let (mut names, mut physical) = (HashSet::new(), HashSet::new());
        for column in &columns {
            if !names.insert(column.name.as_str()) {
                return Err(self.damaged(format!("its schema has the column `{}` twice", fault::cut(&column.name))));
            }
            if !physical.insert(column.physical.as_str()) {
                let name = fault::cut(&column.physical);
                return Err(self.damaged(format!("two columns of its schema are called `{name}` in files")));
            }
        }
        Ok(columns)
    }

    fn column(&mut self, field: FieldJson, depth: usize) -> Result<Column> {
        let FieldJson { name, kind, metadata } = field;
        self.is_widened |= metadata.contains_key("delta.typeChanges");
        let physical = match metadata.get("delta.columnMapping.physicalName") {
            Some(Value::String(physical)) if self.is_mapped => physical.clone(),
            _ if self.is_mapped => {
                let name = fault::cut(&name);
                return Err(self.damaged(format!("its columns are mapped, and `{name}` has no name in files")));
            }
            _ => name.clone(),
        };
        let id = metadata.get("delta.columnMapping.id").filter(|_| self.is_mapped).map(Value::to_string);
        let kind = self.kind(&name, kind, depth)?;
        Ok(Column { name, physical, id, kind })
    }

    fn kind(&mut self, name: &str, json: Value, depth: usize) -> Result<Kind> {
        if depth > PARQUET_DEPTH_MAX {
            return Err(self.damaged(format!("its columns are nested deeper than {PARQUET_DEPTH_MAX} levels")));
        }
        let mut object = match json {
            Value::String(word) => {
                return match leaf(&word) {
                    Some(leaf) => Ok(Kind::Leaf(leaf)),
                    None => {
                        let what = format!("the column `{}` of the type `{}`", fault::cut(name), fault::cut(&word));
                        Err(fault::unsupported(self.root, &what, "write a copy of the table without this column"))
                    }
                };
            }
            Value::Object(object) => object,
            other => return Err(self.damaged(format!("the type of `{}` is {other}", fault::cut(name)))),
        };
        let word = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut member = |key: &str| object.remove(key).unwrap_or_default();
        match word.as_str() {
            "struct" => {
                let fields = serde_json::from_value(member("fields"))
                    .map_err(|cause| self.damaged(format!("the type of `{}`: {cause}", fault::cut(name))))?;
                Ok(Kind::Struct(self.columns(fields, depth + 1)?))
            }
            "array" => Ok(Kind::List(Box::new(self.kind(name, member("elementType"), depth + 1)?))),
            "map" => {
                let key = self.kind(name, member("keyType"), depth + 1)?;
                Ok(Kind::Map(Box::new(key), Box::new(self.kind(name, member("valueType"), depth + 1)?)))
            }
            _ => Err(self.damaged(format!("the type of `{}` is `{word}`", fault::cut(name)))),
        }
    }

    fn damaged(&self, why: String) -> salver_model::Error {
        fault::damaged(format!("{}/_delta_log", self.root), why)
    }
}

/// Returns the type in Arrow that a primitive type has.
fn leaf(word: &str) -> Option<DataType> {
    let micros = |zone: Option<Arc<str>>| DataType::Timestamp(TimeUnit::Microsecond, zone);
    Some(match word {
        "string" => DataType::Utf8,
        "long" => DataType::Int64,
        "integer" => DataType::Int32,
        "short" => DataType::Int16,
        "byte" => DataType::Int8,
        "float" => DataType::Float32,
        "double" => DataType::Float64,
        "boolean" => DataType::Boolean,
        "binary" => DataType::Binary,
        "date" => DataType::Date32,
        "timestamp" => micros(Some(UTC.into())),
        "timestamp_ntz" => micros(None),
        "decimal" => DataType::Decimal128(10, 0),
        _ => {
            let (precision, scale) = word.strip_prefix("decimal(")?.strip_suffix(')')?.split_once(',')?;
            let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
            let is_decimal = (1..=38).contains(&precision) && (0..=38).contains(&scale);
            return is_decimal.then_some(DataType::Decimal128(precision, scale));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, TableSchema};
    use salver_model::Error;

    fn parsed(columns: &str) -> Result<TableSchema, Error> {
        TableSchema::parse("t", &format!(r#"{{"type": "struct", "fields": [{columns}]}}"#), false)
    }

    fn shown(json: &str) -> String {
        let column = format!(r#"{{"name": "a", "type": {json}, "nullable": true, "metadata": {{}}}}"#);
        match parsed(&column) {
            Ok(schema) => schema.columns[0].kind.data_type().to_string(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn types() {
        for (json, expected) in [
            (r#""long""#, "Int64"),
            (r#""timestamp""#, "Timestamp(µs, \"UTC\")"),
            (r#""timestamp_ntz""#, "Timestamp(µs)"),
            (r#""decimal(38,10)""#, "Decimal128(38, 10)"),
        ] {
            assert_eq!(shown(json), expected, "{json}");
        }
        let nested = r#"{"type": "map", "keyType": "string", "valueType": {"type": "array", "elementType": "byte"}}"#;
        let column = format!(r#"{{"name": "a", "type": {nested}}}"#);
        let schema = parsed(&column).unwrap();
        assert!(matches!(&schema.columns[0].kind, Kind::Map(_, value) if matches!(**value, Kind::List(_))));
        assert!(shown(r#""variant""#).contains("the column `a` of the type `variant`"));
        for wrong in [r#""decimal(39,0)""#, r#""void""#] {
            assert!(shown(wrong).contains("can't be read"), "{wrong}");
        }
        assert!(shown("7").contains("is damaged"));
        let deep = format!("{}\"long\"{}", r#"{"type": "array", "elementType": "#.repeat(110), "}".repeat(110));
        assert!(shown(&deep).contains("deeper") || shown(&deep).contains("is damaged"));
    }
}
