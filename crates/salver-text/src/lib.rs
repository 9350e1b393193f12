//! Text formats that at least two crates read or write. It knows no protocol, and nothing of Salver.

pub mod base64;
pub mod calendar;
pub mod form;
pub mod interval;
pub mod json;
pub mod percent;
pub mod pg_float;
