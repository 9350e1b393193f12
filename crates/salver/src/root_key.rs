//! The root key of tokens and sessions, kept in a file of the data directory, so that exports, pages and sessions
//! outlive the process.
//!
//! The file is private to the user who runs the server. It is created once and atomically: of two servers that start at
//! the same time one creates it and both use it. Servers that are to accept each other's tokens share the file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use salver_config::Server;
use salver_model::{Code, Error, Result, RootKey};

use crate::private_file;

/// Name of the file.
const NAME: &str = "tokens.key";
/// Prefix of its text, to be changed when the format of the rest changes.
const START: &str = "salver-tokens-1 ";
/// Upper bound of the file's size.
const FILE_BYTES: u64 = 256;

/// The key of a server.
#[derive(Debug)]
pub(crate) struct OpenedKey {
    /// The key.
    pub(crate) key: RootKey,
    /// The directory that keeps it; `None` for a key that ends with this process.
    pub(crate) dir: Option<PathBuf>,
}

/// Returns the key of the server `about` with the settings in `file`: the stored one, or a random one for this process
/// if nothing is stored. A directory named by the operator must be usable.
///
/// # Errors
/// Returns `Config` when the file is damaged, or cannot be read or created in the named directory.
pub(crate) fn open(about: &Server, file: Option<&Path>) -> Result<OpenedKey> {
    let passing = || OpenedKey { key: RootKey::random(), dir: None };
    let Some(dir) = about.keep_dir(file) else { return Ok(passing()) };
    match kept_in(&dir) {
        Err(error) if about.data_dir.is_none() && !dir.join(NAME).exists() => {
            tracing::warn!(
                "{}; exports, the tokens of pages and sessions end with this process, unless `server.data_dir` names \
                 another directory",
                error.message
            );
            Ok(passing())
        }
        found => found.map(|key| OpenedKey { key, dir: Some(dir) }),
    }
}

/// The key that `dir` has, or gets.
fn kept_in(dir: &Path) -> Result<RootKey> {
    let path = dir.join(NAME);
    let failed = |what: &str, error: io::Error| {
        Error::new(Code::Config, format!("can't {what} the key of tokens `{}`: {error}", path.display()))
            .with_hint("name a directory of the user who runs the server with `server.data_dir` or `--data-dir`")
            .with_source(error)
    };
    if let Some(text) = read(&path).map_err(|error| failed("read", error))? {
        return parse(&text).ok_or_else(|| damaged(&path));
    }
    private_file::create_once(dir, NAME, &write(&RootKey::random())).map_err(|error| failed("make", error))?;
    // Another process may have created it.
    let text = read(&path).map_err(|error| failed("read", error))?.unwrap_or_default();
    parse(&text).ok_or_else(|| damaged(&path))
}

fn damaged(path: &Path) -> Error {
    Error::new(Code::Config, format!("`{}` is not a key of tokens, or it is damaged", path.display()))
        .with_hint("restore it; or remove it, and every export, page and session that clients hold is over")
}

/// Reads the file; `None` when there is none.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    warn_of_readers(&file, path)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut bytes)?;
    // A file that is not text is reported as damaged.
    Ok(Some(String::from_utf8(bytes).unwrap_or_default()))
}

#[cfg(unix)]
fn warn_of_readers(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        tracing::warn!("`{}` can be read by others, who can make tokens with it: chmod 600", path.display());
    }
    Ok(())
}

#[cfg(not(unix))]
fn warn_of_readers(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

fn parse(text: &str) -> Option<RootKey> {
    let (key, check) = text.strip_prefix(START)?.strip_suffix('\n')?.split_once(' ')?;
    let digits = key.len() == 2 * RootKey::BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = [0; RootKey::BYTES];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|_| digits) {
        *byte = u8::from_str_radix(&key[2 * at..2 * at + 2], 16).ok()?;
    }
    let key = RootKey::of(bytes);
    (digits && check == check_of(&key)).then_some(key)
}

fn write(key: &RootKey) -> String {
    let digits: String = key.reveal().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{START}{digits} {}\n", check_of(key))
}

/// Returns the checksum that detects a damaged key.
fn check_of(key: &RootKey) -> String {
    key.derive("check of the file")[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use salver_model::RootKey;

    use super::{NAME, kept_in, parse, write};

    #[test]
    fn there_and_back_and_nothing_else() {
        let text = write(&RootKey::random());
        assert!(parse(&text).is_some());
        for at in 0..text.len() {
            assert!(parse(&text[..at]).is_none(), "{at}");
            let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let damaged = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert!(parse(&damaged).is_none(), "{damaged}");
        }
    }

    #[test]
    fn all_who_begin_at_once_have_one_key() {
        let dir = tempfile::tempdir().unwrap();
        let keep = dir.path().join("below");
        let keys: Vec<_> = thread::scope(|scope| {
            let begun: Vec<_> = (0..8).map(|_| scope.spawn(|| kept_in(&keep).unwrap())).collect();
            begun.into_iter().map(|begun| begun.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
        let files: Vec<_> = std::fs::read_dir(&keep).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(files, [NAME]);
        std::fs::write(keep.join(NAME), "nothing").unwrap();
        assert!(kept_in(&keep).unwrap_err().message.contains("damaged"));
    }
}
