//! Notices that the schema moved: asks the backend's stamp at the entry's interval, which costs one small query.

use salver_model::Result;
use salver_model::ports::Database;

use super::RecordsDatabase;

/// Waits until the schema is another than the one with `stamp`.
pub(super) async fn changed(database: &RecordsDatabase, stamp: u64) -> Result<()> {
    loop {
        if database.schema().stamp() != stamp {
            return Ok(());
        }
        if stamp != 0 {
            tokio::time::sleep(database.spec().refresh).await;
        }
        database.renew(false).await?;
    }
}
