//! A named query in its file of the folder `server.queries`: how it is changed, on condition.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use salver_model::ports::EditCondition;
use salver_model::{Code, Error, Name, Result, Version};

use crate::private_file;

/// The file of a named query.
#[derive(Debug)]
pub(crate) struct QueryFile {
    folder: PathBuf,
    name: Name,
}

impl QueryFile {
    /// Returns the file of a query in the folder.
    pub(crate) fn of(folder: &Path, name: &Name) -> Self {
        Self { folder: folder.to_owned(), name: name.clone() }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(self.file_name())
    }

    fn file_name(&self) -> String {
        format!("{}.sql", self.name)
    }

    /// Writes the text, as a whole and durably. Returns whether there was no file.
    ///
    /// # Errors
    /// `PreconditionFailed`, `Unsupported` for what is not a file, and faults of the disk.
    pub(crate) fn save(&self, text: &str, condition: &EditCondition) -> Result<bool> {
        let is_new = self.check(condition)?.is_none();
        let written = private_file::replace_in_kind(&self.folder, &self.file_name(), text);
        written.map(|()| is_new).map_err(|error| self.failed("written", error))
    }

    /// Removes the file durably.
    ///
    /// # Errors
    /// `NotFound`, and those of [`QueryFile::save`].
    pub(crate) fn remove(&self, condition: &EditCondition) -> Result<()> {
        if self.check(condition)?.is_none() {
            return Err(Error::new(Code::NotFound, format!("no query `{}` stands in a file", self.name)));
        }
        private_file::remove(&self.folder, &self.file_name()).map_err(|error| self.failed("removed", error))
    }

    /// Checks that the condition holds of the file, and returns the version of its text.
    fn check(&self, condition: &EditCondition) -> Result<Option<Version>> {
        let current = self.current()?;
        if condition.holds(current) {
            return Ok(current);
        }
        let (message, hint) = match condition {
            EditCondition::Absent => (format!("there is a query `{}` already", self.name), "choose another name"),
            _ => (
                format!("the query `{}` is not what `If-Match` says", self.name),
                "read it again at `/api/queries`, and send its `etag`",
            ),
        };
        Err(Error::new(Code::PreconditionFailed, message).with_hint(hint))
    }

    /// Returns the version of the text; `None` without a file.
    fn current(&self) -> Result<Option<Version>> {
        let path = self.path();
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed("read", error)),
            Ok(metadata) if metadata.is_file() => {}
            Ok(_) => {
                let message = format!("the query `{}` stands in something that is not a file, like a link", self.name);
                return Err(Error::new(Code::Unsupported, message).with_hint("change it where it stands"));
            }
        }
        let bytes = fs::read(&path).map_err(|error| self.failed("read", error))?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Some(Version::of(&text.strip_prefix('\u{feff}').unwrap_or(&text))))
    }

    fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::internal(format!("the file of the query `{}` can't be {what}", self.name)).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use salver_model::ports::EditCondition;
    use salver_model::{Code, Name, Version};

    use super::QueryFile;

    #[test]
    fn a_file_is_changed_on_condition() {
        let folder = tempfile::tempdir().unwrap();
        let file = QueryFile::of(&folder.path().join("queries"), &Name::new("q").unwrap());
        let is = |code: Code| move |error: salver_model::Error| assert_eq!(error.code, code);
        file.remove(&EditCondition::Always).map_err(is(Code::NotFound)).unwrap_err();
        file.save("one", &EditCondition::Present).map_err(is(Code::PreconditionFailed)).unwrap_err();
        assert!(file.save("one", &EditCondition::Absent).unwrap());
        file.save("two", &EditCondition::Absent).map_err(is(Code::PreconditionFailed)).unwrap_err();
        let of = |text: &str| EditCondition::Version(vec![Version::of(&text)]);
        file.save("two", &of("zero")).map_err(is(Code::PreconditionFailed)).unwrap_err();
        assert!(!file.save("two", &of("one")).unwrap());
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = || std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(), 0o600);
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
            file.save("three", &EditCondition::Always).unwrap();
            assert_eq!(mode(), 0o640);
            std::os::unix::fs::symlink(file.path(), folder.path().join("queries/link.sql")).unwrap();
            let link = QueryFile::of(&folder.path().join("queries"), &Name::new("link").unwrap());
            link.save("x", &EditCondition::Always).map_err(is(Code::Unsupported)).unwrap_err();
        }
        file.remove(&of("zero")).map_err(is(Code::PreconditionFailed)).unwrap_err();
        file.remove(&EditCondition::Always).unwrap();
        assert!(!file.path().exists());
    }
}
