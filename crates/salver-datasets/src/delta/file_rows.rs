//! The rows of one file of a table: without those that are deleted, with the table's columns and types.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, ListArray, MapArray, RecordBatch, RecordBatchOptions, StructArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options, filter_record_batch};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{PARQUET_FIELD_ID_META_KEY, ProjectionMask};
use roaring::RoaringTreemap;
use salver_model::Result;

use super::schema::{Column, Kind};
use crate::source::{self, Input, Sink, Stop, damaged};

/// Rows of a batch.
const BATCH_ROWS: usize = 16_384;

/// What is read of a table's files.
#[derive(Debug)]
pub(super) struct FileReader<'a> {
    /// The columns that are in files.
    pub(super) columns: Vec<&'a Column>,
    /// Whether files tell columns by their numbers and not by their names.
    pub(super) by_id: bool,
}

/// Where the columns of a file, or the members of a struct, stand in it.
struct Places<'a> {
    names: HashMap<&'a str, usize>,
    /// By their numbers, if columns are told by them.
    ids: Option<HashMap<&'a str, usize>>,
}

impl<'a> Places<'a> {
    fn of(fields: &'a Fields, by_id: bool) -> Self {
        let (mut names, mut ids) = (HashMap::new(), HashMap::new());
        for (place, field) in fields.iter().enumerate() {
            names.entry(field.name().as_str()).or_insert(place);
            if let Some(id) = field.metadata().get(PARQUET_FIELD_ID_META_KEY) {
                ids.entry(id.as_str()).or_insert(place);
            }
        }
        Self { names, ids: by_id.then_some(ids) }
    }

    fn place(&self, column: &Column) -> Option<usize> {
        match (&column.id, &self.ids) {
            (Some(id), Some(ids)) => ids.get(id.as_str()).copied(),
            _ => self.names.get(column.physical.as_str()).copied(),
        }
    }
}

impl FileReader<'_> {
    /// Passes the rows of a file that are not `deleted` to `sink`. Everything of the file is on disk.
    pub(super) fn read(&self, input: &Input, deleted: Option<&RoaringTreemap>, sink: Sink<'_>) -> Result<(), Stop> {
        source::guarded(input, || {
            let metadata = source::parquet::load(input)?;
            let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
            if deleted.and_then(RoaringTreemap::max).is_some_and(|last| last >= rows) {
                return Err(damaged(input, format!("more than its {rows} rows are deleted")).into());
            }
            let file = File::open(&input.path).map_err(|cause| source::io_error(input, cause))?;
            let places = Places::of(metadata.schema().fields(), self.by_id);
            let roots: Vec<usize> = self.columns.iter().filter_map(|column| places.place(column)).collect();
            let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build()
                .map_err(|cause| damaged(input, &cause).with_source(cause))?;
            let schema = self.schema();
            let mut first_row = 0;
            for batch in batches {
                let batch = batch.map_err(|cause| damaged(input, &cause).with_source(cause))?;
                let kept = self.kept(&schema, &batch, first_row, deleted);
                first_row += batch.num_rows() as u64;
                sink(kept.map_err(|cause| damaged(input, &cause).with_source(cause))?)?;
            }
            match first_row == rows {
                true => Ok(()),
                false => Err(damaged(input, format!("its footer says {rows} rows, its pages have {first_row}")).into()),
            }
        })
    }

    fn schema(&self) -> SchemaRef {
        let field = |column: &&Column| Field::new(&column.name, column.kind.data_type(), true);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn kept(
        &self,
        schema: &SchemaRef,
        batch: &RecordBatch,
        first_row: u64,
        deleted: Option<&RoaringTreemap>,
    ) -> Result<RecordBatch, ArrowError> {
        let own = batch.schema();
        let members = self.members(&self.columns, own.fields(), batch.columns(), batch.num_rows())?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let all = RecordBatch::try_new_with_options(Arc::clone(schema), members, &options)?;
        let Some(deleted) = deleted else { return Ok(all) };
        let rows = first_row..first_row + batch.num_rows() as u64;
        if deleted.range_cardinality(rows.clone()) == 0 {
            return Ok(all);
        }
        let is_kept: BooleanArray = rows.map(|row| Some(!deleted.contains(row))).collect();
        filter_record_batch(&all, &is_kept)
    }

    /// Returns the columns of the table, or the members of a struct, from those of a file; nulls for what it lacks.
    fn members<'c>(
        &self,
        columns: impl IntoIterator<Item = &'c (impl Borrow<Column> + 'c)>,
        fields: &Fields,
        arrays: &[ArrayRef],
        rows: usize,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let places = Places::of(fields, self.by_id);
        let member = |column: &Column| match places.place(column) {
            Some(at) => self.shaped(&arrays[at], &column.kind),
            None => Ok(new_null_array(&column.kind.data_type(), rows)),
        };
        columns.into_iter().map(|column| member(column.borrow())).collect()
    }

    /// Returns an array with the type that the table has.
    fn shaped(&self, array: &ArrayRef, kind: &Kind) -> Result<ArrayRef, ArrowError> {
        let wanted = kind.data_type();
        if *array.data_type() == wanted {
            return Ok(Arc::clone(array));
        }
        match (kind, &wanted) {
            (Kind::Struct(columns), DataType::Struct(fields)) => {
                let own = array.as_struct_opt().ok_or_else(|| unlike(array, &wanted))?;
                let members = self.members(columns, own.fields(), own.columns(), own.len())?;
                if members.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(own.len(), own.nulls().cloned())));
                }
                Ok(Arc::new(StructArray::try_new(fields.clone(), members, own.nulls().cloned())?))
            }
            (Kind::List(item), DataType::List(field)) => self.list(array, item, field),
            (Kind::Map(key, value), DataType::Map(entries, sorted)) => {
                let own = array.as_map_opt().ok_or_else(|| unlike(array, &wanted))?;
                let (_, offsets, pairs, nulls, _) = own.clone().into_parts();
                let DataType::Struct(fields) = entries.data_type() else { return Err(unlike(array, &wanted)) };
                let members = vec![self.shaped(pairs.column(0), key)?, self.shaped(pairs.column(1), value)?];
                let pairs = StructArray::try_new(fields.clone(), members, None)?;
                Ok(Arc::new(MapArray::try_new(Arc::clone(entries), offsets, pairs, nulls, *sorted)?))
            }
            _ if array.data_type().is_nested() => Err(unlike(array, &wanted)),
            _ => cast_with_options(array, &wanted, &CastOptions { safe: false, ..CastOptions::default() }),
        }
    }

    fn list(&self, array: &ArrayRef, item: &Kind, field: &FieldRef) -> Result<ArrayRef, ArrowError> {
        let short = match array.data_type() {
            DataType::List(_) => Arc::clone(array),
            // As which some writers wrote it.
            DataType::LargeList(own) | DataType::FixedSizeList(own, _) | DataType::ListView(own) => {
                cast_with_options(array, &DataType::List(Arc::clone(own)), &CastOptions::default())?
            }
            _ => return Err(unlike(array, &DataType::List(Arc::clone(field)))),
        };
        let (_, offsets, values, nulls) = short.as_list::<i32>().clone().into_parts();
        Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, self.shaped(&values, item)?, nulls)?))
    }
}

fn unlike(array: &ArrayRef, wanted: &DataType) -> ArrowError {
    ArrowError::CastError(format!("a column is {} in the file and {wanted} in the table", array.data_type()))
}
