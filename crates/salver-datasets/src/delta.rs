//! Tables of Delta Lake as files of datasets: the log of a table says which Parquet files are its rows at a version.
//!
//! `log` finds the commits and checkpoints in `_delta_log`, in a directory or an object store (`place`), and
//! `commit_time` the version at a time; `replay` reads them, with the actions of `action`, and `protocol` refuses what
//! can't be read. `schema` has the columns, `table_files` the files with the values of their partition columns, and
//! `file_rows` reads a file that is not one to one the table's rows: without those of its `deletion_vector`, and with
//! the table's columns. All other files are scanned in place, as any Parquet. `inside` keeps links from leading out of
//! the table. Nothing here writes. Which table a source names is told by `delta_source`, beside this module.

mod action;
mod checkpoint;
mod commit_time;
mod deletion_vector;
mod fault;
mod file_rows;
mod inside;
mod log;
mod place;
mod protocol;
mod replay;
mod schema;
mod table_files;

pub(crate) use table_files::{DeltaTable, open, version_tag};
