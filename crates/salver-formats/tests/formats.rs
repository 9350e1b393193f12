//! Rows to bytes: golden texts for every type, round trips of every format, and what a client may ask for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod formats {
    mod binary;
    mod coding;
    mod delimited;
    mod every_type;
    mod json;
    mod negotiation;
    mod page;
    mod places;
    mod random;
    mod received;
    mod sample;
    mod workbook;
}
