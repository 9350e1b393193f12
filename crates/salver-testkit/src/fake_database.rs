//! A fake of the port of databases: it has a schema and no rows, remembers what it was asked, and answers what it was
//! told to.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use salver_model::ports::{Database, MaybeReady, RecordStream, Table};
use salver_model::records::{
    Change, Changed, ColumnInfo, ColumnKind, DatabaseSchema, Definition, Document, DocumentBody, ForeignKey, Load,
    LoadReport, Operation, Record, RecordRead, RowProblem, TableInfo, TableKind,
};
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Caller, Code, Error, Name, Result};
use tokio::sync::Semaphore;

/// What a database was asked.
#[derive(Debug)]
pub enum DatabaseRequest {
    /// A read.
    Read(RecordRead),
    /// A change.
    Change(Change),
    /// Several changes.
    Transact(Vec<Change>),
    /// A load, with all its rows.
    Load(Load, Vec<Record>),
    /// A change of the schema.
    Define(Definition),
}

/// The database. Answers are taken from a queue; without one there, a list is empty and everything else is `1`.
#[derive(Debug)]
pub struct FakeDatabase {
    /// How it is declared; tests set what they are about.
    pub spec: DatabaseSpec,
    schema: Arc<DatabaseSchema>,
    asked: Mutex<Vec<(Caller, DatabaseRequest)>>,
    answers: Mutex<VecDeque<Result<Document>>>,
    undone: Mutex<VecDeque<Vec<Option<Error>>>>,
    reports: Mutex<VecDeque<LoadReport>>,
    /// Whether reads are answered at once.
    pub answers_now: bool,
    /// The version, 0 for none.
    pub version: AtomicU64,
    /// Changes take a place here, so that a test can hold them up.
    pub places: Semaphore,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn column(name: &str, kind: ColumnKind) -> ColumnInfo {
    ColumnInfo {
        name: name.to_owned(),
        real_name: name.to_owned(),
        kind,
        native: kind.word().to_owned(),
        length: (kind == ColumnKind::Varchar).then_some(255),
        precision: None,
        scale: None,
        nullable: false,
        has_default: false,
        auto_increment: false,
        generated: false,
        ordered: true,
        base: None,
        compared: None,
        words: Vec::new(),
        comment: None,
    }
}

fn table(name: &str, kind: TableKind, columns: Vec<ColumnInfo>, key: Vec<usize>) -> TableInfo {
    TableInfo {
        name: name.to_owned(),
        real_name: name.to_owned(),
        kind,
        columns,
        key,
        foreign_keys: Vec::new(),
        unique: Vec::new(),
        key_assumed: false,
        has_triggers: false,
        comment: None,
    }
}

/// Posts with comments, a table with a key of two columns, and a view.
fn blog() -> DatabaseSchema {
    use ColumnKind::{Geometry, Integer, Varchar};
    let mut content = column("content", Varchar);
    content.real_name = "abc_content".to_owned();
    let id = || ColumnInfo { auto_increment: true, ..column("id", Integer) };
    let mut posts = table("posts", TableKind::Table, vec![id(), content, column("place", Geometry)], vec![0]);
    posts.real_name = "abc_posts".to_owned();
    posts.columns[2].nullable = true;
    let columns = vec![id(), column("post_id", Integer), column("message", Varchar)];
    let mut comments = table("comments", TableKind::Table, columns, vec![0]);
    let target_columns = vec!["id".to_owned()];
    let constraint = String::new();
    comments.foreign_keys.push(ForeignKey { constraint, columns: vec![1], target: "posts".to_owned(), target_columns });
    let pairs = table("pairs", TableKind::Table, vec![column("a", Integer), column("b", Varchar)], vec![0, 1]);
    let counts = table("counts", TableKind::View, vec![column("id", Integer)], vec![0]);
    DatabaseSchema::new(vec![comments, counts, pairs, posts], 1)
}

impl FakeDatabase {
    /// A writable blog.
    ///
    /// # Panics
    /// Never: the name is one.
    #[must_use]
    pub fn blog() -> Self {
        #[allow(clippy::unwrap_used, reason = "the name is a literal")]
        let name = Name::new("blog").unwrap();
        let mut spec = DatabaseSpec::new(name, DatabaseKind::Sqlite, "sqlite:none");
        (spec.writable, spec.definable) = (true, true);
        Self {
            spec,
            schema: Arc::new(blog()),
            asked: Mutex::default(),
            answers: Mutex::default(),
            undone: Mutex::default(),
            reports: Mutex::default(),
            answers_now: false,
            version: AtomicU64::new(0),
            places: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    /// Answers the next question so.
    pub fn will_answer(&self, answer: Result<Document>) {
        lock(&self.answers).push_back(answer);
    }

    /// Rolls the next changes back, with these errors of their parts.
    pub fn will_undo(&self, parts: Vec<Option<Error>>) {
        lock(&self.undone).push_back(parts);
    }

    /// Answers the next load so.
    pub fn will_report(&self, report: LoadReport) {
        lock(&self.reports).push_back(report);
    }

    /// What was asked since the last time, and by whom.
    pub fn asked(&self) -> Vec<(Caller, DatabaseRequest)> {
        std::mem::take(&mut *lock(&self.asked))
    }

    fn note(&self, caller: &Caller, asked: DatabaseRequest) {
        lock(&self.asked).push((caller.clone(), asked));
    }

    fn answer(&self, otherwise: &str) -> Result<Document> {
        let told = lock(&self.answers).pop_front();
        told.unwrap_or_else(|| Ok(Document::whole(otherwise.as_bytes().to_vec())))
    }

    async fn changed(&self, otherwise: &str) -> Result<Changed> {
        if let Some(parts) = lock(&self.undone).pop_front() {
            return Ok(Changed::Undone(parts));
        }
        Ok(Changed::Done(match self.answer(otherwise)?.body {
            DocumentBody::Whole(bytes) => bytes,
            DocumentBody::Stream(pieces) => pieces.try_concat().await?,
        }))
    }

    fn known(&self, table: &str) -> Result<()> {
        match self.schema.table(table) {
            Some(_) => Ok(()),
            None => Err(Error::new(Code::UnknownTable, format!("Table '{table}' not found"))),
        }
    }
}

#[async_trait]
impl Database for FakeDatabase {
    fn spec(&self) -> &DatabaseSpec {
        &self.spec
    }

    fn schema(&self) -> Arc<DatabaseSchema> {
        Arc::clone(&self.schema)
    }

    fn visible(&self, _: &Caller, _: Operation) -> Arc<DatabaseSchema> {
        Arc::clone(&self.schema)
    }

    fn read<'a>(&'a self, caller: &'a Caller, read: &'a RecordRead) -> MaybeReady<'a, Result<Document>> {
        let answer = || {
            self.known(read.table())?;
            self.note(caller, DatabaseRequest::Read(read.clone()));
            self.answer(match read {
                RecordRead::List(_) => "{\"records\":[]}",
                RecordRead::Row { .. } | RecordRead::Keys { .. } => "1",
                RecordRead::Features(..) => "{}",
            })
        };
        if self.answers_now { MaybeReady::Ready(answer()) } else { MaybeReady::pending(async move { answer() }) }
    }

