//! Creates a missing database by the statements of a file.

use std::path::Path;

use rusqlite::Connection;
use salver_model::{Code, Error, Result};

use super::database_file::beside;
use super::error_codes::fault;

/// Creates the database at `path`, unless it exists. It is created under another name first, so that a file that can't
/// be read, or a crash, leaves no partial database.
pub(super) fn make(path: &Path, statements: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let wrong = |why: String| Error::new(Code::Config, format!("`{}` makes no database: {why}", statements.display()));
    let text = std::fs::read_to_string(statements)
        .map_err(|error| wrong(error.to_string()).with_hint("`init` names a file of SQL statements, in UTF-8"))?;
    let unfinished = beside(path, "-unfinished");
    let _ = std::fs::remove_file(&unfinished);
    let made = Connection::open(&unfinished).and_then(|connection| {
        connection.execute_batch(&format!("BEGIN;\n{text}\n;COMMIT;"))?;
        connection.close().map_err(|(_, error)| error)
    });
    if let Err(error) = made {
        let _ = std::fs::remove_file(&unfinished);
        let said = error.to_string();
        return Err(wrong(said).with_source(fault(error)));
    }
    std::fs::rename(&unfinished, path).map_err(|error| wrong(error.to_string()))
}
