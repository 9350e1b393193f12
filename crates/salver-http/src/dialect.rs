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
        // In ArangoDB a result that is larger than the client allows is 500, too.
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
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            exit::invite_retry(&mut headers);
        }
        headers.extend(refusal.headers.iter().cloned());
        let mut response = exit::reply(status, Body::Full(body.into()));
        *response.headers_mut() = headers;
        response
    }
}
