//! The statements of earlier prompts: a private file, one statement a line as a JSON text, each added when it is run.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use salver_model::limits::{HISTORY_BYTES_MAX, HISTORY_STATEMENT_BYTES_MAX, HISTORY_STATEMENTS_MAX};

/// The file; `None` where there is no place for one.
#[derive(Debug)]
pub(super) struct History {
    path: Option<PathBuf>,
}

impl History {
    /// Finds the file: `$XDG_STATE_HOME/salver/sql_history`, or below `~/.local/state`.
    pub(super) fn of_user() -> Self {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Self { path: state.map(|state| state.join("salver").join("sql_history")) }
    }

    /// Returns the last statements, the oldest first. What can't be read is not remembered.
    pub(super) fn read(&self) -> Vec<String> {
        self.path.as_deref().and_then(|path| read(path).ok()).unwrap_or_default()
    }

    /// Adds a statement, unless it begins with a space, as what should not be remembered does in shells.
    pub(super) fn add(&self, statement: &str) {
        if !is_remembered(statement) {
            return;
        }
        // A statement that can't be remembered runs all the same.
        if let Some(path) = &self.path {
            let _ = append(path, statement);
        }
    }
}

/// Returns whether a statement is remembered.
pub(super) fn is_remembered(statement: &str) -> bool {
    !statement.starts_with(' ') && !statement.is_empty() && statement.len() <= HISTORY_STATEMENT_BYTES_MAX
}

fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let begin = bytes.saturating_sub(HISTORY_BYTES_MAX);
    file.seek(SeekFrom::Start(begin))?;
    let mut text = Vec::new();
    file.take(HISTORY_BYTES_MAX).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    // The first line may have been cut.
    let lines = text.lines().skip(usize::from(begin > 0));
    let mut all: Vec<String> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    all.drain(..all.len().saturating_sub(HISTORY_STATEMENTS_MAX));
    if begin > 0 {
        replace(path, &all)?;
    }
    Ok(all)
}

/// Writes a shorter file in place of one that has grown too long.
fn replace(path: &Path, statements: &[String]) -> io::Result<()> {
    let new = path.with_extension(format!("{}", std::process::id()));
    let kept = statements.iter().rev().take(HISTORY_STATEMENTS_MAX / 2).rev();
    let mut text = String::new();
    for statement in kept {
        text.push_str(&line(statement)?);
    }
    let written = private(&new, true).and_then(|mut file| file.write_all(text.as_bytes()));
    let done = written.and_then(|()| std::fs::rename(&new, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    done
}

fn append(path: &Path, statement: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir)?;
    }
    // In one write, so that lines of several prompts don't mix.
    private(path, false)?.write_all(line(statement)?.as_bytes())
}

fn line(statement: &str) -> io::Result<String> {
    Ok(serde_json::to_string(statement)? + "\n")
}

/// Opens a file that only its user may read.
fn private(path: &Path, is_new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).create_new(is_new);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::{HISTORY_BYTES_MAX, HISTORY_STATEMENTS_MAX, History, is_remembered};

    #[test]
    fn statements_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/history");
        let history = History { path: Some(path.clone()) };
        assert!(history.read().is_empty());
        for statement in ["select 'a\nb'", " secret", "select \"ü\""] {
            history.add(statement);
        }
        assert_eq!(history.read(), ["select 'a\nb'", "select \"ü\""]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(!is_remembered(&"x".repeat(100_000)));
    }

    #[test]
    fn the_file_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let history = History { path: Some(path.clone()) };
        let long: String = (0..3_000).map(|at| format!("\"select {at} {}\"\n", "x".repeat(1_000))).collect();
        std::fs::write(&path, long).unwrap();
        let read = history.read();
        assert_eq!(read.len(), HISTORY_STATEMENTS_MAX);
        assert!(read.last().is_some_and(|last| last.starts_with("select 2999 ")), "{:?}", read.last());
        assert!(std::fs::metadata(&path).unwrap().len() < HISTORY_BYTES_MAX);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
