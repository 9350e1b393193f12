//! User code: files of R and Python whose functions answer calls, in processes of their own.
//!
//! `wire` is what the server and these processes say to each other.

pub mod host;
pub mod wire;
