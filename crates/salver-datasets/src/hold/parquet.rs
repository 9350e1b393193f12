//! Rows in Parquet files, held.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::entry::Description;
use salver_model::ports::{FileKind, Held, HeldFile};
use salver_model::reply::BatchStream;
use salver_model::{Filter, Result};

use super::ahead::stream_of;
use super::columns::{Wanted, cost};
use super::decode::Decoder;
use super::files::{Files, Opened};
use super::{head, lanes};
use crate::cuts::Cuts;
use crate::engine::Engine;
use crate::infer::plain;

/// Most rows that one thread reads alone.
const ALONE_ROWS_MAX: u64 = 16 * 1024;

/// The rows of a dataset in Parquet files.
#[derive(Debug)]
pub(crate) struct HeldParquet {
    about: Description,
    opened: Arc<Opened>,
    head: Option<RecordBatch>,
    cuts: Cuts,
    /// What it costs to read each column, as against the others.
    costs: Vec<u64>,
    file: Option<HeldFile>,
    engine: Arc<Engine>,
}

impl HeldParquet {
    /// Holds the rows of `files` in `parts` parts. Blocks.
    pub(crate) fn new(about: Description, files: &Files, parts: usize, engine: Arc<Engine>) -> Result<Self> {
        let opened = files.open()?;
        let cuts = Cuts::new(opened.sources.rows(), parts);
        let file = file_of(&opened)?;
        // Of a file that is opened anew for each read nobody would notice that it is another by now.
        let head = files.head().filter(|_| opened.kept(0).is_some()).cloned();
        let costs = costs_of(&opened);
        Ok(Self { about, opened, head, cuts, costs, file, engine })
    }

    fn stream(&self, rows: Range<u64>, columns: &[usize]) -> BatchStream {
        let kept = self.head.as_ref().map_or(0, RecordBatch::num_rows);
        let start = usize::try_from(rows.start).unwrap_or(usize::MAX);
        let Some(head) = self.head.as_ref().filter(|_| start < kept && !rows.is_empty()) else {
            return self.decoded(rows, columns);
        };
        let end = usize::try_from(rows.end).unwrap_or(usize::MAX).min(kept);
        let check = || self.opened.kept(0).map_or(Ok(()), |file| file.check());
        let first = check().and_then(|()| head::cut(head, (start, end), columns, self.schema_of(columns)));
        let rest = (end as u64).min(rows.end)..rows.end;
        if first.is_err() || rest.is_empty() {
            return Box::pin(stream::iter([first]));
        }
        Box::pin(stream::iter([first]).chain(self.decoded(rest, columns)))
    }

    fn decoded(&self, rows: Range<u64>, columns: &[usize]) -> BatchStream {
        let costs: Vec<u64> = columns.iter().map(|column| self.costs.get(*column).copied().unwrap_or(0)).collect();
        // Whoever wants few rows has them sooner from one thread.
        let threads = if rows.end - rows.start > ALONE_ROWS_MAX { self.engine.decoders() } else { 1 };
        let mut lanes = lanes::divide(&costs, threads);
        if lanes.len() == 1 {
            return self.lane(rows, columns.to_vec(), columns);
        }
        let streams = lanes.drain(..).map(|places| {
            let own = places.iter().map(|place| columns[*place]).collect();
            let stream = self.lane(rows.clone(), own, columns);
            (places, stream)
        });
        lanes::side_by_side(streams.collect(), self.schema_of(columns))
    }

    /// The columns `own` of `rows`, which are read beside the others of `all`.
    fn lane(&self, rows: Range<u64>, own: Vec<usize>, all: &[usize]) -> BatchStream {
        let wanted = Arc::new(Wanted { schema: self.schema_of(&own), columns: own, beside: all.into() });
        let room = Arc::clone(self.engine.waiting_decoders());
        stream_of(Arc::clone(&self.engine), Decoder::new(Arc::clone(&self.opened), wanted, rows, room))
    }
}

/// What it costs to read each of the dataset's columns, by the first file; nothing where that can't be told.
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

/// The one file that has all rows and exactly the dataset's columns.
fn file_of(opened: &Opened) -> Result<Option<HeldFile>> {
    let schema = &opened.sources.schema;
    if opened.sources.count() != 1 || opened.sources.own != schema.fields().len() {
        return Ok(None);
    }
    let Some(file) = opened.kept(0) else { return Ok(None) };
    let footer = file.footer()?;
    let own = footer.metadata.schema().fields();
    // A type that the dataset holds in its plain form is the same in Parquet.
    let is_same = own.len() == schema.fields().len()
        && own
            .iter()
            .zip(schema.fields())
            .all(|(own, field)| own.name() == field.name() && plain(own.data_type()) == *field.data_type());
    Ok(is_same.then(|| HeldFile { kind: FileKind::Parquet, file: Arc::clone(&file.file), bytes: file.bytes }))
}

impl Held for HeldParquet {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn parts(&self) -> usize {
        self.cuts.parts()
    }

    fn read(&self, part: usize, columns: &[usize], _: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        self.stream(self.cuts.behind(part, 0, limit), columns)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        Some(self.cuts.count(part))
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        Some(self.stream(self.cuts.behind(part, skip, limit), columns))
    }

    fn file(&self) -> Option<HeldFile> {
        self.file.clone()
    }

    fn check(&self) -> Result<()> {
        self.opened.check()
    }
}
