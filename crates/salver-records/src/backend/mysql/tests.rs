//! The backend against a real MariaDB server.

mod change;
mod fault_injection;
mod kinds;
mod load;
mod merge;
mod schema;

use std::sync::Arc;

use salver_model::Name;
use salver_model::records::ColumnKind;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_testkit::servers::{Database, Kind, database};

use super::Mysql;
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Bind, Program, ProgramStep, Read, Returns};

fn spec(url: &str) -> DatabaseSpec {
    let mut spec = DatabaseSpec::new(Name::new("blog").unwrap(), DatabaseKind::Mysql, url);
    spec.writable = true;
    spec.definable = true;
    spec
}

/// Creates a fresh database from `sql`, and the backend over it.
fn fresh(sql: &str) -> (Mysql, Database) {
    let database = database(Kind::Mariadb, sql);
    (Mysql::open(&spec(database.url())).unwrap(), database)
}

fn select(sql: &str, kinds: &[ColumnKind], binds: Vec<Bind>) -> Read {
    Read { sql: Arc::from(sql), binds, kinds: Arc::from(kinds), point: false }
}

fn step(sql: &str, binds: Vec<Bind>, returns: Returns) -> ProgramStep {
    ProgramStep { sql: Arc::from(sql), binds, returns, check: None }
}

fn program(steps: Vec<ProgramStep>) -> Program {
    Program { steps, try_all: false, dry_run: false }
}

async fn rows(mysql: &Mysql, read: Read) -> Vec<Vec<OwnedCell>> {
    all_rows(mysql, vec![read]).await.remove(0)
}

async fn all_rows(mysql: &Mysql, reads: Vec<Read>) -> Vec<Vec<Vec<OwnedCell>>> {
    let count = reads.len();
    let mut rows = mysql.read(reads, Collect::default(), None).await.unwrap().rows;
    rows.resize_with(count, Vec::new);
    rows
}

fn text(text: &str) -> OwnedCell {
    OwnedCell::Text(text.to_owned())
}

fn bind(text: &str) -> Bind {
    Bind::Text(text.to_owned())
}
