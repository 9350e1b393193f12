//! CSV and TSV files, with their dialect detected where it is not configured.

mod column;
mod column_inference;
mod sniff;
mod split;
mod undecided_numbers;
mod value_form;

use std::collections::HashMap;
use std::io::{BufRead, Cursor, Read};
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};
use salver_model::limits::CSV_FIELDS_MAX;
use salver_model::spec::{DatasetSpec, Quote, SourceFormat};
use salver_model::{Code, Error};

use super::{Input, Outline, ReadOptions, Sink, Stop, distinct_names, encoding, io_error};
use crate::chunk_size::CHUNK_ROWS;
use column::CsvColumn;
use column_inference::{ColumnInference, Contradiction, Told, notes};
use sniff::Head;
use split::{Block, Dialect, Splitter, Trouble, View};
pub(crate) use undecided_numbers::settle_numbers;
pub(crate) use value_form::ValueForm;
use value_form::{Marks, Misfit, is_like_a_date, is_like_a_number};

/// Bytes from which the dialect is detected.
const HEAD_BYTES: u64 = 64 * 1024;
/// Most cells of a batch, which bounds the memory for very wide files.
const BATCH_CELLS: usize = 4 * 1024 * 1024;

/// Returns the columns, with types inferred from the rows in the first `bytes_max` bytes.
pub(super) fn outline(input: &Input, spec: &DatasetSpec, bytes_max: u64) -> Result<Outline, Error> {
    match outline_as(input, spec, bytes_max, false) {
        Err(Stop::NotUtf8) => outline_as(input, spec, bytes_max, true),
        other => other,
    }
    .map_err(|stop| match stop {
        Stop::Failed(error) => error,
        other => Error::internal(format!("`{}`: {other:?} while looking at its columns", input.label)),
    })
}

fn outline_as(input: &Input, spec: &DatasetSpec, bytes_max: u64, legacy: bool) -> Result<Outline, Stop> {
    let mut records = Records::open(input, spec, legacy)?;
    let names = records.names.clone();
    let mut columns = vec![ColumnInference::new(&spec.csv, records.dialect.delimiter); names.len()];
    let mut block = Block::default();
    while records.used_bytes < bytes_max && records.next(&mut block)? {
        let view = records.view(&block)?;
        for (index, inference) in columns.iter_mut().enumerate() {
            let column = records.column(view, &block, index, (false, ValueForm::default()));
            for row in 0..block.rows() {
                if inference.is_settled() {
                    break;
                }
                // Blank fields are null in any column that is not text, so they don't affect the type.
                if let Some(text) = column.value(row).filter(|text| !text.trim_ascii().is_empty()) {
                    inference.see(text, block.line(row));
                }
            }
        }
    }
    let mut fields = Vec::with_capacity(names.len());
    let mut forms = HashMap::new();
    let mut told: Vec<(&str, Told)> = Vec::new();
    let (mut shows_commas, mut undecided) = (false, Vec::new());
    for (name, column) in names.iter().zip(columns) {
        let is_declared = spec.schema.iter().any(|column| column.name == *name);
        let found = match column.finish() {
            Ok(found) => found,
            // The reader finds it if it does not fit the declared type.
            Err(_) if is_declared => {
                fields.push(Field::new(name, DataType::Utf8, true));
                continue;
            }
            Err(contradiction) => return Err(records.contradiction(name, &contradiction).into()),
        };
        fields.push(Field::new(name, found.kind.data_type(), true));
        shows_commas |= found.shows_commas;
        if found.is_undecided {
            undecided.push(name.clone());
        }
        if let Some(Told::Guessed(_)) = found.told {
            forms.insert(name.clone(), found.form);
        }
        told.extend(found.told.filter(|_| !is_declared).map(|told| (name.as_str(), told)));
    }
    let guesses = records.guesses().into_iter().chain(notes(told.into_iter())).collect();
    let schema = Schema::new(fields);
    Ok(Outline { legacy_text: legacy, forms: Arc::new(forms), guesses, shows_commas, undecided, ..Outline::of(schema) })
}

