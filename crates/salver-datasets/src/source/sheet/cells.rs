//! Reads the cells of one sheet that have a value.

use std::borrow::Cow;
use std::io::Cursor;
use std::sync::Arc;

use calamine::{
    Data, Reader as _, SheetType, SheetVisible, Sheets, Xls, XlsbError, Xlsx, XlsxError, open_workbook_auto_from_rs,
};
use salver_model::limits::{SHEET_FILE_BYTES_MAX, SHEET_TEXT_BYTES_MAX, SHEETS_OF_BOOK_MAX};
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result};

use super::super::{Input, damaged, io_error};
use super::{bare_cells, date_format};
use crate::cell_area::SheetCell;

type Book = Sheets<Cursor<Arc<[u8]>>>;

/// Reads the cells of the sheet that `spec` names, or of the first sheet that has any.
pub(super) fn read(input: &Input, spec: &DatasetSpec) -> Result<Vec<SheetCell>> {
    let (bytes, mut book) = open_file(input)?;
    let names = book.sheet_names();
    if let Some(wanted) = &spec.sheet.sheet {
        if !names.contains(wanted) {
            return Err(Error::new(Code::Source, format!("`{}` has no sheet `{wanted}`", input.label))
                .with_hint_if(salver_model::suggest::hint(wanted, names.iter().map(String::as_str))));
        }
        return cells(input, &bytes, &mut book, wanted);
    }
    for name in &names {
        let found = cells(input, &bytes, &mut book, name)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Returns the visible sheets with cells that stand behind the one that is read if none is named.
pub(super) fn further(input: &Input) -> Result<Vec<String>> {
    if has_one_sheet(input) {
        return Ok(Vec::new());
    }
    let (bytes, mut book) = open_file(input)?;
    let sheets = book.sheets_metadata().to_vec();
    if sheets.len() < 2 {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    let mut has_first = false;
    for sheet in sheets {
        let is_offered = sheet.visible == SheetVisible::Visible && sheet.typ == SheetType::WorkSheet;
        if has_first && !is_offered {
            continue;
        }
        // A sheet that can't be read is there, and says why.
        let is_empty = cells(input, &bytes, &mut book, &sheet.name).is_ok_and(|cells| cells.is_empty());
        if !is_empty && std::mem::replace(&mut has_first, true) {
            names.push(sheet.name);
        }
        if names.len() == SHEETS_OF_BOOK_MAX {
            break;
        }
    }
    Ok(names)
}

/// Returns whether the list of an archive's parts shows that there is one sheet only, which is quicker than to open it.
fn has_one_sheet(input: &Input) -> bool {
    let Ok(file) = std::fs::File::open(&input.path) else { return false };
    let Ok(archive) = zip::ZipArchive::new(std::io::BufReader::new(file)) else { return false };
    let names = archive.file_names().filter_map(Result::ok);
    names.filter(|name| name.starts_with("xl/worksheets/") && !name.contains("/_rels/")).count() == 1
}

fn open_file(input: &Input) -> Result<(Arc<[u8]>, Book)> {
    let bytes = std::fs::metadata(&input.path).map_err(|cause| io_error(input, cause))?.len();
    if bytes > SHEET_FILE_BYTES_MAX {
        return Err(damaged(input, "it is larger than 1 GiB").with_hint("save it as CSV or Parquet"));
    }
    let bytes: Arc<[u8]> = std::fs::read(&input.path).map_err(|cause| io_error(input, cause))?.into();
    check_sums(input, Cursor::new(Arc::clone(&bytes)))?;
    let book = open(Cursor::new(Arc::clone(&bytes))).map_err(|cause| damaged(input, &cause).with_source(cause))?;
    Ok((bytes, book))
}

/// Compares the parts of a zipped workbook with their checksums. Its reader stops before the end of each, where the
/// checksum is known, and would take damaged cells for others.
fn check_sums(input: &Input, bytes: Cursor<Arc<[u8]>>) -> Result<()> {
    // What is not an archive is left to the reader.
    let Ok(mut archive) = zip::ZipArchive::new(bytes) else { return Ok(()) };
    for index in 0..archive.len() {
        let Ok(mut part) = archive.by_index(index) else { continue };
        let Ok(name) = part.name().map(Cow::into_owned) else { continue };
        // Pictures and the like have no cells.
        if name.ends_with(".xml") || name.ends_with(".bin") {
            std::io::copy(&mut part, &mut std::io::sink())
                .map_err(|cause| damaged(input, format!("`{name}` in it: {cause}")).with_source(cause))?;
        }
    }
    Ok(())
}

/// Opens the workbook. Trying each format in turn would hide why the right one failed, for instance for a password.
fn open(bytes: Cursor<Arc<[u8]>>) -> Result<Book, calamine::Error> {
    let is_old = bytes.get_ref().starts_with(&[0xd0, 0xcf, 0x11, 0xe0]);
    open_workbook_auto_from_rs(bytes.clone()).or_else(|unknown| {
        if is_old {
            return Xls::new(bytes).map(Sheets::Xls).map_err(calamine::Error::from);
        }
        match Xlsx::new(bytes) {
            Err(cause @ (XlsxError::Password | XlsxError::FileNotFound(_))) => Err(cause.into()),
            _ => Err(unknown),
        }
    })
}

/// Returns the error for a workbook of which it is not known where the cells behind an error belong.
fn misplaced(input: &Input, row: u32, column: u32) -> Error {
    let before = format!("before row {}, column {}", row.saturating_add(1), column.saturating_add(1));
    damaged(input, format!("there is an error {before}, and cells that don't say where they are"))
        .with_hint("save it again with a spreadsheet program")
}

fn cells(input: &Input, bytes: &Arc<[u8]>, book: &mut Book, name: &str) -> Result<Vec<SheetCell>> {
    let failed = |cause: calamine::Error| damaged(input, &cause).with_source(cause);
    let (mut found, mut text_bytes) = (Vec::new(), 0);
    let mut keep = |(row, column): (u32, u32), value: Data| {
        let is_blank = match &value {
            Data::Empty | Data::Error(_) => true,
            Data::String(text) => text.is_empty(),
            _ => false,
        };
        if let Data::String(text) = &value {
            text_bytes += text.len();
        }
        if text_bytes > SHEET_TEXT_BYTES_MAX {
            return Err(
                damaged(input, "the texts of its cells have more than 1 GiB").with_hint("save it as CSV or Parquet")
            );
        }
        if !is_blank {
            found.push(SheetCell { row, column, value });
        }
        Ok(())
    };
    // A single distant cell makes a range of billions of cells; reading cell by cell builds no range.
    match book {
        Sheets::Xlsx(book) => {
            let mut reader = book.worksheet_cells_reader(name).map_err(|cause| failed(cause.into()))?;
            let (mut is_behind_error, mut has_bare) = (false, None);
            loop {
                let (cell, style) = match reader.next_cell_with_style_id() {
                    Ok(Some(found)) => found,
                    Ok(None) => break,
                    // An error that the library does not know, such as `#SPILL!`; what follows it is read as ever.
                    Err(XlsxError::CellError(_)) => {
                        is_behind_error = true;
                        continue;
                    }
                    Err(cause) => return Err(failed(cause.into())),
                };
                let (row, column) = cell.get_position();
                // The library counts no column for the error, so that a cell without a reference takes its place.
                let bare_cells = || bare_cells::are_in(Cursor::new(Arc::clone(bytes)));
                if is_behind_error && *has_bare.get_or_insert_with(bare_cells) {
                    return Err(misplaced(input, row, column));
                }
                is_behind_error = false;
                let value = cell.get_value().clone().into();
                keep((row, column), date_format::settled(value, reader.styles().get(style)))?;
            }
        }
        Sheets::Xlsb(book) => {
            let mut reader = book.worksheet_cells_reader(name).map_err(|cause| failed(cause.into()))?;
            loop {
                match reader.next_cell() {
                    Ok(Some(cell)) => keep(cell.get_position(), cell.get_value().clone().into())?,
                    Ok(None) => break,
                    Err(XlsbError::CellError(_)) => {}
                    Err(cause) => return Err(failed(cause.into())),
                }
            }
        }
        other => {
            let range = other.worksheet_range(name).map_err(failed)?;
            let (row, column) = range.start().unwrap_or((0, 0));
            for (down, right, value) in range.used_cells() {
                let at = |start: u32, steps: usize| start.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
                keep((at(row, down), at(column, right)), value.clone())?;
            }
        }
    }
    Ok(found)
}
