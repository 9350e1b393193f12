//! Makes files, loads them, and shows what came out as text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::datatypes::Schema;
use arrow::util::display::array_value_to_string;
use salver_datasets::{Budget, CHUNK_ROWS, Content, Loaded};
use salver_model::spec::{ColumnSpec, DatasetSpec};
use salver_model::{Error, Name, Result, Version};
use tempfile::TempDir;

/// A directory with files in it.
pub(crate) struct Made {
    pub(crate) dir: TempDir,
}

impl Made {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A dataset of paths and patterns below the directory.
    pub(crate) fn spec(&self, sources: &[&str]) -> DatasetSpec {
        let full = |source: &&str| self.dir.path().join(source).to_str().unwrap().to_owned();
        DatasetSpec::new(Name::new("made").unwrap(), sources.iter().map(full).collect())
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn load(spec: &DatasetSpec) -> Result<Loaded> {
    load_within(spec, 1 << 30).map(|(loaded, _)| loaded)
}

/// Loads with a budget; the directory is where converted copies are.
pub(crate) fn load_within(spec: &DatasetSpec, bytes: u64) -> Result<(Loaded, Arc<Budget>)> {
    let data_dir = std::env::temp_dir().join("salver-test-sources");
    let budget = Budget::new(bytes);
    let loaded = wait(salver_datasets::load(spec, &budget, &data_dir))?;
    check(&loaded);
    Ok((loaded, budget))
}

pub(crate) fn probe(spec: &DatasetSpec) -> Result<Version> {
    wait(salver_datasets::probe(spec))
}

/// What holds for everything that is loaded.
fn check(loaded: &Loaded) {
    let Content::Resident { schema, chunks } = &loaded.content else { return };
    for (index, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.schema().fields(), schema.fields());
        assert!(chunk.num_rows() == CHUNK_ROWS || index + 1 == chunks.len());
        assert!(chunk.num_rows() > 0);
    }
    assert_eq!(chunks.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, loaded.rows);
    assert_eq!(loaded.reservation.as_ref().unwrap().bytes(), loaded.memory_bytes);
}

/// A dataset of one file.
pub(crate) fn one(name: &str, bytes: impl AsRef<[u8]>) -> (Made, DatasetSpec) {
    let made = Made::new();
    made.file(name, bytes);
    let spec = made.spec(&[name]);
    (made, spec)
}

/// What one file becomes, as text.
pub(crate) fn shown(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let (_made, spec) = one(name, bytes);
    show(&load(&spec).unwrap())
}

/// The error that one file gives.
pub(crate) fn error(name: &str, bytes: impl AsRef<[u8]>) -> Error {
    let (_made, spec) = one(name, bytes);
    load(&spec).unwrap_err()
}

/// Columns with types, then rows; null is `~`.
pub(crate) fn show(loaded: &Loaded) -> String {
    let (schema, batches) = rows(&loaded.content);
    let mut lines = vec![columns(&schema)];
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let cell = |column: &Arc<dyn Array>| match column.is_null(row) {
                true => "~".to_owned(),
                false => array_value_to_string(column, row).unwrap(),
            };
            lines.push(batch.columns().iter().map(cell).collect::<Vec<_>>().join("|"));
        }
    }
    lines.join("\n")
}

pub(crate) fn columns(schema: &Schema) -> String {
    let column = |field: &Arc<arrow::datatypes::Field>| format!("{}:{}", field.name(), field.data_type());
    schema.fields().iter().map(column).collect::<Vec<_>>().join("|")
}

fn rows(content: &Content) -> (Schema, Vec<RecordBatch>) {
    match content {
        Content::Resident { schema, chunks } => (schema.as_ref().clone(), chunks.clone()),
        Content::Parquet { schema, files, .. } => {
            let read = |path: &Path| {
                let file = std::fs::File::open(path).unwrap();
                let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
                reader.unwrap().build().unwrap().map(std::result::Result::unwrap).collect::<Vec<_>>()
            };
            (schema.as_ref().clone(), files.iter().flat_map(|file| read(&file.path)).collect())
        }
    }
}

pub(crate) fn column(name: &str, data_type: arrow::datatypes::DataType) -> ColumnSpec {
    ColumnSpec { name: name.to_owned(), data_type, nullable: true }
}

/// Three rows with a number, a text with a null, and a decimal number.
pub(crate) fn sample() -> RecordBatch {
    use arrow::array::{Float64Array, Int64Array, StringArray};
    RecordBatch::try_from_iter([
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as Arc<dyn Array>),
        ("name", Arc::new(StringArray::from(vec![Some("ann"), None, Some("cäsar")]))),
        ("x", Arc::new(Float64Array::from(vec![0.5, 1.5, -2.0]))),
    ])
    .unwrap()
}

