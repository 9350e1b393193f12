//! Execution of a call over columns by a worker.

use arrow::array::ArrayRef;
use salver_model::Result;
use salver_model::functions::ColumnsCall;
use salver_model::limits::FUNCTION_TRIES_MAX;

use super::answer::{Time, failed};
use super::{FunctionFile, errors};
use crate::process::Ended;

impl FunctionFile {
    /// Runs the call in a worker.
    pub(super) async fn column(&self, call: &ColumnsCall) -> Result<ArrayRef> {
        let mut tries = 1;
        loop {
            let mut lease = self.pool.take(None, false).await.map_err(|refusal| self.refusal(refusal))?;
            // From here on, returning without `give_back` kills the process.
            let time = Time::new(&self.spec, None);
            let work = async { lease.worker()?.call_columns(call).await };
            match time.bound(work).await.inspect_err(|_| lease.condemn())? {
                Ok(Ok(column)) => {
                    lease.give_back();
                    return Ok(column);
                }
                Ok(Err(failure)) => {
                    let name = call.interface.endpoints.get(call.endpoint).map(|endpoint| endpoint.function.as_str());
                    return Err(failed(lease, failure.named(name.unwrap_or_default())));
                }
                Err(Ended::Refused(error)) => {
                    lease.give_back();
                    return Err(error);
                }
                Err(Ended::Before(_)) if tries < FUNCTION_TRIES_MAX => tries += 1,
                Err(Ended::Before(error) | Ended::During(error)) => return Err(errors::ended(&self.spec, error)),
            }
        }
    }
}
