//! Exports of whole entries, in one body or in streams that are read by offset.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ExportsTarget<'p> {
    /// Opens a session of streams.
    Open,
    /// Exports an entry, or returns the state of a session.
    One(Cow<'p, str>),
    /// Closes a session.
    End(Cow<'p, str>),
    /// Reads rows of one stream of a session.
    Stream(Cow<'p, str>, Cow<'p, str>),
}

pub(super) const ROWS: &[RouteRow] = &[
    row(
        &["/api/export", "/api/export/"],
        Methods::POST,
        Does::Asks,
        |_| Any::Exports(ExportsTarget::Open),
        "Open an export of a snapshot of an entry, in streams.",
    ),
    row(
        &["/api/export/{id}"],
        Methods::GET,
        Does::Runs,
        |values| Any::Exports(ExportsTarget::One(values.text("id"))),
        "Get all rows of an entry, or the state of an open export.",
    ),
    row(
        &["/api/export/{id}"],
        Methods::DELETE,
        Does::Asks,
        |values| Any::Exports(ExportsTarget::End(values.text("id"))),
        "Close an export.",
    ),
    row(
        &["/api/export/{id}/{stream}"],
        Methods::GET,
        Does::Runs,
        |values| Any::Exports(ExportsTarget::Stream(values.text("id"), values.text("stream"))),
        "Get rows of one stream of an export, from an offset.",
    ),
];