/// Passes the rows to `sink`, with the types of `reading.schema`.
pub(super) fn read(input: &Input, spec: &DatasetSpec, reading: &ReadOptions, sink: Sink<'_>) -> Result<(), Stop> {
    let mut records = Records::open(input, spec, reading.legacy_text)?;
    let mut columns = Vec::new();
    for (index, name) in records.names.iter().enumerate() {
        if let Ok(field) = reading.schema.field_with_name(name) {
            let declared = spec.schema.iter().find(|column| column.name == *name);
            let form = reading.forms.get(name).copied().unwrap_or_else(|| ValueForm::declared(&spec.csv));
            columns.push((index, Arc::new(field.clone()), (declared.is_some(), form)));
        }
    }
    let fields: Vec<_> =
        columns.iter().map(|(_, field, _)| Arc::new(field.as_ref().clone().with_nullable(true))).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut block = Block::default();
    while records.next(&mut block)? {
        let view = records.view(&block)?;
        let mut arrays = Vec::with_capacity(columns.len());
        for (index, field, reading @ (is_declared, form)) in &columns {
            let column = records.column(view, &block, *index, *reading);
            let array = match column.build(field.data_type()) {
                Ok(array) => array,
                Err(_) if !is_declared => return Err(Stop::Outgrown),
                Err(row) => return Err(records.misfit(&block, row, field, column.value(row), *form).into()),
            };
            if *is_declared && !field.is_nullable() && array.null_count() > 0 {
                let row = (0..array.len()).find(|row| array.is_null(*row)).unwrap_or(0);
                return Err(records.misfit(&block, row, field, None, *form).into());
            }
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(block.rows()));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
            .map_err(|cause| super::damaged(input, &cause).with_source(cause))?;
        sink(batch)?;
    }
    Ok(())
}

struct Records<'a> {
    input: &'a Input,
    spec: &'a DatasetSpec,
    reader: Box<dyn BufRead + Send>,
    splitter: Splitter,
    dialect: Dialect,
    /// Records before the table.
    before: usize,
    /// Whether its first record is a header.
    has_header: bool,
    names: Vec<String>,
    /// Without a header: the first record, which was read to count the columns.
    first: Option<Block>,
    is_guess: bool,
    is_done: bool,
    used_bytes: u64,
}

impl<'a> Records<'a> {
    fn open(input: &'a Input, spec: &'a DatasetSpec, legacy: bool) -> Result<Self, Stop> {
        let csv = &spec.csv;
        let text = encoding::open(input, csv.encoding.as_deref(), legacy)?;
        let mut reader = text.reader;
        let failed = |cause| Stop::Failed(io_error(input, cause));
        let mut line = 1;
        for _ in 0..csv.skip_rows.unwrap_or(0) {
            if reader.skip_until(b'\n').map_err(failed)? == 0 {
                break;
            }
            line += 1;
        }
        let default = if input.format == SourceFormat::Tsv { Some(b'\t') } else { None };
        let mut dialect = Dialect {
            delimiter: csv.delimiter.or(default).unwrap_or(b','),
            quote: match csv.quote {
                Quote::Guessed => Some(b'"'),
                Quote::Off => None,
                Quote::Is(quote) => Some(quote),
            },
            escape: csv.escape,
            comment: csv.comment,
        };
        let mut head = Vec::new();
        reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        let sample = Head { bytes: &head, is_whole: (head.len() as u64) < HEAD_BYTES };
        let named = if csv.skip_rows.is_none() { sniff::named(sample) } else { None };
        if csv.delimiter.or(default).is_none() {
            dialect.delimiter = named.unwrap_or_else(|| sniff::delimiter(sample, dialect, csv));
        }
        if csv.quote == Quote::Guessed {
            dialect.quote = sniff::quote(sample, dialect);
        }
        dialect.escape = csv.escape.filter(|escape| Some(*escape) != dialect.quote);
        let before = if csv.skip_rows.is_none() { sniff::before(sample, dialect) } else { 0 };
        let before = before.max(usize::from(named.is_some()));
        let has_header = csv.header.unwrap_or_else(|| sniff::has_header(sample, dialect, before, spec));
        reader = Box::new(Cursor::new(head).chain(reader));
        let splitter = Splitter::new(dialect, line);
        let (first, names) = (None, Vec::new());
        let is_guess = text.is_guess && !legacy;
        let mut records = Self {
            input,
            spec,
            reader,
            splitter,
            dialect,
            before,
            has_header,
            names,
            first,
            is_guess,
            is_done: false,
            used_bytes: 0,
        };
        records.read_names()?;
        Ok(records)
    }

