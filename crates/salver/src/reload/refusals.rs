//! What a reload refuses, so that nothing changes.

use salver_config::Checked;
use salver_http::CurrentAuth;
use salver_model::{Code, Error, Name, Result};

use super::Reload;
use crate::wiring;

impl Reload {
    /// Checks that the next settings fit what stays as it is.
    ///
    /// # Errors
    /// `Config`.
    pub(super) fn check(&self, next: &Checked) -> Result<()> {
        let restart = |what: String| Err(Error::new(Code::Config, what).with_hint("restart the server for that"));
        let users = |checked: &Checked| checked.auth.as_ref().and_then(|auth| auth.users.clone());
        // Whoever is logged in stays so, and would be another there.
        let is_same = match (users(&self.checked), users(next)) {
            (Some(own), Some(other)) => {
                let home = |checked: &Checked, name: &Name| {
                    let home = checked.databases.iter().find(|database| database.name == *name);
                    home.map(|home| (home.kind, home.url.clone()))
                };
                salver_http::is_same_table(&own, &other)
                    && home(&self.checked, &own.database) == home(next, &other.database)
            }
            (own, other) => own.is_none() && other.is_none(),
        };
        if !is_same {
            return restart("the table of users of [auth], its database, or what is kept of it, is another".to_owned());
        }
        // Connections ask for certificates as they did, and [auth] must not count on others.
        let asks = |checked: &Checked| checked.auth.as_ref().is_some_and(|auth| auth.client_certificates);
        if asks(&self.checked) != asks(next) {
            return restart(
                "clients show certificates (`server.tls_client_ca`), or don't, other than so far".to_owned(),
            );
        }
        let snapshot = self.wired.service.catalog().snapshot();
        let named = |checked: &Checked| -> Vec<(&'static str, Name)> {
            let datasets = checked.datasets.iter().map(|spec| ("dataset", spec.name.clone()));
            datasets.chain(checked.streams.iter().map(|spec| ("stream", spec.name.clone()))).collect()
        };
        let own = named(&self.checked);
        let mut new = named(next).into_iter().filter(|named| !own.contains(named));
        if let Some((kind, taken)) = new.find(|(_, name)| snapshot.entry(name.as_str()).is_some()) {
            return restart(format!("the {kind} `{taken}` has the name of an entry of another kind so far"));
        }
        self.exposure.check(next)
    }

    /// Returns the methods of the next settings where they are others; who is logged in under them stays so.
    pub(super) fn other_auth(&self, next: &Checked) -> Result<Option<CurrentAuth>> {
        let home = |checked: &Checked| {
            let users = checked.auth.as_ref()?.users.as_ref()?;
            checked.databases.iter().find(|database| database.name == users.database).cloned()
        };
        if next.auth == self.checked.auth && home(next) == home(&self.checked) {
            return Ok(None);
        }
        wiring::current_auth(next, &self.sessions, self.auth.load().as_deref()).map(Some)
    }
}
