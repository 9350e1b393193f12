//! Tables: conversion between Arrow streams and data frames.
//!
//! Arrow's memory belongs to Rust, and R may jump (see `session`). So a stream is read before R is entered (`read`),
//! and the data frame made of what that gave (`enter`); and a data frame is copied into vectors that outlive R's part
//! (`leave`), of which the stream is made when R is left (`write`).

mod enter;
mod leave;
mod read;
mod write;

pub(super) use enter::data_frame;
pub(super) use leave::{Leaving, gather};
pub(super) use read::{Fault, Table, read};
pub(super) use write::write;

/// Media type of an Arrow stream.
pub(super) const ARROW_STREAM: &str = "application/vnd.apache.arrow.stream";