    fn read_names(&mut self) -> Result<(), Stop> {
        let mut block = Block::default();
        if self.before > 0 {
            self.fill(&mut block, self.before)?;
            block.clear();
        }
        self.fill(&mut block, 1)?;
        let view = self.view(&block)?;
        let width = if block.rows() > 0 { view.width(0) } else { 0 };
        if width > CSV_FIELDS_MAX {
            return Err(self.trouble(Trouble { line: block.line(0), what: "has too many fields" }).into());
        }
        let declared = |index: usize| self.spec.schema.get(index).map(|column| column.name.clone());
        let names: Vec<String> = if self.has_header {
            (0..width).filter_map(|index| view.field(0, index)).map(|(name, _)| name.trim().to_owned()).collect()
        } else {
            (0..width).map(|index| declared(index).unwrap_or_default()).collect()
        };
        self.names = distinct_names(names);
        if !self.has_header && block.rows() > 0 {
            self.first = Some(block);
        }
        Ok(())
    }

    /// Fills `block` with the next records; returns false at the end.
    fn next(&mut self, block: &mut Block) -> Result<bool, Stop> {
        if let Some(first) = self.first.take() {
            *block = first;
        } else {
            block.clear();
            let rows_max = (BATCH_CELLS / self.names.len().max(1)).clamp(1, CHUNK_ROWS);
            self.fill(block, rows_max)?;
        }
        if block.rows() > 0 {
            self.check_width(block)?;
        }
        Ok(block.rows() > 0)
    }

