//! Keeps a server no longer than the test process: a shell starts it, waits at a pipe of which the test process holds
//! the other end, and when that closes, for whatever reason, ends the server and removes its files.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::START_S;
use super::programs::{UNPRIVILEGED, is_root};

/// How long a stopped process may take to stand still.
const STANDSTILL_PATIENCE: Duration = Duration::from_secs(10);

/// Signals go to what runs in the server's directory only: a number of a process that ended may be another's by now.
const SCRIPT: &str = r#"
directory=$1; signal=$2; shift 2
"$@" </dev/null >>"$directory/log" 2>&1 &
server=$!
trap '' HUP INT QUIT TERM
echo "$server"
exec >/dev/null
send() {
    case $(readlink "/proc/$server/cwd") in "$directory"*) kill -s "$1" "$server" ;; esac
}
read -r word
send "$signal"
send CONT
{ sleep 5; send KILL; } &
wait "$server"
[ "$word" = keep ] || rm -rf "$directory"
"#;

/// A running server and the shell that watches over it.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    server: String,
}

impl Guard {
    /// Runs `command`, which `signal` ends.
    pub(super) fn start(directory: &Path, signal: &str, command: &[String]) -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "guard"])
            .arg(directory)
            .arg(signal)
            .args(command)
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // What a terminal sends to the tests is not for the guard.
            .process_group(0)
            .spawn()
            .expect("a shell");
        let mut server = String::new();
        let said = shell.stdout.take().map(|out| BufReader::new(out).read_line(&mut server));
        assert!(matches!(said, Some(Ok(1..))), "the shell starts the server");
        Self { shell, server: server.trim().to_owned() }
    }

    /// Sends a signal to the server and its processes: PostgreSQL has one for each connection.
    pub(super) fn signal(&self, signal: &str) {
        let send = |signal: &str, process: &str| {
            let status = Command::new("kill").args(["-s", signal, process]).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        // While it stands still it makes no more of them. One of them may have ended by itself meanwhile.
        assert!(send("STOP", &self.server), "the server {} has ended", self.server);
        until_still(&self.server);
        let children = format!("/proc/{0}/task/{0}/children", self.server);
        for process in std::fs::read_to_string(children).unwrap_or_default().split_whitespace() {
            send(signal, process);
            if signal == "STOP" {
                until_still(process);
            }
        }
        assert!(send(signal, &self.server), "the server {} has ended", self.server);
    }

    /// Whether the server has ended by itself.
    pub(super) fn server_is_gone(&mut self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.server)).unwrap_or_default();
        // What ended and was not waited for yet is a zombie.
        stat.rsplit(')').next().is_none_or(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('Z'))
    }

    /// Ends the server, and removes its files unless they are kept.
    pub(super) fn end(mut self, keep: bool) {
        if let Some(mut pipe) = self.shell.stdin.take()
            && keep
        {
            let _ = pipe.write_all(b"keep\n");
        }
        let _ = self.shell.wait();
    }
}

/// A server that may be ended and started again, as it runs now.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<Option<Guard>>);

impl Running {
    /// Waits until a server that was started is up; `false` when it ended instead.
    pub(super) fn up(&self, mut guard: Guard, is_up: impl Fn() -> bool) -> bool {
        let patience = Instant::now() + Duration::from_secs(START_S);
        while !is_up() {
            if guard.server_is_gone() || Instant::now() > patience {
                guard.end(true);
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        *self.lock() = Some(guard);
        true
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, signal: &str) {
        if let Some(guard) = &*self.lock() {
            guard.signal(signal);
        }
    }

    /// Ends it; its files stay.
    pub(super) fn end(&self) {
        if let Some(guard) = self.lock().take() {
            guard.end(true);
        }
    }

    /// Kills it; its files stay.
    pub(super) fn kill(&self) {
        self.signal("KILL");
        self.end();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Guard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until no thread of a stopped process runs any more: each notices the signal by itself, and answers until then.
fn until_still(process: &str) {
    let runs = |task: &Path| {
        let stat = std::fs::read_to_string(task.join("stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start().to_owned();
        !(state.is_empty() || state.starts_with(['T', 'Z', 'X']))
    };
    let started = Instant::now();
    while started.elapsed() < STANDSTILL_PATIENCE {
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        if !tasks.map(|task| task.path()).any(|task| runs(&task)) {
            return;
        }
        std::thread::yield_now();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

/// A directory only the server's user may look into; it goes with the value.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// A new one, on disk. The path is short: a socket in it must fit into 107 bytes.
    pub(super) fn new(what: &str) -> Self {
        Self::inside(std::env::temp_dir(), what)
    }

    /// A new one for a server, in memory where there is room: the many small files of a fresh server are what tests
    /// would wait for.
    pub(super) fn for_server(what: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let directory = Self::inside(if has_room(memory) { memory.to_owned() } else { std::env::temp_dir() }, what);
        if is_root() {
            chown(directory.path(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).expect("a directory for the server's user");
        }
        directory
    }

    fn inside(parent: PathBuf, what: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for _ in 0..1000 {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("salver-{what}-{}-{count}", std::process::id()));
            if std::fs::DirBuilder::new().mode(0o700).create(&path).is_ok() {
                return Self(path);
            }
        }
        panic!("no directory can be made in {}", parent.display());
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether there are some gigabytes left at `path`.
fn has_room(path: &Path) -> bool {
    const ROOM_KIB: u64 = 4 * 1024 * 1024;
    let told = Command::new("df").arg("-Pk").arg(path).output();
    let text = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let left = text.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)).and_then(|word| word.parse().ok());
    left.is_some_and(|kib: u64| kib >= ROOM_KIB)
}
