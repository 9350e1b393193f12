//! What a failure of an object store means for an operator: what was asked for, what the store answered, and what to
//! do.

use std::error::Error as StdError;
use std::fmt;

use salver_model::limits::OBJECT_ERROR_BYTES_MAX;
use salver_model::spec::ObjectStoreKind;
use salver_model::{Code, Error};

use super::address::Address;

/// Marks the error of an object that is not the one that was listed.
#[derive(Debug)]
struct ObjectChanged;

impl fmt::Display for ObjectChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object is not the one that was listed")
    }
}

impl StdError for ObjectChanged {}

/// Returns the error for an object that was replaced or deleted since it was listed.
pub(super) fn changed(address: &Address) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{address}` was changed or removed since it was listed"))
        .with_hint("it is loaded again when the dataset is refreshed; try again then")
        .with_source(ObjectChanged)
}

/// Returns whether an object is not the one that was listed.
pub(crate) fn is_change(error: &Error) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = StdError::source(error);
    while let Some(cause) = next {
        if cause.is::<ObjectChanged>() {
            return true;
        }
        next = cause.source();
    }
    false
}

/// Returns the error for clients if a failure of a store is beneath the failure to read the object called `name`: its
/// rows can't be had now. Addresses and what the store answers are the operator's.
pub(crate) fn unavailable(name: &str, cause: &(dyn StdError + 'static)) -> Option<Error> {
    let mut next = Some(cause);
    while let Some(cause) = next {
        if let Some(error) = cause.downcast_ref::<Error>() {
            if is_change(error) {
                return Some(crate::file_stamp::changed(name));
            }
            let message = format!("`{name}` can't be read from its object store now");
            return Some(
                Error::new(Code::EntryUnavailable, message).with_hint("try again later; the log has the cause"),
            );
        }
        // An error of I/O says of its inner error what that says, and is no cause of its own.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| cause.source());
    }
    None
}

/// What a store answered.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    status: Option<u16>,
    /// The code of the system, such as `NoSuchBucket`.
    code: Option<String>,
    message: Option<String>,
}

impl Answer {
    /// Reads what the client of the store says of an answer.
    fn of(text: &str) -> Self {
        let status = text.split("status code: ").nth(1).and_then(|rest| rest.get(..3)?.parse().ok());
        let end = text.floor_char_boundary(OBJECT_ERROR_BYTES_MAX.min(text.len()));
        let text = &text[..end];
        let element = |name: &str| {
            let (_, rest) = text.split_once(&format!("<{name}>"))?;
            let (value, _) = rest.split_once(&format!("</{name}>"))?;
            let line = value.lines().next().unwrap_or_default().trim();
            (!line.is_empty()).then(|| line.to_owned())
        };
        Self { status, code: element("Code"), message: element("Message") }
    }

    fn told(&self) -> Option<String> {
        let status = self.status.map(|status| status.to_string());
        let words: Vec<String> = [status, self.code.clone()].into_iter().flatten().collect();
        match (words.is_empty(), &self.message) {
            (true, None) => None,
            (true, Some(message)) => Some(message.clone()),
            (false, None) => Some(words.join(" ")),
            (false, Some(message)) => Some(format!("{} ({message})", words.join(" "))),
        }
    }
}

/// Whether a failed request may succeed later without anybody doing something.
pub(super) fn may_pass(error: &object_store::Error) -> bool {
    let text = error.to_string();
    match (error, Answer::of(&text).status) {
        (_, Some(408 | 425 | 429 | 500..=599)) => true,
        (object_store::Error::Generic { .. }, None) => !is_lasting(&chain(error)),
        _ => false,
    }
}

/// Returns whether a request was refused because of who asks.
pub(super) fn is_refused(error: &Error) -> bool {
    let cause = error.source.as_ref().and_then(|cause| cause.downcast_ref::<object_store::Error>());
    cause.is_some_and(|cause| {
        let answer = Answer::of(&chain(cause));
        let expired = ["ExpiredToken", "InvalidToken", "TokenRefreshRequired"];
        matches!(answer.status, Some(401 | 403)) || answer.code.is_some_and(|code| expired.contains(&code.as_str()))
    })
}

/// Failures without an answer that come again with each attempt.
fn is_lasting(text: &str) -> bool {
    ["redirect without LOCATION", "169.254.169.254", "metadata.google.internal", "URL scheme is not allowed"]
        .iter()
        .any(|part| text.contains(part))
}

/// Returns the error for a request for `address` that failed.
pub(super) fn explained(address: &Address, error: object_store::Error) -> Error {
    let text = chain(&error);
    let answer = Answer::of(&text);
    let told = answer.told();
    let (message, hint) = match (&told, &error) {
        (Some(told), _) => (format!("`{address}` can't be read: the store answers {told}"), after(address, &answer)),
        (None, object_store::Error::InvalidPath { source }) => (
            format!("`{address}` can't be read: {source}"),
            "keys with empty parts (`a//b`), `.`, `..` or control characters can't be read; name a source without them"
                .to_owned(),
        ),
        (None, _) => without_answer(address, &text),
    };
    Error::new(Code::Source, message).with_hint(hint).with_source(error)
}

fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let why = cause.to_string();
        if !text.contains(&why) {
            text.push_str(": ");
            text.push_str(&why);
        }
        next = cause.source();
    }
    text
}

/// Returns the message and the hint for a request that got no answer.
fn without_answer(address: &Address, text: &str) -> (String, String) {
    if text.contains("redirect without LOCATION") {
        return (
            format!("`{address}` can't be read: the store sends us to another region"),
            "set `store_region` to the region of the bucket".to_owned(),
        );
    }
    if text.contains("169.254.169.254") || text.contains("metadata.google.internal") {
        return (
            format!("`{address}` can't be read: there are no credentials"),
            format!("{}; for a public bucket set `store_anonymous = true`", credentials(address.kind)),
        );
    }
    if text.contains("URL scheme is not allowed") {
        return (
            format!("`{address}` can't be read: its store is asked over http"),
            "set `store_endpoint = \"http://...\"` if nothing is to be encrypted".to_owned(),
        );
    }
    let why = text.rsplit(": ").next().unwrap_or(text).trim();
    let what = match text.contains("timed out") || text.contains("silent") {
        true => "the store does not answer in time",
        false => "the store can't be reached",
    };
    (
        format!("`{address}` can't be read: {what} ({why})"),
        "check `store_endpoint`, the network and that the store runs".to_owned(),
    )
}

/// Returns what to do after an answer.
fn after(address: &Address, answer: &Answer) -> String {
    let code = answer.code.as_deref().unwrap_or_default();
    let bucket = &address.bucket;
    match (answer.status, code) {
        (_, "NoSuchBucket" | "ContainerNotFound") => {
            format!("check the name of the bucket `{bucket}`, and `store_endpoint`")
        }
        (_, "AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException")
        | (Some(301 | 307), _) => "set `store_region` to the region of the bucket".to_owned(),
        (_, "InvalidAccessKeyId" | "InvalidToken" | "ExpiredToken" | "TokenRefreshRequired") => {
            format!("the key or the token is not known or has expired: {}", credentials(address.kind))
        }
        (_, "SignatureDoesNotMatch" | "AuthenticationFailed") => {
            format!("the secret is not that of the key: {}", credentials(address.kind))
        }
        (_, "RequestTimeTooSkewed") => "set the clock of this machine".to_owned(),
        (Some(401), _) => format!("the store wants credentials: {}", credentials(address.kind)),
        (Some(403), _) => format!(
            "the credentials may not list the bucket `{bucket}` or read the object, or there are none: {}",
            credentials(address.kind)
        ),
        (Some(404), _) => "check the bucket and the key".to_owned(),
        (Some(429 | 500..=599), _) => "the store has trouble; it is asked again at the next refresh".to_owned(),
        _ => "check the bucket, the key and the settings of the store".to_owned(),
    }
}

fn credentials(kind: ObjectStoreKind) -> &'static str {
    match kind {
        ObjectStoreKind::S3 => {
            "set `store_key_id` and `store_secret`, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `store_profile`"
        }
        ObjectStoreKind::Google => "set `store_credentials_file`, or GOOGLE_APPLICATION_CREDENTIALS",
        ObjectStoreKind::Azure => {
            "set `store_account` with `store_secret` or `store_token`, or AZURE_STORAGE_ACCOUNT_NAME and \
             AZURE_STORAGE_ACCOUNT_KEY"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;

    #[test]
    fn answers_are_read_from_what_the_client_says() {
        let text = "Generic S3 error: Server returned non-2xx status code: 403 Forbidden: <?xml version=\"1.0\"?>\
                    <Error><Code>InvalidAccessKeyId</Code><Message>The key is\nnot there.</Message></Error>";
        let answer = Answer::of(text);
        assert_eq!(answer.told().unwrap(), "403 InvalidAccessKeyId (The key is)");
        assert_eq!(Answer::of("connection refused").told(), None);
        assert_eq!(Answer::of("status code: 404 Not Found: ").told().unwrap(), "404");
    }
}
