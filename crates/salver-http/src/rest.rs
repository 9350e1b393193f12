//! `GET /api/tables/{name}[.ext]`: rows of one entry, in a superset of ROAPI's grammar; `params` describes all of it.

mod condition;
mod items;
mod page;
mod params;
mod path;

use http::Response;
use salver_formats::Format;
use salver_model::ports::MaybeReady;
use salver_model::{Filter, Query, Result};
use salver_service::Snapshot;

use crate::body::Body;
use crate::cache::SingleFlight;
use crate::page_ways::PageWays;
use crate::request_context::{RequestContext, parameters};
use crate::respond::{self, Heading};

/// A request, parsed against the table that it names.
pub(crate) struct TableRequest<'a> {
    name: &'a str,
    query: Query,
    heading: Heading,
}

/// Parses the conditions among `parameters`, over columns of any name, and returns them with the other parameters. This
/// is for rows that belong to no entry.
pub(crate) fn conditions(parameters: params::Parameters) -> Result<(Option<Filter>, params::Parameters)> {
    params::conditions(parameters)
}

/// Answers a request; at once if that takes microseconds.
pub(crate) fn answer<'a>(
    context: &'a RequestContext<'a>,
    snapshot: &'a Snapshot,
    request: &'a TableRequest<'a>,
    flight: SingleFlight<'a>,
) -> MaybeReady<'a, Result<Response<Body>>> {
    if let Some(response) = request.heading.unchanged(context) {
        return MaybeReady::Ready(Ok(response));
    }
    let rows = context.app.service.read(context.caller, snapshot, request.name, &request.query);
    rows.then(move |rows| match rows.and_then(|rows| Ok((page::links(context, &rows)?, rows))) {
        Ok((links, rows)) => respond::rows(context, &request.heading, rows, links, flight),
        Err(error) => MaybeReady::Ready(Err(error)),
    })
}

/// Returns the name of the entry that `target` means.
pub(crate) fn entry<'a>(snapshot: &Snapshot, target: &'a str) -> &'a str {
    split(snapshot, target).0
}

/// Splits off the suffix and returns the entry's name and the format. A name that exists takes precedence over a
/// suffix.
fn split<'a>(snapshot: &Snapshot, target: &'a str) -> (&'a str, Option<Format>) {
    if snapshot.entry(target).is_none()
        && let Some((name, suffix)) = target.rsplit_once('.')
        && let Some(format) = Format::of_suffix(suffix)
    {
        return (name, Some(format));
    }
    (target, None)
}

impl<'a> TableRequest<'a> {
    /// Parses a request against the table that `target` names.
    ///
    /// # Errors
    /// For an unknown or unavailable entry, and for a query that does not fit it.
    pub(crate) fn of(context: &RequestContext<'_>, snapshot: &Snapshot, target: &'a str) -> Result<Self> {
        let (name, suffix) = split(snapshot, target);
        let description = snapshot.resolve(name)?.describe();
        let mut query = Query::default();
        let named = if context.query.is_empty() {
            None
        } else {
            params::read(&parameters(context.query)?, description, &mut query)?
        };
        let choice = context.choose(suffix, named.as_deref())?;
        let version = context.answer_version(description.version, choice.media_type);
        let ways = match choice.format {
            Format::Html => {
                let first = query.after.is_none().then_some(query.offset);
                Some(Box::new(PageWays::of(context, name, (first, query.limit), query.is_grouped())?))
            }
            _ => None,
        };
        Ok(Self { name, query, heading: Heading { choice, title: name.to_owned(), version, ways } })
    }
}
