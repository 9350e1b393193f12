//! The footer of a Parquet file as plans of the engine need it, where it differs from what its writer left:
//!
//! - Columns are found by their names, so these are the ones that the dataset has: no two are equal, and none is empty.
//! - Texts and bytes have plain types. The Arrow schema, which the footer has as an encoded message (`ARROW:schema`),
//!   is a wish of the writer, who may have asked for views; the values are the same.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema, parquet_to_arrow_schema};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type};

use crate::source::distinct_names;

/// Name of a pair that footers made here have, so that they are told from those of files in a cache that has both.
const MADE: &str = "salver:plain";

/// Returns whether a footer was made by [`plain`].
pub(super) fn is_made(footer: &ParquetMetaData) -> bool {
    footer.file_metadata().key_value_metadata().is_some_and(|pairs| pairs.iter().any(|pair| pair.key == MADE))
}

/// Returns the footer with distinct names and without views; `None` if it is as it should be.
///
/// # Errors
/// When the footer's schema contradicts itself.
pub(super) fn plain(footer: &ParquetMetaData) -> Result<Option<ParquetMetaData>, ParquetError> {
    let file = footer.file_metadata();
    let renamed = renamed(file.schema_descr())?;
    let wish = plain_wish(file, renamed.as_deref());
    if renamed.is_none() && wish.is_none() {
        return Ok(None);
    }
    let is_kept = |pair: &&KeyValue| wish.is_none() || pair.key != ARROW_SCHEMA_META_KEY;
    let mut pairs: Vec<KeyValue> = file.key_value_metadata().into_iter().flatten().filter(is_kept).cloned().collect();
    pairs.extend(wish.map(|wish| KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), wish)));
    pairs.push(KeyValue::new(MADE.to_owned(), None));
    let plain = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        Some(pairs),
        renamed.unwrap_or_else(|| file.schema_descr_ptr()),
        file.column_orders().cloned(),
    );
    let builder = ParquetMetaDataBuilder::new(plain)
        .set_row_groups(footer.row_groups().to_vec())
        .set_column_index(footer.column_index().cloned())
        .set_offset_index(footer.offset_index().cloned());
    Ok(Some(builder.build()))
}

/// Returns the columns under distinct names; `None` if they have them.
fn renamed(columns: &SchemaDescriptor) -> Result<Option<SchemaDescPtr>, ParquetError> {
    let fields = columns.root_schema().get_fields();
    let names = distinct_names(fields.iter().map(|field| field.name().to_owned()).collect());
    if fields.iter().zip(&names).all(|(field, name)| field.name() == name) {
        return Ok(None);
    }
    let fields = fields.iter().zip(&names).map(|(field, name)| named(field, name).map(Arc::new));
    let root = Type::group_type_builder(columns.name()).with_fields(fields.collect::<Result<_, _>>()?).build()?;
    Ok(Some(Arc::new(SchemaDescriptor::new(Arc::new(root)))))
}

/// Returns a column under another name.
fn named(column: &Type, name: &str) -> Result<Type, ParquetError> {
    let about = column.get_basic_info();
    let id = about.has_id().then(|| about.id());
    match column {
        Type::PrimitiveType { physical_type, type_length, scale, precision, .. } => {
            Type::primitive_type_builder(name, *physical_type)
                .with_repetition(about.repetition())
                .with_converted_type(about.converted_type())
                .with_logical_type(about.logical_type_ref().cloned())
                .with_length(*type_length)
                .with_precision(*precision)
                .with_scale(*scale)
                .with_id(id)
                .build()
        }
        Type::GroupType { fields, .. } => Type::group_type_builder(name)
            .with_repetition(about.repetition())
            .with_converted_type(about.converted_type())
            .with_logical_type(about.logical_type_ref().cloned())
            .with_fields(fields.clone())
            .with_id(id)
            .build(),
    }
}

