//! Whole entries, in one body or in streams that are read by offset.

use std::borrow::Cow;

use super::{Does, Methods, Row, Target as Any, When};

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
    Row {
        paths: &["/api/export", "/api/export/"],
        methods: Methods::POST,
        when: When::Always,
        does: Does::Asks,
        target: |_| Any::Exports(Target::Open),
        summary: "A session of streams over one snapshot of an entry.",
    },
    Row {
        paths: &["/api/export/{id}"],
        methods: Methods::GET,
        when: When::Always,
        does: Does::Runs,
        target: |values| Any::Exports(Target::One(values.text("id"))),
        summary: "All rows of an entry; of a session, how it stands.",
    },
    Row {
        paths: &["/api/export/{id}"],
        methods: Methods::DELETE,
        when: When::Always,
        does: Does::Asks,
        target: |values| Any::Exports(Target::End(values.text("id"))),
        summary: "The end of a session.",
    },
    Row {
        paths: &["/api/export/{id}/{stream}"],
        methods: Methods::GET,
        when: When::Always,
        does: Does::Runs,
        target: |values| Any::Exports(Target::Stream(values.text("id"), values.text("stream"))),
        summary: "Rows of one stream of a session, from an offset.",
    },
];
