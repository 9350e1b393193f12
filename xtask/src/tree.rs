//! The files of the checkout, read once and handed to every check, so that a check is a function from text to
//! complaints and can be tested on text.

use std::path::{Path, PathBuf};

/// Folders that hold nothing we wrote.
const SKIPPED: [&str; 6] = ["target", ".git", ".bench", ".site", ".venv", "node_modules"];
/// What is read as text; of any other file only the path is kept.
const TEXTS: [&str; 5] = ["rs", "md", "toml", "py", "lock"];

/// One file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Its text; empty when it isn't one of ours to read.
    pub(crate) text: String,
}

impl File {
    /// The last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }
}

/// The checkout.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Where it is.
    pub(crate) root: PathBuf,
    /// Every file, by path.
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// Reads the checkout this program was built from.
    pub(crate) fn read() -> Result<Self, String> {
        let mut tree = Self { root: root(), files: Vec::new() };
        let root = tree.root.clone();
        tree.walk(&root).map_err(|error| format!("can't read {}: {error}", root.display()))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type()?.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    self.walk(&path)?;
                }
                continue;
            }
            let read = path.extension().is_some_and(|suffix| TEXTS.iter().any(|text| suffix == *text));
            let text = if read { std::fs::read_to_string(&path)? } else { String::new() };
            let path = path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            self.files.push(File { path, text });
        }
        Ok(())
    }

    /// The files with this suffix.
    pub(crate) fn with_suffix(&self, suffix: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(suffix))
    }

    /// The file at `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or a folder is at `path`.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.iter().any(|f| f.path.strip_prefix(path).is_some_and(|r| r.is_empty() || r.starts_with('/')))
    }

    /// A tree of the given texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File { path: (*path).into(), text: (*text).into() }).collect();
        Self { root: PathBuf::new(), files }
    }
}

/// The folder above `xtask/`, as Cargo says it when it runs this program (what was compiled in may be another checkout
/// that shares the target directory); without Cargo the working directory.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    here.as_deref().and_then(Path::parent).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
