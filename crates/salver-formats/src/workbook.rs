//! Encodes a workbook of one sheet (XLSX: ECMA-376, part 1). Rows are compressed and passed on as they come; what is
//! held does not grow with them: no table of shared texts, and the styles that they need, which are few, come last.

mod styles;
mod xml_text;
mod zip;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use salver_model::limits::{WORKBOOK_BYTES_MAX, WORKBOOK_COLUMNS_MAX, WORKBOOK_ROWS_MAX, WORKBOOK_TEXT_UNITS_MAX};
use salver_model::{Code, Error, Result};

use crate::column::{Column, Dialect, SheetCell};
use crate::number;
use crate::style::Nulls;
use styles::{Styles, put};
use zip::ArchiveWriter;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
/// The name of the sheet, that of the first sheet of a new workbook.
const SHEET: &str = "Sheet1";
/// Widths of columns, in characters.
const WIDTH: usize = 60;
/// Room for the button of the filter beside a name.
const BUTTON: usize = 4;

/// Writes one workbook.
pub(crate) struct WorkbookEncoder {
    schema: SchemaRef,
    /// Names of the columns in references: `A`, `B`, ..., `XFD`.
    letters: Vec<String>,
    archive: ArchiveWriter,
    styles: Styles,
    /// Rows that were written.
    rows: u64,
    has_begun: bool,
    /// The text of a cell.
    text: Vec<u8>,
}

