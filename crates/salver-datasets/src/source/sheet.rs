//! Spreadsheets: Excel's xlsx, xls and xlsb, and OpenDocument, which are told apart by their bytes; and sheets of
//! Google's.

mod bare_cells;
mod cells;
mod column;
mod date_format;
mod iso_duration;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use calamine::Data;
use salver_model::limits::SHEET_CELLS_MAX;
use salver_model::spec::{DatasetSpec, SourceFormat};
use salver_model::{Code, Error, Result};

use super::{Input, Sink, Stop, damaged, distinct_names};
use crate::cell_area::Area;
use crate::chunk_size::CHUNK_ROWS;
use crate::google_sheets;

pub(super) fn outline(input: &Input, spec: &DatasetSpec) -> Result<Schema> {
    Ok(table(input, spec)?.0)
}

/// Returns the sheets that are entries of their own when the workbook is found in a directory.
pub(super) fn further(input: &Input) -> Result<Vec<String>> {
    cells::further(input)
}

/// Passes the rows to `sink`.
pub(super) fn read(input: &Input, spec: &DatasetSpec, sink: Sink<'_>) -> Result<(), Stop> {
    let (schema, arrays) = table(input, spec)?;
    let fields = schema.fields().iter().zip(&arrays);
    let typed: Vec<Field> =
        fields.map(|(field, array)| field.as_ref().clone().with_data_type(array.data_type().clone())).collect();
    if arrays.is_empty() {
        return Ok(());
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(typed)), arrays)
        .map_err(|cause| damaged(input, &cause).with_source(cause))?;
    for start in (0..batch.num_rows()).step_by(CHUNK_ROWS) {
        sink(batch.slice(start, CHUNK_ROWS.min(batch.num_rows() - start)))?;
    }
    Ok(())
}

fn table(input: &Input, spec: &DatasetSpec) -> Result<(Schema, Vec<ArrayRef>)> {
    let area = Area::of(spec.sheet.range.as_deref())?;
    let mut cells = match input.format {
        SourceFormat::GoogleSheet => google_sheets::cells(&input.label, &input.path)?,
        _ => cells::read(input, spec)?,
    };
    cells.retain(|cell| area.contains(cell.row, cell.column));
    let Some(first_row) = cells.iter().map(|cell| cell.row).min() else {
        return Ok((Schema::empty(), Vec::new()));
    };
    let last_row = cells.iter().map(|cell| cell.row).max().unwrap_or(first_row);
    let used = cells.iter().map(|cell| cell.column);
    let first_column = area.first_column().unwrap_or_else(|| used.clone().min().unwrap_or(0));
    let last_column = used.max().unwrap_or(first_column);
    let (height, width) = ((last_row - first_row) as usize + 1, (last_column - first_column) as usize + 1);
    if height.saturating_mul(width) > SHEET_CELLS_MAX {
        let message = format!("`{}`: the sheet spans {height} rows and {width} columns", input.label);
        return Err(
            Error::new(Code::Source, message).with_hint("name the part that holds the rows: `range = \"A1:F100\"`")
        );
    }
    let mut columns: Vec<Vec<Data>> = vec![vec![Data::Empty; height]; width];
    let mut is_blank = vec![true; height];
    for cell in cells {
        let row = (cell.row - first_row) as usize;
        is_blank[row] = false;
        columns[(cell.column - first_column) as usize][row] = cell.value;
    }
    if !spec.sheet.no_header {
        is_blank[0] = true;
    }
    let names: Vec<String> = if spec.sheet.no_header {
        (0..width).map(|index| spec.schema.get(index).map(|c| c.name.clone()).unwrap_or_default()).collect()
    } else {
        columns.iter().map(|values| column::text(&values[0]).unwrap_or_default().trim().to_owned()).collect()
    };
    let mut fields = Vec::with_capacity(width);
    let mut arrays = Vec::with_capacity(width);
    let named: Vec<bool> = names.iter().map(|name| !name.is_empty()).collect();
    for ((values, name), is_named) in columns.into_iter().zip(distinct_names(names)).zip(named) {
        let mut kept: Vec<Data> =
            values.into_iter().zip(&is_blank).filter(|(_, is_blank)| !**is_blank).map(|(value, _)| value).collect();
        // A column without a name and values was only formatted.
        if !is_named && kept.iter().all(|value| matches!(value, Data::Empty)) {
            continue;
        }
        let (data_type, array) = column::build(&mut kept);
        fields.push(Field::new(name, data_type, true));
        arrays.push(array);
    }
    Ok((Schema::new(fields), arrays))
}
