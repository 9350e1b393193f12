//! Statements without preparation: what they give is told first, with a ticket for which they run.

use std::sync::Arc;

use arrow_flight::sql::{ProstMessageExt, TicketStatementQuery};
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, Ticket as WireTicket};
use bytes::Bytes;
use prost::Message;
use salver_model::{Result, SqlParameters, SqlQuery, TypedValue};
use salver_service::reception::Welcome;

use arrow::datatypes::Schema;

use super::outflow::{Outflow, portable};
use super::refusal::unwritable;
use super::statement;

/// Number of rows that is not known.
pub(super) const UNKNOWN_ROWS: i64 = -1;

/// Runs a statement with these values.
///
/// # Errors
/// Those of the service.
pub(super) async fn run(welcome: Arc<Welcome>, text: String, values: Vec<TypedValue>) -> Result<Outflow> {
    let parameters = if values.is_empty() { SqlParameters::None } else { SqlParameters::Typed(values) };
    let query = SqlQuery { text, parameters, sees_system_catalog: true, ..SqlQuery::default() };
    let rows = statement::run(&welcome, &query).await?;
    Ok(Outflow::of(rows, welcome))
}

/// Returns the ticket with these bytes, as those of statements are.
pub(super) fn ticket_of(sealed: Bytes) -> WireTicket {
    let ticket = TicketStatementQuery { statement_handle: sealed };
    WireTicket::new(ticket.as_any().encode_to_vec())
}

/// Returns what is told of rows before they are fetched; without their columns where only the rows know them.
///
/// # Errors
/// `Internal` for columns that can't be written.
pub(super) fn info_of(
    descriptor: FlightDescriptor,
    schema: Option<&Schema>,
    tickets: Vec<WireTicket>,
) -> Result<FlightInfo> {
    let info = match schema {
        Some(schema) => FlightInfo::new().try_with_schema(portable(schema).schema()).map_err(unwritable)?,
        None => FlightInfo::new(),
    };
    let endpoints = tickets.into_iter().map(|ticket| FlightEndpoint::new().with_ticket(ticket)).collect();
    Ok(info.with_descriptor(descriptor).with_endpoints(endpoints).with_total_records(UNKNOWN_ROWS).with_total_bytes(-1))
}
