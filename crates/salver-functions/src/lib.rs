//! User code: files of R and Python whose functions answer calls, in separate processes.
//!
//! `wire` is the protocol between the server and these processes. On the server's side: `process` represents a zygote
//! and its workers, `sandbox` finds out how processes can be kept apart, `supervisor` starts and serves a zygote,
//! `pool` assigns workers to calls, and `file` implements the port, with the task that keeps a file loaded.

mod discover;
mod file;
pub mod host;
mod manifest;
mod pool;
mod process;
mod program;
mod sandbox;
mod supervisor;
pub mod wire;

pub use discover::discover;
pub use file::FunctionFile;
pub use program::Program;
pub use sandbox::check_account;
