//! Starting of a zygote's process.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use salver_model::Result;
use salver_model::spec::FunctionSpec;
use tokio::net::{UnixListener, UnixStream};
use tokio::process::{Child, Command};

use super::load_errors::unstarted;
use crate::process::{close_descriptors, keep, kill};
use crate::program::Program;

/// Environment variable with the memory limit of the processes.
const MEMORY: &str = "SALVER_MEMORY_BYTES_MAX";
/// Environment variable with the configured R interpreter, for the host of R.
const INTERPRETER: &str = "SALVER_INTERPRETER";

/// Parameters for starting a zygote.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Number of the zygote.
    pub(crate) number: u64,
    pub(crate) spec: Arc<FunctionSpec>,
    pub(crate) program: Program,
    /// Directory of its socket.
    pub(crate) directory: PathBuf,
}

/// Process of a zygote, with its process group, which is killed on drop.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: u32,
    pub(super) child: Child,
    pub(super) control: UnixStream,
    pub(super) listener: UnixListener,
    socket: PathBuf,
}

impl Start {
    /// Starts the process.
    pub(super) fn spawn(&self) -> Result<Started> {
        self.try_spawn().map_err(|error| unstarted(&self.spec, &self.program, error))
    }

    fn try_spawn(&self) -> io::Result<Started> {
        let socket = self.directory.join(format!("{}.socket", self.number));
        let listener = UnixListener::bind(&socket)?;
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let control = UnixStream::from_std(ours)?;
        let mut command = Command::new(&self.program.executable);
        keep(&mut command, &self.spec.inherited);
        close_descriptors(&mut command);
        command
            .args(&self.program.arguments)
            .arg(std::path::absolute(&self.spec.file)?)
            .arg(&socket)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(bytes) = self.spec.memory_bytes_max {
            command.env(MEMORY, bytes.to_string());
        }
        if let Some(interpreter) = &self.spec.interpreter {
            command.env(INTERPRETER, interpreter);
        }
        command.envs(self.spec.environment.iter().map(|(name, value)| (name, value)));
        let child = command.spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("the process ended before it began"))?;
        Ok(Started { pid, child, control, listener, socket })
    }
}

impl Started {
    /// Kills all processes of the group, and waits for the first of them.
    pub(super) async fn end(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.child.wait().await
    }

    /// Kills the process group. Its id cannot be reused until the zygote was waited for.
    fn kill(&self) {
        if let Some(group) = self.child.id().and_then(|pid| i32::try_from(pid).ok()) {
            kill(-group);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
        drop(fs::remove_file(&self.socket));
    }
}