pub(crate) const SAMPLE: &str = "id:Int64|name:Utf8|x:Float64\n1|ann|0.5\n2|~|1.5\n3|cäsar|-2.0";

pub(crate) fn parquet_of(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub(crate) fn arrow_file_of(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

pub(crate) fn arrow_stream_of(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

pub(crate) fn avro_of(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_avro::writer::AvroWriter::new(&mut bytes, batch.schema().as_ref().clone()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::stream::encode_all(bytes, 1).unwrap()
}

/// A zip archive of stored files, which is what spreadsheets are.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut out, mut index) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let at = out.len() as u32;
        let (size, name_size) = (text.len() as u32, name.len() as u16);
        let mut head = Vec::new();
        head.extend([20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        for number in [crc.sum(), size, size] {
            head.extend(number.to_le_bytes());
        }
        head.extend(name_size.to_le_bytes());
        head.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&head);
        out.extend(name.as_bytes());
        out.extend(text.as_bytes());
        index.extend(b"PK\x01\x02\x14\x00");
        index.extend(&head);
        index.extend([0; 10]);
        index.extend(at.to_le_bytes());
        index.extend(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, files.len() as u16);
    out.extend(&index);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((index.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

/// An xlsx of one sheet with these rows of `<c>` elements. The styles are: none, a date, a timestamp, a time of day.
pub(crate) fn xlsx(sheet_data: &str) -> Vec<u8> {
    workbook("", &[("name=\"Empty\"", ""), ("name=\"Data\"", sheet_data)])
}

/// An xlsx whose days count from 1904.
pub(crate) fn xlsx_from_1904(sheet_data: &str) -> Vec<u8> {
    workbook("<workbookPr date1904=\"1\"/>", &[("name=\"Empty\"", ""), ("name=\"Data\"", sheet_data)])
}

/// An xlsx of these sheets: the attributes of each, and its `<row>` elements.
pub(crate) fn workbook(properties: &str, sheets: &[(&str, &str)]) -> Vec<u8> {
    const X: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PKG: &str = "http://schemas.openxmlformats.org/package/2006";
    let types = format!(
        "{X}<Types xmlns=\"{PKG}/content-types\"><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
    );
    let rels = format!(
        "{X}<Relationships xmlns=\"{PKG}/relationships\"><Relationship Id=\"rId1\" Type=\"{REL}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    let numbered = || sheets.iter().enumerate().map(|(index, sheet)| (index + 1, sheet));
    let names: String = numbered()
        .map(|(number, (attributes, _))| format!("<sheet {attributes} sheetId=\"{number}\" r:id=\"rId{number}\"/>"))
        .collect();
    let targets: String = numbered()
        .map(|(number, _)| {
            format!(
                "<Relationship Id=\"rId{number}\" Type=\"{REL}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
            )
        })
        .collect();
    let book =
        format!("{X}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{REL}\">{properties}<sheets>{names}</sheets></workbook>");
    let book_rels = format!(
        "{X}<Relationships xmlns=\"{PKG}/relationships\">{targets}<Relationship Id=\"rId0\" Type=\"{REL}/styles\" Target=\"styles.xml\"/></Relationships>"
    );
    let styles = format!(
        "{X}<styleSheet xmlns=\"{MAIN}\"><cellXfs count=\"4\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"21\"/></cellXfs></styleSheet>"
    );
    let data = |(number, (_, rows)): (usize, &(&str, &str))| {
        let path = format!("xl/worksheets/sheet{number}.xml");
        (path, format!("{X}<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>"))
    };
    let data: Vec<(String, String)> = numbered().map(data).collect();
    let mut parts: Vec<(&str, &str)> = vec![
        ("[Content_Types].xml", &types),
        ("_rels/.rels", &rels),
        ("xl/workbook.xml", &book),
        ("xl/_rels/workbook.xml.rels", &book_rels),
        ("xl/styles.xml", &styles),
    ];
    parts.extend(data.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    zip(&parts)
}

/// An ods of one sheet with these `<table:table-row>` elements.
pub(crate) fn ods(rows: &str) -> Vec<u8> {
    let namespaces = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"";
    let content = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document-content {namespaces}><office:body><office:spreadsheet><table:table table:name=\"Sheet1\">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"
    );
    let manifest = "<?xml version=\"1.0\"?><manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    let kind = "application/vnd.oasis.opendocument.spreadsheet";
    zip(&[("mimetype", kind), ("META-INF/manifest.xml", manifest), ("content.xml", &content)])
}