    fn reads_at_once(&self) -> bool {
        self.answers_now
    }

    async fn change(&self, caller: &Caller, change: Change) -> Result<Changed> {
        self.known(&change.table)?;
        self.note(caller, DatabaseRequest::Change(change));
        let place = self.places.acquire().await;
        let answer = self.changed("1").await;
        drop(place);
        answer
    }

    async fn transact(&self, caller: &Caller, changes: Vec<Change>) -> Result<Changed> {
        self.note(caller, DatabaseRequest::Transact(changes));
        self.changed("[1]").await
    }

    async fn load(&self, caller: &Caller, load: &Load, rows: RecordStream) -> Result<LoadReport> {
        self.known(&load.table)?;
        let rows = rows.try_concat().await?;
        let mut report = LoadReport { read: rows.len() as u64, ..LoadReport::default() };
        let mut good: Vec<Record> = Vec::new();
        for (row, arrived) in (1..).zip(rows) {
            match arrived {
                Ok(record) => good.push(record),
                Err(error) => report.problems.push(RowProblem { row, error }),
            }
        }
        report.refused = report.problems.len() as u64;
        report.loaded = if report.refused == 0 || load.keep_good { good.len() as u64 } else { 0 };
        self.note(caller, DatabaseRequest::Load(load.clone(), good));
        let told = lock(&self.reports).pop_front();
        Ok(told.unwrap_or(report))
    }

    async fn define(&self, caller: &Caller, definition: &Definition) -> Result<()> {
        self.note(caller, DatabaseRequest::Define(definition.clone()));
        self.answer("true").map(|_| ())
    }

    async fn refresh(&self) -> Result<()> {
        Ok(())
    }

    async fn ping(&self) -> Result<Duration> {
        Ok(Duration::from_micros(7))
    }

    fn version(&self) -> Option<u64> {
        Some(self.version.load(Ordering::Relaxed)).filter(|version| *version > 0)
    }

    fn tables(&self, _: &mut dyn FnMut(&str) -> Option<Name>) -> Vec<Arc<dyn Table>> {
        Vec::new()
    }

    async fn changed(&self, _: u64) -> Result<()> {
        Ok(())
    }
}
