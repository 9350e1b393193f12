//! `X-Callback-Url`: the address that is notified when a job is done. Only addresses that the operator allows are
//! accepted, because the server may reach hosts that its clients can't.

use std::time::Duration;

use bytes::Bytes;
use http::uri::Uri;
use http::{HeaderMap, HeaderName};
use salver_model::limits::{CALLBACK_BYTES_MAX, CALLBACK_RETRY_MS, CALLBACK_TRIES_MAX};
use salver_model::ports::Delivery;
use salver_model::{Code, Error, Result};
use salver_service::trace;

use super::job_state::document;
use crate::app::App;
use crate::functions_state::{Callback, Job};
use crate::tokens::beginning;

const CALLBACK_URL: HeaderName = HeaderName::from_static("x-callback-url");

/// Reads the callback that `headers` request.
///
/// # Errors
/// `Forbidden` for an address that is not allowed.
pub(super) fn of(app: &App, headers: &HeaderMap) -> Result<Option<Callback>> {
    let Some(value) = headers.get(CALLBACK_URL) else { return Ok(None) };
    let allowed = app.options.callbacks.as_ref().map_or(&[][..], |callbacks| &callbacks.allowed);
    match value.to_str() {
        Ok(address) if is_allowed(allowed, address) => {
            Ok(Some(Callback { address: address.to_owned(), told: std::sync::OnceLock::new() }))
        }
        _ => Err(Error::new(Code::Forbidden, "the address of `X-Callback-Url` is not allowed")
            .with_hint("the operator allows addresses by what they begin with, in `server.callbacks`")),
    }
}

/// Returns whether `address` starts with an allowed prefix and does not escape it by dot segments or backslashes,
/// however a server may read them.
fn is_allowed(allowed: &[String], address: &str) -> bool {
    let begins = allowed.iter().any(|allowed| address.starts_with(allowed));
    if !begins || address.len() > CALLBACK_BYTES_MAX {
        return false;
    }
    let Ok(uri) = address.parse::<Uri>() else { return false };
    let path = decoded(uri.path());
    let is_step = |segment: &str| matches!(segment.split(';').next(), Some("." | ".."));
    // Some servers drop control characters, and find dot segments only then.
    let has_controls = ["%0", "%1", "%7f"].iter().any(|code| path.contains(code));
    !has_controls && !path.contains('\\') && !path.split('/').any(is_step)
}

/// Decodes what a server may take for a part of the path's structure, however many times it is encoded: each server on
/// the way may decode it once more.
fn decoded(path: &str) -> String {
    let mut path = path.to_ascii_lowercase();
    loop {
        let next = path.replace("%25", "%").replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
        if next == path {
            return path;
        }
        path = next;
    }
}

/// Notifies the callback that `job` is done, with retries.
pub(super) async fn tell(app: &App, job: &Job) {
    let (Some(callback), Some(callbacks)) = (&job.callback, &app.options.callbacks) else { return };
    let document = Bytes::from(document(app, job).to_string());
    let mut wait = Duration::from_millis(CALLBACK_RETRY_MS);
    for attempt in 1..=CALLBACK_TRIES_MAX {
        // The semaphore is never closed.
        let place = app.jobs.callbacks.acquire().await;
        let trace = trace::current();
        let brought = callbacks.webhooks.post(&callback.address, document.clone(), trace.as_ref()).await;
        drop(place);
        match brought {
            Ok(delivery) => {
                let _ = callback.told.set(delivery == Delivery::Taken);
                return;
            }
            Err(error) if attempt == CALLBACK_TRIES_MAX => {
                tracing::warn!(target: "function", job = %beginning(&job.id), "a callback failed: {}", error.chain());
            }
            Err(_) => {
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
        }
    }
    let _ = callback.told.set(false);
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn addresses_stay_where_they_are_allowed() {
        let allowed = ["https://a.example/hooks/".to_owned(), "http://127.0.0.1:9/".to_owned()];
        for yes in [
            "https://a.example/hooks/",
            "https://a.example/hooks/x?y=1",
            "https://a.example/hooks/a%2Fb%20c..d;e=..",
            "http://127.0.0.1:9/z",
        ] {
            assert!(is_allowed(&allowed, yes), "{yes}");
        }
        let long = format!("https://a.example/hooks/{}", "x".repeat(3_000));
        for no in [
            "https://a.example/hook",
            "https://a.example.evil/hooks/",
            "https://a.example@evil/hooks/",
            "http://a.example/hooks/",
            "https://a.example/hooks/../admin",
            "https://a.example/hooks/%2E%2e/admin",
            "https://a.example/hooks/..%2Fadmin",
            "https://a.example/hooks/x%2f..%2f..%2fadmin",
            "https://a.example/hooks/%252e%25252E/admin",
            "https://a.example/hooks/..%5Cadmin",
            "https://a.example/hooks/..;x=1/admin",
            "https://a.example/hooks/.%00./admin",
            "https://a.example/hooks/.%0A./admin",
            "https://a.example/hooks/ x",
            "http://127.0.0.1:99/",
            "/hooks/",
            "",
            &long,
        ] {
            assert!(!is_allowed(&allowed, no), "{no}");
        }
        assert!(!is_allowed(&[], "https://a.example/hooks/"));
    }
}
