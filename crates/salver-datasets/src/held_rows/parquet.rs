//! A snapshot of rows in Parquet files.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::{StreamExt, stream};
use salver_model::Result;
use salver_model::ports::{FileKind, HeldFile};
use salver_model::reply::BatchStream;

use super::column_selection::{Wanted, cost};
use super::dataset_files::Files;
use super::decode::Decoder;
use super::open_files::Opened;
use super::parquet_file::OpenFile;
use super::prefetch::stream_of;
use super::snapshot::Store;
use super::{first_rows, parallel_columns};
use crate::engine::Engine;
use crate::infer::is_plain_form;

/// Most rows that a single thread reads.
const ALONE_ROWS: u64 = 16 * 1024;

/// The rows of a dataset in Parquet files.
#[derive(Debug)]
pub(crate) struct ParquetRows {
    opened: Arc<Opened>,
    head: Option<RecordBatch>,
    /// Relative cost of reading each column.
    costs: Vec<u64>,
    /// The single file that has all rows and exactly the dataset's columns.
    file: Option<Arc<OpenFile>>,
    engine: Arc<Engine>,
}

impl ParquetRows {
    /// Opens `files` and returns their rows. Blocks.
    pub(crate) fn new(files: &Files, engine: Arc<Engine>) -> Result<Self> {
        let opened = files.open()?;
        let file = file_of(&opened)?;
        // If the first file is opened for each read, a replacement of it could not be detected.
        let head = files.head().filter(|_| opened.kept(0).is_some()).cloned();
        let costs = costs_of(&opened);
        Ok(Self { opened, head, costs, file, engine })
    }

    fn decoded(&self, rows: Range<u64>, columns: &[usize], schema: SchemaRef) -> BatchStream {
        let costs: Vec<u64> = columns.iter().map(|column| self.costs.get(*column).copied().unwrap_or(0)).collect();
        // Few rows are read faster by one thread.
        let threads = if rows.end - rows.start > ALONE_ROWS { self.engine.decoders() } else { 1 };
        let mut lanes = parallel_columns::divide(&costs, threads);
        if lanes.len() == 1 {
            return self.lane(rows, Wanted { columns: columns.to_vec(), schema, beside: columns.into() });
        }
        let streams = lanes.drain(..).map(|places| {
            let own = places.iter().map(|place| columns[*place]).collect();
            let fields: Vec<_> = places.iter().map(|place| Arc::clone(&schema.fields()[*place])).collect();
            let wanted = Wanted { columns: own, schema: Arc::new(Schema::new(fields)), beside: columns.into() };
            (places, self.lane(rows.clone(), wanted))
        });
        parallel_columns::side_by_side(streams.collect(), Arc::clone(&schema))
    }

    fn lane(&self, rows: Range<u64>, wanted: Wanted) -> BatchStream {
        let room = Arc::clone(self.engine.waiting_decoders());
        stream_of(Arc::clone(&self.engine), Decoder::new(Arc::clone(&self.opened), Arc::new(wanted), rows, room))
    }
}

impl Store for ParquetRows {
    fn rows(&self) -> u64 {
        self.opened.sources.rows()
    }

    fn read(&self, rows: Range<u64>, columns: &[usize], schema: SchemaRef) -> BatchStream {
        let kept = self.head.as_ref().map_or(0, RecordBatch::num_rows);
        let start = usize::try_from(rows.start).unwrap_or(usize::MAX);
        let Some(head) = self.head.as_ref().filter(|_| start < kept && !rows.is_empty()) else {
            return self.decoded(rows, columns, schema);
        };
        let end = usize::try_from(rows.end).unwrap_or(usize::MAX).min(kept);
        let check = || self.opened.kept(0).map_or(Ok(()), |file| file.check());
        let first = check().and_then(|()| first_rows::cut(head, (start, end), columns, Arc::clone(&schema)));
        let rest = (end as u64).min(rows.end)..rows.end;
        if first.is_err() || rest.is_empty() {
            return Box::pin(stream::iter([first]));
        }
        Box::pin(stream::iter([first]).chain(self.decoded(rest, columns, schema)))
    }

    fn file(&self, kind: FileKind) -> Option<Arc<dyn HeldFile>> {
        let file = self.file.as_ref().filter(|_| kind == FileKind::Parquet)?;
        Some(Arc::new(CopiedFile { file: Arc::clone(file), _opened: Arc::clone(&self.opened) }))
    }
}

/// The single file. It counts as open while it is copied.
#[derive(Debug)]
struct CopiedFile {
    file: Arc<OpenFile>,
    _opened: Arc<Opened>,
}

impl HeldFile for CopiedFile {
    fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    fn read(&self, out: &mut [u8], at: u64) -> Result<()> {
        self.file.read(out, at)
    }
}

/// Estimates the cost of reading each of the dataset's columns, by the first file; 0 if unknown.
fn costs_of(opened: &Opened) -> Vec<u64> {
    let sources = &opened.sources;
    let first = opened.kept(0).and_then(|file| file.footer().ok());
    let cost = |column: usize| {
        let footer = first.as_ref()?;
        let root = *footer.roots(&sources.fields(&[column])).first()?;
        Some(cost(footer, root))
    };
    (0..sources.schema.fields().len()).map(|column| cost(column).unwrap_or(0)).collect()
}

/// Returns the single file, if it has all rows and exactly the dataset's columns.
fn file_of(opened: &Opened) -> Result<Option<Arc<OpenFile>>> {
    let schema = &opened.sources.schema;
    if opened.sources.count() != 1 || opened.sources.partitions.iter().any(Option::is_some) {
        return Ok(None);
    }
    let Some(file) = opened.kept(0) else { return Ok(None) };
    // Types that the dataset keeps in their plain form are the same in Parquet.
    let is_same = is_plain_form(schema, file.footer()?.metadata.schema());
    Ok(is_same.then(|| Arc::clone(file)))
}
