//! The link of a log to its table: a file beside the log with the table's id. Without it, a table could be continued
//! with the events of another log, whose offsets mean others.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use salver_model::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use crate::private_files;

/// File name of the link.
const FILE: &str = "delta.json";

/// Link of a log to its table.
#[derive(Debug)]
pub(super) struct Link {
    path: PathBuf,
}

/// Contents of the file.
#[derive(Serialize, Deserialize)]
struct Linked {
    /// Id of the table.
    table: String,
}

impl Link {
    /// Returns the link of the log in `dir`.
    pub(super) fn of(dir: &Path) -> Self {
        Self { path: dir.join(FILE) }
    }

    /// Returns the id of the log's table; `None` where it has none. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be read.
    pub(super) fn table(&self) -> Result<Option<String>> {
        match fs::read(&self.path) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok().map(|linked: Linked| linked.table)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Makes `table` the log's table. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be written.
    pub(super) fn make(&self, table: &str) -> Result<()> {
        let text = serde_json::to_vec(&Linked { table: table.to_owned() }).unwrap_or_default();
        let new = self.path.with_extension("new");
        let write = || {
            let mut file = private_files::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            self.sync()
        };
        write().map_err(|error| self.failed(error))
    }

    /// Removes the link. Blocks.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it can't be removed.
    pub(super) fn cut(&self) -> Result<()> {
        let cut = || {
            fs::remove_file(&self.path)?;
            self.sync()
        };
        cut().map_err(|error| self.failed(error))
    }

    fn sync(&self) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::new(Code::StreamUnavailable, format!("`{}` can't be used: {error}", self.path.display()))
            .with_source(error)
    }
}
