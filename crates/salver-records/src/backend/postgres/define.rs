//! Changes of the schema: in one transaction, all or none.

use salver_model::Result;

use super::Postgres;
use super::sqlstate::unknown_outcome;

impl Postgres {
    /// See [`crate::backend::Backend::define`].
    pub(crate) async fn define(&self, statements: Vec<String>) -> Result<()> {
        let entry = self.target.entry.as_str();
        let mut lease = self.lease().await?;
        lease.begins();
        // The schema may be changeable where rows are not.
        let mut ended = lease.within(lease.client.batch_execute("BEGIN READ WRITE")).await;
        for statement in &statements {
            if ended.is_err() {
                break;
            }
            ended = lease.within(lease.client.batch_execute(statement)).await;
        }
        if let Err(fault) = ended {
            // The lease rolls back.
            lease.answered();
            return Err(fault.into_error(entry));
        }
        if let Err(fault) = lease.within(lease.client.batch_execute("COMMIT")).await {
            lease.ended();
            return Err(if fault.is_lost() { unknown_outcome(fault, entry) } else { fault.into_error(entry) });
        }
        lease.ended();
        drop(lease);
        // Stale statements would be prepared again at their next use; dropping them now is cheaper.
        self.pool.forget();
        self.shared.forget();
        Ok(())
    }
}
