//! Tests against a real server: what the three backends' common suite does not see.

mod fault_injection;
mod kinds;
mod loads;
mod programs;
mod reads;
mod schema;
mod speed;

use std::sync::Arc;

use salver_model::Name;
use salver_model::records::ColumnKind;
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_testkit::servers::{Database, Kind, database};

use super::Postgres;
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Bind, Done, Program, ProgramOutcome, ProgramStep, Read, Returns};

/// Creates a fresh database and its backend.
fn fresh(sql: &str) -> (Database, Postgres) {
    let database = database(Kind::Postgres, sql);
    let postgres = open(database.url());
    (database, postgres)
}

fn spec(url: &str) -> DatabaseSpec {
    let mut spec = DatabaseSpec::new(Name::new("blog").unwrap(), DatabaseKind::Postgres, url);
    spec.writable = true;
    spec
}

fn open(url: &str) -> Postgres {
    Postgres::open(&spec(url)).unwrap()
}

fn list(sql: &str, binds: Vec<Bind>, kinds: &[ColumnKind]) -> Read {
    Read { sql: Arc::from(sql), binds, kinds: Arc::from(kinds), point: false }
}

fn point(sql: &str, binds: Vec<Bind>, kinds: &[ColumnKind]) -> Read {
    Read { point: true, ..list(sql, binds, kinds) }
}

/// Returns the rows of one read.
async fn rows(postgres: &Postgres, read: Read) -> salver_model::Result<Vec<Vec<OwnedCell>>> {
    let found = postgres.read(vec![read], Collect::default(), None).await?;
    Ok(found.rows.into_iter().next().unwrap_or_default())
}

/// Returns one integer.
async fn number(postgres: &Postgres, sql: &str) -> i64 {
    match rows(postgres, list(sql, vec![], &[ColumnKind::BigInt])).await.unwrap().as_slice() {
        [row] => match row.as_slice() {
            [OwnedCell::Int(value)] => *value,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn step(sql: &str, binds: Vec<Bind>, returns: Returns) -> ProgramStep {
    ProgramStep { sql: Arc::from(sql), binds, returns, check: None }
}

fn count(sql: &str, binds: Vec<Bind>) -> ProgramStep {
    step(sql, binds, Returns::Count)
}

fn program(steps: Vec<ProgramStep>) -> Program {
    Program { steps, try_all: false, dry_run: false }
}

/// Returns the results of the steps, all of which must have succeeded.
fn done(outcome: ProgramOutcome) -> Vec<Done> {
    outcome.steps.into_iter().map(|step| step.unwrap()).collect()
}

fn text(value: &str) -> Bind {
    Bind::Text(value.to_owned())
}

fn shown(value: &str) -> OwnedCell {
    OwnedCell::Text(value.to_owned())
}
