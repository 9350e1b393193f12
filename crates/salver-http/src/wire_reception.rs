//! The reception of other wires: the same policy as for requests of HTTP, over what a wire knows of its caller.

use std::any::Any;
use std::sync::Arc;

use futures::future::BoxFuture;
use salver_model::observation::Observation;
use salver_model::{Error, Principal, Result};
use salver_service::reception::{Outcome, Reception, ScramLogin, Visitor, Welcome};

use crate::app::App;
use crate::auth::Identity;
use crate::caller_accounts::Charge;
use crate::dialect::{Dialect, Refusal};
use crate::doors::Doors;
use crate::policy::NO_ADDRESS;
use crate::redaction;

impl Reception for Doors {
    fn asks_for_proof(&self) -> bool {
        self.app().is_some_and(|app| app.auth.is_some())
    }

    fn scram<'a>(
        &'a self,
        visitor: &'a Visitor,
        user: &'a str,
        is_hidden: bool,
    ) -> BoxFuture<'a, Result<Option<ScramLogin>>> {
        Box::pin(async move {
            let Some(auth) = self.app().and_then(|app| app.auth.load()) else { return Ok(None) };
            auth.scram(visitor.address.unwrap_or(NO_ADDRESS), user, is_hidden).await
        })
    }

    fn forgive(&self, visitor: &Visitor, user: &str) {
        if let Some(auth) = self.app().and_then(|app| app.auth.load()) {
            auth.attempts.forgive(visitor.address.unwrap_or(NO_ADDRESS), user);
        }
    }

    fn admit<'a>(&'a self, visitor: &'a Visitor) -> BoxFuture<'a, Result<Welcome>> {
        Box::pin(async move {
            let app = self.app().ok_or_else(|| Error::internal("the server does not listen any more"))?;
            app.gate.check_firewall(visitor.address)?;
            let attributes = identify(&app, visitor).await?;
            let principal = Principal { address: visitor.address, attributes, local_user: None };
            let caller = app.service.caller(principal);
            let mut charge = Charge::default();
            charge.settle(&app.callers, &caller)?;
            let running: Box<dyn Any + Send + Sync> = Box::new(charge.into_running());
            Ok(Welcome { service: Arc::clone(&app.service), caller, running })
        })
    }

    fn disclose(&self, error: Error) -> Error {
        let refusal = Refusal::from(error);
        if Dialect::Salver.is_reported(&refusal)
            && let Some(app) = self.app()
        {
            app.service.observer().observe(&Observation::RequestFailed { error: &refusal.error, request: None });
        }
        let error = refusal.error;
        let (message, hint) = (redaction::message(&error).into_owned(), redaction::hint(&error));
        let told = Error::new(error.code, message).with_hint_if(hint.map(std::borrow::Cow::into_owned));
        Error { sql_fault: error.sql_fault, ..told }
    }

    fn count(&self, wire: &'static str, outcome: Outcome) {
        if let Some(app) = self.app() {
            app.metrics.count_on_wire(wire, outcome);
        }
    }
}

/// Finds out who a visitor is, by what it says.
async fn identify(app: &App, visitor: &Visitor) -> Result<Identity> {
    let Some(auth) = app.auth.load() else { return Ok(Identity::new()) };
    let from = (visitor.address.unwrap_or(NO_ADDRESS), visitor.certificate.as_deref());
    auth.identify_login(&app.service, from, visitor.login.as_deref()).await
}
