//! The port of a file of user code.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::ArrayRef;
use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::functions::{Answer, Call, ColumnsCall, Interface, Workers};
use crate::spec::FunctionSpec;

/// File of functions, with the processes that run them.
///
/// - A call runs alone in its process. It is killed with its process on timeout, and when the future is dropped (its
///   caller disconnected).
/// - Whatever user code does to its process (a crash, an endless loop, exhausting memory) is an error of that call
///   only.
/// - When the file changes it is reloaded; calls in progress end in the version in which they began. If a changed file
///   cannot be loaded, the last good version stays in service.
#[async_trait]
pub trait Functions: Debug + Send + Sync {
    /// Returns its declaration.
    fn spec(&self) -> &FunctionSpec;

    /// Returns the current interface of the file. A call that begins after this returned is never run by an earlier
    /// load of the file.
    ///
    /// # Errors
    /// Returns `EntryUnavailable` while it could not be loaded, with the language's own error in the message.
    fn interface(&self) -> Result<Arc<Interface>>;

    /// Returns the reason why the current file cannot be served, even while its last good version is; `None` without a
    /// fault.
    fn fault(&self) -> Option<Error>;

    /// Waits until the interface or the fault may be another than after `seen` changes of them, and returns how many
    /// there were by then. None are seen at first.
    async fn changed(&self, seen: u64) -> u64;

    /// Runs one call.
    ///
    /// # Errors
    /// Returns `EntryUnavailable`, `Overloaded` (too many calls are waiting, or no worker became free in time),
    /// `Timeout`, `FunctionFailed` (user code raised an error, or its process ended; its message is the cause),
    /// `OutOfMemory`.
    async fn call(&self, call: Call) -> Result<Answer>;

    /// Calls a function for every row of some columns, in one worker. The result column has as many rows, and the type
    /// of [`ColumnsCall::result`].
    ///
    /// # Errors
    /// Returns the errors of [`Functions::call`], and `FunctionFailed` when the result has another type. The message
    /// contains what user code raised, since the caller wrote the statement.
    async fn call_columns(&self, call: ColumnsCall) -> Result<ArrayRef>;

    /// Returns the state of its workers.
    fn workers(&self) -> Workers;
}
