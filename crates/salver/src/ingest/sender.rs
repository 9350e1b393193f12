//! Sends batches to a server, again and again when it is busy or away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use salver_model::{Code, Error, Name};
use serde_json::Value;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use super::batches::Batch;
use super::usage;
use crate::cli::IngestArguments;
use crate::failure::Failure;

/// Longest wait for a connection, in seconds.
const CONNECT_S_MAX: u64 = 10;
/// Longest wait for the answer to a batch, in seconds.
const ANSWER_S_MAX: u64 = 120;
/// First wait before a batch is sent again; each further one is twice as long.
const WAIT_MIN: Duration = Duration::from_millis(100);
/// Longest such wait.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often a wait looks whether the user has had enough.
const GLANCE: Duration = Duration::from_millis(50);

/// What became of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// They are in the stream now.
    pub(crate) taken: u64,
    /// They were there already: the answer to an earlier try was lost.
    pub(crate) duplicates: u64,
    /// They are in the stream's quarantine.
    pub(crate) quarantined: u64,
    /// Why the first of those is.
    pub(crate) reason: Option<String>,
}

impl Counts {
    /// How many are in the stream.
    pub(crate) fn there(&self) -> u64 {
        self.taken + self.duplicates
    }

    /// Adds what became of others.
    pub(crate) fn add(&mut self, other: &Self) {
        self.taken += other.taken;
        self.duplicates += other.duplicates;
        self.quarantined += other.quarantined;
        self.reason = self.reason.take().or_else(|| other.reason.clone());
    }

    /// What an answer says.
    fn of(answer: &Value) -> Self {
        let number = |key: &str| answer[key].as_u64().unwrap_or(0);
        Self {
            taken: number("taken"),
            duplicates: number("duplicates"),
            quarantined: number("quarantined"),
            reason: answer["reason"].as_str().map(str::to_owned),
        }
    }
}

/// Why a try did not succeed.
enum Trouble {
    /// Another one may, after this time when the server said one.
    Passing(Option<Duration>, Error),
    /// No other will.
    Lasting(Error),
}

/// A server, and how to send to it.
#[derive(Debug)]
pub(crate) struct Sender {
    agent: Agent,
    url: String,
    patience: Duration,
    headers: Vec<(String, String)>,
    interrupted: Arc<AtomicBool>,
}

impl Sender {
    pub(crate) fn new(arguments: &IngestArguments, interrupted: &Arc<AtomicBool>) -> Result<Self, Failure> {
        let name = Name::new(&arguments.stream).map_err(Failure::Usage)?;
        let base = arguments.url.trim_end_matches('/');
        let is_whole = base.parse::<Uri>().is_ok_and(|uri| uri.authority().is_some() && uri.query().is_none());
        if !is_whole || !(base.starts_with("http://") || base.starts_with("https://")) {
            let message = format!("`{}` is not the address of a server", arguments.url);
            return Err(usage(message, "write it as in `http://127.0.0.1:8080`"));
        }
        let mut headers = Vec::new();
        for header in &arguments.headers {
            match header.split_once(':') {
                Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
                None => return Err(usage(format!("`{header}` is not a header"), "write it as in `Name: value`")),
            }
        }
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(CONNECT_S_MAX)))
            .timeout_recv_response(Some(Duration::from_secs(ANSWER_S_MAX)))
            .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let ack = arguments.ack.word();
        Ok(Self {
            agent,
            url: format!("{base}/api/streams/{}?ack={ack}", encoded(name.as_str())),
            patience: Duration::from_secs(arguments.patience_s),
            headers,
            interrupted: Arc::clone(interrupted),
        })
    }

    /// Sends a batch of the run called `run` until it is there.
    pub(crate) fn send(&self, run: &str, batch: &Batch) -> Result<Counts, Failure> {
        let started = Instant::now();
        let mut wait = WAIT_MIN;
        loop {
            let (asked, error) = match self.try_once(run, batch) {
                Ok(counts) => return Ok(counts),
                Err(Trouble::Lasting(error)) => return Err(error.into()),
                Err(Trouble::Passing(asked, error)) => (asked, error),
            };
            if started.elapsed() >= self.patience || !self.rest(asked.unwrap_or(wait).min(WAIT_MAX)) {
                return Err(error.into());
            }
            wait = (wait * 2).min(WAIT_MAX);
        }
    }

    /// Waits; `false` when the user has had enough.
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

    fn try_once(&self, run: &str, batch: &Batch) -> Result<Counts, Trouble> {
        let mut request = self.agent.post(&self.url).content_type("application/x-ndjson");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.header("salver-id", format!("{run}-{}", batch.number));
        let mut response = request.send(&batch.text).map_err(|cause| self.unreachable(cause))?;
        let text = response.body_mut().read_to_string().map_err(|cause| self.unreachable(cause))?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let status = response.status();
        if status.is_success() && answer.is_object() {
            return Ok(Counts::of(&answer));
        }
        // A batch with nothing good in it is refused, and lies in the quarantine.
        if answer["error"] == Code::InvalidEvent.slug() {
            return Ok(Counts::of(&answer));
        }
        match status.as_u16() {
            408 | 429 | 500 | 502 | 503 | 504 => {
                let error = refusal(Code::StreamUnavailable, &self.url, &response, &answer);
                Err(Trouble::Passing(asked_to_wait(&response), error))
            }
            _ => Err(Trouble::Lasting(refusal(Code::InvalidRequest, &self.url, &response, &answer))),
        }
    }

    fn unreachable(&self, cause: ureq::Error) -> Trouble {
        let error = Error::new(Code::Source, format!("can't reach {}", self.url))
            .with_hint("check `--url`, and that the server runs");
        match cause {
            ureq::Error::Http(_) | ureq::Error::BadUri(_) | ureq::Error::Tls(_) => {
                Trouble::Lasting(error.with_source(cause))
            }
            _ => Trouble::Passing(None, error.with_source(cause)),
        }
    }
}

/// What the server says against a batch, in its own words where it has some. `InvalidRequest` is said when nothing of
/// it was taken and nothing ever will be.
fn refusal(code: Code, url: &str, response: &Response<Body>, answer: &Value) -> Error {
    match answer["message"].as_str() {
        Some(message) => Error::new(code, message).with_hint_if(answer["hint"].as_str().map(str::to_owned)),
        None => Error::new(code, format!("{url} answers {}", response.status()))
            .with_hint("check `--url`: is it a Salver server?"),
    }
}

/// `Retry-After`, in seconds.
fn asked_to_wait(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// A name as one part of a path.
fn encoded(name: &str) -> String {
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
