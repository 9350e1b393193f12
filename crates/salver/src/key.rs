//! `salver key new`: makes an API key. `salver key password`: makes a password of a user.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use salver_model::spec::api_key::parse_expiry;
use salver_model::spec::{ApiKey, ScramVerifier};
use salver_model::{Code, Error, Result};

use crate::cli::{NewKeyArguments, NewPasswordArguments};
use crate::failure::CommandFailure;
use crate::output;

/// Longest validity of a key that has an end.
const LONGEST_VALIDITY: Duration = Duration::from_secs(100 * 366 * 86_400);

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

/// Prints a new password and its verifier, or the verifier of a given password.
pub(crate) fn password(arguments: &NewPasswordArguments) -> Result<(), CommandFailure> {
    let name = named(&arguments.name).map_err(CommandFailure::Usage)?;
    if arguments.stdin {
        let mut given = String::new();
        io::stdin()
            .lock()
            .read_line(&mut given)
            .map_err(|error| Error::new(Code::Config, format!("the standard input can't be read: {error}")))?;
        let given = given.trim_end_matches(['\r', '\n']);
        if given.is_empty() {
            let error = Error::new(Code::Config, "the first line of the standard input is empty");
            return Err(CommandFailure::Usage(error.with_hint("write the password there, or leave `--stdin` out")));
        }
        return output::out(&format!("{name}:{}\n", ScramVerifier::new(given)?));
    }
    let (secret, _) = ApiKey::generate(None)?;
    let secret = secret.reveal();
    let secret = secret.rsplit('_').next().unwrap_or(secret);
    let verifier = ScramVerifier::new(secret)?;
    let kept = format!("for `basic_users` of [auth], or a line of `basic_file`:\n\n    {name}:{verifier}");
    output::out(&format!("the password of `{name}`, which is told only now:\n\n    {secret}\n\n{kept}\n"))
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
    let is_sensible = |end: &SystemTime| {
        let now = SystemTime::now();
        *end > now && end.duration_since(now).is_ok_and(|left| left <= LONGEST_VALIDITY)
    };
    expires.filter(is_sensible).ok_or_else(|| {
        Error::new(Code::Config, format!("a key that ends at `{text}` would be of no use"))
            .with_hint("give a date within the next hundred years, or a time from now like `90d`")
    })
}

/// Returns whether a line can stand in a file of keys.
fn is_of_keys(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    let is_hash = |key: &str| matches!(ApiKey::parse(key.trim()), Ok(ApiKey::Hashed { .. }));
    line.is_empty() || line.starts_with('#') || line.split_once(':').is_some_and(|(_, key)| is_hash(key))
}

/// Appends a line to a file that only the user of this program can read, if it is a new one.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("it is not a file"));
    }
    let mut file = options.open(path)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    if let Some(number) = text.lines().position(|line| !is_of_keys(line)) {
        return Err(io::Error::other(format!("its line {} is none of a file of keys", number + 1)));
    }
    let is_cut = !text.is_empty() && !text.ends_with('\n');
    file.write_all(format!("{}{line}\n", if is_cut { "\n" } else { "" }).as_bytes())?;
    file.sync_all()
}
