//! Exports within the limits of queries: each step takes a permit and has a timeout. Between steps an export holds
//! neither, so that a slow client does not delay others.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_model::ports::{Held, Tables};
use salver_model::reply::BatchStream;
use salver_model::{Batches, Caller, Code, Error, Name, Query, Result, Rows, SqlQuery, Version};

use super::idle_snapshots::IdleSnapshot;
use super::reader::{ExportReader, count};
use crate::query_limits::QueryPermit;
use crate::service::Service;
use crate::snapshot::Snapshot;

impl Service {
    /// Returns a snapshot of all rows of the entry `name`, in `parts` or more parts if they can be read independently.
    ///
    /// # Errors
    /// Returns an error for unknown or unavailable entries, for exceeded limits, and whatever
    /// [`salver_model::ports::Table::hold`] refuses.
    pub async fn hold(&self, caller: &Caller, snapshot: &Snapshot, name: &str, parts: usize) -> Result<Arc<dyn Held>> {
        let table = snapshot.resolve(name)?;
        let hold = async {
            match table.hold(parts).await {
                Err(error) => match self.newer(snapshot, &error).await {
                    Some(newer) => newer.resolve(name)?.hold(parts).await,
                    None => Err(error),
                },
                held => held,
            }
        };
        let Some(places) = self.snapshots(name) else { return self.bounded(caller, hold).await };
        let mut share = places.try_take(&caller.holder());
        if share.is_none() && places.make_room(&caller.holder()) {
            share = places.try_take(&caller.holder());
        }
        let share = share.ok_or_else(|| {
            Error::new(Code::Overloaded, format!("{} exports of this database are open", places.taken().taken))
                .with_hint("finish or delete one, or try again when one has expired")
        })?;
        let held = self.bounded(caller, hold).await?;
        Ok(Arc::new(IdleSnapshot::new(held, share)))
    }

    /// Returns the snapshot at `version`; `None` when it is no longer available.
    ///
    /// # Errors
    /// Returns the errors of [`Service::hold`].
    pub async fn hold_at(
        &self,
        caller: &Caller,
        (snapshot, name): (&Snapshot, &str),
        version: Version,
        parts: usize,
    ) -> Result<Option<Arc<dyn Held>>> {
        let table = snapshot.resolve(name)?;
        self.bounded(caller, table.hold_at(version, parts)).await
    }

    /// Reads some rows of `reader`, at most `rows_max`, like [`ExportReader::some`].
    ///
    /// # Errors
    /// Returns the errors of [`ExportReader::some`], and limits.
    pub async fn read_on(
        &self,
        caller: &Caller,
        reader: &mut ExportReader,
        rows_max: usize,
    ) -> Result<Vec<RecordBatch>> {
        self.bounded(caller, reader.some(rows_max)).await
    }

    /// Reads the next `rows` rows of `reader` as one batch, like [`ExportReader::next`].
    ///
    /// # Errors
    /// Returns the errors of [`ExportReader::next`], and limits.
    pub async fn read_batch(
        &self,
        caller: &Caller,
        reader: &mut ExportReader,
        rows: usize,
    ) -> Result<Option<RecordBatch>> {
        self.bounded(caller, reader.next(rows)).await
    }

    /// Counts the rows of a snapshot.
    ///
    /// # Errors
    /// Returns the errors of [`count`], and limits.
    pub async fn count(&self, caller: &Caller, held: &dyn Held) -> Result<u64> {
        match held.describe().rows {
            Some(rows) => Ok(rows),
            None => self.bounded(caller, count(held)).await,
        }
    }

    /// Reads from the entry `name` like [`Service::read`], for a client that takes the rows at its own pace.
    ///
    /// # Errors
    /// Returns the errors of [`Service::read`].
    pub async fn read_live(&self, caller: &Caller, snapshot: &Snapshot, name: &str, query: &Query) -> Result<LiveRows> {
        let table = snapshot.resolve(name)?;
        let mut place = QueryPermit::take(self.places(), caller, self.limits()).await?;
        let again = |newer: Arc<Snapshot>| async move { newer.resolve(name)?.read(query).await };
        self.run_again(&mut place, snapshot, table.read(query), again).await.map(LiveRows::of)
    }

    /// Runs one SQL statement like [`Service::sql`], for a client that takes the rows at its own pace.
    ///
    /// # Errors
    /// Returns the errors of [`Service::sql`].
    pub async fn sql_live(&self, caller: &Caller, snapshot: &Arc<Snapshot>, query: &SqlQuery) -> Result<LiveRows> {
        let tables: Arc<dyn Tables> = Arc::<Snapshot>::clone(snapshot);
        let mut place = QueryPermit::take(self.places(), caller, self.limits()).await?;
        let again = |newer: Arc<Snapshot>| self.engine().run(newer, query);
        self.run_again(&mut place, snapshot, self.engine().run(tables, query), again).await.map(LiveRows::of)
    }

