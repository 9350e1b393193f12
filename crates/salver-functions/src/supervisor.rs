//! The life of one zygote: it loads the file, and then forks and kills workers on request.

mod load_errors;
mod output_log;
mod start;
mod zygote_service;

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Fuse, FusedFuture};
use salver_model::functions::Interface;
use salver_model::limits::FUNCTION_OFFER_BYTES_MAX;
use salver_model::{Error, Result};
use tokio::sync::{mpsc, oneshot};

use self::load_errors::Unloaded;
use self::output_log::Tail;
pub(crate) use self::start::Start;
use self::start::Started;
use self::zygote_service::Attendant;
use crate::manifest;
use crate::pool::Pool;
use crate::process::Zygote;
use crate::wire::frame::Input;

/// Time for reading the remaining output of user code after its processes were killed.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Failure to load a file.
#[derive(Debug)]
pub(crate) struct LoadFailure {
    pub(crate) error: Error,
    /// Whether the file was refused since what it says of its callers would not hold, so that no version of it that
    /// says less may be served.
    pub(crate) withdraws: bool,
}

impl From<Error> for LoadFailure {
    fn from(error: Error) -> Self {
        Self { error, withdraws: false }
    }
}

/// Starts a zygote, reports the result of loading in `loaded`, and serves the zygote until it is no longer referenced.
/// Dropping the future kills all its processes.
pub(crate) async fn run(start: Start, pool: Arc<Pool>, loaded: oneshot::Sender<Result<Arc<Zygote>, LoadFailure>>) {
    let mut started = match start.spawn().await {
        Ok(started) => started,
        Err(error) => return drop(loaded.send(Err(error.into()))),
    };
    let tail = Tail::default();
    let (out, err) = (started.child.stdout.take(), started.child.stderr.take());
    let mut output = pin!(output_log::pump(&start.spec.name, out, err, &tail).fuse());
    match alongside(output.as_mut(), load(&mut started, start.number)).await {
        Ok(interface) => {
            let (orders, told) = mpsc::unbounded_channel();
            let zygote = Arc::new(Zygote::new(start.number, Arc::new(interface), orders));
            let attendant = Attendant::new(&zygote, pool, told);
            drop(loaded.send(Ok(zygote)));
            alongside(output.as_mut(), attendant.attend(&mut started)).await;
            let _ = alongside(output.as_mut(), started.end()).await;
            listen(output).await;
        }
        Err(unloaded) => {
            let status = alongside(output.as_mut(), started.end()).await;
            listen(output).await;
            let withdraws = matches!(unloaded, Unloaded::Refused(_));
            let error = unloaded.into_error(&start.spec, started.is_wrapped, status, &tail.text());
            drop(loaded.send(Err(LoadFailure { error, withdraws })));
        }
    }
}

/// Runs `work` while reading the output.
async fn alongside<T>(mut output: Pin<&mut Fuse<impl Future<Output = ()>>>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    tokio::select! {
        result = &mut work => return result,
        () = &mut output, if !output.is_terminated() => {}
    }
    work.await
}

/// Reads the rest of the output, with a timeout: a process that left the group may keep the pipe open.
async fn listen(output: Pin<&mut Fuse<impl Future<Output = ()>>>) {
    if !output.is_terminated() {
        drop(tokio::time::timeout(LAST_WORDS, output).await);
    }
}

/// Waits until the zygote `number` has loaded the file.
async fn load(started: &mut Started, number: u64) -> Result<Interface, Unloaded> {
    let mut input = Input::default();
    let frame = input.frame(&mut started.control, FUNCTION_OFFER_BYTES_MAX).await;
    match frame.map_err(Unloaded::Ended)? {
        (b'R', text) => {
            let offered = manifest::read(&text).map_err(|error| Unloaded::Ended(error.into()))?;
            Ok(Interface { load: number, ..offered })
        }
        (b'X', text) => Err(Unloaded::Said(String::from_utf8_lossy(&text).into_owned())),
        (b'P', text) => Err(Unloaded::Refused(String::from_utf8_lossy(&text).into_owned())),
        (b'N', text) => Err(Unloaded::Unequipped(String::from_utf8_lossy(&text).into_owned())),
        (kind, _) => Err(Unloaded::Ended(io::Error::other(format!("a frame of kind {kind} in place of an offer")))),
    }
}
