//! Stands for `kafka` in a program without its client: a stream that names a topic does not open.

use std::sync::Arc;

use salver_model::spec::{KafkaSpec, StreamSpec};
use salver_model::streams::{EventDelivery, Receipt, RejectedEvent};
use salver_model::{Code, Error, Result};

use crate::aside::Aside;
use crate::log::Log;

/// Refuses any settings of Kafka.
///
/// # Errors
/// Always `Config`.
pub(crate) fn prove(_: &KafkaSpec) -> Result<()> {
    Err(left_out())
}

fn left_out() -> Error {
    Error::new(Code::Config, "this program was built without `kafka`")
        .with_hint("build it with the feature `kafka`, or leave out what the stream says of Kafka")
}

/// Delivery to a topic, which never is.
#[derive(Debug)]
pub(crate) enum Kafka {}

impl Kafka {
    /// Refuses to start.
    ///
    /// # Errors
    /// Always `Config`.
    pub(crate) fn start(_: &StreamSpec, _: Arc<Log>, _: Aside) -> Result<Self> {
        Err(left_out())
    }

    pub(crate) async fn delivered(&self, _: &Receipt) -> Result<Vec<RejectedEvent>> {
        match *self {}
    }

    pub(crate) async fn places(&self, _: &Receipt) -> Result<Vec<EventDelivery>> {
        match *self {}
    }

    pub(crate) fn reachable(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) async fn partitions(&self) -> Result<u32> {
        match *self {}
    }

    pub(crate) fn backlog(&self) -> u64 {
        match *self {}
    }

    pub(crate) async fn close(&self) -> Result<()> {
        match *self {}
    }
}
