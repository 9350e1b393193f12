//! Places of settings, for the locations of mistakes.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Place where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingPlace {
    /// None: a default.
    Default,
    /// In a file, at a line and a column counted from 1, in characters; line 0 is the file as a whole.
    File(Arc<PathBuf>, usize, usize),
    /// In an environment variable.
    Environment(Arc<str>),
    /// On the command line, as it was typed there.
    CommandLine(Arc<str>),
}

impl SettingPlace {
    /// Returns the line in the file, if known.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::File(_, line, _) if *line > 0 => Some(*line),
            _ => None,
        }
    }
}

impl fmt::Display for SettingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, 0, _) => write!(f, "{}", path.display()),
            Self::File(path, line, column) => write!(f, "{}:{line}:{column}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::CommandLine(text) => write!(f, "command line `{text}`"),
        }
    }
}

/// Text of a file, for converting byte offsets to places.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    path: Arc<PathBuf>,
    text: &'a str,
    /// Byte offsets of the lines.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(path: Arc<PathBuf>, text: &'a str) -> Self {
        let starts = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { path, text, starts }
    }

    /// Returns the place of the byte at `offset`.
    pub(crate) fn place(&self, offset: usize) -> SettingPlace {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &self.text[self.starts[line - 1]..offset];
        SettingPlace::File(Arc::clone(&self.path), line, before.chars().count() + 1)
    }
}
