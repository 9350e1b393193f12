//! File formats: the schema of a file, and its rows as record batches. A format handles a single file; merging files,
//! partitions and the storage of rows are handled elsewhere.

mod arrow_ipc;
mod avro;
mod csv;
pub(crate) mod decimal;
pub(crate) mod declared_type;
mod encoding;
mod json;
pub(crate) mod parquet;
mod sheet;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use salver_model::ports::FileKind;
use salver_model::spec::{DatasetSpec, SourceFormat};
use salver_model::{Code, Error, Result};
use tempfile::TempDir;

pub(crate) use self::csv::settle_numbers;
use crate::buckets::{CachedObject, Pinned};
use crate::decompress::{self, Compression};
use crate::location::word;

/// Bytes of text from which a schema is first inferred; later rows may widen it.
const SAMPLE_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes from which the format of a file is detected.
const HEAD_BYTES: u64 = 4 * 1024;

/// One file to read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Its name in messages.
    pub(crate) label: String,
    /// Path of the file.
    pub(crate) path: PathBuf,
    /// Its format.
    pub(crate) format: SourceFormat,
    /// Its partition keys and values.
    pub(crate) partitions: Vec<(String, String)>,
    /// The directory of a downloaded or decompressed file, kept while `path` is read.
    pub(crate) dir: Option<Arc<TempDir>>,
    /// The object whose parts are at `path`, which are fetched when they are needed.
    pub(crate) object: Option<Arc<CachedObject>>,
}

impl Input {
    /// Fetches what its columns are told from, if it is an object, and keeps that as long as the result lives: of
    /// Parquet the footer, of all others everything. Blocks.
    pub(crate) fn format_parts(&self) -> Result<Option<Pinned>> {
        let Some(object) = &self.object else { return Ok(None) };
        match self.format {
            SourceFormat::Parquet => object.footer().map(Some),
            _ => object.whole().map(Some),
        }
    }
}

/// The reason why reading stopped before the end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A value does not fit the inferred type; the whole file must be sampled.
    Outgrown,
    /// Text that was read as UTF-8 is not UTF-8.
    NotUtf8,
    /// The sink has no room for more batches.
    Full,
    /// The file can't be read.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Receiver of the batches of a file.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(RecordBatch) -> Result<(), Stop>;

/// Options to read a file, in addition to its dataset's settings.
#[derive(Clone, Debug)]
pub(crate) struct ReadOptions {
    /// The dataset's columns. A file may lack some, and its types are converted to these.
    pub(crate) schema: SchemaRef,
    /// Whether text without a declared encoding is read as windows-1252.
    pub(crate) legacy_text: bool,
    /// The forms of values that were guessed, by column.
    pub(crate) forms: ValueForms,
}

/// Forms of values by column.
pub(crate) type ValueForms = Arc<HashMap<String, csv::ValueForm>>;

/// The columns of a file.
#[derive(Clone, Debug)]
pub(crate) struct Outline {
    /// The columns; [`arrow::datatypes::DataType::Null`] if only nulls were seen.
    pub(crate) schema: Schema,
    /// Whether its text is not UTF-8.
    pub(crate) legacy_text: bool,
    /// The forms of values that were guessed, by column.
    pub(crate) forms: ValueForms,
    /// Guesses about the dialect that differ from most files: the description of each, with the setting that overrides
    /// it.
    pub(crate) guesses: Vec<String>,
    /// Whether it has numbers with decimal commas.
    pub(crate) shows_commas: bool,
    /// Columns of numbers such as `1.234`, whose points may stand between thousands.
    pub(crate) undecided: Vec<String>,
}

impl Outline {
    /// Returns the outline of a file of which nothing is guessed.
    fn of(schema: Schema) -> Self {
        let forms = ValueForms::default();
        Self { schema, legacy_text: false, forms, guesses: Vec::new(), shows_commas: false, undecided: Vec::new() }
    }
}

/// Returns whether the types of this format are inferred from text.
pub(crate) fn is_guessed(format: SourceFormat) -> bool {
    use SourceFormat::{Csv, GeoJson, GoogleSheet, Json, NdJson, Sheet, Tsv};
    matches!(format, Csv | Tsv | Json | NdJson | GeoJson | Sheet | GoogleSheet)
}

/// Returns the columns of a file: from its header or footer, or from its rows; all rows with `all`, else a sample.
///
/// # Errors
/// [`Code::Source`] with the file, and the line if known.
pub(crate) fn outline(input: &Input, spec: &DatasetSpec, all: bool) -> Result<Outline> {
    let bytes_max = if all { u64::MAX } else { SAMPLE_BYTES };
    let _parts = input.format_parts()?;
    refuse_web_page(input)?;
    guarded(input, || {
        let schema = match input.format {
            SourceFormat::Csv | SourceFormat::Tsv => return csv::outline(input, spec, bytes_max),
            SourceFormat::Json | SourceFormat::NdJson | SourceFormat::GeoJson => json::outline(input, spec, bytes_max)?,
            SourceFormat::Parquet | SourceFormat::Delta => parquet::schema(input)?,
            SourceFormat::ArrowFile | SourceFormat::ArrowStream => arrow_ipc::schema(input)?,
            SourceFormat::Avro => avro::schema(input)?,
            SourceFormat::Sheet | SourceFormat::GoogleSheet => sheet::outline(input, spec)?,
        };
        Ok(Outline::of(distinct(schema)))
    })
}

