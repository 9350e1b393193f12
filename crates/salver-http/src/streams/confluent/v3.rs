//! v3 of the REST Proxy: producing record by record, and what there is to produce to.
//!
//! There is one cluster. Its id is not looked at, as with Confluent outside of its cloud, and is told as it was given.

mod batch;
mod metadata;
mod record;
mod records;

use http::{Method, Response};

use super::append::append;
use super::{Call, Failure, origin, topic, topic_name};
use crate::body::Body;
use crate::receive::Incoming;

/// Answers what follows `/v3`.
pub(super) async fn answer(call: &Call<'_>, segments: &[String], body: Incoming) -> Result<Response<Body>, Failure> {
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (reads, posts) = (matches!(*call.method, Method::GET | Method::HEAD), *call.method == Method::POST);
    match segments.as_slice() {
        ["clusters", cluster, "topics", topic, "records"] if posts => records::answer(call, cluster, topic, body),
        ["clusters", cluster, "topics", topic, "records:batch"] if posts => {
            batch::answer(call, cluster, topic, body).await
        }
        ["clusters", _, "topics", _, "records" | "records:batch"] => Err(Failure::method_not_allowed()),
        ["clusters", ..] if reads => metadata::answer(call, &segments).await,
        ["clusters", ..] => Err(Failure::method_not_allowed()),
        _ => Err(Failure::not_found()),
    }
}
