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
use super::columns::Wanted;
use super::decode::Decoder;
use super::files::{Files, Opened};
use super::head;
use crate::cuts::Cuts;
use crate::engine::Engine;
use crate::infer::plain;

/// The rows of a dataset in Parquet files.
#[derive(Debug)]
pub(crate) struct HeldParquet {
    about: Description,
    opened: Arc<Opened>,
    head: Option<RecordBatch>,
    cuts: Cuts,
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
        Ok(Self { about, opened, head, cuts, file, engine })
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
        let wanted = Arc::new(Wanted { columns: columns.to_vec(), schema: self.schema_of(columns) });
        let room = Arc::clone(self.engine.waiting_decoders());
        stream_of(Arc::clone(&self.engine), Decoder::new(Arc::clone(&self.opened), wanted, rows, room))
    }
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
