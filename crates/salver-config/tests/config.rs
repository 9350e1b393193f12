//! What a person writes and what they are told: mistakes word for word, the order of sources, round trips, and that
//! nothing in the table of settings goes undocumented.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

mod config {
    mod access;
    mod auth;
    mod cluster;
    mod databases;
    mod documented;
    mod entries_of_environment;
    mod functions;
    mod listen;
    mod mistakes;
    mod order;
    mod placeholders;
    mod queries;
    mod round_trip;
    mod streams;
    mod types_of_columns;
}

use std::path::{Path, PathBuf};

use salver_config::{Checked, Mistake, Sources, Warning, load};

/// A directory with a `salver.toml` in it.
struct Written {
    directory: tempfile::TempDir,
}

impl Written {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("salver.toml"), text).unwrap();
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join("salver.toml")
    }

    fn sources(&self) -> Sources {
        Sources { file: Some(self.file()), ..Sources::default() }
    }

    /// A mistake as a person reads it, without the temporary directory.
    fn shown(&self, mistake: &Mistake) -> String {
        mistake.to_string().replace(&format!("{}/", self.path().display()), "")
    }
}

/// What `text` is told to have wrong.
fn told(text: &str) -> String {
    let written = Written::new(text);
    match load(&written.sources()) {
        Ok((checked, _)) => panic!("no mistake in {text:?}: {checked:?}"),
        Err(mistakes) => mistakes.iter().map(|m| written.shown(m)).collect::<Vec<_>>().join("\n"),
    }
}

/// What `text` means.
fn meant(text: &str) -> (Checked, Vec<Warning>) {
    load(&Written::new(text).sources()).unwrap_or_else(|mistakes| panic!("{mistakes:?} in {text:?}"))
}
