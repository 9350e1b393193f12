//! Fakes of the ports that have no rows of their own.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use salver_model::access::Restriction;
use salver_model::ports::{
    Loader, MaybeReady, QueryDescription, SqlEngine, StatementDescription, StatementQuestion, Table, Tables,
};
use salver_model::spec::{QuerySpec, ViewSpec};
use salver_model::{Code, Error, Name, Result, Rows, SqlQuery, Version};

/// An engine that refuses every statement, for tests of doors that don't speak SQL.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSql;

impl SqlEngine for NoSql {
    fn run<'a>(&'a self, _: Arc<dyn Tables>, query: &'a SqlQuery) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::Ready(Err(Error::new(Code::InvalidSql, format!("no SQL is run here: {}", query.text))))
    }

    fn restrict(self: Arc<Self>, _: &Arc<dyn Table>, _: &Restriction) -> Result<Arc<dyn Table>> {
        Err(Error::new(Code::Config, "nothing is restricted here"))
    }

    fn describe_statement<'a>(
        &'a self,
        _: Arc<dyn Tables>,
        question: StatementQuestion<'a>,
    ) -> BoxFuture<'a, Result<StatementDescription>> {
        let text = question.text;
        Box::pin(async move { Err(Error::new(Code::InvalidSql, format!("no SQL is planned here: {text}"))) })
    }

    fn view(self: Arc<Self>, view: &ViewSpec, _: Arc<dyn Tables>) -> Result<Arc<dyn Table>> {
        Err(Error::new(Code::InvalidSql, format!("no SQL is run here: {}", view.sql)))
    }

    fn describe<'a>(&'a self, _: Arc<dyn Tables>, query: &'a QuerySpec) -> BoxFuture<'a, Result<QueryDescription>> {
        Box::pin(async move { Err(Error::new(Code::InvalidSql, format!("no SQL is run here: {}", query.sql))) })
    }
}

/// A loader of a table that is already there, or of one that can't be loaded.
#[derive(Debug)]
pub struct FakeLoader {
    name: Name,
    table: std::result::Result<Arc<dyn Table>, String>,
}

impl FakeLoader {
    /// Loads `table`.
    #[must_use]
    pub fn of(table: Arc<dyn Table>) -> Self {
        Self { name: table.describe().name.clone(), table: Ok(table) }
    }

    /// Fails with `message`.
    #[must_use]
    pub fn failing(name: Name, message: &str) -> Self {
        Self { name, table: Err(message.to_owned()) }
    }
}

#[async_trait]
impl Loader for FakeLoader {
    fn name(&self) -> &Name {
        &self.name
    }

    fn interval(&self) -> Option<Duration> {
        None
    }

    async fn probe(&self) -> Result<Version> {
        self.load().await.map(|table| table.describe().version)
    }

    async fn load(&self) -> Result<Arc<dyn Table>> {
        self.table.clone().map_err(|message| Error::new(Code::Source, message))
    }
}
