//! Prepared statements: kept for the caller who prepared them, with the values of their parameters.

use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::Schema;
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::sql::ActionCreatePreparedStatementResult;
use arrow_flight::{IpcMessage, SchemaAsIpc};
use bytes::Bytes;
use salver_model::limits::{FLIGHT_STATEMENT_TTL_S, FLIGHT_STATEMENTS_KIB_MAX, FLIGHT_STATEMENTS_MAX};
use salver_model::{Code, Error, Holder, ParameterType, Result, Share, Shares, TypedValue, Value};
use salver_service::exports::{Lease, Leases};

use super::admission::Admitted;
use super::outflow::portable;
use super::parameters;
use super::refusal::unwritable;
use super::statement;
use super::tickets::{Ticket, Tickets, unknown};

/// The prepared statements of all callers.
#[derive(Debug)]
pub(super) struct PreparedStatements {
    kept: Leases<Prepared>,
    memory: Arc<Shares>,
}

/// A prepared statement.
#[derive(Debug)]
struct Prepared {
    text: Arc<str>,
    parameters: Vec<ParameterType>,
    /// Values, once they were sent.
    values: Vec<TypedValue>,
    _text_memory: Share,
    values_memory: Option<Share>,
}

impl Lease for Prepared {}

/// A prepared statement that can run.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) text: String,
    pub(super) values: Vec<TypedValue>,
}

impl Default for PreparedStatements {
    fn default() -> Self {
        Self {
            kept: Leases::new("statements of Arrow Flight", FLIGHT_STATEMENTS_MAX),
            memory: Shares::new("memory for statements of Arrow Flight", FLIGHT_STATEMENTS_KIB_MAX),
        }
    }
}

impl PreparedStatements {
    /// Prepares a statement.
    ///
    /// # Errors
    /// Those of the service, `Overloaded`.
    pub(super) async fn prepare(
        &self,
        admitted: &Admitted,
        tickets: &Tickets,
        text: &str,
    ) -> Result<ActionCreatePreparedStatementResult> {
        let found = statement::describe(&admitted.welcome, text, &[]).await?;
        let holder = admitted.welcome.caller.holder();
        let parameter_schema = written(&parameters::schema(&found.parameters))?;
        let prepared = Prepared {
            text: text.into(),
            _text_memory: self.memory_for(&holder, text.len())?,
            parameters: found.parameters,
            values: Vec::new(),
            values_memory: None,
        };
        let id = self.kept.open(&holder, prepared, Duration::from_secs(FLIGHT_STATEMENT_TTL_S))?;
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: tickets.seal(&admitted.owner, &Ticket::Prepared(id)),
            dataset_schema: written(portable(&found.columns).schema())?,
            parameter_schema,
        })
    }

    /// Returns what the statement takes its parameters for.
    ///
    /// # Errors
    /// `NotFound` if there is no such statement.
    pub(super) fn parameters(&self, id: u64) -> Result<Vec<ParameterType>> {
        self.kept.touch(id, |own| own.parameters.clone()).map_err(|_| unknown())
    }

    /// Binds values.
    ///
    /// # Errors
    /// `NotFound`, `Overloaded`.
    pub(super) fn bind(&self, holder: &Holder, id: u64, values: Vec<TypedValue>) -> Result<()> {
        let memory = self.memory_for(holder, values.iter().map(bytes).sum())?;
        let bound = self.kept.touch(id, |own| {
            own.values = values;
            own.values_memory = Some(memory);
        });
        bound.map_err(|_| unknown())
    }

    /// Returns a statement as it is to run.
    ///
    /// # Errors
    /// `NotFound`, and `InvalidValue` if values are missing.
    pub(super) fn bound(&self, id: u64) -> Result<Bound> {
        let found = self.kept.touch(id, |own| (own.parameters.len(), own.text.to_string(), own.values.clone()));
        let (count, text, values) = found.map_err(|_| unknown())?;
        if values.len() == count {
            return Ok(Bound { text, values });
        }
        Err(Error::new(Code::InvalidValue, format!("no values for the {count} parameters of the statement"))
            .with_hint("bind a row of values first"))
    }

    /// Returns the columns of a statement with the types of the values that are bound, or else with those that it
    /// tells.
    ///
    /// # Errors
    /// `NotFound`, and those of the service.
    pub(super) async fn columns(&self, admitted: &Admitted, id: u64) -> Result<Arc<Schema>> {
        let found = self.kept.touch(id, |own| {
            let kinds: Vec<_> = own.values.iter().map(|value| Some(value.kind)).collect();
            (own.text.to_string(), kinds)
        });
        let (text, kinds) = found.map_err(|_| unknown())?;
        Ok(statement::describe(&admitted.welcome, &text, &kinds).await?.columns)
    }

    /// Closes a statement, if it is there.
    pub(super) fn close(&self, id: u64) {
        let _ = self.kept.remove(id);
    }

    fn memory_for(&self, holder: &Holder, bytes: usize) -> Result<Share> {
        self.memory.try_take_many(holder, bytes / 1024 + 1).ok_or_else(|| {
            Error::new(Code::Overloaded, "there is no memory for more prepared statements")
                .with_hint("close those that are done")
        })
    }
}

fn bytes(value: &TypedValue) -> usize {
    let text = match &value.value {
        Some(Value::Text(text) | Value::Bare(text)) => text.len(),
        _ => 0,
    };
    size_of::<TypedValue>() + text
}

/// Returns columns as they stand in messages.
///
/// # Errors
/// `Internal` for columns that can't be written.
pub(super) fn written(schema: &Schema) -> Result<Bytes> {
    let message: IpcMessage = SchemaAsIpc::new(schema, &IpcWriteOptions::default()).try_into().map_err(unwritable)?;
    Ok(message.0)
}
