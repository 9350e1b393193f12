//! The delivery state on disk, from which a restart resumes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use salver_model::{Code, Error, Result};
use serde::{Deserialize, Serialize};

use crate::private_files;

const FILE: &str = "kafka.json";

/// Delivery state of a stream at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// Topic of the checkpoint.
    pub(super) topic: String,
    /// Offset of the log below which every event is in the topic or was set aside.
    pub(super) delivered: u64,
    /// By partition, the offset in the topic below which no event from `delivered` on can be.
    pub(super) positions: Vec<u64>,
    /// Whether no event from `delivered` on was ever sent.
    pub(super) is_clean: bool,
    /// Events before `delivered` that were set aside, with the reasons: an event that is sent again is told of it.
    #[serde(default)]
    pub(super) asides: BTreeMap<u64, String>,
}

impl Checkpoint {
    /// Reads the checkpoint in `dir`; `None` when there is none yet.
    ///
    /// # Errors
    /// Returns `Source` when it cannot be read: continuing without it could send events twice.
    pub(super) fn read(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, error)),
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| unreadable(&path, error))
    }

    /// Replaces the checkpoint in `dir` atomically and durably.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it cannot be written.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(FILE);
        let put = || {
            let part = dir.join("kafka.json.part");
            let mut file = private_files::create(&part)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            file.sync_data()?;
            std::fs::rename(&part, &path)?;
            File::open(dir)?.sync_all()
        };
        put().map_err(|error: std::io::Error| {
            Error::new(Code::StreamUnavailable, format!("{} can't be written: {error}", path.display()))
                .with_source(error)
        })
    }
}

fn unreadable(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Code::Source, format!("{} can't be read: {error}", path.display()))
        .with_hint("It says which events are in Kafka. Without it, what the log keeps is sent to Kafka again.")
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use super::{Checkpoint, FILE};

    #[test]
    fn round_trip_and_damage() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Checkpoint::read(dir.path()).unwrap(), None);
        let asides = [(3, "too large".to_owned())].into();
        let mut checkpoint =
            Checkpoint { topic: "t".to_owned(), delivered: 7, positions: vec![1, 2], is_clean: false, asides };
        checkpoint.write(dir.path()).unwrap();
        checkpoint.delivered = u64::MAX;
        checkpoint.write(dir.path()).unwrap();
        assert_eq!(Checkpoint::read(dir.path()).unwrap(), Some(checkpoint));
        std::fs::write(dir.path().join(FILE), "{\"topic\"").unwrap();
        assert!(Checkpoint::read(dir.path()).unwrap_err().to_string().contains(FILE));
    }
}
