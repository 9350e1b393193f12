//! User code: files of R and Python whose functions answer calls, in processes of their own.
//!
//! `wire` is what the server and these processes say to each other. On the server's side: `process` has the words for a
//! zygote and its workers, `attend` starts a zygote and speaks with it, `pool` says which call gets which worker, and
//! `file` is the port, with the task that keeps a file loaded.

mod attend;
mod discover;
mod file;
pub mod host;
mod offer;
mod pool;
mod process;
mod program;
pub mod wire;

pub use discover::discover;
pub use file::FunctionFile;
pub use program::Program;
