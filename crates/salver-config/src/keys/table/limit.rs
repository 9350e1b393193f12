//! The settings of limits of callers.

use super::new_row;
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    new_row(Section::Limit, "roles", SettingKind::Texts, ["[]", r#"["analyst"]"#],
        "The roles that the limit is about; every caller, also one who proves nothing, when not given.",
        &["role", "to"]),
    new_row(Section::Limit, "requests_per_second", SettingKind::Count(0), ["", "10"],
        "Requests that a caller may send in a second; more are answered with 429 and `Retry-After`. 0 is no bound.",
        &["rate", "rate_limit", "rps"]),
    new_row(Section::Limit, "burst", SettingKind::Count(1), ["", "50"],
        "Requests that a caller may send at once after a rest; as many as in a second when not given.",
        &[]),
    new_row(Section::Limit, "concurrent_requests_max", SettingKind::Count(0), ["", "4"],
        "Most requests of a caller that are answered at once, until the last row is sent; more are answered with 429. \
            0 is no bound.",
        &["concurrency", "max_concurrent_requests"]),
    new_row(Section::Limit, "rows_max", SettingKind::Count(0), ["", "1000"],
        "Most rows that one answer may have, an export too; 0 is no bound but `limits.rows_max`. Batches of cursors, \
            pages of events and parts of an export have no more, and say where the next begins; a tail ends after as \
            many. Arrays and tables that functions answer to reads are bounded, too; streams of an export and what \
            generators of functions give are not.",
        &[]),
    new_row(Section::Limit, "query_ms_max", SettingKind::Milliseconds, ["", r#""2s""#],
        "Longest work on one query; 0 is no bound but `limits.query_ms_max`.",
        &["timeout", "query_timeout"]),
    new_row(Section::Limit, "body_bytes_max", SettingKind::Bytes, ["", r#""64KiB""#],
        "Largest body of a request as it is received, also of events and of rows to load; 0 is no bound but \
            `limits.body_bytes_max`.",
        &[]),
    new_row(Section::Limit, "response_bytes_max", SettingKind::Bytes, ["", r#""1MiB""#],
        "Largest body of an answer as it is sent, compressed or not; 0 is no bound.",
        &["answer_bytes_max"]),
];