/// Returns the sheets of a workbook behind the one that is read if none is named; none of other files, and none if the
/// workbook can't be read, which its reader reports.
pub(crate) fn further_sheets(path: &std::path::Path) -> Vec<String> {
    let Some(format @ SourceFormat::Sheet) = crate::location::format_of_path(path) else { return Vec::new() };
    let label = path.display().to_string();
    let input = Input { label, path: path.to_owned(), format, partitions: Vec::new(), dir: None, object: None };
    guarded(&input, || sheet::further(&input)).unwrap_or_default()
}

/// Returns the columns, under their own names, of a file that can be sent as it is, from its footer; `None` if it can't
/// be.
pub(crate) fn own_schema(input: &Input) -> Option<(FileKind, Schema)> {
    let schema: Result<_, Error> = guarded(input, || match input.format {
        SourceFormat::Parquet => Ok(Some((FileKind::Parquet, parquet::schema(input)?))),
        SourceFormat::ArrowFile | SourceFormat::ArrowStream => {
            Ok(arrow_ipc::footer(input)?.map(|schema| (FileKind::ArrowFile, schema)))
        }
        _ => Ok(None),
    });
    // The reader reports what is wrong with it.
    schema.unwrap_or(None)
}

/// Passes every row of a file to `sink`, in order. The batches' columns are named as in `reading.schema`, but some may
/// be missing, and their order and types may differ.
///
/// # Errors
/// [`Stop`], and the errors of `sink`.
pub(crate) fn read(input: &Input, spec: &DatasetSpec, reading: &ReadOptions, sink: Sink<'_>) -> Result<(), Stop> {
    let _whole = input.object.as_ref().map(CachedObject::whole).transpose()?;
    guarded(input, || match input.format {
        SourceFormat::Csv | SourceFormat::Tsv => csv::read(input, spec, reading, sink),
        SourceFormat::Json | SourceFormat::NdJson | SourceFormat::GeoJson => json::read(input, spec, reading, sink),
        SourceFormat::Parquet | SourceFormat::Delta => parquet::read(input, sink),
        SourceFormat::ArrowFile | SourceFormat::ArrowStream => arrow_ipc::read(input, sink),
        SourceFormat::Avro => avro::read(input, sink),
        SourceFormat::Sheet | SourceFormat::GoogleSheet => sheet::read(input, spec, sink),
    })
}

/// Catches panics in readers of binary formats, which trust the lengths and offsets of damaged files. Such a panic
/// becomes an error of the file.
pub(crate) fn guarded<T, E: From<Error>>(input: &Input, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Err(damaged(input, "its structure makes no sense").with_source(text.to_owned()).into())
    })
}

/// Refuses a web page: a server that requires a login, or is broken, often sends one with status 200. Read as CSV it
/// would replace valid rows.
fn refuse_web_page(input: &Input) -> Result<()> {
    use std::io::Read as _;
    if !(input.label.starts_with("http://") || input.label.starts_with("https://")) {
        return Ok(());
    }
    let mut head = Vec::new();
    let read = decompress::open(&input.path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let is_csv = matches!(input.format, SourceFormat::Csv | SourceFormat::Tsv);
    // If it can't be decompressed, the reader reports the error.
    let other = match read {
        Ok(_) if is_web_page(&head, is_csv) => "a web page or XML",
        Ok(_) if is_csv && is_json(&head) => "JSON",
        Ok(_) if is_csv && is_sentence(&head) => "a sentence",
        _ => return Ok(()),
    };
    let format = word(input.format);
    Err(Error::new(Code::Source, format!("`{}` answers {other}, not {format}", input.label))
        .with_hint("open the URL in a browser: the server may want a login (set `headers`), or the file has moved"))
}

/// Returns whether the bytes begin like JSON, in which servers report errors.
fn is_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    text.starts_with(b"{\"") || text.starts_with(b"[{")
}

/// Returns whether the bytes are one line of several words, such as `Please log in`. A table of one column without rows
/// looks the same, but its name is seldom several words.
fn is_sentence(head: &[u8]) -> bool {
    let text = head.trim_ascii();
    let is_apart = |byte: &u8| matches!(byte, b',' | b';' | b'\t' | b'|' | b'"' | b'\n');
    !text.iter().any(is_apart) && text.contains(&b' ') && (text.len() as u64) < HEAD_BYTES / 2
}

