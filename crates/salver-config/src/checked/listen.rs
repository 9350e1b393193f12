//! Validates what the server listens on, and who may use a socket file.

use std::fmt;
use std::path::{Path, PathBuf};

use salver_model::limits::SOCKET_PATH_BYTES_MAX;

use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Beginning of a setting that names a Unix socket.
const UNIX: &str = "unix:";
/// The setting that leaves it to the service manager.
const SYSTEMD: &str = "systemd";

/// What the server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Host and port.
    Address(String),
    /// A Unix socket, by its absolute path.
    Unix(PathBuf),
    /// The sockets that the service manager hands over.
    Systemd,
}

impl Listen {
    /// Returns the host, if one is named.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Self::Address(address) => address.rsplit_once(':').map_or("", |(host, _)| host),
            Self::Unix(_) | Self::Systemd => "",
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
            Self::Systemd => f.write_str(SYSTEMD),
        }
    }
}

/// Returns what the server listens on.
pub(super) fn listen(table: &Table, findings: &mut Findings) -> Listen {
    let text = table.text("listen").unwrap_or_default();
    let hint = match text.starts_with(UNIX) {
        true => "write it like \"unix:/run/salver/salver.sock\"",
        false => "write HOST:PORT, like \"127.0.0.1:8080\", \"0.0.0.0:80\" or \"[::1]:8080\"",
    };
    let listen = findings.keep(parsed(text).map_err(|why| {
        Mistake::new(table.place_of("listen"), format!("`{text}` is not an address to listen on: {why}"))
            .with_hint(hint)
    }));
    listen.unwrap_or(Listen::Address(String::new()))
}

/// Returns the address that `/metrics` has for itself.
pub(super) fn metrics_listen(table: &Table, findings: &mut Findings) -> Option<String> {
    let text = table.text("metrics_listen")?;
    let is_taken = !text.ends_with(":0") && table.text("listen") == Some(text);
    let parsed = if is_taken { Err("`listen` has it".to_owned()) } else { address(text) };
    findings.keep(parsed.map_err(|why| {
        let message = format!("`{text}` is not an address for `/metrics` alone: {why}");
        Mistake::new(table.place_of("metrics_listen"), message).with_hint("write HOST:PORT, like \"127.0.0.1:9090\"")
    }))
}

fn parsed(text: &str) -> Result<Listen, String> {
    if text == SYSTEMD {
        return Ok(Listen::Systemd);
    }
    match text.strip_prefix(UNIX) {
        Some(path) => socket_file(path).map(Listen::Unix),
        None => address(text).map(Listen::Address),
    }
}

/// Checks the path of a Unix socket. A relative one would depend on where the server is started, and one that is too
/// long can't be bound.
fn socket_file(path: &str) -> Result<PathBuf, String> {
    if !Path::new(path).is_absolute() {
        return Err("the path of a Unix socket begins with `/`".to_owned());
    }
    if path.ends_with('/') || path.chars().any(char::is_control) {
        return Err("it names no file".to_owned());
    }
    if path.len() > SOCKET_PATH_BYTES_MAX {
        return Err(format!("the path of a Unix socket has {SOCKET_PATH_BYTES_MAX} bytes at most"));
    }
    Ok(PathBuf::from(path))
}

/// Parses `HOST:PORT`, or a port alone for the local machine only.
pub(super) fn address(text: &str) -> Result<String, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(format!("127.0.0.1:{port}"));
    }
    let Some((host, port)) = text.rsplit_once(':') else { return Err("it has no port".to_owned()) };
    if port.parse::<u16>().is_err() {
        return Err(format!("`{port}` is not a port, which is 0 to 65535"));
    }
    if host.is_empty() {
        return Err("it has no host".to_owned());
    }
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err("an IPv6 address stands in brackets".to_owned());
    }
    if host.contains('/') || host.chars().any(char::is_whitespace) {
        return Err(format!("`{host}` is not a host"));
    }
    Ok(text.to_owned())
}

/// Returns the mode of the socket file, which is written in octal.
pub(super) fn socket_mode(table: &Table, findings: &mut Findings) -> u32 {
    let text = table.text("socket_mode").unwrap_or_default();
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    match u32::from_str_radix(text, 8).ok().filter(|mode| is_octal && *mode <= 0o777) {
        Some(mode) => mode,
        None => {
            let message = format!("`{text}` is not the mode of a file");
            let hint = "write it in octal, like \"0660\" for owner and group, or \"0600\" for the owner alone";
            findings.mistake(Mistake::new(table.place_of("socket_mode"), message).with_hint(hint));
            0
        }
    }
}
