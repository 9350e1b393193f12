//! What can be called, and what it comes to: descriptors, tickets and actions are read here, and what they ask is done
//! elsewhere.

use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow_flight::flight_descriptor::DescriptorType;
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest, Any, Command,
    DoPutPreparedStatementResult, ProstMessageExt,
};
use arrow_flight::{Action, FlightData, FlightDescriptor, FlightInfo, Ticket as WireTicket};
use bytes::Bytes;
use prost::Message;
use salver_model::{Code, Error, Permission};
use salver_service::reception::Reception;
use tonic::{Status, Streaming};

use super::admission::Admitted;
use super::logins::Logins;
use super::outflow::{self, Account};
use super::parameters::{self, ReceivedRows};
use super::prepared::PreparedStatements;
use super::query;
use super::refusal::{not_offered, read_only, unreadable};
use super::row_body::Messages;
use super::table::HeldTables;
use super::tickets::{Ticket, Tickets, unknown};
use super::{listing, refusal, statement};

/// Names of the actions.
pub(super) const PREPARE: &str = "CreatePreparedStatement";
pub(super) const CLOSE: &str = "ClosePreparedStatement";

/// The one service, shared by all connections.
#[derive(Debug)]
pub(super) struct Door {
    reception: Arc<dyn Reception>,
    logins: Arc<Logins>,
    /// Largest message of a client, in bytes.
    message_bytes_max: usize,
    tickets: Tickets,
    prepared: PreparedStatements,
    tables: Arc<HeldTables>,
}

impl Door {
    pub(super) fn new(reception: Arc<dyn Reception>, logins: Arc<Logins>, message_bytes_max: usize) -> Self {
        let (tickets, prepared, tables) = (Tickets::default(), PreparedStatements::default(), Arc::default());
        Self { reception, logins, message_bytes_max, tickets, prepared, tables }
    }

    /// Returns what the client is told of an error.
    pub(super) fn told(&self, error: Error) -> Status {
        refusal::status(self.reception.disclose(error))
    }

    /// Gives the caller a token in place of the password that it sent.
    pub(super) fn log_in(&self, admitted: &Admitted) -> Result<String, Status> {
        let login = admitted.login.clone().ok_or_else(|| {
            Status::unauthenticated("a handshake begins with `authorization: Basic`, which has user and password")
        })?;
        self.logins.keep(&admitted.welcome.caller.holder(), login).map_err(|error| self.told(error))
    }

