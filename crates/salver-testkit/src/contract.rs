//! The contract suites: what every implementation of a port must do, whoever wrote it.

pub mod database;
pub mod event_stream;
pub mod functions;
pub mod held;
pub mod identity_provider;
pub mod key_set_source;
pub mod loader;
pub mod scan;
pub mod session_store;
pub mod sql_engine;
pub mod table;
pub mod tracer;
pub mod webhook_sender;

use arrow::record_batch::RecordBatch;
use futures::TryStreamExt as _;
use salver_model::{Batches, Result};

/// Waits for all batches.
async fn collected(batches: Batches) -> Result<Vec<RecordBatch>> {
    match batches {
        Batches::Ready(batches) => Ok(batches),
        Batches::Stream(stream) => stream.try_collect().await,
    }
}
