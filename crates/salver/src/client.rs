//! HTTP client of the commands, with retries while the server is busy or unavailable, until the user's patience ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use salver_model::limits::{COMMAND_ANSWER_S_MAX, COMMAND_BODY_S_MAX, COMMAND_CONNECT_S_MAX, COMMAND_TRY_S_MIN};
use salver_model::{Code, Error};
use serde_json::Value;
use ureq::http::{Response, Uri};
use ureq::tls::{Certificate, TlsConfig};
use ureq::typestate::{WithBody, WithoutBody};
use ureq::{Agent, Body, RequestBuilder};

use crate::cli::LongWork;
use crate::failure::CommandFailure;
use crate::tls;

/// Delay before the first retry; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Longest delay before a retry.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Interval at which a wait checks for interruption by the user.
const GLANCE: Duration = Duration::from_millis(50);

/// Reason why an attempt failed.
pub(crate) enum Trouble {
    /// Transient: a retry may succeed, after this delay if the server requested one.
    Passing(Option<Duration>, Error),
    /// Permanent: no retry will succeed.
    Lasting(Error),
}

/// Connection settings of a server.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
    patience: Duration,
    headers: Vec<(String, String)>,
    interrupted: Arc<AtomicBool>,
}

impl Client {
    /// Creates a client for the server at `url`, with the headers and the patience of `work`.
    ///
    /// # Errors
    /// Returns a usage error when the address or a header is malformed.
    pub(crate) fn new(url: &str, work: &LongWork, interrupted: &Arc<AtomicBool>) -> Result<Self, CommandFailure> {
        let base = url.trim_end_matches('/');
        let is_whole = base.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some() && uri.query().is_none());
        if !is_whole || !(base.starts_with("http://") || base.starts_with("https://")) {
            let message = format!("`{url}` is not the address of a server");
            return Err(usage(message, "write it as in `http://127.0.0.1:8080`"));
        }
        let mut pairs = Vec::new();
        for header in &work.headers {
            match header.split_once(':') {
                Some((name, value)) => pairs.push((name.trim().to_owned(), value.trim().to_owned())),
                None => return Err(usage(format!("`{header}` is not a header"), "write it as in `Name: value`")),
            }
        }
        let within = |s_max: u64| Some(Duration::from_secs(s_max.min(work.patience_s.max(COMMAND_TRY_S_MIN))));
        let mut config = Agent::config_builder();
        if let Some(path) = &work.trusted {
            let trusted = tls::certificates(path).map_err(CommandFailure::Error)?;
            let trusted = trusted.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
            config = config.tls_config(TlsConfig::builder().root_certs(trusted.into()).build());
        }
        let agent = config
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(COMMAND_CONNECT_S_MAX)))
            .timeout_recv_response(within(COMMAND_ANSWER_S_MAX))
            .timeout_recv_body(within(COMMAND_BODY_S_MAX))
            .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let (base, patience) = (base.to_owned(), Duration::from_secs(work.patience_s));
        Ok(Self { agent, base, patience, headers: pairs, interrupted: Arc::clone(interrupted) })
    }

    /// Returns the address without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns a GET request for a path.
    pub(crate) fn get(&self, path: &str) -> RequestBuilder<WithoutBody> {
        self.with_headers(self.agent.get(format!("{}{path}", self.base)))
    }

    /// Returns a DELETE request for a path.
    pub(crate) fn delete(&self, path: &str) -> RequestBuilder<WithoutBody> {
        self.with_headers(self.agent.delete(format!("{}{path}", self.base)))
    }

    /// Returns a POST request for a path.
    pub(crate) fn post(&self, path: &str) -> RequestBuilder<WithBody> {
        self.with_headers(self.agent.post(format!("{}{path}", self.base)))
    }

    fn with_headers<K>(&self, mut request: RequestBuilder<K>) -> RequestBuilder<K> {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    /// Retries until an attempt succeeds, fails permanently, or patience ends.
    ///
    /// # Errors
    /// Returns the last error.
    pub(crate) fn persist<T>(&self, mut attempt: impl FnMut() -> Result<T, Trouble>) -> Result<T, CommandFailure> {
        let started = Instant::now();
        let mut wait = FIRST_WAIT;
        loop {
            let (asked, error) = match attempt() {
                Ok(done) => return Ok(done),
                Err(Trouble::Lasting(error)) => return Err(error.into()),
                Err(Trouble::Passing(asked, error)) => (asked, error),
            };
            if started.elapsed() >= self.patience || !self.rest(asked.unwrap_or(wait).clamp(FIRST_WAIT, LONGEST_WAIT)) {
                return Err(error.into());
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Waits; returns `false` when the user has interrupted.
    fn rest(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.interrupted.load(Ordering::Acquire) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(GLANCE));
        }
        false
    }

    /// Returns the error for a missing or incomplete response.
    pub(crate) fn unreachable(&self, cause: ureq::Error) -> Trouble {
        let error = Error::new(Code::Source, format!("can't reach {}", self.base))
            .with_hint("check the address, and that the server runs");
        match cause {
            ureq::Error::Io(cause) if is_of_tls(&cause) => {
                let error = error.with_hint("if its certificate is its own, name that with `--cacert FILE`");
                Trouble::Lasting(Error { message: format!("{}: {cause}", error.message), ..error })
            }
            ureq::Error::Http(_) | ureq::Error::BadUri(_) | ureq::Error::Tls(_) => {
                Trouble::Lasting(error.with_source(cause))
            }
            _ => Trouble::Passing(None, error.with_source(cause)),
        }
    }

    /// Classifies an unsuccessful response.
    pub(crate) fn refused(&self, response: &Response<Body>, answer: &Value) -> Trouble {
        match response.status().as_u16() {
            408 | 429 | 500 | 502 | 503 | 504 => {
                let error = self.refusal(Code::StreamUnavailable, response, answer);
                Trouble::Passing(asked_to_wait(response), error)
            }
            301..=308 => {
                let to =
                    response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("another address");
                let message = format!("{} sends on to {to}", self.base);
                Trouble::Lasting(Error::new(Code::Source, message).with_hint("name that server: `https://...`"))
            }
            410 => Trouble::Lasting(self.refusal(Code::ExpiredCursor, response, answer)),
            _ => Trouble::Lasting(self.refusal(Code::InvalidRequest, response, answer)),
        }
    }

    /// Returns the server's error, in its own words if it sent any.
    fn refusal(&self, code: Code, response: &Response<Body>, answer: &Value) -> Error {
        match answer["message"].as_str() {
            Some(message) => Error::new(code, message).with_hint_if(answer["hint"].as_str().map(str::to_owned)),
            None => Error::new(code, format!("{} answers {}", self.base, response.status()))
                .with_hint("check the address: is it a Salver server?"),
        }
    }
}

/// Returns whether TLS failed, such as for a certificate that nobody trusted has signed.
fn is_of_tls(cause: &io::Error) -> bool {
    cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

/// Returns `Retry-After`, in seconds.
fn asked_to_wait(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// Percent-encodes a name as one segment of a path.
pub(crate) fn encoded(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path += &format!("%{byte:02X}");
        }
    }
    path
}

/// Returns a usage error.
pub(crate) fn usage(message: String, hint: &str) -> CommandFailure {
    CommandFailure::Usage(Error::new(Code::InvalidRequest, message).with_hint(hint))
}
