//! A table in each database, and its rows as text.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use futures::TryStreamExt;
use salver_model::ports::{Database as _, Held, Table};
use salver_model::reply::BatchStream;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Batches, Name, Query, Result};
use salver_records::RecordsDatabase;
use salver_testkit::servers::{Database, Kind, database};

/// How long a server may take to notice that a connection is gone.
const NOTICE_S_MAX: u64 = 30;

/// A database with one table of interest.
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) source: Database,
    pub(crate) database: RecordsDatabase,
    pub(crate) table: Arc<dyn Table>,
}

impl World {
    /// What `sql` makes, with the table called `t`. SQLite keeps a log, as it does wherever Salver may write.
    pub(crate) async fn new(kind: Kind, sql: &str) -> Self {
        let log = if kind == Kind::Sqlite { "pragma journal_mode = wal;\n" } else { "" };
        Self::with(kind, &format!("{log}{sql}"), |_| {}).await
    }

    /// The same as it is made, with what `settle` says of its entry.
    pub(crate) async fn with(kind: Kind, sql: &str, settle: impl FnOnce(&mut DatabaseSpec)) -> Self {
        Self::of(database(kind, sql), settle).await
    }

    /// A database that is there.
    pub(crate) async fn of(source: Database, settle: impl FnOnce(&mut DatabaseSpec)) -> Self {
        let kind = source.kind();
        let system = match kind {
            Kind::Sqlite => DatabaseKind::Sqlite,
            Kind::Mariadb => DatabaseKind::Mysql,
            Kind::Postgres => DatabaseKind::Postgres,
        };
        let mut spec = DatabaseSpec::new(Name::new("shop").expect("a name"), system, source.url());
        settle(&mut spec);
        let database = RecordsDatabase::open(spec).expect("a database");
        database.refresh().await.expect("a schema");
        let tables = database.tables(&mut |name| Name::new(name).ok());
        let found = tables.into_iter().find(|table| table.describe().name.as_str() == "t");
        let table = found.unwrap_or_else(|| panic!("{kind:?}: no table"));
        Self { kind, source, database, table }
    }

    pub(crate) async fn hold(&self, parts: usize) -> Arc<dyn Held> {
        self.table.hold(parts).await.unwrap_or_else(|error| panic!("{:?}: {error:?}", self.kind))
    }

    /// The rows that reading the table gives, in no order that is promised.
    pub(crate) async fn rows(&self) -> Vec<String> {
        let rows = self.table.read(&Query::default()).await.expect("rows");
        match rows.batches {
            Batches::Ready(batches) => lines(&batches),
            Batches::Stream(stream) => lines(&stream.try_collect::<Vec<_>>().await.expect("rows")),
        }
    }

    /// How many connections of Salver's the database has. SQLite only knows whether somebody reads an earlier state:
    /// then its log can't begin anew.
    pub(crate) fn connections(&self) -> usize {
        let count = match self.kind {
            Kind::Sqlite => {
                let log = "pragma busy_timeout = 0; update t set id = id; pragma wal_checkpoint(truncate)";
                let told = self.source.run(log);
                let busy = told.lines().last().and_then(|line| line.split('\t').next());
                return busy.and_then(|busy| busy.parse().ok()).expect("a number");
            }
            Kind::Postgres => {
                "select count(*) from pg_stat_activity \
                 where datname = current_database() and application_name = 'salver'"
            }
            Kind::Mariadb => {
                "select count(*) from information_schema.processlist where db = database() and user = 'salver'"
            }
        };
        self.source.run(count).trim().parse().expect("a number")
    }

    /// Waits until the database has no more than so many.
    pub(crate) async fn settled(&self, connections: usize) {
        let patience = Instant::now() + Duration::from_secs(NOTICE_S_MAX);
        while self.connections() > connections {
            assert!(Instant::now() < patience, "{:?}: {} of {connections}", self.kind, self.connections());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// `1, 2, ... n` as the table `n (i)` before a statement, with what it needs where recursion has a bound.
pub(crate) fn numbers(kind: Kind, count: usize, insert: &str, select: &str) -> String {
    let bound = if kind == Kind::Mariadb {
        "set max_recursive_iterations = 100000000, sql_mode = 'PIPES_AS_CONCAT';\n"
    } else {
        ""
    };
    let series = format!("n (i) as (select 1 union all select i + 1 from n where i < {count})");
    format!("{bound}insert into {insert} with recursive {series} {select};\n")
}

/// Each row as text.
pub(crate) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    let line = |(batch, row): (&RecordBatch, usize)| {
        let mut line = String::new();
        for column in batch.columns() {
            let text = array_value_to_string(column, row).expect("a value");
            let text = if column.is_null(row) { "NULL" } else { &text };
            write!(line, "{text}|").expect("text");
        }
        line
    };
    rows.map(line).collect()
}

/// Every column, by its index.
pub(crate) fn columns(held: &dyn Held) -> Vec<usize> {
    (0..held.describe().schema.fields().len()).collect()
}

/// All rows, part by part.
pub(crate) async fn all(held: &dyn Held) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    for part in 0..held.parts() {
        rows.extend(taken(held.read(part, &columns(held), None, None)).await?);
    }
    Ok(rows)
}

pub(crate) async fn taken(stream: BatchStream) -> Result<Vec<String>> {
    Ok(lines(&stream.try_collect::<Vec<_>>().await?))
}

/// How many rows come when no columns are asked for.
pub(crate) async fn counted(held: &dyn Held) -> usize {
    let mut rows = 0;
    for part in 0..held.parts() {
        let batches = held.read(part, &[], None, None).try_collect::<Vec<_>>().await.expect("a count");
        rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    }
    rows
}

/// The rows in an order that two tellings of them share.
pub(crate) fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}
