//! Changes of named queries in files, which clients ask for (`salver serve --edit`), and which the reload makes one
//! after the other.

use std::time::Duration;

use futures::future::BoxFuture;
use salver_model::limits::QUERY_EDIT_WAIT_MS_MAX;
use salver_model::ports::{EditCondition, QueryEditor};
use salver_model::spec::QuerySpec;
use salver_model::{Code, Error, Name, Result};
use tokio::sync::{mpsc, oneshot};

/// A change of one query.
#[derive(Debug)]
pub(crate) struct QueryEdit {
    pub(crate) name: Name,
    /// The query as it is to be; `None` to remove it.
    pub(crate) next: Option<QuerySpec>,
    pub(crate) condition: EditCondition,
    /// Who waits for it, and is told whether there was no query of this name.
    pub(crate) done: oneshot::Sender<Result<bool>>,
}

/// Hands on what clients ask for.
#[derive(Debug)]
pub(crate) struct QueryEdits(mpsc::Sender<QueryEdit>);

impl QueryEdits {
    /// Returns both ends of the way of changes.
    pub(crate) fn open() -> (Self, mpsc::Receiver<QueryEdit>) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    async fn ask(&self, name: Name, next: Option<QuerySpec>, condition: EditCondition) -> Result<bool> {
        let (done, outcome) = oneshot::channel();
        let edit = QueryEdit { name, next, condition, done };
        let wait = Duration::from_millis(QUERY_EDIT_WAIT_MS_MAX);
        self.0.send_timeout(edit, wait).await.map_err(|_| {
            Error::new(Code::Overloaded, "other changes of the settings are being made")
                .with_hint("try again in a moment")
        })?;
        outcome.await.unwrap_or_else(|_| Err(Error::new(Code::Overloaded, "the server is about to end")))
    }
}

impl QueryEditor for QueryEdits {
    fn read(&self, name: &str, text: &str) -> Result<QuerySpec> {
        salver_config::query_of_text(name, text)
    }

    fn save(&self, query: QuerySpec, condition: EditCondition) -> BoxFuture<'_, Result<bool>> {
        Box::pin(self.ask(query.name.clone(), Some(query), condition))
    }

    fn remove(&self, name: Name, condition: EditCondition) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.ask(name, None, condition).await.map(drop) })
    }
}
