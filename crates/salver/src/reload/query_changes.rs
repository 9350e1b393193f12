//! Changes of named queries that clients ask for: the file, and then the queries that are served. Nothing else of the
//! settings is read again.

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use salver_config::Checked;
use salver_model::limits::QUERY_FILES_MAX;
use salver_model::ports::EditCondition;
use salver_model::spec::QuerySpec;
use salver_model::{Code, Error, Name, Result};
use tokio::sync::mpsc;

use super::Reload;
use crate::query_edits::QueryEdit;
use crate::query_file::QueryFile;
use crate::wiring;

/// Waits for the next change; for ever where none may come.
pub(super) async fn next(edits: &mut Option<mpsc::Receiver<QueryEdit>>) -> QueryEdit {
    if let Some(edits) = edits
        && let Some(edit) = edits.recv().await
    {
        return edit;
    }
    std::future::pending().await
}

impl Reload {
    /// Makes a change, and tells whoever waits for it.
    pub(super) async fn edit(&mut self, edit: QueryEdit) {
        let QueryEdit { name, next, condition, done } = edit;
        let done_so = if next.is_some() { "saved" } else { "removed" };
        let outcome = self.edited(&name, next, condition).await;
        if outcome.is_ok() {
            tracing::info!("the query `{name}` was {done_so} by a request");
        }
        // Who asked may be gone; the change is made all the same.
        let _ = done.send(outcome);
    }

    async fn edited(&mut self, name: &Name, next: Option<QuerySpec>, condition: EditCondition) -> Result<bool> {
        let folder = self.checked.server.queries.clone().ok_or_else(no_folder)?;
        self.check_edit(name.as_str(), next.as_ref())?;
        let file = QueryFile::of(&folder, name);
        let next = next.map(|spec| QuerySpec { file: Some(file.path()), ..spec });
        let text = next.as_ref().map(|spec| spec.sql.clone());
        let writing = tokio::task::spawn_blocking(move || match text {
            Some(text) => file.save(&text, &condition),
            None => file.remove(&condition).map(|()| false),
        });
        let is_new = writing.await.map_err(|error| Error::internal("a change broke off").with_source(error))??;
        let mut queries = self.checked.queries.clone();
        queries.retain(|own| own.name != *name);
        queries.extend(next);
        // As a reload has them: first those of the settings, then the files by name.
        queries.sort_by(|one, two| one.file.cmp(&two.file));
        self.serve_queries(Checked { queries, ..self.checked.clone() }).await;
        Ok(is_new)
    }

    /// Checks that a query may be changed, and be what it is to be.
    fn check_edit(&self, name: &str, next: Option<&QuerySpec>) -> Result<()> {
        let own = self.checked.queries.iter().find(|own| own.name.as_str() == name);
        if own.is_some_and(|own| own.file.is_none()) {
            let message = format!("the query `{name}` stands in the settings, which no request changes");
            return Err(Error::new(Code::Unsupported, message).with_hint("change it there, or choose another name"));
        }
        if next.is_none() {
            return Ok(());
        }
        if self.wired.service.snapshot_of_all().entry(name).is_some() {
            let message = format!("the query would have the name of the entry `{name}`");
            let hint = "choose another, so that rules can tell them apart";
            return Err(Error::new(Code::InvalidName, message).with_hint(hint));
        }
        let folded = name.to_lowercase();
        let is_beside = |own: &&QuerySpec| own.name.as_str() != name && own.name.as_str().to_lowercase() == folded;
        if let Some(beside) = self.checked.queries.iter().find(is_beside) {
            let message = format!("the query `{name}` would have the file of `{}` on some systems", beside.name);
            return Err(
                Error::new(Code::InvalidName, message).with_hint("choose a name that differs by more than case")
            );
        }
        let files = self.checked.queries.iter().filter(|own| own.file.is_some()).count();
        if own.is_none() && files >= QUERY_FILES_MAX {
            let message = format!("there are {files} named queries in files, and {QUERY_FILES_MAX} may be saved");
            return Err(Error::new(Code::InvalidRequest, message).with_hint("remove one that nobody runs"));
        }
        Ok(())
    }

    /// Serves the queries of `next` in place of those so far.
    async fn serve_queries(&mut self, next: Checked) {
        let before = &self.wired.service;
        self.wired.queries.follow(&next.queries, &self.engine, before.catalog(), &self.observer);
        // Until the new ones are planned, the old ones answer.
        let patience = Duration::from_millis(before.limits().queue_ms_max);
        let planned = future::join_all(self.wired.queries.all.iter().map(|query| query.planned()));
        let _ = tokio::time::timeout(patience, planned).await;
        let limits = before.limits().clone();
        let service = Arc::new(before.successor(limits).with_queries(self.wired.queries.all.clone()));
        self.doors.replace(Arc::clone(&service), wiring::http_options(&next, self.auth.clone())).await;
        self.current.set(&service);
        self.wired.service = service;
        self.checked = next;
    }
}

fn no_folder() -> Error {
    Error::new(Code::Unsupported, "there is no folder for named queries any more")
        .with_hint("set `server.queries`, and start the server again")
}
