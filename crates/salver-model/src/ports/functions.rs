//! A file of user code that answers calls.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::ArrayRef;
use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::functions::{Answer, Call, ColumnsCall, Interface, Workers};
use crate::spec::FunctionSpec;

/// A file of functions, with the processes that run them.
///
/// - A call runs alone in its process. It is ended with its process when its time is over, and when the future is
///   dropped (its caller went away).
/// - Whatever user code does to its process (a crash, an endless loop, all memory) is an error of that call only.
/// - When the file changes it is loaded again; calls under way end where they began. A file that can't be loaded any
///   more leaves the last good one serving.
#[async_trait]
pub trait Functions: Debug + Send + Sync {
    /// How it was declared.
    fn spec(&self) -> &FunctionSpec;

    /// What the file offers now. A call that begins after this was told is not answered by an earlier load of the file.
    ///
    /// # Errors
    /// `EntryUnavailable` while it could not be loaded, with the language's own words in the message.
    fn interface(&self) -> Result<Arc<Interface>>;

    /// Why the file as it is now can't be served, also while its last good state is; `None` when all is well.
    fn fault(&self) -> Option<Error>;

    /// Runs one call.
    ///
    /// # Errors
    /// `EntryUnavailable`, `Overloaded` (too many wait, or none came free in time), `Timeout`, `FunctionFailed` (user
    /// code raised an error, or its process ended; what it said is the cause), `OutOfMemory`.
    async fn call(&self, call: Call) -> Result<Answer>;

    /// Calls a function for every row of some columns, in one worker. The column that comes back has as many rows, and
    /// the type of [`ColumnsCall::result`].
    ///
    /// # Errors
    /// Those of [`Functions::call`], and `FunctionFailed` when it gives something else than was asked for. What user
    /// code raised stands in the message: whoever asks wrote the statement.
    async fn call_columns(&self, call: ColumnsCall) -> Result<ArrayRef>;

    /// How its workers are doing.
    fn workers(&self) -> Workers;
}
