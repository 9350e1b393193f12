//! Keeps the catalog in step with the columns of streams, since events may add columns at any time. REST and SQL see
//! them at once, because a request holds a stream in its current state; what is derived from the whole catalog, like
//! the schema of GraphQL, is rebuilt when the catalog reports a change.

use std::sync::Arc;

use salver_model::ports::EventStream;
use tokio::task::JoinSet;

use crate::catalog::Catalog;

/// Starts the tasks that watch `streams` in `keepers`. Dropping the set stops them.
pub fn start(catalog: &Arc<Catalog>, streams: &[Arc<dyn EventStream>], keepers: &mut JoinSet<()>) {
    for stream in streams {
        keepers.spawn(keep(Arc::clone(catalog), Arc::clone(stream)));
    }
}

async fn keep(catalog: Arc<Catalog>, stream: Arc<dyn EventStream>) {
    let mut stamp = 0;
    loop {
        stamp = stream.widened(stamp).await;
        catalog.widen();
    }
}
