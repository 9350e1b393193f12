//! Exports: whole bodies and their parts, sessions of many streams, the command, and all of them killed in the middle.

mod command;
mod killed;
mod ranges;
pub(crate) mod rows;
mod sessions;
mod whole;
mod writers;
