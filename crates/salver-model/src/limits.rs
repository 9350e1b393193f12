//! Every limit of Salver that a client or an operator can meet: the files below have one subject each, and every limit
//! says what it bounds, in what unit, and what happens beyond it. Units stand last. What nobody meets, such as the size
//! of a buffer, stands beside the code that has it.

mod answers;
mod cluster;
mod commands;
mod exports;
mod files;
mod flight;
mod functions;
mod http;
mod log;
mod queries;
mod records;
mod settings;
mod sql;
mod streams;
mod trace;
mod wire;

pub use answers::*;
pub use cluster::*;
pub use commands::*;
pub use exports::*;
pub use files::*;
pub use flight::*;
pub use functions::*;
pub use http::*;
pub use log::*;
pub use queries::*;
pub use records::*;
pub use settings::*;
pub use sql::*;
pub use streams::*;
pub use trace::*;
pub use wire::*;
