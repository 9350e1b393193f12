//! The columns of a published table: those of the stream, under names and with types that readers of Delta Lake take.
//!
//! Such names do not differ in upper and lower case alone, and have none of the characters that Spark refuses. Columns
//! that are null in all events are left out, because their type is not known yet.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatchOptions, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use salver_model::{Error, Result};
use serde_json::Value;

use super::schema::fields_json;
use crate::table::layout::{Layout, OWN, TIME};

/// A column, or a part of one.
#[derive(Debug)]
struct Column {
    /// Its index among the columns that it is made from.
    index: usize,
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Leaf(DataType),
    Struct(Vec<Column>),
    List(Box<Kind>),
}

/// The columns of a table.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    schema: SchemaRef,
}

impl Columns {
    /// Returns the columns for those of a layout.
    pub(super) fn new(layout: &Layout) -> Self {
        let members = layout.shape.known_fields();
        let own = layout.schema.fields().iter().take(OWN).enumerate().map(|(index, field)| match index {
            TIME => Arc::new(Field::new(field.name(), DataType::Timestamp(TimeUnit::Microsecond, utc()), true)),
            _ => Arc::clone(field),
        });
        let columns = columns(&own.chain(members.iter().cloned()).collect());
        let schema = Arc::new(Schema::new(fields_of(&columns)));
        Self { columns, schema }
    }

    /// Returns the indexes in the layout of the columns that are needed, in order.
    pub(super) fn indexes(&self) -> Vec<usize> {
        self.columns.iter().map(|column| column.index).collect()
    }

    /// Returns the schema of the files.
    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the schema of the table.
    pub(super) fn json(&self) -> Value {
        fields_json(self.schema.fields())
    }

    /// Converts rows of the columns at [`Columns::indexes`].
    pub(super) fn batch(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns = self.columns.iter().zip(rows.columns()).map(|(column, array)| converted(array, &column.kind));
        let batch = columns
            .collect::<std::result::Result<Vec<_>, _>>()
            .and_then(|columns| RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options));
        batch.map_err(|error| Error::internal("rows of a stream can't be published").with_source(error))
    }
}

fn utc() -> Option<Arc<str>> {
    Some("UTC".into())
}

fn columns(fields: &Fields) -> Vec<Column> {
    let named = fields.iter().enumerate().zip(names(fields));
    let known = named.filter(|((_, field), _)| !field.data_type().is_null());
    known.map(|((index, field), name)| Column { index, name, kind: kind(field.data_type()) }).collect()
}

fn kind(data_type: &DataType) -> Kind {
    match data_type {
        DataType::Struct(fields) => Kind::Struct(columns(fields)),
        DataType::List(item) => Kind::List(Box::new(kind(item.data_type()))),
        other => Kind::Leaf(other.clone()),
    }
}

/// Returns a name for each field. Earlier ones keep theirs, so that a name stays what it is when more come.
fn names(fields: &Fields) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut name = |own: &str| {
        let clean = |c: char| if c.is_control() || " ,;{}()=".contains(c) { '_' } else { c };
        let cleaned: String = own.chars().map(clean).collect();
        let numbered = (2..).map(|number| format!("{cleaned}_{number}"));
        let mut all = std::iter::once(cleaned.clone()).chain(numbered);
        all.find(|name| taken.insert(name.to_lowercase())).unwrap_or(cleaned)
    };
    fields.iter().map(|field| name(field.name())).collect()
}

fn fields_of(columns: &[Column]) -> Fields {
    columns.iter().map(|column| Field::new(&column.name, type_of(&column.kind), true)).collect()
}

fn type_of(kind: &Kind) -> DataType {
    match kind {
        Kind::Leaf(data_type) => data_type.clone(),
        Kind::Struct(columns) => DataType::Struct(fields_of(columns)),
        Kind::List(item) => DataType::List(element(item)),
    }
}

fn element(item: &Kind) -> FieldRef {
    Arc::new(Field::new("element", type_of(item), true))
}

fn converted(array: &ArrayRef, kind: &Kind) -> std::result::Result<ArrayRef, ArrowError> {
    match (kind, array.data_type()) {
        (Kind::Struct(columns), DataType::Struct(_)) => {
            let own = array.as_struct();
            let arrays = columns.iter().map(|column| converted(own.column(column.index), &column.kind));
            let arrays = arrays.collect::<std::result::Result<Vec<_>, _>>()?;
            let nulls = own.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields_of(columns), arrays, nulls, array.len())?))
        }
        (Kind::List(item), DataType::List(_)) => {
            let own = array.as_list::<i32>();
            let values = converted(own.values(), item)?;
            Ok(Arc::new(ListArray::try_new(element(item), own.offsets().clone(), values, own.nulls().cloned())?))
        }
        (kind, _) => cast(array, &type_of(kind)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Columns;
    use crate::event::EventShape;
    use crate::table::layout::Layout;

    fn columns(events: &[&str]) -> Vec<String> {
        let shape = events.iter().fold(EventShape::default(), |shape, event| {
            let wider = shape.with_event(event.as_bytes());
            wider.unwrap_or(shape)
        });
        let columns = Columns::new(&Layout::new(Arc::new(shape)));
        let fields = columns.schema().fields().iter();
        fields.map(|field| format!("{}: {}", field.name(), field.data_type())).collect()
    }

    #[test]
    fn names_and_types() {
        let own = ["_offset: Int64", "_id: Utf8", "_time: Timestamp(µs, \"UTC\")", "_key: Utf8"];
        assert_eq!(columns(&[]), own);
        let event = r#"{"User":1,"user":"x","USER_2":true,"a b":{"X":[1],"x":null,"x=":{}},"none":null,"_ID":0.5}"#;
        let expected = [
            "User: Int64",
            "user_2: Utf8",
            "USER_2_2: Boolean",
            r#"a_b: Struct("X": List(Int64, field: 'element'), "x_": Utf8)"#,
            "_ID_2: Float64",
        ];
        assert_eq!(columns(&[event])[4..], expected);
        // A name stays when a column before it, which was null so far, gets a type.
        let later = columns(&[event, r#"{"a b":{"x":7},"none":1}"#]);
        assert_eq!(later[4..7], expected[..3]);
        assert_eq!(
            later[7..],
            [
                r#"a_b: Struct("X": List(Int64, field: 'element'), "x_2": Int64, "x_": Utf8)"#,
                "none: Int64",
                "_ID_2: Float64"
            ]
        );
    }
}
