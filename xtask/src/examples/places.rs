//! Where examples run: the server of the demo, its folder, and empty folders for blocks that bring their own files.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The address the documents use, which the server of the check may not have.
const WRITTEN: &str = "127.0.0.1:8080";
/// How long the demo may take to load.
const READY: Duration = Duration::from_secs(60);

/// A copy of the demo on a free port, ended with this value. A copy, because examples write to its database and its
/// stream.
pub(super) struct Server {
    child: Child,
    address: String,
    binaries: PathBuf,
    folder: Folder,
}

impl Server {
    /// Starts it and waits until everything is loaded.
    pub(super) fn start(root: &Path) -> Result<Self, String> {
        let this = std::env::current_exe().map_err(|error| format!("can't tell where this program is: {error}"))?;
        let binaries = this.parent().unwrap_or(root).to_path_buf();
        let address = free_address()?;
        let folder = Folder::with_settings("")?;
        copy(&root.join("examples/demo"), folder.path())
            .map_err(|error| format!("can't copy the demo to {}: {error}", folder.path().display()))?;
        let child = Command::new(binaries.join("salver"))
            .args(["serve", "--listen", &address, "--log", "warn"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start {}: {error}", binaries.join("salver").display()))?;
        let server = Self { child, address, binaries, folder };
        let started = Instant::now();
        while !is_ready(&server.address) {
            if started.elapsed() > READY {
                return Err("the demo was not ready in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The folder that is served.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What a command prints that runs in `folder`, and asks the server of its block, if there is one.
    pub(super) fn run(&self, command: &str, folder: &Path, server: Option<&Background>) -> Result<String, String> {
        let address = server.map_or(&self.address, |server| &server.address);
        let quiet = command.replace(WRITTEN, address).replacen("curl ", "curl -sS ", 1);
        let output = self.shell(&quiet, folder).output().map_err(|error| format!("can't run sh: {error}"))?;
        let printed = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&printed).replace(address, WRITTEN).replace('\r', ""))
    }

    /// Starts the server of a block in `folder`, and waits until everything is loaded.
    pub(super) fn serve(&self, command: &str, folder: &Path) -> Result<Background, String> {
        let address = free_address()?;
        let mut child = self
            .shell(&format!("exec {command} --listen {address}"), folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't run sh: {error}"))?;
        let output = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stdout) = child.stdout.take() {
            let output = Arc::clone(&output);
            std::thread::spawn(move || {
                let mut piece = [0; 4096];
                while let Ok(count @ 1..) = stdout.read(&mut piece) {
                    output.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..count]);
                }
            });
        }
        let server = Background { child, address, output };
        let started = Instant::now();
        while !is_ready(&server.address) {
            if started.elapsed() > READY {
                return Err(format!("`{command}` was not ready in time"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// A command of the shell, with the programs that are checked.
    fn shell(&self, command: &str, folder: &Path) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", format!("{}:{path}", self.binaries.display()));
        shell.current_dir(folder).stdin(Stdio::null());
        shell
    }
}

fn free_address() -> Result<String, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    free.map(|address| address.to_string()).map_err(|error| format!("no free port: {error}"))
}

fn is_ready(address: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

/// A server that a block starts, ended with this value.
pub(super) struct Background {
    child: Child,
    address: String,
    output: Arc<Mutex<Vec<u8>>>,
}

impl Background {
    /// The command that starts one: `salver serve ... &`, without the `&`.
    pub(super) fn command(command: &str) -> Option<&str> {
        command.strip_suffix('&').map(str::trim_end).filter(|command| command.starts_with("salver serve"))
    }

    /// What it has printed, as soon as that is what it should be, or after a while.
    pub(super) fn printed(&self, is_right: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let bytes = self.output.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let printed = String::from_utf8_lossy(&bytes).replace(&self.address, WRITTEN).replace('\r', "");
            if is_right(&printed) || started.elapsed() > READY {
                return printed;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // As for the demo's server.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already, or it ends now: nothing is left to do in either case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies what is in a folder, without databases and streams that were made there.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if name == "salver-data" {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else if !name.to_string_lossy().contains(".db") {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// An empty folder, removed with this value.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes one that holds nothing but a `salver.toml`, when there are settings.
    pub(super) fn with_settings(settings: &str) -> Result<Self, String> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("salver-examples-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        let write = || {
            std::fs::create_dir_all(&folder.0)?;
            if settings.is_empty() { Ok(()) } else { std::fs::write(folder.0.join("salver.toml"), settings) }
        };
        write().map_err(|error| format!("can't write to {}: {error}", folder.0.display()))?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays in the folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
