//! Starting of a zygote's process.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};

use salver_model::spec::FunctionSpec;
use salver_model::{Error, Result};
use tokio::net::{UnixListener, UnixStream};
use tokio::process::{Child, Command};

use super::load_errors::unstarted;
use crate::process::{keep, kill};
use crate::program::Program;
use crate::sandbox::{Account, Sandbox, give_socket};

/// Environment variable with the memory limit of the processes.
const MEMORY: &str = "SALVER_MEMORY_BYTES_MAX";
/// Environment variable with the configured R interpreter, for the host of R.
const INTERPRETER: &str = "SALVER_INTERPRETER";
/// Environment variable with a directory for the host's own files, where that of the socket is not for them.
const PRIVATE: &str = "SALVER_PRIVATE_DIRECTORY";
/// Variables that lead to directories of the server's user.
const OF_THE_USER: [&str; 4] = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];

/// Parameters for starting a zygote.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// Number of the zygote.
    pub(crate) number: u64,
    pub(crate) spec: Arc<FunctionSpec>,
    pub(crate) program: Program,
    /// Directory of its socket.
    pub(crate) directory: PathBuf,
    /// Sandbox of the file, once it is known.
    pub(crate) sandbox: Arc<OnceLock<Sandbox>>,
}

/// Process of a zygote, with its process group, which is killed on drop.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: u32,
    pub(super) child: Child,
    pub(super) control: UnixStream,
    pub(super) listener: UnixListener,
    socket: PathBuf,
    /// Whether other programs started the program.
    pub(super) is_wrapped: bool,
}

impl Start {
    /// Starts the process, in the sandbox of the file.
    pub(super) async fn spawn(&self) -> Result<Started> {
        let sandbox = self.sandbox().await?;
        self.try_spawn(&sandbox).map_err(|error| unstarted(&self.spec, &self.program, error))
    }

    /// Returns the sandbox, which is found out the first time.
    async fn sandbox(&self) -> Result<Sandbox> {
        if let Some(known) = self.sandbox.get() {
            return Ok(known.clone());
        }
        let (spec, directory) = (Arc::clone(&self.spec), self.directory.clone());
        let found = tokio::task::spawn_blocking(move || Sandbox::prepare(&spec, &directory)).await;
        let found = found.map_err(|error| Error::internal("preparing a sandbox broke off").with_source(error))??;
        Ok(self.sandbox.get_or_init(|| found).clone())
    }

    fn try_spawn(&self, sandbox: &Sandbox) -> io::Result<Started> {
        let socket = self.directory.join(format!("{}.socket", self.number));
        let listener = UnixListener::bind(&socket)?;
        if let Some(account) = &sandbox.account {
            give_socket(&socket, account)?;
        }
        let (ours, theirs) = StdUnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let control = UnixStream::from_std(ours)?;
        let mut command = Command::from(sandbox.command(&self.program.executable));
        keep(&mut command, &self.spec.inherited);
        command
            .args(&self.program.arguments)
            .arg(std::path::absolute(&self.spec.file)?)
            .arg(&socket)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(bytes) = self.spec.memory_bytes_max {
            command.env(MEMORY, bytes.to_string());
        }
        if let Some(interpreter) = &self.spec.interpreter {
            command.env(INTERPRETER, interpreter);
        }
        if let Some(private) = &sandbox.private {
            command.env(PRIVATE, private);
        }
        if let Some(account) = &sandbox.account {
            introduce(&mut command, account);
        }
        command.envs(self.spec.environment.iter().map(|(name, value)| (name, value)));
        let child = command.spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("the process ended before it began"))?;
        Ok(Started { pid, child, control, listener, socket, is_wrapped: sandbox.is_wrapped() })
    }
}

/// Sets the variables that tell a process who it is, as a log-in does.
fn introduce(command: &mut Command, account: &Account) {
    let Account { name, home, shell, .. } = account;
    command.envs([("HOME", home), ("USER", name), ("LOGNAME", name), ("SHELL", shell)]);
    for name in OF_THE_USER {
        command.env_remove(name);
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
