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
        "List the files of functions.",
    ),
    row(
        &["/api/functions.openapi.json"],
        GET,
        Does::Reads,
        |_| Any::Functions(FunctionsTarget::Openapi),
        "Describe all functions in OpenAPI.",
    ),
    row(
        &["/api/functions/{file}"],
        GET,
        Does::Reads,
        |values| Any::Functions(FunctionsTarget::One(values.text("file"))),
        "Describe the functions of a file.",
    ),
    row(&["/api/functions/{file}/{function}"], GET, Does::Runs, named, "Call a pure function."),
    row(&["/api/functions/{file}/{function}"], Methods::POST, Does::Asks, named, "Call a function."),
    row(
        &["/api/jobs/{id}"],
        GET,
        Does::Runs,
        |values| Any::Functions(FunctionsTarget::Job(values.text("id"))),
        "Get the state of an asynchronous call.",
    ),
    row(
        &["/api/jobs/{id}"],
        Methods::DELETE,
        Does::Asks,
        |values| Any::Functions(FunctionsTarget::EndJob(values.text("id"))),
        "Delete an asynchronous call, and abort it if it is running.",
    ),
    row(
        &["/api/jobs/{id}/result"],
        GET,
        Does::Runs,
        |values| Any::Functions(FunctionsTarget::Result(values.text("id"))),
        "Get the result of an asynchronous call.",
    ),
];
