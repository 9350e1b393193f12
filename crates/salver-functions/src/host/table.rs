//! Tables: conversion between Arrow streams and data frames.
//!
//! Arrow's memory belongs to Rust, and R may jump (see `session`). So a stream is read before R is entered
//! (`arrow_reader`), and the data frame made of what that gave (`arrow_import`); and a data frame is copied into
//! vectors that outlive R's part (`arrow_export`), of which the stream is made when R is left (`arrow_writer`).

mod arrow_export;
mod arrow_import;
mod arrow_reader;
mod arrow_writer;

pub(super) use arrow_export::{Leaving, gather};
pub(super) use arrow_import::data_frame;
pub(super) use arrow_reader::{ArrowTable, Fault, read};
pub(super) use arrow_writer::write;

/// Media type of an Arrow stream.
pub(super) const ARROW_STREAM: &str = "application/vnd.apache.arrow.stream";
