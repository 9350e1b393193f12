//! `GET /api/tables/{name}[.ext]`: rows of one entry, in a superset of ROAPI's grammar; `params` describes all of it.

mod condition;
mod items;
mod page;
mod params;
mod path;

use http::Response;
use salver_formats::Format;
use salver_model::{Filter, Query, Result};
use salver_service::Snapshot;

use crate::body::Body;
use crate::cache::SingleFlight;
use crate::exchange::{Exchange, parameters};
use crate::respond::{self, Heading};

/// A request, parsed against the table that it names.
struct TableRequest<'a> {
    name: &'a str,
    query: Query,
    heading: Heading,
}

/// Parses the conditions among `parameters`, over columns of any name, and returns them with the other parameters. This
/// is for rows that belong to no entry.
pub(crate) fn conditions(parameters: params::Parameters) -> Result<(Option<Filter>, params::Parameters)> {
    params::conditions(parameters)
}

/// Answers a request, waiting for the rows if need be.
pub(crate) async fn answer(exchange: &Exchange<'_>, target: &str, flight: SingleFlight<'_>) -> Result<Response<Body>> {
    let service = &exchange.app.service;
    let (name, _) = split(&service.catalog().snapshot(), target);
    let snapshot = service.snapshot_with(name).await;
    let ask = parse(exchange, &snapshot, target)?;
    if let Some(response) = ask.heading.unchanged(exchange) {
        return Ok(response);
    }
    let rows = service.read(exchange.caller, &snapshot, ask.name, &ask.query).await?;
    let links = page::links(exchange, &rows)?;
    respond::rows(exchange, &ask.heading, rows, links, flight).await
}

/// Answers a request that takes microseconds; `None` means "use [`answer`]".
pub(crate) fn answer_now(exchange: &Exchange<'_>, snapshot: &Snapshot, target: &str) -> Option<Result<Response<Body>>> {
    // Names that are unknown, or still loading, are left to `answer`, which can wait.
    snapshot.resolve(split(snapshot, target).0).ok()?;
    let ask = match parse(exchange, snapshot, target) {
        Ok(ask) => ask,
        Err(error) => return Some(Err(error)),
    };
    if let Some(response) = ask.heading.unchanged(exchange) {
        return Some(Ok(response));
    }
    let rows = exchange.app.service.read_now(snapshot, ask.name, &ask.query)?;
    match rows.and_then(|rows| Ok((page::links(exchange, &rows)?, rows))) {
        Ok((links, rows)) => respond::rows_now(exchange, &ask.heading, &rows, links),
        Err(error) => Some(Err(error)),
    }
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

fn parse<'a>(exchange: &Exchange<'_>, snapshot: &Snapshot, target: &'a str) -> Result<TableRequest<'a>> {
    let (name, suffix) = split(snapshot, target);
    let description = snapshot.resolve(name)?.describe();
    let mut query = Query::default();
    let named = if exchange.query.is_empty() {
        None
    } else {
        params::read(&parameters(exchange.query)?, description, &mut query)?
    };
    let choice = exchange.choose(suffix, named.as_deref())?;
    let version = exchange.answer_version(description.version, choice.media_type);
    Ok(TableRequest { name, query, heading: Heading { choice, title: name.to_owned(), version } })
}
