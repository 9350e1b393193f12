//! Puts what decides about requests in the place of what did so far.

use std::sync::Arc;
use std::time::Duration;

use salver_config::Checked;
use salver_http::CurrentAuth;
use salver_model::ports::{Database, Functions};
use salver_model::spec::FunctionSpec;

use super::{KeptFresh, Reload};
use crate::functions::OpenFile;
use crate::{functions, wiring};

/// Longest wait for files of functions to be loaded before they take the place of others.
const LOADING: Duration = Duration::from_secs(60);

/// Returns whether a file as it was declared `before` may be served where it can't be as it is declared `now`: not if
/// it is another one, or its code is kept from something now, or told something (such as a secret that it asks for).
fn may_stay(before: &FunctionSpec, now: &FunctionSpec) -> bool {
    let is_same = before.name == now.name && before.file == now.file;
    is_same && before.sandbox == now.sandbox && before.environment == now.environment
}

impl Reload {
    /// Returns the files of functions of the next settings: those that stay, and others that were opened beside them.
    /// The files that go stay open while something may call them. A file that can't be loaded as it is declared now is
    /// served as it was before, until the next reload, unless it would have rights that were taken from it.
    pub(super) async fn other_files(&mut self, next: &Checked) -> (Vec<Arc<dyn Functions>>, usize) {
        let mut own = std::mem::take(&mut self.wired.functions);
        let is_new = |spec: &&FunctionSpec| own.iter().all(|open| open.declared != **spec);
        let mut new = functions::open(next.functions.iter().filter(is_new));
        functions::loaded(&new, LOADING).await;
        let mut changed = 0;
        for spec in &next.functions {
            if let Some(at) = own.iter().position(|open| open.declared == *spec) {
                self.wired.functions.push(own.remove(at));
                continue;
            }
            let opened = new.iter().position(|open| open.declared == *spec).map(|at| new.remove(at));
            let loads = opened.as_ref().is_some_and(|open| open.file.interface().is_ok());
            let is_good = |open: &OpenFile| may_stay(&open.declared, spec) && open.file.interface().is_ok();
            match own.iter().position(is_good).filter(|_| !loads) {
                Some(at) => {
                    tracing::warn!(
                        "the functions `{}` can't be loaded as they are declared now, and are served as before until \
                         the next SIGHUP",
                        spec.name
                    );
                    self.wired.functions.push(own.remove(at));
                }
                None => {
                    changed += usize::from(opened.is_some());
                    self.wired.functions.extend(opened);
                }
            }
        }
        let users = self.current.users();
        let is_gone = |open: &&OpenFile| next.functions.iter().all(|spec| spec.name != open.declared.name);
        let gone = own.iter().filter(is_gone).count();
        for open in own {
            let users = users.clone();
            tokio::spawn(async move { open.drained(&users).await });
        }
        (functions::files(&self.wired.functions), changed + gone)
    }

    /// Puts everything that decides about requests in force at once. Returns the authentication methods of before where
    /// there are others.
    pub(super) async fn replace(
        &mut self,
        next: &Checked,
        (auth, files): (Option<CurrentAuth>, Vec<Arc<dyn Functions>>),
        (databases, is_same): (&[Arc<dyn Database>], bool),
        (has_other_rules, loses_streams): (bool, bool),
    ) -> Option<CurrentAuth> {
        let statements = files.clone();
        let mut service = self
            .wired
            .service
            .successor(next.limits.clone())
            .with_databases(databases.to_vec())
            .with_streams(self.wired.streams.clone())
            .with_functions(files)
            .with_caller_limits(next.caller_limits.clone())
            .with_other_rights(auth.is_some(), has_other_rules, loses_streams);
        if !is_same {
            service = service.with_access(wiring::access(next.access.as_deref(), databases));
        }
        if next.queries != self.checked.queries {
            let catalog = self.wired.service.catalog();
            self.wired.queries.follow(&next.queries, &self.engine, catalog, &self.observer);
            service = service.with_queries(self.wired.queries.all.clone());
        }
        let service = Arc::new(service);
        let old = auth.map(|auth| {
            self.fetching = KeptFresh::begin(&auth);
            std::mem::replace(&mut self.auth, auth)
        });
        self.doors.replace(Arc::clone(&service), wiring::http_options(next, self.auth.clone())).await;
        self.engine.set_functions(&statements);
        self.engine.set_times(next.limits.query_ms_max, next.server.slow_ms);
        self.current.set(&service);
        self.wired.service = service;
        old
    }
}
