//! Puts what decides about requests in the place of what did so far.

use std::sync::Arc;

use salver_config::Checked;
use salver_http::CurrentAuth;
use salver_model::ports::{Database, Functions};
use salver_model::spec::FunctionSpec;

use super::{KeptFresh, Reload, SETTLING};
use crate::{functions, wiring};

impl Reload {
    /// Returns the files of functions of the next settings: those that stay, and others that were opened beside them.
    /// The files that go stay open while something may call them.
    pub(super) async fn other_files(&mut self, next: &Checked) -> (Vec<Arc<dyn Functions>>, usize) {
        let mut own = std::mem::take(&mut self.wired.functions);
        let is_new = |spec: &&FunctionSpec| own.iter().all(|open| open.declared != **spec);
        let mut new = functions::open(next.functions.iter().filter(is_new));
        functions::loaded(&new, SETTLING).await;
        let changed = new.len();
        for spec in &next.functions {
            let known = own.iter().position(|open| open.declared == *spec).map(|at| own.remove(at));
            let opened = || new.iter().position(|open| open.declared == *spec);
            let open = match known {
                Some(open) => Some(open),
                None => opened().map(|at| new.remove(at)),
            };
            self.wired.functions.extend(open);
        }
        let users = self.current.users();
        let gone = own.len();
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
    ) -> Option<CurrentAuth> {
        let statements = files.clone();
        let mut service = self
            .wired
            .service
            .successor(next.limits.clone())
            .with_databases(databases.to_vec())
            .with_streams(self.wired.streams.clone())
            .with_functions(files)
            .with_caller_limits(next.caller_limits.clone());
        if !is_same {
            service = service.with_access(wiring::access(next.access.as_deref(), databases));
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
