//! User code by name. Files that declare routes or mount applications have their own paths, too.

use std::borrow::Cow;

use super::{Does, Methods, RouteRow, RouteTarget as Any, Values, row};

/// A request to these doors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FunctionsTarget<'p> {
    /// Lists the files.
    List,
    /// The OpenAPI description.
    Openapi,
    /// Describes a file.
    One(Cow<'p, str>),
    /// Calls a function of a file.
    Named(Cow<'p, str>, Cow<'p, str>),
    /// Returns the state of an asynchronous call.
    Job(Cow<'p, str>),
    /// Cancels an asynchronous call.
    EndJob(Cow<'p, str>),
    /// Returns the result of an asynchronous call.
    Result(Cow<'p, str>),
}

fn named<'p>(values: Values<'_, 'p>) -> Any<'p> {
    Any::Functions(FunctionsTarget::Named(values.text("file"), values.text("function")))
}

const GET: Methods = Methods::GET;

pub(super) const ROWS: &[RouteRow] = &[
    row(
        &["/api/functions", "/api/functions/"],
        GET,
        Does::Reads,
        |_| Any::Functions(FunctionsTarget::List),
        "The files of functions.",
    ),
    row(
        &["/api/functions.openapi.json"],
        GET,
        Does::Reads,
        |_| Any::Functions(FunctionsTarget::Openapi),
        "The description of all functions, in OpenAPI.",
    ),
    row(
        &["/api/functions/{file}"],
        GET,
        Does::Reads,
        |values| Any::Functions(FunctionsTarget::One(values.text("file"))),
        "The functions of a file.",
    ),
    row(&["/api/functions/{file}/{function}"], GET, Does::Runs, named, "A call of a function that is pure."),
    row(&["/api/functions/{file}/{function}"], Methods::POST, Does::Asks, named, "A call of a function."),
    row(
        &["/api/jobs/{id}"],
        GET,
        Does::Runs,
        |values| Any::Functions(FunctionsTarget::Job(values.text("id"))),
        "How a call stands whose caller did not wait.",
    ),
    row(
        &["/api/jobs/{id}"],
        Methods::DELETE,
        Does::Asks,
        |values| Any::Functions(FunctionsTarget::EndJob(values.text("id"))),
        "The end of such a call.",
    ),
    row(
        &["/api/jobs/{id}/result"],
        GET,
        Does::Runs,
        |values| Any::Functions(FunctionsTarget::Result(values.text("id"))),
        "What such a call answered.",
    ),
];
