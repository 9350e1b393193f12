//! The format of what is kept in the data directory, as a number in its file `format`, so that no server takes a
//! directory whose files it would misread.
//!
//! A directory without the file was written before there was one, in format 1. When the format changes, the server
//! upgrades older directories here, before anything of them is opened, and writes the number last.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use salver_model::{Code, Error, Result};

use crate::private_file;

/// Name of the file.
const NAME: &str = "format";
/// The format that this release reads and writes.
const FORMAT: u32 = 1;
/// Prefix of the file's text, before the number. The release that wrote it stands in the second line.
const START: &str = "salver-data ";
const WRITTEN_BY: &str = "written by salver ";
/// Upper bound of what is read of the file.
const FILE_BYTES: u64 = 256;

/// Checks that this release can read the data directory `dir`, if it is there.
///
/// # Errors
/// Returns `Config` for a directory of a newer format, or whose file can't be read.
pub(crate) fn check(dir: &Path) -> Result<()> {
    read(dir).map(drop)
}

/// Writes the format into `dir`, unless it stands there. A directory that was not `named` by the operator may be
/// missing, and need not be writable: streams in it say so themselves.
///
/// # Errors
/// Returns `Config` if it can't be written, or is newer by now.
pub(crate) fn mark(dir: &Path, named: bool) -> Result<()> {
    if read(dir)?.is_some() || !(named || dir.is_dir()) {
        return Ok(());
    }
    let text = format!("{START}{FORMAT}\n{WRITTEN_BY}{}\n", env!("CARGO_PKG_VERSION"));
    match private_file::create_once(dir, NAME, &text) {
        Ok(()) => read(dir).map(drop),
        Err(error) if named => Err(failed("write", dir, error)),
        Err(_) => Ok(()),
    }
}

/// Returns the directory's format, which is not above ours; `None` if it has none.
fn read(dir: &Path) -> Result<Option<u32>> {
    let path = dir.join(NAME);
    let text = match File::open(&path) {
        Ok(file) => {
            let mut bytes = Vec::new();
            file.take(FILE_BYTES).read_to_end(&mut bytes).map_err(|error| failed("read", dir, error))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed("read", dir, error)),
    };
    let mut lines = text.lines();
    let number = lines.next().and_then(|line| line.strip_prefix(START)?.parse::<u32>().ok());
    match number.filter(|number| *number > 0) {
        Some(format) if format <= FORMAT => Ok(Some(format)),
        Some(format) => {
            let release = lines.next().and_then(|line| line.strip_prefix(WRITTEN_BY)).unwrap_or("of a later release");
            let ours = env!("CARGO_PKG_VERSION");
            let message = format!(
                "`{}` has the format {format} of salver {release}; this is salver {ours}, which reads up to {FORMAT}",
                dir.display()
            );
            let hint = "run that release or a later one, or restore the copy of the directory from before the upgrade";
            Err(Error::new(Code::Config, message).with_hint(hint))
        }
        None => {
            let message = format!("`{}` does not say the format of a data directory, or it is damaged", path.display());
            let hint = format!(
                "if the file is not Salver's, name another `server.data_dir`; if the directory is of this release, \
                 write \"{START}{FORMAT}\" into it"
            );
            Err(Error::new(Code::Config, message).with_hint(hint))
        }
    }
}

fn failed(what: &str, dir: &Path, error: io::Error) -> Error {
    Error::new(Code::Config, format!("can't {what} the format of the data directory `{}`: {error}", dir.display()))
        .with_hint("name a directory of the user who runs the server with `server.data_dir` or `--data-dir`")
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, NAME, check, mark};

    #[test]
    fn written_once_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let keep = dir.path().join("below");
        check(&keep).unwrap();
        // Nobody named it, so it is not made.
        mark(&keep, false).unwrap();
        assert!(!keep.exists());
        mark(&keep, true).unwrap();
        let text = std::fs::read_to_string(keep.join(NAME)).unwrap();
        assert_eq!(text.lines().next(), Some(format!("salver-data {FORMAT}").as_str()));
        // Another release of this format wrote it.
        let other = format!("salver-data {FORMAT}\nwritten by salver 0.0.1\nand more\n");
        std::fs::write(keep.join(NAME), &other).unwrap();
        check(&keep).unwrap();
        mark(&keep, true).unwrap();
        assert_eq!(std::fs::read_to_string(keep.join(NAME)).unwrap(), other);
    }

    #[test]
    fn newer_and_damaged_ones_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let newer = format!("salver-data {}\nwritten by salver 9.8.7\n", FORMAT + 1);
        for (text, told) in [
            (newer.as_str(), "salver 9.8.7"),
            ("salver-data 99", "of a later release"),
            ("", "damaged"),
            ("salver-data 0\n", "damaged"),
            ("salver-data 4294967296\n", "damaged"),
            ("1\n", "damaged"),
        ] {
            std::fs::write(dir.path().join(NAME), text).unwrap();
            for refused in [check(dir.path()), mark(dir.path(), true)] {
                let error = refused.unwrap_err();
                assert!(error.message.contains(told) && error.hint.is_some(), "{text:?}: {error:?}");
            }
            assert_eq!(std::fs::read_to_string(dir.path().join(NAME)).unwrap(), text);
        }
    }
}
