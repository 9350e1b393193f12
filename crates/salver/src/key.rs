//! `salver key new`: makes an API key.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use salver_model::spec::ApiKey;
use salver_model::spec::api_key::parse_expiry;
use salver_model::{Code, Error, Result};

use crate::cli::NewKeyArguments;
use crate::failure::CommandFailure;
use crate::output;

/// Prints a new key, and its hash or where it was added.
pub(crate) fn run(arguments: &NewKeyArguments) -> Result<(), CommandFailure> {
    let name = named(&arguments.name).map_err(CommandFailure::Usage)?;
    let expires = arguments.expires.as_deref().map(expiry).transpose().map_err(CommandFailure::Usage)?;
    let (key, hash) = ApiKey::generate(expires)?;
    let line = format!("{name}:{hash}");
    let kept = match &arguments.file {
        Some(file) => {
            append(file, &line).map_err(|error| CommandFailure::writing(&file.display().to_string(), error))?;
            format!("its hash was added to {}", file.display())
        }
        None => format!("for `api_keys` of [auth], or a line of `api_keys_file`:\n\n    {line}"),
    };
    let key = key.reveal();
    output::out(&format!("the key of `{name}`, which is told only now:\n\n    {key}\n\n{kept}\n"))
}

/// Checks that a name can stand before a colon in a line of its own.
fn named(name: &str) -> Result<&str> {
    let name = name.trim();
    let is_good = !name.is_empty() && name != "sha256" && !name.starts_with('#') && !name.contains([':', '"', '\\']);
    if is_good && !name.chars().any(char::is_control) {
        return Ok(name);
    }
    Err(Error::new(Code::Config, format!("`{name}` can't be the name of a key"))
        .with_hint("use letters and digits, without colons and quotes"))
}

/// Parses a date, a moment, or a time from now.
fn expiry(text: &str) -> Result<SystemTime> {
    let expires = match salver_config::duration_ms(text) {
        Some(ms) => SystemTime::now().checked_add(Duration::from_millis(ms)),
        None => Some(parse_expiry(text)?),
    };
    expires.filter(|end| *end > SystemTime::now()).ok_or_else(|| {
        Error::new(Code::Config, format!("a key that ends at `{text}` would be of no use"))
            .with_hint("give a date in the future, or a time from now like `90d`")
    })
}

/// Appends a line to a file that only the user of this program can read, if it is a new one.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let is_cut = std::fs::read(path)?.last().is_some_and(|last| *last != b'\n');
    file.write_all(format!("{}{line}\n", if is_cut { "\n" } else { "" }).as_bytes())?;
    file.sync_all()
}
