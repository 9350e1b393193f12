//! Tests of the SQLite backend against real files.

mod faults;
mod keeping;
mod loads;
mod measure;
mod reading;
mod schema;
mod versions;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use salver_model::records::ColumnKind;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Name, Result};

use super::Sqlite;
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Bind, Check, Program, ProgramOutcome, ProgramStep, Read, Returns};

/// A database in a directory of its own, and a connection beside Salver's, like that of another process.
struct Fixture {
    directory: tempfile::TempDir,
    path: PathBuf,
}

impl Fixture {
    /// Creates a file by `sql`.
    fn new(sql: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let fixture = Self { directory, path };
        fixture.other().execute_batch(sql).unwrap();
        fixture
    }

    fn spec(&self, writable: bool) -> DatabaseSpec {
        spec_of(&self.path, writable)
    }

    fn open(&self) -> Sqlite {
        Sqlite::open(&self.spec(true)).unwrap()
    }

    /// Opens a connection like that of another process.
    fn other(&self) -> Connection {
        let connection = Connection::open(&self.path).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
    }

    fn number(&self, sql: &str) -> i64 {
        self.other().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn spec_of(path: &Path, writable: bool) -> DatabaseSpec {
    let url = format!("sqlite:{}", path.display());
    let mut spec = DatabaseSpec::new(Name::new("test").unwrap(), DatabaseKind::Sqlite, url);
    spec.writable = writable;
    spec
}

fn read(sql: &str, binds: Vec<Bind>) -> Read {
    Read { sql: Arc::from(sql), binds, kinds: Arc::from([]), point: true }
}

fn step(sql: &str, binds: Vec<Bind>) -> ProgramStep {
    ProgramStep { sql: Arc::from(sql), binds, returns: Returns::Count, check: None }
}

fn rows_step(sql: &str, binds: Vec<Bind>) -> ProgramStep {
    let kinds: Arc<[ColumnKind]> = Arc::from([]);
    ProgramStep { returns: Returns::Rows(kinds), ..step(sql, binds) }
}

fn checked(
    step: ProgramStep,
    check: impl Fn(&crate::statement::Done) -> Result<()> + Send + Sync + 'static,
) -> ProgramStep {
    let check: Check = Box::new(check);
    ProgramStep { check: Some(check), ..step }
}

fn program(steps: Vec<ProgramStep>) -> Program {
    Program { steps, try_all: false, dry_run: false }
}

async fn run(database: &Sqlite, sql: &str, binds: Vec<Bind>) -> Result<ProgramOutcome> {
    database.write(program(vec![step(sql, binds)])).await
}

/// Returns the rows of one statement.
async fn rows(database: &Sqlite, sql: &str) -> Result<Vec<Vec<OwnedCell>>> {
    let mut collected = database.read(vec![read(sql, Vec::new())], Collect::default(), None).await?;
    Ok(collected.rows.pop().unwrap_or_default())
}

/// Returns the only cell of one statement, which is a number.
async fn number(database: &Sqlite, sql: &str) -> i64 {
    match rows(database, sql).await.unwrap()[0][0] {
        OwnedCell::Int(value) => value,
        ref other => panic!("{other:?}"),
    }
}

fn text(text: &str) -> Bind {
    Bind::Text(text.to_owned())
}
