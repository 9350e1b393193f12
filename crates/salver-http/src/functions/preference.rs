//! The client's preferences (RFC 7240): an asynchronous response, or a limit on the time to wait.

use std::time::Duration;

use http::{HeaderMap, HeaderName};
use salver_model::limits::JOB_WAIT_S_MAX;

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The preferences of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Preference {
    /// `respond-async`
    pub(super) is_async: bool,
    /// `wait`; zero when it is missing.
    pub(super) wait: Duration,
}

impl Preference {
    /// Reads the preferences of `headers`; malformed ones are ignored.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut preference = Self::default();
        let lines = headers.get_all(PREFER).iter().filter_map(|line| line.to_str().ok());
        for said in lines.flat_map(|line| line.split(',')) {
            let token = said.split(';').next().unwrap_or_default();
            let (name, value) = token.split_once('=').unwrap_or((token, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "respond-async" => preference.is_async = true,
                "wait" => {
                    let seconds = value.trim().trim_matches('"').parse::<u64>().unwrap_or(0);
                    preference.wait = Duration::from_secs(seconds.min(JOB_WAIT_S_MAX));
                }
                _ => {}
            }
        }
        preference
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue};

    use super::Preference;

    #[test]
    fn preferences() {
        for (lines, is_async, seconds) in [
            (&["respond-async"][..], true, 0),
            (&["return=minimal, Respond-Async; x=1 , wait=5"], true, 5),
            (&["wait=\"7\"", "respond-async"], true, 7),
            (&["wait=100000"], false, 60),
            (&["wait=soon", "handling=lenient"], false, 0),
            (&[], false, 0),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("prefer", HeaderValue::from_static(line));
            }
            let expected = Preference { is_async, wait: Duration::from_secs(seconds) };
            assert_eq!(Preference::of(&headers), expected, "{lines:?}");
        }
    }
}
