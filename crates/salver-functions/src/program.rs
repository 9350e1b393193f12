//! Programs that host a language.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Host of a language: a program that takes a file and a socket as its last two arguments, and implements the protocol
/// of `wire`.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) executable: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// Files written to the private directory before the start; the first is the last of the leading arguments.
    files: &'static [(&'static str, &'static str)],
}

/// Lists files with their texts.
macro_rules! files {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../python/", $path)))),*] };
}

/// Host of Python. The first file is the main program.
const PYTHON: &[(&str, &str)] = files![
    "host.py",
    "salver.py",
    "salver_host/__init__.py",
    "salver_host/adapters.py",
    "salver_host/answers.py",
    "salver_host/applications.py",
    "salver_host/batch.py",
    "salver_host/beside.py",
    "salver_host/choices.py",
    "salver_host/comments.py",
    "salver_host/faults.py",
    "salver_host/gathered.py",
    "salver_host/json_text.py",
    "salver_host/members.py",
    "salver_host/names.py",
    "salver_host/offer.py",
    "salver_host/parameters.py",
    "salver_host/scalars.py",
    "salver_host/schemas.py",
    "salver_host/tables.py",
    "salver_host/type_hints.py",
    "salver_host/wire.py",
    "salver_host/worker.py",
    "salver_host/zygote.py",
];

impl Program {
    /// Creates a host from an executable, with its leading arguments.
    #[must_use]
    pub fn new(executable: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { executable, arguments, files: &[] }
    }

    /// Returns the host of Python, run by `interpreter`.
    #[must_use]
    pub fn python(interpreter: &Path) -> Self {
        Self { executable: interpreter.to_owned(), arguments: Vec::new(), files: PYTHON }
    }

    /// Writes the files into `directory`, and returns the program as it is started from there.
    pub(crate) fn installed(mut self, directory: &Path) -> io::Result<Self> {
        for (name, text) in self.files {
            let path = directory.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)?;
        }
        self.arguments.extend(self.files.first().map(|(name, _)| directory.join(name).into_os_string()));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::PYTHON;

    /// Checks that every module is listed, since a missing one would fail only at its first import.
    #[test]
    fn every_file_of_the_python_host_is_listed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let mut there = BTreeSet::new();
        let mut directories = vec![root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && name != "tests" {
                    directories.push(path);
                } else if name.ends_with(".py") {
                    there.insert(name);
                }
            }
        }
        let listed: BTreeSet<_> = PYTHON.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, there);
    }
}
