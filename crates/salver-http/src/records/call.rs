//! One request as the records doors see it.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderMap, Method, header};
use salver_formats::Coding;
use salver_model::ports::Database;
use salver_model::{Caller, Code, Error, Result, Version};

use crate::app::App;

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// The server's side.
    pub(crate) app: &'a Arc<App>,
    /// The method.
    pub(crate) method: &'a Method,
    /// The path below `/api`, as it came.
    pub(crate) path: &'a str,
    /// The query string, as it came; empty for none.
    pub(crate) query: &'a str,
    /// The headers.
    pub(crate) headers: &'a HeaderMap,
    /// The other end of the connection.
    pub(crate) peer: IpAddr,
    /// What the caller proved.
    pub(crate) proved: &'a [(String, String)],
}

impl<'a> Call<'a> {
    /// Who asks.
    pub(super) fn caller(&self) -> Caller {
        self.app.gate.caller(self.peer, self.headers, self.proved)
    }

    /// The compression this client takes.
    pub(super) fn coding(&self) -> Coding {
        coding(self.headers)
    }

    /// A header as text.
    pub(super) fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The database of the table called `name`, and the table's name in it.
    ///
    /// # Errors
    /// `UnknownTable`; `Forbidden` for a caller who has no such database.
    pub(super) async fn database<'n>(&self, name: &'n str) -> Result<(Arc<dyn Database>, &'n str)> {
        let (entry, inside) = self.app.service.database_with(name)?;
        Ok((self.own(entry).await?, inside))
    }

    /// Every database that there is for the caller.
    pub(super) async fn databases(&self) -> Result<Vec<Arc<dyn Database>>> {
        let mut all = Vec::new();
        for entry in self.app.service.databases() {
            match self.own(entry).await {
                Ok(database) => all.push(database),
                Err(error) if error.code == Code::Forbidden => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// The entry, or of one with a database for each caller that of this one.
    async fn own(&self, entry: &Arc<dyn Database>) -> Result<Arc<dyn Database>> {
        if entry.spec().of_caller.is_none() {
            return Ok(Arc::clone(entry));
        }
        let found = self.app.service.bounded(&self.caller(), entry.of_caller(&self.caller())).await?;
        Ok(found.unwrap_or_else(|| Arc::clone(entry)))
    }

    /// That nothing is at this path.
    pub(super) fn nowhere(&self) -> Error {
        let shown: String = self.path.chars().take(200).collect();
        Error::new(Code::NotFound, format!("Route '{shown}' not found"))
    }

    /// The request as far as an answer follows from it, at one version of the database.
    pub(super) fn fingerprint(&self, caller: &Caller, stamp: u64, version: u64) -> Version {
        fingerprint((self.path, self.query), caller, stamp, version)
    }
}

/// The compression the sender of `headers` takes.
pub(super) fn coding(headers: &HeaderMap) -> Coding {
    let mut lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    match (lines.next(), lines.next()) {
        (None, _) => Coding::Identity,
        (Some(only), None) => Coding::negotiate(Some(only)),
        (Some(first), Some(second)) => {
            let rest: String = lines.flat_map(|line| [",", line]).collect();
            Coding::negotiate(Some(&format!("{first},{second}{rest}")))
        }
    }
}

/// What an answer follows from: what was asked, of whom, under which schema, at which version of the rows.
pub(super) fn fingerprint(target: (&str, &str), caller: &Caller, stamp: u64, version: u64) -> Version {
    let who = (&caller.address, &caller.attributes);
    Version::of(&(env!("CARGO_PKG_VERSION"), target, who, stamp, version))
}
