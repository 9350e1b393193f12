//! The way of a call over columns through a worker.

use arrow::array::ArrayRef;
use salver_model::Result;
use salver_model::functions::ColumnsCall;

use super::answer::{TRIES_MAX, failed, in_time};
use super::{FunctionFile, errors};
use crate::process::Ended;

impl FunctionFile {
    /// Has a worker work on the columns.
    pub(super) async fn column(&self, call: &ColumnsCall) -> Result<ArrayRef> {
        let mut tries = 1;
        loop {
            let mut lease = self.pool.take().await.map_err(|refusal| self.refusal(refusal))?;
            // From here on, leaving without `give_back` kills the process.
            match in_time(self.spec.timeout, lease.worker().call_columns(call)).await {
                None => return Err(errors::slow(&self.spec)),
                Some(Ok(Ok(column))) => {
                    lease.give_back();
                    return Ok(column);
                }
                Some(Ok(Err(failure))) => {
                    let name = call.interface.endpoints.get(call.endpoint).map(|endpoint| endpoint.function.as_str());
                    return Err(failed(lease, failure.named(name.unwrap_or_default())));
                }
                Some(Err(Ended::Refused(error))) => {
                    lease.give_back();
                    return Err(error);
                }
                Some(Err(Ended::Before(_))) if tries < TRIES_MAX => tries += 1,
                Some(Err(Ended::Before(error) | Ended::During(error))) => {
                    return Err(errors::ended(&self.spec, error));
                }
            }
        }
    }
}
