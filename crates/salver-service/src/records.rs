//! Operations on databases: reads, changes, loads and definitions, each run for a caller within the limits.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use futures::future::try_join_all;
use salver_model::ports::{Database, MaybeReady, RecordStream};
use salver_model::records::{
    Change, Changed, DatabaseSchema, Definition, Document, DocumentBody, Load, LoadReport, Operation, RecordRead,
};
use salver_model::{Caller, Code, Error, Result};

use crate::service::Service;
use crate::trace;

impl Service {
    /// Resolves the public table name `name` to its database and the name in it: the first database that has the table,
    /// the one that `name` begins with, as `database.table`, or the first that is a separate one for each caller, whose
    /// tables are not known here. A single database is used in any case, since it may have a table that is not known
    /// yet.
    ///
    /// # Errors
    /// Returns `UnknownTable`; `DatabaseUnavailable` where a database that was never reached may have it.
    pub fn database_with<'n>(&self, name: &'n str) -> Result<(&Arc<dyn Database>, &'n str)> {
        if let [only] = self.databases() {
            let inside = name.strip_prefix(only.spec().name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            let known = inside.is_some() && only.schema().table(name).is_none();
            return Ok((only, inside.filter(|_| known).unwrap_or(name)));
        }
        if let Some(found) = self.databases().iter().find(|database| database.schema().table(name).is_some()) {
            return Ok((found, name));
        }
        let qualified = self.databases().iter().find_map(|database| {
            let inside = name.strip_prefix(database.spec().name.as_str())?.strip_prefix('.')?;
            Some((database, inside))
        });
        let of_caller = || self.databases().iter().find(|database| database.spec().of_caller.is_some());
        qualified.or_else(|| Some((of_caller()?, name))).ok_or_else(|| match self.catalog().snapshot().absent(name) {
            Some(absent) => Error::new(Code::DatabaseUnavailable, absent.message).with_hint_if(absent.hint),
            None => Error::new(Code::UnknownTable, format!("Table '{name}' not found")),
        })
    }

    /// Returns the database that `caller` uses under the name of `entry`: a separate one where each caller has one.
    ///
    /// # Errors
    /// Returns `Forbidden` for a caller without a database, and limits.
    pub async fn database_of(&self, caller: &Caller, entry: &Arc<dyn Database>) -> Result<Arc<dyn Database>> {
        if entry.spec().of_caller.is_none() {
            return Ok(Arc::clone(entry));
        }
        let found = self.bounded(caller, entry.of_caller(caller)).await?;
        Ok(found.unwrap_or_else(|| Arc::clone(entry)))
    }

    /// Reads records; at once if that takes microseconds.
    ///
    /// # Errors
    /// Returns whatever [`Database::read`] refuses, and limits.
    pub fn read_records<'a>(
        &'a self,
        caller: &'a Caller,
        database: &'a Arc<dyn Database>,
        read: &'a RecordRead,
    ) -> MaybeReady<'a, Result<Document>> {
        let span = self.begin_on(database, "read", Some(read.table()));
        match database.read(caller, read) {
            MaybeReady::Ready(document) => {
                trace::end(span, &document);
                MaybeReady::Ready(document)
            }
            MaybeReady::Pending(work) => MaybeReady::pending(trace::within(span, self.bounded(caller, work))),
        }
    }

    /// Reads records into memory. Only for reads whose size the server itself bounds.
    ///
    /// # Errors
    /// Returns the errors of [`Service::read_records`].
    pub async fn collect_records(
        &self,
        caller: &Caller,
        database: &Arc<dyn Database>,
        read: &RecordRead,
    ) -> Result<Vec<u8>> {
        match self.read_records(caller, database, read).await?.body {
            DocumentBody::Whole(bytes) => Ok(bytes),
            DocumentBody::Stream(pieces) => self.bounded(caller, pieces.try_concat()).await,
        }
    }

    /// Applies one change.
    ///
    /// # Errors
    /// Returns whatever [`Database::change`] refuses, and limits.
    pub async fn change(&self, caller: &Caller, database: &Arc<dyn Database>, change: Change) -> Result<Changed> {
        let span = self.begin_on(database, "change", Some(&change.table));
        trace::within(span, self.bounded(caller, database.change(caller, change))).await
    }

    /// Applies several changes atomically.
    ///
    /// # Errors
    /// Returns whatever [`Database::transact`] refuses, and limits.
    pub async fn transact(
        &self,
        caller: &Caller,
        database: &Arc<dyn Database>,
        changes: Vec<Change>,
    ) -> Result<Changed> {
        let span = self.begin_on(database, "transact", None);
        trace::within(span, self.bounded(caller, database.transact(caller, changes))).await
    }

    /// Loads many rows. A load is not limited in time as queries are: it ends when rows stop arriving.
    ///
    /// # Errors
    /// Returns whatever [`Database::load`] refuses.
    pub async fn load(
        &self,
        caller: &Caller,
        database: &Arc<dyn Database>,
        load: &Load,
        rows: RecordStream,
    ) -> Result<LoadReport> {
        let span = self.begin_on(database, "load", Some(&load.table));
        trace::within(span, database.load(caller, load, rows)).await
    }

    /// Changes the schema.
    ///
    /// # Errors
    /// Returns whatever [`Database::define`] refuses, and limits.
    pub async fn define(&self, caller: &Caller, database: &Arc<dyn Database>, definition: &Definition) -> Result<()> {
        let span = self.begin_on(database, "define", None);
        trace::within(span, self.bounded(caller, database.define(caller, definition))).await
    }

    /// Returns the schema that `caller` may see for `operation`; reads it first if it was never read.
    ///
    /// # Errors
    /// Returns `DatabaseUnavailable`, and limits.
    pub async fn visible_schema(
        &self,
        caller: &Caller,
        database: &Arc<dyn Database>,
        operation: Operation,
    ) -> Result<Arc<DatabaseSchema>> {
        if database.schema().stamp() == 0 {
            self.refresh_schemas(caller, std::slice::from_ref(database)).await?;
        }
        Ok(database.visible(caller, operation))
    }

    /// Discards the cached schemas of databases and reads them again.
    ///
    /// # Errors
    /// Returns `DatabaseUnavailable`, and limits.
    pub async fn refresh_schemas(&self, caller: &Caller, databases: &[Arc<dyn Database>]) -> Result<()> {
        self.bounded(caller, try_join_all(databases.iter().map(|database| database.refresh()))).await.map(|_| ())
    }

    /// Returns the longest round-trip time among the databases; zero without any.
    ///
    /// # Errors
    /// Returns `DatabaseUnavailable`, and limits.
    pub async fn ping_databases(&self, caller: &Caller, databases: &[Arc<dyn Database>]) -> Result<Duration> {
        let times = self.bounded(caller, try_join_all(databases.iter().map(|database| database.ping()))).await?;
        Ok(times.into_iter().max().unwrap_or_default())
    }
}