/// Returns whether the bytes begin like HTML or XML. A CSV column may be called `<DATE>`, so for CSV the tag must be
/// one of HTML.
fn is_web_page(head: &[u8], is_csv: bool) -> bool {
    const TAGS: [&[u8]; 13] = [
        b"html", b"head", b"body", b"meta", b"title", b"script", b"style", b"div", b"h1", b"p", b"center", b"pre",
        b"error",
    ];
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let Some(tag) = text.strip_prefix(b"<") else { return false };
    let name = &tag[..tag.iter().take_while(|b| b.is_ascii_alphanumeric()).count()];
    !is_csv || matches!(tag.first(), Some(b'!' | b'?')) || TAGS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the error "`x.parquet` is not readable as Parquet: why".
pub(crate) fn damaged(input: &Input, why: impl std::fmt::Display) -> Error {
    let format = word(input.format);
    Error::new(Code::Source, format!("`{}` can't be read as {format}: {why}", input.label))
        .with_hint("check that the file is whole, and that `format` is what it is")
}

/// Returns the error for a failure of the disk or of decompression.
pub(crate) fn io_error(input: &Input, cause: std::io::Error) -> Error {
    Error::new(Code::Source, format!("can't read `{}`: {cause}", input.label))
        .with_hint("check that the file is whole and may be read")
        .with_source(cause)
}

/// Returns the input, or a decompressed copy if it is compressed: for formats that need random access.
pub(crate) fn unpacked(input: Input, data_dir: &std::path::Path) -> Result<Input> {
    use SourceFormat::{ArrowFile, Parquet, Sheet};
    if !matches!(input.format, Parquet | ArrowFile | Sheet) {
        return Ok(input);
    }
    // Of Parquet only the end is there, which tells it apart.
    let _whole = match &input.object {
        Some(object) if input.format == Parquet && !object.is_packed()? => return Ok(input),
        Some(object) => Some(object.whole()?),
        None => None,
    };
    if Compression::of_file(&input.path).map_err(|cause| io_error(&input, cause))? == Compression::None {
        return Ok(input);
    }
    let dir = Arc::new(crate::fetch::scratch(data_dir)?);
    let path = dir.path().join("unpacked");
    let mut packed = decompress::open(&input.path).map_err(|cause| io_error(&input, cause))?;
    crate::fetch::spool(&mut packed, &path).map_err(|cause| io_error(&input, cause))?;
    Ok(Input { path, dir: Some(dir), object: None, ..input })
}

/// Detects the format from the first bytes, for sources without a file name.
pub(crate) fn sniffed(path: &std::path::Path) -> std::io::Result<SourceFormat> {
    use std::io::Read as _;
    let mut head = Vec::new();
    decompress::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    Ok(match &head[..] {
        [b'P', b'A', b'R', b'1', ..] => SourceFormat::Parquet,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => SourceFormat::ArrowFile,
        [0xff, 0xff, 0xff, 0xff, ..] => SourceFormat::ArrowStream,
        [b'O', b'b', b'j', 1, ..] => SourceFormat::Avro,
        [b'P', b'K', 3, 4, ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => SourceFormat::Sheet,
        _ => match text.first() {
            Some(b'[') => SourceFormat::Json,
            Some(b'{') => SourceFormat::NdJson,
            _ if text.split(|b| *b == b'\n').next().is_some_and(|line| line.contains(&b'\t')) => SourceFormat::Tsv,
            _ => SourceFormat::Csv,
        },
    })
}

/// Makes the schema's column names unique: an empty name becomes `column_3`, a second `a` becomes `a_2`.
fn distinct(schema: Schema) -> Schema {
    let names = distinct_names(schema.fields().iter().map(|field| field.name().clone()).collect());
    let fields = schema.fields().iter().zip(names).map(|(field, name)| field.as_ref().clone().with_name(name));
    Schema::new(fields.collect::<Vec<_>>())
}

/// Renames the batch's columns as [`distinct`] does.
fn renamed(batch: &RecordBatch) -> Result<RecordBatch, arrow::error::ArrowError> {
    RecordBatch::try_new_with_options(
        Arc::new(distinct(batch.schema().as_ref().clone())),
        batch.columns().to_vec(),
        &arrow::array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows())),
    )
}

/// Makes the names unique.
pub(crate) fn distinct_names(names: Vec<String>) -> Vec<String> {
    let mut taken: std::collections::HashSet<String> = names.iter().cloned().collect();
    let mut seen = std::collections::HashSet::new();
    let mut unique = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let base = if name.is_empty() { format!("column_{}", index + 1) } else { name };
        let mut name = base.clone();
        let mut number = 2;
        while !seen.insert(name.clone()) {
            loop {
                name = format!("{base}_{number}");
                number += 1;
                if !taken.contains(&name) {
                    break;
                }
            }
        }
        taken.insert(name.clone());
        unique.push(name);
    }
    unique
}
