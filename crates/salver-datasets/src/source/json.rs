//! JSON documents, NDJSON and GeoJSON. Columns are in the order in which their names first appear.

mod exact_values;
mod geojson;
mod nested_text;
mod row_boundaries;
mod rows;
mod type_inference;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::json::StructMode;
use arrow::json::reader::{Decoder, ReaderBuilder};
use arrow::util::display::array_value_to_string;
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result};
use serde::de::DeserializeSeed as _;

use super::csv::misfit;
use super::{Input, ReadOptions, Sink, Stop, decimal};
use crate::chunk_size::CHUNK_ROWS;
use nested_text::Members;
use row_boundaries::{Position, error_at};
use rows::JsonRows;
use type_inference::{ObjectShape, ObserveRow};

/// Column name for values whose name in the file is empty, which is hard to refer to in most languages.
const UNNAMED: &str = "unnamed";
/// Bytes of rows that are decoded at a time.
const BLOCK_BYTES: usize = 8 * 1024 * 1024;

/// Returns the columns, from the rows in the first `bytes_max` bytes.
pub(super) fn outline(input: &Input, spec: &DatasetSpec, bytes_max: u64) -> Result<Schema> {
    if spec.json.array_encoded {
        if spec.schema.is_empty() {
            return Err(Error::new(Code::Source, format!("`{}`: `array_encoded` rows have no names", input.label))
                .with_hint("declare the columns, in order, in `schema`"));
        }
        let fields = spec.schema.iter().map(|c| Field::new(&c.name, c.data_type.clone(), c.nullable));
        return Ok(Schema::new(fields.collect::<Vec<_>>()));
    }
    // A strict decoder detects names that first appear after the sample, but it can't be used with declared columns.
    let bytes_max = if spec.schema.is_empty() { bytes_max } else { u64::MAX };
    let mut rows = JsonRows::open(input, spec)?;
    let mut object = ObjectShape::default();
    let mut row = Vec::new();
    while rows.used_bytes() < bytes_max {
        row.clear();
        let Some(at) = rows.next(&mut row)? else { break };
        // Without the line end, after which a truncated row would seem to continue.
        let text = row.trim_ascii_end();
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        ObserveRow(&mut object)
            .deserialize(&mut deserializer)
            .and_then(|()| deserializer.end())
            .map_err(|cause| syntax_error(input, at, text, &cause))?;
    }
    let fields = object.to_fields();
    Ok(Schema::new(if fields.is_empty() { declared(input, spec) } else { fields }))
}

/// Returns the declared columns, for a file without rows.
fn declared(input: &Input, spec: &DatasetSpec) -> Vec<Field> {
    let is_own = |name: &str| !input.partitions.iter().any(|(key, _)| key == name);
    let columns = spec.schema.iter().filter(|column| is_own(&column.name));
    columns.map(|column| Field::new(&column.name, column.data_type.clone(), column.nullable)).collect()
}

fn syntax_error(input: &Input, at: Position, row: &[u8], cause: &serde_json::Error) -> Error {
    let line = at.line + (cause.line() as u64).saturating_sub(1);
    let column =
        if cause.line() <= 1 { at.column + (cause.column() as u64).saturating_sub(1) } else { cause.column() as u64 };
    let text = cause.to_string();
    let why = text.split(" at line ").next().unwrap_or(&text);
    let error = error_at(input, Position { line, column }, why);
    match row.trim_ascii().first() {
        Some(b'{') => error,
        Some(b'[') => error.with_hint(
            "rows that are arrays need `array_encoded = true` and a `schema`; an array of rows is `format = \"json\"`",
        ),
        _ => error.with_hint("rows are objects; if they stand deeper in the document, say where with `pointer`"),
    }
}

/// Passes the rows to `sink`, with the types of `reading.schema`.
pub(super) fn read(input: &Input, spec: &DatasetSpec, reading: &ReadOptions, sink: Sink<'_>) -> Result<(), Stop> {
    let decoded = |field: &Arc<Field>| exact_values::field_as_decoded(&nullable(field), is_declared(spec, field));
    let own: Vec<_> = reading.schema.fields().iter().map(decoded).collect();
    // The decoder would skip a name that differs from its column's.
    let is_slow = own.iter().any(|field| field.name() == UNNAMED);
    let schema = Arc::new(Schema::new(own));
    let mut block = Block { input, spec, schema, bytes: Vec::new(), rows: Vec::new(), is_slow };
    let mut rows = JsonRows::open(input, spec)?;
    loop {
        let start = block.bytes.len();
        let next = rows.next(&mut block.bytes)?;
        if let Some(at) = next {
            block.bytes.push(b'\n');
            block.rows.push((start, at));
        }
        let is_full = block.rows.len() == CHUNK_ROWS || block.bytes.len() >= BLOCK_BYTES;
        if !block.rows.is_empty() && (next.is_none() || is_full) {
            let batch = block.decode(&reading.schema)?;
            sink(block.exact(batch, &reading.schema)?)?;
            block.bytes.clear();
            block.rows.clear();
        }
        if next.is_none() {
            return Ok(());
        }
    }
}

fn is_declared(spec: &DatasetSpec, field: &Field) -> bool {
    spec.schema.iter().any(|column| column.name == *field.name())
}

