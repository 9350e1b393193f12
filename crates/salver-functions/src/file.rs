//! A file of user code: the implementation of the port.

mod answer;
mod answered_file;
mod batching;
mod columns;
mod errors;
mod file_stamp;
mod guards;
mod reload;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;
use arrow::array::ArrayRef;
use async_trait::async_trait;
use salver_model::functions::{Answer, Call, ColumnsCall, Interface, Workers};
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Error, Result};
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};

use self::answer::Question;
use self::batching::{CallSignature, Gather};
use crate::pool::{Pool, PoolRefusal};
use crate::program::Program;
use crate::sandbox::Sandbox;

/// File of functions, with the processes that run them.
///
/// No process runs before [`FunctionFile::keep`] is polled, and none after it is dropped.
#[derive(Debug)]
pub struct FunctionFile {
    spec: Arc<FunctionSpec>,
    program: Program,
    /// Private directory for sockets and the host's program files.
    directory: TempDir,
    /// Sandbox of the processes, once one was started.
    sandbox: Arc<OnceLock<Sandbox>>,
    pool: Arc<Pool>,
    /// Semaphore for the workers that jobs may use.
    job_places: Arc<Semaphore>,
    /// Waiting calls of vectorized functions.
    gather: Gather,
    interface: ArcSwapOption<Interface>,
    fault: Mutex<Option<Error>>,
    /// Number of times that the interface or the fault was set.
    changes: watch::Sender<u64>,
}

impl FunctionFile {
    /// Prepares a file to be served by the host of its language.
    ///
    /// # Errors
    /// Returns `Internal` when the private directory cannot be created.
    pub fn open(spec: FunctionSpec, program: Program) -> Result<Arc<Self>> {
        let unwritable = |error: std::io::Error| {
            Error::internal(format!("the private directory of `{}` can't be written", spec.name)).with_source(error)
        };
        // A process that can connect to the sockets in it could answer calls.
        let own = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("salver-").permissions(own).tempdir().map_err(unwritable)?;
        let program = program.installed(directory.path()).map_err(unwritable)?;
        Ok(Arc::new(Self {
            pool: Arc::new(Pool::new(&spec)),
            job_places: Arc::new(Semaphore::new(spec.job_workers.clamp(1, Semaphore::MAX_PERMITS))),
            spec: Arc::new(spec),
            program,
            directory,
            sandbox: Arc::default(),
            gather: Gather::default(),
            interface: ArcSwapOption::empty(),
            fault: Mutex::default(),
            changes: watch::Sender::new(0),
        }))
    }

    /// Returns the error for a call that gets no worker.
    fn refusal(&self, refusal: PoolRefusal) -> Error {
        match refusal {
            PoolRefusal::Full => errors::full(&self.spec),
            PoolRefusal::Late => errors::late(&self.spec),
            PoolRefusal::Unavailable => self.fault().unwrap_or_else(|| errors::loading(&self.spec)),
        }
    }

    /// Sets the fault, and announces that it or the interface before it was set.
    fn set_fault(&self, fault: Option<Error>) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        self.changes.send_modify(|changes| *changes += 1);
    }
}

#[async_trait]
impl Functions for FunctionFile {
    fn spec(&self) -> &FunctionSpec {
        &self.spec
    }

    fn interface(&self) -> Result<Arc<Interface>> {
        self.interface.load_full().ok_or_else(|| self.fault().unwrap_or_else(|| errors::loading(&self.spec)))
    }

    fn fault(&self) -> Option<Error> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Error::shared)
    }

    async fn changed(&self, seen: u64) -> u64 {
        let mut changes = self.changes.subscribe();
        changes.wait_for(|changes| *changes != seen).await.map_or(seen, |changes| *changes)
    }

    async fn call(&self, call: Call) -> Result<Answer> {
        match CallSignature::of(&call) {
            None => self.answer(Question::Call(&call), None).await,
            Some(_) if call.job.is_some() => self.answer(Question::Row(&call), None).await,
            // Boxed, so that other calls do not pay for the size of its future.
            Some(alike) => Box::pin(self.gathered(alike, call)).await,
        }
    }

    async fn call_columns(&self, call: ColumnsCall) -> Result<ArrayRef> {
        self.column(&call).await
    }

    fn workers(&self) -> Workers {
        self.pool.counts()
    }
}
