//! The cached schema of a database, and its refresh.

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use salver_model::records::DatabaseSchema;
use salver_model::spec::DatabaseSpec;
use salver_model::version::Version;
use salver_model::{Code, Result};
use tokio::sync::{Mutex, Notify};

use crate::backend::Backend;
use crate::name_mapping;

/// A database's connections, and its schema as of the last reflection.
#[derive(Debug)]
pub(crate) struct KnownDatabase {
    pub(crate) spec: DatabaseSpec,
    pub(crate) backend: Arc<Backend>,
    pub(crate) schema: ArcSwap<DatabaseSchema>,
    looked: Mutex<Looked>,
    /// Wakes the waiters for a changed schema.
    moved: Notify,
}

/// The last check of the schema's stamp.
#[derive(Debug, Default)]
struct Looked {
    /// The stamp under which `schema` was read; `None` before the first time.
    stamp: Option<u64>,
    /// Time of the query for it.
    asked: Option<Instant>,
}

impl KnownDatabase {
    pub(crate) fn new(spec: DatabaseSpec, backend: Arc<Backend>) -> Self {
        Self { spec, backend, schema: ArcSwap::default(), looked: Mutex::default(), moved: Notify::new() }
    }

    /// Reads the schema if the database's stamp has changed since the last check, or `always`. Callers that arrive
    /// while a check is in progress share the next.
    pub(crate) async fn renew(&self, always: bool) -> Result<()> {
        let called = Instant::now();
        let mut looked = self.looked.lock().await;
        if !always && looked.asked.is_some_and(|asked| asked >= called) {
            return Ok(());
        }
        let asked = Instant::now();
        let stamp = self.backend.stamp().await?;
        if looked.stamp != Some(stamp) || always {
            let tables = name_mapping::outside(&self.spec, self.backend.reflect().await?);
            let content = Version::of(&tables).0;
            if looked.stamp.is_none() || self.schema.load().stamp() != content {
                self.schema.store(Arc::new(DatabaseSchema::new(tables, content)));
                self.moved.notify_waiters();
            }
        }
        *looked = Looked { stamp: Some(stamp), asked: Some(asked) };
        Ok(())
    }

    /// Checks again; returns whether the schema differs from the one with `stamp`, whichever check found that.
    pub(crate) async fn is_other_than(&self, stamp: u64) -> Result<bool> {
        self.renew(false).await?;
        Ok(self.schema.load().stamp() != stamp)
    }

    /// Waits until the schema differs from the one with `stamp`: polls at the entry's interval, which costs one small
    /// query, and is notified when a request finds out earlier.
    pub(crate) async fn changed(&self, stamp: u64) -> Result<()> {
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if self.schema.load().stamp() != stamp {
                return Ok(());
            }
            if stamp != 0 && tokio::time::timeout(self.spec.refresh, moved).await.is_ok() {
                continue;
            }
            self.renew(false).await?;
        }
    }
}

/// Returns whether a failure may come from an outdated schema: a name, or a value for a column that had another type.
pub(crate) fn may_be_old(code: Code) -> bool {
    use Code::{ArgumentCount, Invalid, InvalidColumn, InvalidFilter, InvalidSort, NoPrimaryKey};
    is_gone(code)
        || matches!(code, NoPrimaryKey | InvalidColumn | InvalidFilter | InvalidSort | ArgumentCount | Invalid)
}

/// Returns whether the failure says that a table or column does not exist.
pub(crate) fn is_gone(code: Code) -> bool {
    matches!(code, Code::UnknownTable | Code::UnknownColumn)
}