    fn fill(&mut self, block: &mut Block, rows_max: usize) -> Result<(), Stop> {
        while !self.is_done && block.rows() < rows_max {
            let bytes = match self.reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(io_error(self.input, cause).into()),
            };
            if bytes.is_empty() {
                self.is_done = true;
                let finished = self.splitter.finish(block);
                return finished.map_err(|trouble| self.trouble(trouble).into());
            }
            let before = block.rows();
            let fed = self.splitter.feed(bytes, block, rows_max);
            let is_whole = matches!(fed, Ok(used) if used == bytes.len());
            match fed {
                Ok(used) => {
                    self.reader.consume(used);
                    self.used_bytes += used as u64;
                }
                Err(trouble) => return Err(self.trouble(trouble).into()),
            }
            // The splitter stops before the end of its input only if the block is full.
            if !is_whole && block.rows() > before {
                return Ok(());
            }
        }
        Ok(())
    }

    fn view<'b>(&self, block: &'b Block) -> Result<View<'b>, Stop> {
        block.view().ok_or_else(|| {
            if self.is_guess {
                return Stop::NotUtf8;
            }
            let line = block.line(block.first_not_utf8());
            Error::new(Code::Source, format!("`{}` line {line} is not UTF-8", self.input.label))
                .with_hint("say `encoding`, for instance `encoding = \"windows-1252\"`")
                .into()
        })
    }

    fn check_width(&self, block: &Block) -> Result<(), Stop> {
        let view = self.view(block)?;
        let expected = self.names.len();
        let is_empty = |row: usize, index: usize| view.field(row, index).is_none_or(|(text, _)| text.is_empty());
        for row in 0..block.rows() {
            let width = view.width(row);
            // Many programs end each row with a delimiter; an empty field after the last column is ignored.
            if width > expected && !(expected..width).all(|index| is_empty(row, index)) {
                let what = if self.has_header { "header" } else { "first row" };
                let (label, line) = (&self.input.label, block.line(row));
                let message = format!("`{label}` line {line} has {width} fields, the {what} has {expected}");
                return Err(Error::new(Code::Source, message)
                    .with_hint(
                        "quote fields that hold the delimiter, or set `delimiter`, `quote`, `comment` or `skip_rows`",
                    )
                    .into());
            }
        }
        Ok(())
    }

    /// Returns the detected settings that are unusual.
    fn guesses(&self) -> Vec<String> {
        let csv = &self.spec.csv;
        let before = (self.before > 0).then(|| {
            let lines = if self.before == 1 { "line" } else { "lines" };
            format!("without {} {lines} before the table (`skip_rows = 0` takes all)", self.before)
        });
        let header = (csv.header.is_none() && !self.has_header)
            .then(|| "without a header (`header = true` takes the first row for one)".to_owned());
        let quote = match (csv.quote, self.dialect.quote) {
            (Quote::Guessed, None) => Some("without quotes (`quote = '\"'` has some)".to_owned()),
            (Quote::Guessed, Some(b'\'')) => Some("quoted by `'` (`quote` says another)".to_owned()),
            _ => None,
        };
        before.into_iter().chain(header).chain(quote).collect()
    }

    /// Returns a column of the block, and whether it is declared, and the form of its values.
    fn column<'b>(
        &'b self,
        view: View<'b>,
        block: &Block,
        index: usize,
        (is_declared, form): (bool, ValueForm),
    ) -> CsvColumn<'b> {
        CsvColumn { view, rows: block.rows(), index, null_tokens: &self.spec.csv.null_tokens, is_declared, form }
    }

    fn trouble(&self, trouble: Trouble) -> Error {
        let Trouble { line, what } = trouble;
        Error::new(Code::Source, format!("`{}` line {line} {what}", self.input.label))
            .with_hint("check the line, `delimiter` and `quote`, and that `format` is what the file is")
    }

    fn misfit(&self, block: &Block, row: usize, field: &Field, value: Option<&str>, form: ValueForm) -> Error {
        let line = block.line(row);
        let error = misfit(&self.input.label, Some(line), field, value);
        let Some(text) = value.map(str::trim_ascii) else { return error };
        let is_number = field.data_type().is_numeric();
        if !is_number && !field.data_type().is_temporal() {
            return error;
        }
        if let Err(misfit) = form.plain(text) {
            return self.contradiction(field.name(), &Contradiction { line, value: text.to_owned(), misfit });
        }
        let usual = Marks { decimal: '.', thousands: None };
        if is_number && is_like_a_number(text, usual) && text.contains([',', '\'', ' ', '\u{a0}', '\u{202f}']) {
            return error
                .with_hint("set how numbers are written, with `decimal` and `thousands`, or correct the value");
        }
        if !is_number && form.dates.is_none() && is_like_a_date(text) {
            return error
                .with_hint("set how dates are written, with `dates = \"dmy\"` or `\"mdy\"`, or correct the value");
        }
        error
    }

    /// Returns the error for a value that is not written as the others and the settings say.
    fn contradiction(&self, name: &str, found: &Contradiction) -> Error {
        let shown: String = found.value.chars().take(60).collect();
        let setting = if matches!(found.misfit, Misfit::Dates(_)) { "`dates`" } else { "`decimal` and `thousands`" };
        let (label, line, words) = (&self.input.label, found.line, found.misfit.words());
        Error::new(Code::Source, format!("`{label}` line {line}: column `{name}`: `{shown}` is not {words}"))
            .with_hint(format!("correct the value, change {setting}, or declare `{name}` as text in `schema`"))
    }
}

/// Returns the error "`x.csv` line 7: column `age`: `n/a` is not Int64", with a hint.
pub(super) fn misfit(label: &str, line: Option<u64>, field: &Field, value: Option<&str>) -> Error {
    let name = field.name();
    let at = line.map(|line| format!(" line {line}")).unwrap_or_default();
    let Some(value) = value else {
        return Error::new(
            Code::Source,
            format!("`{label}`{at}: column `{name}` is null but was declared not nullable"),
        )
        .with_hint("declare the column with `nullable = true`");
    };
    let shown: String = value.chars().take(60).collect();
    let error =
        Error::new(Code::Source, format!("`{label}`{at}: column `{name}`: `{shown}` is not {}", field.data_type()));
    let hint = match field.data_type() {
        DataType::Utf8 => "correct the value".to_owned(),
        _ => format!("declare `{name}` as text in `schema`, correct the value, or add `{shown}` to `null_tokens`"),
    };
    error.with_hint(hint)
}
