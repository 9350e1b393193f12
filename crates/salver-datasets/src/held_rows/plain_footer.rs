//! The footer of a Parquet file whose writer asked for views of texts or bytes, with plain types instead: its Arrow
//! schema, which the footer has as an encoded message (`ARROW:schema`), is a wish of the writer, and the values are the
//! same.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema, parquet_to_arrow_schema};
use parquet::file::metadata::{FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataBuilder};

/// Returns the footer without views; `None` if it has none.
pub(super) fn without_views(footer: &ParquetMetaData) -> Option<ParquetMetaData> {
    let file = footer.file_metadata();
    let pairs = file.key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == ARROW_SCHEMA_META_KEY)?;
    let schema = parquet_to_arrow_schema(file.schema_descr(), Some(pairs)).ok()?;
    let fields = plain_fields(schema.fields());
    if fields == *schema.fields() {
        return None;
    }
    let wish = encode_arrow_schema(&Schema::new_with_metadata(fields, schema.metadata().clone()));
    let others = pairs.iter().filter(|pair| pair.key != ARROW_SCHEMA_META_KEY).cloned();
    let pairs = others.chain([KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), wish)]).collect();
    let plain = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        Some(pairs),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    let builder = ParquetMetaDataBuilder::new(plain)
        .set_row_groups(footer.row_groups().to_vec())
        .set_column_index(footer.column_index().cloned())
        .set_offset_index(footer.offset_index().cloned());
    Some(builder.build())
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
    use arrow::datatypes::DataType;
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

    use super::without_views;

    /// A file, its own footer and the plain one.
    fn footers(columns: Vec<(&str, ArrayRef)>) -> (Bytes, ArrowReaderMetadata, Option<ArrowReaderMetadata>) {
        let batch = RecordBatch::try_from_iter(columns).expect("rows");
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("closed");
        let file = Bytes::from(file);
        let read = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).expect("a footer");
        let plain = without_views(read.metadata()).map(Arc::new);
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
        assert!(without_views(plain.metadata()).is_none());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, plain);
        let batch = reader.build().expect("a reader").next().expect("a batch").expect("rows");
        let DataType::List(item) = batch.column(1).data_type() else { panic!("not a list") };
        assert_eq!(*item.data_type(), DataType::Utf8);
        assert_eq!(**batch.column(0), *(Arc::new(StringArray::from(texts.to_vec())) as ArrayRef));
    }

    #[test]
    fn other_footers_stay() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        assert!(footers(vec![("n", numbers)]).2.is_none());
    }
}
