//! Keeps the catalog in step with the columns of streams: events may bring new ones at any time. REST and SQL see them
//! at once, since a request holds a stream as it is; what is made of the whole catalog, like the schema of GraphQL, is
//! made anew when the catalog tells of a change.

use std::sync::Arc;

use salver_model::ports::EventStream;
use tokio::task::JoinSet;

use crate::catalog::Catalog;

/// Starts the keeping of `streams` in `keepers`. Dropping the set ends it.
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