/// Makes the field nullable; nulls are checked later, for all formats alike.
fn nullable(field: &Field) -> Field {
    field.clone().with_nullable(true)
}

struct Block<'a> {
    input: &'a Input,
    spec: &'a DatasetSpec,
    schema: SchemaRef,
    bytes: Vec<u8>,
    rows: Vec<(usize, Position)>,
    /// Whether rows have objects in text columns, which the fast decoder refuses.
    is_slow: bool,
}

impl Block<'_> {
    fn decoder(&self, schema: &SchemaRef) -> Result<Decoder, Stop> {
        let mode = if self.spec.json.array_encoded { StructMode::ListOnly } else { StructMode::ObjectOnly };
        ReaderBuilder::new(Arc::clone(schema))
            .with_batch_size(self.rows.len())
            .with_coerce_primitive(true)
            .with_struct_mode(mode)
            .with_strict_mode(self.spec.schema.is_empty())
            .build_decoder()
            .map_err(|cause| super::damaged(self.input, &cause).with_source(cause).into())
    }

    fn decode(&mut self, wanted: &SchemaRef) -> Result<RecordBatch, Stop> {
        if !self.is_slow
            && let Some(batch) = run(self.decoder(&self.schema)?, &self.bytes, self.rows.len())
        {
            return Ok(batch);
        }
        let mut prepared = Vec::with_capacity(self.bytes.len());
        for (index, (_, at)) in self.rows.iter().enumerate() {
            let row = self.row(index);
            nested_text::row(row, self.schema.fields(), &mut prepared)
                .map_err(|cause| syntax_error(self.input, *at, row, &cause))?;
            prepared.push(b'\n');
        }
        if let Some(batch) = run(self.decoder(&self.schema)?, &prepared, self.rows.len()) {
            self.is_slow = true;
            return Ok(batch);
        }
        Err(self.blame(wanted))
    }

    fn row(&self, index: usize) -> &[u8] {
        let end = self.rows.get(index + 1).map_or(self.bytes.len(), |(start, _)| *start);
        self.bytes[self.rows[index].0..end].trim_ascii_end()
    }

    /// Converts numbers that were decoded as text.
    fn exact(&self, batch: RecordBatch, wanted: &SchemaRef) -> Result<RecordBatch, Stop> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (column, field) in batch.columns().iter().zip(wanted.fields()) {
            let is_declared = is_declared(self.spec, field);
            match exact_values::exactly(column, field.data_type(), is_declared) {
                Some(exact) => columns.push(exact),
                None if is_declared => return Err(self.misfit(column, field)),
                None => return Err(Stop::Outgrown),
            }
        }
        let fields: Vec<_> = wanted.fields().iter().map(|field| nullable(field)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
            .map_err(|cause| super::damaged(self.input, &cause).with_source(cause).into())
    }

    /// Returns the error for the first value of a column that does not fit.
    fn misfit(&self, column: &ArrayRef, field: &Field) -> Stop {
        let alone = |row: usize| {
            let place = UInt64Array::from(vec![row as u64]);
            take(column, &place, None).is_ok_and(|one| exact_values::exactly(&one, field.data_type(), true).is_some())
        };
        let row = (0..column.len()).find(|row| !alone(*row)).unwrap_or(0);
        let shown = array_value_to_string(column, row).ok();
        misfit(&self.input.label, self.rows.get(row).map(|(_, at)| at.line), field, shown.as_deref()).into()
    }

    /// Finds the first row and column that does not fit.
    fn blame(&self, wanted: &SchemaRef) -> Stop {
        for (index, (_, at)) in self.rows.iter().enumerate() {
            let mut text = Vec::new();
            let Ok(()) = nested_text::row(self.row(index), self.schema.fields(), &mut text) else { continue };
            if self.decoder(&self.schema).is_ok_and(|decoder| run(decoder, &text, 1).is_some()) {
                continue;
            }
            if self.spec.json.array_encoded {
                let columns = self.schema.fields().len();
                return error_at(
                    self.input,
                    *at,
                    format!("the row is not an array of {columns} values of the declared types"),
                )
                .into();
            }
            let Ok(members) = serde_json::from_slice::<Members<'_>>(&text) else { continue };
            for field in wanted.fields() {
                let one = Arc::new(Schema::new(vec![exact_values::field_as_decoded(&nullable(field), true)]));
                let Some(cell) = members.get(field.name()).filter(|_| is_declared(self.spec, field)) else { continue };
                let alone = format!("{{{}:{cell}}}", serde_json::Value::from(field.name().as_str()));
                let decoder = self.decoder(&one);
                if decoder.is_ok_and(|decoder| run(decoder, alone.as_bytes(), 1).is_none()) {
                    return misfit(&self.input.label, Some(at.line), field, Some(cell.get())).into();
                }
            }
            return Stop::Outgrown;
        }
        Stop::Outgrown
    }
}

/// Decodes exactly `rows` rows; `None` if it can't.
fn run(mut decoder: Decoder, bytes: &[u8], rows: usize) -> Option<RecordBatch> {
    let used = decoder.decode(bytes).ok()?;
    // A full batch stops the decoder before the last line end.
    if !bytes[used..].trim_ascii().is_empty() || decoder.has_partial_record() {
        return None;
    }
    decoder.flush().ok()?.filter(|batch| batch.num_rows() == rows)
}
