//! How the processes of a language are started.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The host of a language: a program that takes a file and a socket as its last two arguments, and speaks as `wire`
/// says.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) executable: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// Written to the private directory before it is started; the first is the last of the leading arguments.
    files: &'static [(&'static str, &'static str)],
}

/// A list of files with their texts.
macro_rules! files {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../python/", $path)))),*] };
}

/// The host of Python. The first file is the one that is started.
const PYTHON: &[(&str, &str)] = files![
    "host.py",
    "salver.py",
    "salver_host/__init__.py",
    "salver_host/answers.py",
    "salver_host/batch.py",
    "salver_host/comments.py",
    "salver_host/faults.py",
    "salver_host/gathered.py",
    "salver_host/json_text.py",
    "salver_host/offer.py",
    "salver_host/parameters.py",
    "salver_host/tables.py",
    "salver_host/wire.py",
    "salver_host/worker.py",
    "salver_host/zygote.py",
];

impl Program {
    /// An executable that is a host by itself, with the arguments that make it one.
    #[must_use]
    pub fn new(executable: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { executable, arguments, files: &[] }
    }

    /// The host of Python, run by `interpreter`.
    #[must_use]
    pub fn python(interpreter: &Path) -> Self {
        Self { executable: interpreter.to_owned(), arguments: Vec::new(), files: PYTHON }
    }

    /// Writes what it needs into `directory`, and gives it as it is started from there.
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

    /// A module that is not listed would be missed only where it is first imported.
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