    /// Tells what a descriptor gives, and the tickets for it.
    pub(super) async fn info(&self, admitted: &Admitted, descriptor: FlightDescriptor) -> Result<FlightInfo, Status> {
        let account = self.account();
        if descriptor.r#type == DescriptorType::Path as i32 {
            let opened = self.tables.open(admitted, &self.tickets, descriptor).await;
            return opened.map_err(|error| account.refuse(error));
        }
        let command = command_of(&descriptor.cmd)?;
        let (schema, ticket) = match &command {
            Command::CommandStatementQuery(asked) => {
                let columns = self.statement_columns(admitted, &asked.query).await;
                let columns = columns.map_err(|error| account.refuse(error))?;
                let sealed = self.tickets.seal(&admitted.owner, &Ticket::Statement(asked.query.clone()));
                (Some(columns), query::ticket_of(sealed))
            }
            Command::CommandPreparedStatementQuery(asked) => {
                let columns = self.columns_to_come(admitted, &asked.prepared_statement_handle).await;
                let columns = columns.map_err(|error| account.refuse(error))?;
                (columns, WireTicket::new(descriptor.cmd.clone()))
            }
            other => (Some(self.listed_columns(other)?), WireTicket::new(descriptor.cmd.clone())),
        };
        query::info_of(descriptor, schema.as_deref(), vec![ticket]).map_err(|error| self.told(error))
    }

    /// Tells the columns of what a descriptor gives.
    pub(super) async fn schema(
        &self,
        admitted: &Admitted,
        descriptor: FlightDescriptor,
    ) -> Result<Arc<Schema>, Status> {
        if descriptor.r#type == DescriptorType::Path as i32 {
            let name = descriptor.path.first().ok_or_else(|| unreadable("a path without a name"))?;
            let service = &admitted.welcome.service;
            let snapshot = service.snapshot_with(&admitted.welcome.caller, Permission::Export, name).await;
            let table = snapshot.resolve(name).map_err(|error| self.told(error))?;
            return Ok(Arc::clone(&table.describe().schema));
        }
        let account = self.account();
        let command = command_of(&descriptor.cmd)?;
        let columns = match &command {
            Command::CommandStatementQuery(asked) => self.statement_columns(admitted, &asked.query).await,
            Command::CommandPreparedStatementQuery(asked) => {
                let id = self.prepared_id(admitted, &asked.prepared_statement_handle);
                match id {
                    Ok(id) => self.prepared.columns(admitted, id).await,
                    Err(error) => Err(error),
                }
            }
            other => return self.listed_columns(other),
        };
        columns.map_err(|error| account.refuse(error))
    }

    /// Sends the rows of a ticket.
    pub(super) async fn rows(&self, admitted: Admitted, ticket: &WireTicket) -> Result<Messages, Status> {
        let account = self.account();
        let welcome = admitted.welcome;
        let sealed = match command_of(&ticket.ticket)? {
            Command::TicketStatementQuery(own) => own.statement_handle,
            Command::CommandPreparedStatementQuery(own) => own.prepared_statement_handle,
            other => {
                let listed = listing::rows(&other, &welcome).transpose().ok_or_else(|| not_asked(&other))?;
                return outflow::of_batch(listed, welcome, account);
            }
        };
        let rows = match self.tickets.open(&admitted.owner, &sealed) {
            Ok(Ticket::Statement(text)) => query::run(welcome, text, Vec::new()).await,
            Ok(Ticket::Prepared(id)) => match self.prepared.bound(id) {
                Ok(bound) => query::run(welcome, bound.text, bound.values).await,
                Err(error) => Err(error),
            },
            Ok(Ticket::Table { id, share }) => self.tables.read(welcome, id, share),
            Err(error) => Err(error),
        };
        match rows {
            Ok(rows) => Ok(rows.send(account)),
            Err(error) => Err(account.refuse(error)),
        }
    }

    /// Takes what a client sends: the values of a prepared statement, and nothing else.
    pub(super) async fn take(&self, admitted: &Admitted, messages: Streaming<FlightData>) -> Result<Bytes, Status> {
        let mut messages = messages;
        let first = messages.message().await?.ok_or_else(|| unreadable("an upload without a message"))?;
        let descriptor =
            first.flight_descriptor.as_ref().ok_or_else(|| unreadable("an upload without a descriptor"))?;
        let handle = match command_of(&descriptor.cmd)? {
            Command::CommandPreparedStatementQuery(asked) => asked.prepared_statement_handle,
            Command::CommandStatementUpdate(_)
            | Command::CommandPreparedStatementUpdate(_)
            | Command::CommandStatementIngest(_) => return Err(read_only()),
            other => return Err(not_asked(&other)),
        };
        let mut received = ReceivedRows::default();
        let mut next = Some(first);
        while let Some(message) = next {
            received.add(&message, self.message_bytes_max).map_err(|error| self.told(error))?;
            next = messages.message().await?;
        }
        self.bind(admitted, &handle, received).map_err(|error| self.told(error))?;
        let result = DoPutPreparedStatementResult { prepared_statement_handle: Some(handle) };
        Ok(result.encode_to_vec().into())
    }

    fn bind(&self, admitted: &Admitted, handle: &[u8], received: ReceivedRows) -> salver_model::Result<()> {
        let id = self.prepared_id(admitted, handle)?;
        let kinds = self.prepared.parameters(id)?;
        let values = parameters::values(&received.row(self.message_bytes_max)?, &kinds)?;
        self.prepared.bind(&admitted.welcome.caller.holder(), id, values)
    }

    /// Does an action; returns what it answers.
    pub(super) async fn act(&self, admitted: &Admitted, action: &Action) -> Result<Option<Bytes>, Status> {
        let any = || Any::decode(&*action.body).map_err(|_| unreadable("the body of the action"));
        match action.r#type.as_str() {
            PREPARE => {
                let asked: ActionCreatePreparedStatementRequest = unpacked(&any()?)?;
                let account = self.account();
                let prepared = self.prepared.prepare(admitted, &self.tickets, &asked.query).await;
                let prepared = prepared.map_err(|error| account.refuse(error))?;
                Ok(Some(prepared.as_any().encode_to_vec().into()))
            }
            CLOSE => {
                let asked: ActionClosePreparedStatementRequest = unpacked(&any()?)?;
                let id = self.prepared_id(admitted, &asked.prepared_statement_handle);
                self.prepared.close(id.map_err(|error| self.told(error))?);
                Ok(None)
            }
            "BeginTransaction" | "EndTransaction" | "BeginSavepoint" | "EndSavepoint" => {
                Err(not_offered("transactions are", "leave them out: each statement sees the data of its moment"))
            }
            "CreatePreparedSubstraitPlan" => Err(not_offered("plans of Substrait are", "send SQL")),
            "CancelQuery" | "CancelFlightInfo" => {
                Err(not_offered("cancelling by an action is", "end the call that fetches the rows, which cancels it"))
            }
            other => {
                let shown: String = other.chars().take(40).collect();
                Err(not_offered(&format!("the action `{shown}` is"), &format!("there are {PREPARE} and {CLOSE}")))
            }
        }
    }

    /// Lists the tables that the caller can fetch whole.
    pub(super) fn tables(&self, admitted: &Admitted) -> Result<Vec<FlightInfo>, Status> {
        let snapshot = admitted.welcome.service.snapshot(&admitted.welcome.caller, Permission::Export);
        let infos = snapshot.entries().filter_map(|entry| {
            let table = entry.table()?;
            let description = table.describe();
            let descriptor = FlightDescriptor::new_path(vec![entry.name.to_string()]);
            let rows = description.rows.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(query::UNKNOWN_ROWS);
            let info = query::info_of(descriptor, Some(&description.schema), Vec::new());
            Some(info.map(|info| info.with_total_records(rows)).map_err(|error| self.told(error)))
        });
        infos.collect()
    }

    fn account(&self) -> Account {
        Account::begin(&self.reception)
    }

    async fn statement_columns(&self, admitted: &Admitted, text: &str) -> salver_model::Result<Arc<Schema>> {
        let found = statement::describe(&admitted.welcome, text, &[]).await?;
        if found.parameters.is_empty() {
            return Ok(found.columns);
        }
        let message = format!("no values for the {} parameters of the statement", found.parameters.len());
        Err(Error::new(Code::InvalidValue, message).with_hint("prepare it, and bind a row of values"))
    }

    /// Returns the columns of a prepared statement that is about to run; `None` where values are bound, whose own
    /// types, like the scale of a decimal, decide about columns.
    async fn columns_to_come(&self, admitted: &Admitted, handle: &[u8]) -> salver_model::Result<Option<Arc<Schema>>> {
        let id = self.prepared_id(admitted, handle)?;
        match self.prepared.bound(id)?.values.is_empty() {
            true => self.prepared.columns(admitted, id).await.map(Some),
            false => Ok(None),
        }
    }

    fn prepared_id(&self, admitted: &Admitted, handle: &[u8]) -> salver_model::Result<u64> {
        match self.tickets.open(&admitted.owner, handle)? {
            Ticket::Prepared(id) => Ok(id),
            Ticket::Statement(_) | Ticket::Table { .. } => Err(unknown()),
        }
    }

    fn listed_columns(&self, command: &Command) -> Result<Arc<Schema>, Status> {
        let columns = listing::columns(command).map_err(|error| self.told(error))?;
        columns.ok_or_else(|| not_asked(command))
    }
}

/// Reads a command.
fn command_of(bytes: &[u8]) -> Result<Command, Status> {
    let any = Any::decode(bytes).map_err(|_| unreadable("the command or ticket"))?;
    Command::try_from(any).map_err(|_| unreadable("the command or ticket"))
}

fn unpacked<M: ProstMessageExt>(any: &Any) -> Result<M, Status> {
    any.unpack().ok().flatten().ok_or_else(|| unreadable("the body of the action"))
}

/// Returns the refusal of a command that has no place where it was sent.
fn not_asked(command: &Command) -> Status {
    match command {
        Command::CommandStatementUpdate(_)
        | Command::CommandPreparedStatementUpdate(_)
        | Command::CommandStatementIngest(_) => read_only(),
        Command::CommandStatementSubstraitPlan(_) => not_offered("plans of Substrait are", "send SQL"),
        other => {
            let name = other.type_url().rsplit(['.', '/']).next().unwrap_or_default();
            let shown: String = name.chars().take(40).collect();
            Status::invalid_argument(format!("`{shown}` can't be asked here"))
        }
    }
}
