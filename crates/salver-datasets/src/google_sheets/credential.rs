//! What a dataset has to show to Google.

use std::path::Path;

use salver_model::spec::{DatasetSpec, GoogleSheetSource, Secret};
use salver_model::{Code, Error, Result};

use super::account::Account;
use super::fault::Asker;
use crate::buckets::variable;

/// A credential.
pub(super) enum Credential {
    /// It is among the dataset's headers.
    Headers,
    /// A token of the settings.
    Token(Secret),
    /// An API key.
    ApiKey(Secret),
    /// A service account.
    Account(Box<Account>),
}

impl Credential {
    /// Returns the credential of the settings, else that of the environment.
    pub(super) fn of(spec: &DatasetSpec, source: &GoogleSheetSource) -> Result<Self> {
        let is_credential =
            |name: &str| name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("x-goog-api-key");
        if spec.headers.iter().any(|(name, _)| is_credential(name)) {
            return Ok(Self::Headers);
        }
        let store = &spec.object_store;
        match (&store.token, &store.credentials_file, &store.api_key) {
            (Some(token), ..) => return Ok(Self::Token(token.clone())),
            (None, Some(file), _) => return Ok(Self::Account(Box::new(Account::of_file(file)?))),
            (None, None, Some(key)) => return Ok(Self::ApiKey(key.clone())),
            (None, None, None) => {}
        }
        match variable("GOOGLE_APPLICATION_CREDENTIALS") {
            Some(file) => Ok(Self::Account(Box::new(Account::of_file(Path::new(&file))?))),
            None => Err(Error::new(Code::Source, format!("`{source}` can't be read: there are no credentials"))
                .with_hint(
                    "set `store_credentials_file` to the file of a service account, or GOOGLE_APPLICATION_CREDENTIALS; \
                     for a spreadsheet that everybody with the link may view, `store_api_key`",
                )),
        }
    }

    /// Returns the header that shows it, for which a token may be got first. Blocks.
    pub(super) fn header(&self, agent: &ureq::Agent) -> Result<Option<(&'static str, Secret)>> {
        let bearer = |token: &Secret| ("authorization", Secret::new(format!("Bearer {}", token.reveal())));
        Ok(match self {
            Self::Headers => None,
            Self::Token(token) => Some(bearer(token)),
            // Not in the address, which is logged on the way.
            Self::ApiKey(key) => Some(("x-goog-api-key", key.clone())),
            Self::Account(account) => Some(bearer(&account.token(agent)?)),
        })
    }

    /// Returns whether there may be another header in place of one that was refused.
    pub(super) fn renew(&self, refused: Option<&(&'static str, Secret)>) -> bool {
        match (self, refused.and_then(|(_, header)| header.reveal().strip_prefix("Bearer "))) {
            (Self::Account(account), Some(token)) => {
                account.forget(&Secret::new(token));
                true
            }
            _ => false,
        }
    }

    /// Returns who asks with it.
    pub(super) fn asker(&self) -> Asker<'_> {
        match self {
            Self::Headers | Self::Token(_) => Asker::Token,
            Self::ApiKey(_) => Asker::ApiKey,
            Self::Account(account) => Asker::Account(&account.email),
        }
    }
}