impl std::fmt::Debug for WorkbookEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkbookEncoder").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl WorkbookEncoder {
    pub(crate) fn new(schema: &SchemaRef) -> Result<Self> {
        let columns = schema.fields().len();
        if columns == 0 {
            return Err(Error::new(Code::UnknownFormat, "a workbook can't hold rows without columns")
                .with_hint("ask for at least one column, or for another format"));
        }
        if columns > WORKBOOK_COLUMNS_MAX {
            let message = format!("a sheet holds {WORKBOOK_COLUMNS_MAX} columns, and these rows have {columns}");
            return Err(Error::new(Code::AnswerTooLarge, message)
                .with_hint("ask for fewer columns, or for another format, such as CSV or Parquet"));
        }
        for field in schema.fields() {
            let units = text_units(field.name().as_bytes());
            if units > WORKBOOK_TEXT_UNITS_MAX {
                return Err(too_long(units, "the name of a column").with_hint("give it a shorter name"));
            }
        }
        Ok(Self {
            schema: SchemaRef::clone(schema),
            letters: (0..columns).map(letters).collect(),
            archive: ArchiveWriter::new(),
            styles: Styles::new(),
            rows: 0,
            has_begun: false,
            text: Vec::new(),
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        if batch.num_columns() != self.letters.len() {
            let (has, wants) = (batch.num_columns(), self.letters.len());
            return Err(Error::internal(format!("a batch has {has} columns, its schema {wants}")));
        }
        check_rows(self.rows + batch.num_rows() as u64)?;
        // Without a number of rows, values that rows share are not written in advance.
        let columns =
            batch.columns().iter().map(|array| Column::resolve(array.as_ref(), Dialect::Json(Nulls::Write), 0));
        let columns: Vec<Column<'_>> = columns.collect::<Result<_>>()?;
        self.begin(out)?;
        for row in 0..batch.num_rows() {
            self.row(&columns, row)?;
            self.archive.pack(out)?;
            if self.archive.part_bytes() > WORKBOOK_BYTES_MAX {
                let message = format!("a workbook holds about {} GB of cells", WORKBOOK_BYTES_MAX / 1_000_000_000);
                return Err(Error::new(Code::AnswerTooLarge, message)
                    .with_hint("ask for fewer rows or columns, or for another format, such as CSV or Parquet"));
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out)?;
        let (last, lines) = (self.letters.last().map_or("A", String::as_str).to_owned(), self.rows + 1);
        let filter = format_args!("</sheetData><autoFilter ref=\"A1:{last}{lines}\"/></worksheet>");
        put(self.archive.content(), filter);
        self.archive.end(out)?;
        self.part("xl/workbook.xml", out, |content| put_book(content, &last, lines))?;
        let styles = std::mem::replace(&mut self.styles, Styles::new());
        self.part("xl/styles.xml", out, |content| styles.write(content))?;
        self.archive.finish(out)
    }

    /// Writes a part that is there as a whole.
    fn part(&mut self, name: &'static str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.archive.begin(name, out);
        write(self.archive.content());
        self.archive.end(out)
    }

    /// Writes everything before the first row, unless that was done.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        self.part("[Content_Types].xml", out, put_content_types)?;
        self.part("_rels/.rels", out, |content| {
            put_relations(content, &[("officeDocument", "xl/workbook.xml")]);
        })?;
        self.part("xl/_rels/workbook.xml.rels", out, |content| {
            put_relations(content, &[("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]);
        })?;
        self.archive.begin("xl/worksheets/sheet1.xml", out);
        let content = self.archive.content();
        put(
            content,
            format_args!(
                "{HEAD}<worksheet xmlns=\"{MAIN}\"><sheetViews><sheetView tabSelected=\"1\" workbookViewId=\"0\">\
                <pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>\
                </sheetView></sheetViews><cols>"
            ),
        );
        for (at, field) in self.schema.fields().iter().enumerate() {
            let width = width(field.data_type()).max(field.name().chars().count() + BUTTON).min(WIDTH);
            let at = at + 1;
            put(content, format_args!("<col min=\"{at}\" max=\"{at}\" width=\"{width}\" customWidth=\"1\"/>"));
        }
        put(content, format_args!("</cols><sheetData><row r=\"1\">"));
        for (letters, field) in self.letters.iter().zip(self.schema.fields()) {
            put_text(content, (letters, 1), styles::HEADER, field.name().as_bytes());
        }
        put(content, format_args!("</row>"));
        self.archive.pack(out)
    }

    fn row(&mut self, columns: &[Column<'_>], row: usize) -> Result<()> {
        self.rows += 1;
        let (content, line) = (self.archive.content(), self.rows + 1);
        content.extend_from_slice(b"<row r=\"");
        number::integer(line, content);
        content.extend_from_slice(b"\">");
        for (at, (column, letters)) in columns.iter().zip(&self.letters).enumerate() {
            self.text.clear();
            let cell = column.sheet_cell(row, &mut self.text);
            let (look, is_number) = match cell {
                SheetCell::Empty => continue,
                SheetCell::Bool(value) => {
                    put_start(content, (letters, line), 0);
                    content.extend_from_slice(if value { b" t=\"b\"><v>1</v></c>" } else { b" t=\"b\"><v>0</v></c>" });
                    continue;
                }
                SheetCell::Number(look) => (look, true),
                SheetCell::Text(look) => (look, false),
            };
            match (self.styles.number(look), is_number) {
                (Some(style), true) => {
                    put_start(content, (letters, line), style);
                    content.extend_from_slice(b"><v>");
                    content.extend_from_slice(&self.text);
                    content.extend_from_slice(b"</v></c>");
                }
                (style, is_number) => {
                    if is_number {
                        // There is no style left that would show it.
                        self.text.clear();
                        column.plain(row, &mut self.text);
                    }
                    check_text(&self.text, self.rows, self.schema.field(at).name())?;
                    put_text(content, (letters, line), style.unwrap_or(0), &self.text);
                }
            }
        }
        content.extend_from_slice(b"</row>");
        Ok(())
    }
}

/// Refuses more rows than a sheet has.
pub(crate) fn check_rows(rows: u64) -> Result<()> {
    if rows <= WORKBOOK_ROWS_MAX {
        return Ok(());
    }
    Err(Error::new(Code::AnswerTooLarge, format!("a sheet holds {WORKBOOK_ROWS_MAX} rows, and there are more"))
        .with_hint("ask for fewer rows, or for another format, such as CSV or Parquet"))
}

fn check_text(text: &[u8], row: u64, column: &str) -> Result<()> {
    let units = text_units(text);
    if units <= WORKBOOK_TEXT_UNITS_MAX {
        return Ok(());
    }
    Err(too_long(units, &format!("column `{column}`, row {row}"))
        .with_hint("cut it (`left(...)`), leave the column out, or ask for another format, such as CSV or Parquet"))
}

fn too_long(units: usize, place: &str) -> Error {
    let message =
        format!("{place}: a cell of a workbook holds {WORKBOOK_TEXT_UNITS_MAX} characters, and this has {units}");
    Error::new(Code::AnswerTooLarge, message)
}

/// Counts characters as spreadsheets do, in UTF-16. Short text, of which that is not needed, is counted in bytes.
fn text_units(text: &[u8]) -> usize {
    if text.len() <= WORKBOOK_TEXT_UNITS_MAX {
        return text.len();
    }
    // A character of four bytes takes two units, any other one.
    text.iter().map(|byte| usize::from(*byte & 0xc0 != 0x80) + usize::from(*byte >= 0xf0)).sum()
}

/// Returns the width of a column, in characters, as far as its type tells. A date that does not fit is not shown.
fn width(data_type: &DataType) -> usize {
    match data_type {
        DataType::Date32 => 11,
        DataType::Date64 | DataType::Timestamp(..) => 27,
        DataType::Dictionary(_, values) => width(values),
        DataType::RunEndEncoded(_, values) => width(values.data_type()),
        data_type if data_type.is_nested() || data_type.is_string() => 20,
        _ => 12,
    }
}

/// Returns the name of a column: `A` to `Z`, `AA` to `ZZ`, `AAA` to `XFD`.
fn letters(column: usize) -> String {
    let (mut rest, mut name) = (column + 1, Vec::new());
    while rest > 0 {
        name.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or(0)));
        rest = (rest - 1) / 26;
    }
    name.into_iter().rev().collect()
}

/// Writes the begin of a cell, up to its attribute of the style.
fn put_start(out: &mut Vec<u8>, (letters, line): (&str, u64), style: usize) {
    out.extend_from_slice(b"<c r=\"");
    out.extend_from_slice(letters.as_bytes());
    number::integer(line, out);
    out.push(b'"');
    if style > 0 {
        out.extend_from_slice(b" s=\"");
        number::integer(style, out);
        out.push(b'"');
    }
}

fn put_text(out: &mut Vec<u8>, place: (&str, u64), style: usize, text: &[u8]) {
    put_start(out, place, style);
    out.extend_from_slice(b" t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    xml_text::content(text, out);
    out.extend_from_slice(b"</t></is></c>");
}

fn put_content_types(out: &mut Vec<u8>) {
    put(
        out,
        format_args!(
            "{HEAD}<Types xmlns=\"{PACKAGE}/content-types\">\
            <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
            <Default Extension=\"xml\" ContentType=\"application/xml\"/>"
        ),
    );
    for (part, kind) in [("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"), ("styles", "styles")] {
        put(
            out,
            format_args!(
                "<Override PartName=\"/xl/{part}.xml\" \
                ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.{kind}+xml\"/>"
            ),
        );
    }
    put(out, format_args!("</Types>"));
}

fn put_relations(out: &mut Vec<u8>, targets: &[(&str, &str)]) {
    put(out, format_args!("{HEAD}<Relationships xmlns=\"{PACKAGE}/relationships\">"));
    for (at, (kind, target)) in targets.iter().enumerate() {
        let at = at + 1;
        put(out, format_args!("<Relationship Id=\"rId{at}\" Type=\"{RELATIONS}/{kind}\" Target=\"{target}\"/>"));
    }
    put(out, format_args!("</Relationships>"));
}

/// Writes the workbook; the rows that are filtered have a hidden name.
fn put_book(out: &mut Vec<u8>, last: &str, lines: u64) {
    put(
        out,
        format_args!(
            "{HEAD}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><bookViews><workbookView/></bookViews>\
            <sheets><sheet name=\"{SHEET}\" sheetId=\"1\" r:id=\"rId1\"/></sheets>\
            <definedNames><definedName name=\"_xlnm._FilterDatabase\" localSheetId=\"0\" hidden=\"1\">\
            {SHEET}!$A$1:${last}${lines}</definedName></definedNames></workbook>"
        ),
    );
}
