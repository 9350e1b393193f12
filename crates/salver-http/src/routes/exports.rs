//! Whole entries, in one body or in streams that are read by offset.

use std::borrow::Cow;

use super::{Does, Methods, Row, Target as Any, row};

/// What these doors are asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target<'p> {
    /// A session of streams.
    Open,
    /// An entry, or how a session stands.
    One(Cow<'p, str>),
    /// The end of a session.
    End(Cow<'p, str>),
    /// Rows of one stream of a session.
    Stream(Cow<'p, str>, Cow<'p, str>),
}

pub(super) const ROWS: &[Row] = &[
    row(
        &["/api/export", "/api/export/"],
        Methods::POST,
        Does::Asks,
        |_| Any::Exports(Target::Open),
        "A session of streams over one snapshot of an entry.",
    ),
    row(
        &["/api/export/{id}"],
        Methods::GET,
        Does::Runs,
        |values| Any::Exports(Target::One(values.text("id"))),
        "All rows of an entry; of a session, how it stands.",
    ),
    row(
        &["/api/export/{id}"],
        Methods::DELETE,
        Does::Asks,
        |values| Any::Exports(Target::End(values.text("id"))),
        "The end of a session.",
    ),
    row(
        &["/api/export/{id}/{stream}"],
        Methods::GET,
        Does::Runs,
        |values| Any::Exports(Target::Stream(values.text("id"), values.text("stream"))),
        "Rows of one stream of a session, from an offset.",
    ),
];
