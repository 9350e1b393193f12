//! Requests to the Google Sheets API.

use std::io;
use std::path::Path;

use salver_model::spec::{DatasetSpec, GoogleSheetSource, Secret};
use salver_model::{Code, Error, Result, Version};
use salver_text::percent;
use serde::de::DeserializeOwned;
use ureq::http::{Request, Response};

use super::attempt::{Failure, persistently};
use super::credential::Credential;
use super::fault::{Refusal, broken_off, unanswered, whole};
use crate::fetch::{agent, body_of, spool};

/// Address of the API.
const ENDPOINT: &str = "https://sheets.googleapis.com";

/// Asks for one spreadsheet.
pub(super) struct Client<'s> {
    /// The spreadsheet in messages.
    label: String,
    /// The address of the spreadsheet.
    url: String,
    agent: ureq::Agent,
    headers: &'s [(String, String)],
    credential: Credential,
}

impl<'s> Client<'s> {
    /// Returns a client for a spreadsheet, with the dataset's credentials.
    pub(super) fn new(spec: &'s DatasetSpec, source: &GoogleSheetSource) -> Result<Self> {
        let endpoint = spec.object_store.endpoint.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/');
        Ok(Self {
            label: source.to_string(),
            url: format!("{endpoint}/v4/spreadsheets/{}", source.id),
            // A redirect could carry the credentials elsewhere; the API has none.
            agent: agent(0),
            headers: &spec.headers,
            credential: Credential::of(spec, source)?,
        })
    }

    /// Returns what is known of the sheets, without their cells. Blocks.
    pub(super) fn list<T: DeserializeOwned>(&self, fields: &str) -> Result<T> {
        let query = format!("includeGridData=false&fields={}", percent::encode(fields));
        self.get(&query, |response| {
            let bytes = whole(&self.unreadable(), response)?;
            serde_json::from_slice(&bytes).map_err(|cause| {
                let message = format!("`{}` can't be read: what came is no list of sheets ({cause})", self.label);
                let hint = "check `store_endpoint`, and proxies on the way; the next refresh tries again";
                Failure::Lasting(Error::new(Code::Source, message).with_hint(hint))
            })
        })
    }

    /// Writes the answer with the cells of a range to `path` and returns its version. Blocks.
    pub(super) fn spool(&self, range: &str, fields: &str, bytes_max: u64, path: &Path) -> Result<Version> {
        let (range, fields) = (percent::encode(range), percent::encode(fields));
        let query = format!("includeGridData=true&ranges={range}&fields={fields}");
        self.get(&query, |response| {
            spool(&mut body_of(response, bytes_max), path).map_err(|cause| broken_off(&self.unreadable(), cause))
        })
    }

    /// Returns the beginning of the messages of failures.
    fn unreadable(&self) -> String {
        format!("`{}` can't be read", self.label)
    }

    /// Returns the error for a disk that takes no more.
    pub(super) fn unwritable(&self, cause: &io::Error) -> Error {
        Error::new(Code::Source, format!("`{}` can't be written to disk: {cause}", self.label))
            .with_hint("check the space in `--data-dir`")
    }

    /// Makes a request and reads the answer with `read`. A token that is refused is got anew once.
    fn get<T>(&self, query: &str, read: impl Fn(Response<ureq::Body>) -> Result<T, Failure>) -> Result<T> {
        let url = format!("{}?prettyPrint=false&{query}", self.url);
        let header = self.credential.header(&self.agent)?;
        match persistently(|| read(self.send(&url, header.as_ref())?)) {
            Err(Failure::Refused(_)) if self.credential.renew(header.as_ref()) => {
                let header = self.credential.header(&self.agent)?;
                Ok(persistently(|| read(self.send(&url, header.as_ref())?))?)
            }
            other => Ok(other?),
        }
    }

    fn send(&self, url: &str, header: Option<&(&'static str, Secret)>) -> Result<Response<ureq::Body>, Failure> {
        let mut builder = Request::builder().method("GET").uri(url).header("accept", "application/json");
        for (name, value) in self.headers {
            builder = builder.header(name, value);
        }
        if let Some((name, value)) = header {
            builder = builder.header(*name, value.reveal());
        }
        let request = builder.body(()).map_err(|cause| {
            let error = Error::new(Code::Source, format!("can't ask for `{}`: {cause}", self.label));
            Failure::Lasting(error.with_hint("check the credentials and `headers`: they must be plain text"))
        })?;
        let response = self.agent.run(request).map_err(|cause| unanswered(&self.unreadable(), url, cause))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let shown = header.map(|(_, value)| value.reveal()).unwrap_or_default();
        let mut secrets = vec![shown, shown.strip_prefix("Bearer ").unwrap_or_default()];
        secrets.extend(self.headers.iter().map(|(_, value)| value.as_str()));
        Err(Refusal::of(response).of_sheet(&self.label, self.credential.asker(), &secrets))
    }
}
