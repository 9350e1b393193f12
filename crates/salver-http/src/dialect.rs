//! Refusals, and how each protocol writes them: Salver's own and those of the systems that it stands in for.
//!
//! A door returns an [`Error`](salver_model::Error) or a [`Refusal`], and does not write it. [`Dialect::respond`] does
//! so for all of them: it takes the status, the headers of the media type and the body from the protocol's own file,
//! and adds what is the same for all. In each file the parts come in the same order: the status of an error, its
//! number, its message, and the body; then the refusals that only this protocol has.

pub(crate) mod arangodb;
pub(crate) mod confluent;
pub(crate) mod graphql;
pub(crate) mod php;
mod refusal;
pub(crate) mod salver;
mod tinybird;

use http::{Response, StatusCode};

pub(crate) use self::refusal::Refusal;
use crate::body::Body;
use crate::exit;

/// A protocol, as far as refusals are concerned. The routing table has it for each route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Salver's own.
    Salver,
    /// PHP-CRUD-API.
    Php {
        /// Whether the request asks for XML.
        xml: bool,
    },
    /// ArangoDB.
    ArangoDb,
    /// Confluent's REST Proxy, v2.
    ConfluentV2,
    /// Confluent's REST Proxy, v3.
    ConfluentV3,
    /// Tinybird's Events API.
    Tinybird,
    /// GraphQL over HTTP, for clients that accept its own media type.
    Graphql,
}

impl Dialect {
    /// Returns the status of a refusal.
    pub(crate) fn status(self, refusal: &Refusal) -> StatusCode {
        let code = refusal.error.code;
        refusal.status.unwrap_or_else(|| match self {
            Self::Php { .. } => php::status(code),
            Self::ArangoDb => arangodb::status(code),
            _ => salver::status(code),
        })
    }

    /// Returns whether a refusal should be reported to the operator.
    pub(crate) fn is_reported(self, refusal: &Refusal) -> bool {
        let is_fault =
            || matches!(self.status(refusal), StatusCode::INTERNAL_SERVER_ERROR | StatusCode::GATEWAY_TIMEOUT);
        // In ArangoDB a result that is larger than the server allows is 500, too.
        refusal.number.is_none() && (salver::is_ours(&refusal.error) || self != Self::ArangoDb && is_fault())
    }

    /// Writes a refusal.
    pub(crate) fn respond(self, refusal: &Refusal) -> Response<Body> {
        let status = self.status(refusal);
        let mut body = Vec::with_capacity(128);
        let mut headers = match self {
            Self::Salver => salver::write(refusal, status, &mut body),
            Self::Php { xml } => php::write(refusal, status, xml, &mut body),
            Self::ArangoDb => arangodb::write(refusal, status, &mut body),
            Self::ConfluentV2 => confluent::write(refusal, confluent::V2, &mut body),
            Self::ConfluentV3 => confluent::write(refusal, confluent::JSON, &mut body),
            Self::Tinybird => tinybird::write(refusal, &mut body),
            Self::Graphql => graphql::write(refusal, &mut body),
        };
        match refusal.error.retry_after_s {
            Some(seconds) => exit::invite_retry_after(&mut headers, seconds),
            None if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) => {
                exit::invite_retry(&mut headers);
            }
            None => {}
        }
        headers.extend(refusal.headers.iter().cloned());
        let mut response = exit::reply(status, Body::Full(body.into()));
        *response.headers_mut() = headers;
        response
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use salver_model::{Code, Error};

    use super::{Dialect, Refusal, arangodb};
    use crate::body::Body;

    #[test]
    fn each_writes_an_error_in_its_own_way() {
        let foreign = "{\"error_code\":50302,\"message\":\"all places are taken; try again\"}";
        for (dialect, body) in [
            (
                Dialect::Salver,
                "{\"code\":503,\"error\":\"overloaded\",\"message\":\"all places are taken\",\"hint\":\"try again\"}",
            ),
            (Dialect::Php { xml: false }, "{\"code\":9999,\"message\":\"all places are taken\"}"),
            (Dialect::Php { xml: true }, "<root><code>9999</code><message>all places are taken</message></root>"),
            (
                Dialect::ArangoDb,
                "{\"error\":true,\"code\":503,\"errorNum\":503,\"errorMessage\":\"all places are taken; try again\"}",
            ),
            (Dialect::ConfluentV2, foreign),
            (Dialect::ConfluentV3, foreign),
            (Dialect::Tinybird, "{\"error\":\"all places are taken; try again\"}"),
            (
                Dialect::Graphql,
                "{\"errors\":[{\"message\":\"all places are taken\",\"extensions\":{\"code\":\"overloaded\",\"hint\":\
                 \"try again\"}}]}",
            ),
        ] {
            let error = Error::new(Code::Overloaded, "all places are taken").with_hint("try again");
            let refusal = Refusal::from(error);
            let response = dialect.respond(&refusal);
            let Body::Full(written) = response.body() else { panic!("{dialect:?}: a stream") };
            assert_eq!(std::str::from_utf8(written).unwrap(), body, "{dialect:?}");
            assert_eq!(response.status().as_u16(), 503, "{dialect:?}");
            assert_eq!(response.headers()["retry-after"], "1", "{dialect:?}");
            assert!(!dialect.is_reported(&refusal), "{dialect:?}");
        }
    }

    #[test]
    fn the_time_to_wait_is_told() {
        for dialect in [
            Dialect::Salver,
            Dialect::Php { xml: false },
            Dialect::ArangoDb,
            Dialect::ConfluentV2,
            Dialect::ConfluentV3,
            Dialect::Tinybird,
            Dialect::Graphql,
        ] {
            let error = Error::new(Code::TooManyRequests, "too many").with_retry_after(Duration::from_millis(41_001));
            let response = dialect.respond(&error.into());
            assert_eq!(response.status().as_u16(), 429, "{dialect:?}");
            assert_eq!(response.headers()["retry-after"], "42", "{dialect:?}");
        }
    }

    #[test]
    fn faults_of_the_server_are_reported() {
        let fault = || Refusal::from(Error::internal("a fault"));
        assert!(Dialect::Salver.is_reported(&fault()) && Dialect::ArangoDb.is_reported(&fault()));
        let execution = || Refusal::from(Error::new(Code::Execution, "out of range"));
        assert!(Dialect::Php { xml: false }.is_reported(&execution()), "500 there");
        assert!(!Dialect::Salver.is_reported(&execution()), "400 here");
        assert!(!Dialect::ArangoDb.is_reported(&arangodb::memory("ask for less")), "the client's own bound");
    }
}
