//! SQLite files.

use std::sync::Arc;

use super::guard::Directory;
use super::programs::program;
use super::{Client, Database, Kind};

/// A fresh file, made by the statements of `sql`.
pub(super) fn database(sql: &str) -> Database {
    let directory = Directory::new("sqlite");
    let file = directory.path().join("test.db").display().to_string();
    let arguments =
        ["-bail", "-batch", "-cmd", ".timeout 60000", "-cmd", ".separator \"\\t\" \"\\n\""].map(str::to_owned);
    let client =
        Client { program: program("sqlite3"), arguments: arguments.into_iter().chain([file.clone()]).collect() };
    let database =
        Database { kind: Kind::Sqlite, url: format!("sqlite:{file}"), client, _directory: Some(Arc::new(directory)) };
    // Nothing to be careful about while it is made. A file of no tables is a file too.
    let careless = "pragma synchronous = off; pragma journal_mode = memory; pragma user_version = 1;";
    let _ = database.run(&format!("{careless}\n{sql}"));
    database
}
