//! What a refusal by Google means for an operator: what was asked for, what Google said, and what to do.

use std::io::{self, Read};
use std::time::Duration;

use salver_model::limits::{GOOGLE_SHEETS_LIST_BYTES_MAX, OBJECT_ERROR_BYTES_MAX};
use salver_model::secrecy::MASK;
use salver_model::{Code, Error};
use serde::Deserialize;
use ureq::http::Response;

use super::attempt::Failure;
use crate::fetch::{body_of, shown};

/// Longest text of Google's in a message, in characters.
const SAID_CHARS: usize = 300;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asker<'a> {
    /// A service account, by its address.
    Account(&'a str),
    /// Whoever has an API key.
    ApiKey,
    /// Whoever has a token of the settings.
    Token,
}

/// The body of an error, of APIs and of token servers.
#[derive(Debug, Default, Deserialize)]
struct Body {
    error: Option<Said>,
    error_description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Word(String),
    Whole {
        message: Option<String>,
        status: Option<String>,
        #[serde(default)]
        details: Vec<Detail>,
    },
}

#[derive(Debug, Deserialize)]
struct Detail {
    reason: Option<String>,
}

/// A refusal.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    status: u16,
    /// A word such as `PERMISSION_DENIED`.
    word: Option<String>,
    /// A closer word such as `SERVICE_DISABLED`.
    reason: Option<String>,
    message: Option<String>,
    /// When to ask again.
    after: Option<Duration>,
}

impl Refusal {
    /// Reads a response that is no success.
    pub(super) fn of(response: Response<ureq::Body>) -> Self {
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let (limit, mut bytes) = (OBJECT_ERROR_BYTES_MAX as u64, Vec::new());
        // What there is of it has to do.
        let _ = body_of(response, u64::MAX).take(limit).read_to_end(&mut bytes);
        let body: Body = serde_json::from_slice(&bytes).unwrap_or_default();
        let (word, reason, message) = match body.error {
            Some(Said::Word(word)) => (Some(word), None, body.error_description),
            Some(Said::Whole { message, status, details }) => {
                (status, details.into_iter().find_map(|detail| detail.reason), message)
            }
            None => (None, None, None),
        };
        Self { status, word, reason, message, after: after.map(Duration::from_secs) }
    }

    /// Returns what Google said, on one line and without `secrets`.
    fn said(&self, secrets: &[&str]) -> String {
        let words: Vec<String> = [Some(self.status.to_string()), self.word.clone()].into_iter().flatten().collect();
        let mut text = words.join(" ");
        if let Some(message) = &self.message {
            let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
            text = format!("{text} ({})", line.chars().take(SAID_CHARS).collect::<String>());
        }
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret, MASK);
        }
        text.replace(char::is_control, " ")
    }

    /// Returns the failure of a request for the spreadsheet called `source`.
    pub(super) fn of_sheet(self, source: &str, asker: Asker<'_>, secrets: &[&str]) -> Failure {
        let message = format!("`{source}` can't be read: Google answers {}", self.said(secrets));
        let hint = self.way_out(asker);
        self.failure(Error::new(Code::Source, message).with_hint(hint))
    }

    /// Returns the failure of a request for a token of `email`.
    pub(super) fn of_token(self, email: &str, url: &str, secrets: &[&str]) -> Failure {
        let said = self.said(secrets);
        let message = format!("there is no token for `{email}`: `{}` answers {said}", shown(url));
        let hint = match self.status {
            429 | 500..=599 => "Google has trouble; it is asked again at the next refresh",
            _ => "check that the key in the file of the service account was not deleted, and the clock of this machine",
        };
        match self.failure(Error::new(Code::Source, message).with_hint(hint)) {
            // Another token would not help.
            Failure::Refused(error) => Failure::Lasting(error),
            other => other,
        }
    }

    fn failure(&self, error: Error) -> Failure {
        match self.status {
            401 => Failure::Refused(error),
            408 | 425 | 429 | 500..=599 => Failure::Passing(error, self.after),
            _ => Failure::Lasting(error),
        }
    }

    fn way_out(&self, asker: Asker<'_>) -> String {
        let message = self.message.as_deref().unwrap_or_default();
        let reason = self.reason.as_deref().unwrap_or_default();
        if reason == "SERVICE_DISABLED" || message.contains("has not been used in project") {
            return "enable the Google Sheets API for the project of the account or key, in Google's console"
                .to_owned();
        }
        match (self.status, asker) {
            (400, _) if reason == "API_KEY_INVALID" || message.contains("API key") => {
                "check `store_api_key`".to_owned()
            }
            (400, _) if message.contains("not supported for this document") => {
                "it is a file of Excel in Google Drive: open it, and save it as a Google spreadsheet".to_owned()
            }
            (401, Asker::Token) => "the token in `store_token` or `headers` is not valid, or has expired".to_owned(),
            (401, _) => "check the credentials".to_owned(),
            (403, Asker::Account(email)) => format!("share the spreadsheet with `{email}`, as a viewer"),
            (403, Asker::ApiKey) => {
                "an API key reads what everybody with the link may view: share the spreadsheet so, \
                or set `store_credentials_file`; check which APIs the key is restricted to"
                    .to_owned()
            }
            (403, Asker::Token) => "share the spreadsheet with the token's account; its scope must be \
                https://www.googleapis.com/auth/spreadsheets.readonly"
                .to_owned(),
            (404, _) => {
                "check the id: it stands in the address of the spreadsheet between `/d/` and `/edit`".to_owned()
            }
            (429, _) => "Google allows so many reads a minute: make `refresh` longer".to_owned(),
            (500..=599, _) => "Google has trouble; it is asked again at the next refresh".to_owned(),
            _ => "check the source, `sheet`, `range` and `store_endpoint`".to_owned(),
        }
    }
}

/// Returns the failure of a request to `url` that got no answer.
pub(super) fn unanswered(what: &str, url: &str, cause: ureq::Error) -> Failure {
    use ureq::Error::{ConnectionFailed, HostNotFound, Io, Protocol, Timeout};
    let may_pass = matches!(cause, ConnectionFailed | HostNotFound | Io(_) | Protocol(_) | Timeout(_));
    let error = Error::new(Code::Source, format!("{what}: can't reach `{}`: {cause}", shown(url)))
        .with_hint("check the network, and `store_endpoint` if it is set")
        .with_source(cause);
    match may_pass {
        true => Failure::Passing(error, None),
        false => Failure::Lasting(error),
    }
}

/// Reads the whole of a short answer; `what` begins the message of a failure.
pub(super) fn whole(what: &str, response: Response<ureq::Body>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = body_of(response, GOOGLE_SHEETS_LIST_BYTES_MAX).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|cause| broken_off(what, cause))
}

/// Returns the failure of an answer that ends too early, or not at all.
pub(super) fn broken_off(what: &str, cause: io::Error) -> Failure {
    let of_client = cause.get_ref().and_then(|cause| cause.downcast_ref::<ureq::Error>());
    if matches!(of_client, Some(ureq::Error::BodyExceedsLimit(_))) {
        let hint = "name the part that holds the rows: `range = \"A1:F100\"`; check proxies on the way";
        return Failure::Lasting(Error::new(Code::Source, format!("{what}: the answer is too long")).with_hint(hint));
    }
    let error = Error::new(Code::Source, format!("{what}: the answer broke off: {cause}"))
        .with_hint("the next refresh tries again")
        .with_source(cause);
    Failure::Passing(error, None)
}