    /// Returns whether `reader` has another row, like [`ExportReader::has_more`].
    ///
    /// # Errors
    /// Returns the errors of [`ExportReader::has_more`], and limits.
    pub async fn reads_on(&self, caller: &Caller, reader: &mut ExportReader) -> Result<bool> {
        self.bounded(caller, reader.has_more()).await
    }

    /// Returns whether a query has another row.
    ///
    /// # Errors
    /// Returns the errors of [`Service::take_live`].
    pub async fn lives_on(&self, caller: &Caller, rows: &mut LiveRows) -> Result<bool> {
        if rows.waiting_rows == 0 && rows.stream.is_some() {
            self.bounded(caller, rows.fill(1)).await?;
        }
        Ok(rows.waiting_rows > 0)
    }

    /// Reads all rows of a query into memory; returns `false` when they exceed `bytes_max`, and some were not read.
    ///
    /// # Errors
    /// Returns the errors of [`Service::take_live`].
    pub async fn settle_live(
        &self,
        caller: &Caller,
        rows: &mut LiveRows,
        bytes_max: usize,
        weigh: impl Fn(&RecordBatch) -> usize + Send,
    ) -> Result<bool> {
        let (mut bytes, mut weighed) = (0, 0);
        loop {
            bytes += rows.waiting.iter().skip(weighed).map(&weigh).sum::<usize>();
            weighed = rows.waiting.len();
            if bytes > bytes_max || !rows.is_running() {
                return Ok(bytes <= bytes_max);
            }
            self.bounded(caller, rows.fill(rows.waiting_rows + 1)).await?;
        }
    }

    /// Returns the next `rows_max` rows of a query, fewer only at the end.
    ///
    /// # Errors
    /// Returns the errors of the running query, and limits.
    pub async fn take_live(&self, caller: &Caller, rows: &mut LiveRows, rows_max: usize) -> Result<Vec<RecordBatch>> {
        if rows.waiting_rows >= rows_max || rows.stream.is_none() {
            return Ok(rows.cut(rows_max));
        }
        self.bounded(caller, rows.fill(rows_max)).await?;
        Ok(rows.cut(rows_max))
    }
}

/// Rows of a running query that a client takes in batches.
pub struct LiveRows {
    schema: SchemaRef,
    stream: Option<BatchStream>,
    waiting: std::collections::VecDeque<RecordBatch>,
    waiting_rows: usize,
    /// Number of matching rows without offset and limit, if requested.
    pub total: Option<u64>,
    /// Entries and versions that the rows were read from.
    pub read: Vec<(Name, Version)>,
}

impl LiveRows {
    fn of(rows: Rows) -> Self {
        let (waiting, stream) = match rows.batches {
            Batches::Ready(batches) => (batches.into(), None),
            Batches::Stream(stream) => (std::collections::VecDeque::new(), Some(stream)),
        };
        let waiting_rows = waiting.iter().map(RecordBatch::num_rows).sum();
        Self { schema: rows.schema, stream, waiting, waiting_rows, total: rows.total, read: rows.read }
    }

    /// Returns the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns whether the query still runs; otherwise all remaining rows are in memory.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.stream.is_some()
    }

    /// Returns the number of rows in memory.
    #[must_use]
    pub fn waiting_rows(&self) -> usize {
        self.waiting_rows
    }

    async fn fill(&mut self, rows_max: usize) -> Result<()> {
        while self.waiting_rows < rows_max
            && let Some(stream) = &mut self.stream
        {
            match stream.next().await {
                Some(Ok(batch)) => {
                    self.waiting_rows += batch.num_rows();
                    self.waiting.push_back(batch);
                }
                Some(Err(error)) => {
                    self.stream = None;
                    return Err(error);
                }
                None => self.stream = None,
            }
        }
        Ok(())
    }

    fn cut(&mut self, rows_max: usize) -> Vec<RecordBatch> {
        let mut missing = rows_max;
        let mut slices = Vec::new();
        while missing > 0
            && let Some(batch) = self.waiting.pop_front()
        {
            let taken = batch.num_rows().min(missing);
            if taken < batch.num_rows() {
                self.waiting.push_front(batch.slice(taken, batch.num_rows() - taken));
            }
            if taken > 0 {
                slices.push(batch.slice(0, taken));
            }
            missing -= taken;
            self.waiting_rows -= taken;
        }
        slices
    }
}

impl fmt::Debug for LiveRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveRows({} waiting, running: {})", self.waiting_rows, self.is_running())
    }
}