/// Returns the writer's wish for the types of the columns without views, and with their names in `renamed`; `None` if
/// it has none, or already is that.
fn plain_wish(file: &FileMetaData, renamed: Option<&SchemaDescriptor>) -> Option<String> {
    let pairs = file.key_value_metadata();
    pairs?.iter().find(|pair| pair.key == ARROW_SCHEMA_META_KEY)?;
    let schema = parquet_to_arrow_schema(file.schema_descr(), pairs).ok()?;
    let mut fields = plain_fields(schema.fields());
    if let Some(renamed) = renamed {
        let columns = renamed.root_schema().get_fields();
        let named = fields.iter().zip(columns).map(|(field, column)| Field::clone(field).with_name(column.name()));
        fields = named.collect();
    }
    let is_plain = fields == *schema.fields();
    (!is_plain).then(|| encode_arrow_schema(&Schema::new_with_metadata(fields, schema.metadata().clone())))
}

fn plain_fields(fields: &Fields) -> Fields {
    fields.iter().map(plain_field).collect()
}

fn plain_field(field: &FieldRef) -> FieldRef {
    let plain = plain_type(field.data_type());
    if plain == *field.data_type() { Arc::clone(field) } else { Arc::new(Field::clone(field).with_data_type(plain)) }
}

fn plain_type(of: &DataType) -> DataType {
    match of {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::LargeList(item) => DataType::LargeList(plain_field(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(plain_field(item), *length),
        DataType::Map(entries, is_sorted) => DataType::Map(plain_field(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(plain_fields(fields)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, Int64Array, ListBuilder, RecordBatch, StringArray, StringViewArray, StringViewBuilder,
    };
    use arrow::datatypes::{DataType, Field, Schema};
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

    use super::{is_made, plain};

    /// A file, its own footer and the plain one.
    fn footers(columns: Vec<(&str, ArrayRef)>) -> (Bytes, ArrowReaderMetadata, Option<ArrowReaderMetadata>) {
        let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let batch =
            RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect()).expect("rows");
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("closed");
        let file = Bytes::from(file);
        let read = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).expect("a footer");
        let plain = plain(read.metadata()).expect("a schema").map(Arc::new);
        let plain =
            plain.map(|plain| ArrowReaderMetadata::try_new(plain, ArrowReaderOptions::new()).expect("a footer"));
        (file, read, plain)
    }

    #[test]
    fn views_are_read_as_plain_texts() {
        let texts = ["a", "a text that is longer than a view has room for"];
        let mut lists = ListBuilder::new(StringViewBuilder::new());
        texts.iter().for_each(|text| lists.append_value([Some(*text), None]));
        let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts));
        let (file, read, plain) = footers(vec![("t", views), ("l", Arc::new(lists.finish()))]);
        assert_eq!(*read.schema().field(0).data_type(), DataType::Utf8View);
        let plain = plain.expect("one without views");
        assert!(super::plain(plain.metadata()).expect("a schema").is_none() && is_made(plain.metadata()));
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, plain);
        let batch = reader.build().expect("a reader").next().expect("a batch").expect("rows");
        let DataType::List(item) = batch.column(1).data_type() else { panic!("not a list") };
        assert_eq!(*item.data_type(), DataType::Utf8);
        assert_eq!(**batch.column(0), *(Arc::new(StringArray::from(texts.to_vec())) as ArrayRef));
    }

    #[test]
    fn no_two_names_are_equal() {
        let number = |number: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![number])) };
        let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(["x"]));
        let columns = vec![("s", number(1)), ("s", views), ("", number(3)), ("s_2", number(4)), ("s", number(5))];
        let (file, _, plain) = footers(columns);
        let plain = plain.expect("one with other names");
        assert!(super::plain(plain.metadata()).expect("a schema").is_none());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, plain);
        let batch = reader.build().expect("a reader").next().expect("a batch").expect("rows");
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["s", "s_3", "column_3", "s_2", "s_4"]);
        assert_eq!(*batch.column(1).data_type(), DataType::Utf8);
        assert_eq!(**batch.column(4), *number(5));
    }

    #[test]
    fn other_footers_stay() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        assert!(footers(vec![("n", numbers)]).2.is_none());
    }
}
