//! Runs and plans statements for callers that were let in. Only one that needs a table which is being loaded waits for
//! it.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use salver_model::pg_parameter::Element;
use salver_model::pg_type::{PG_NAME, PG_OIDS, Scalar};
use salver_model::ports::{StatementDescription, StatementQuestion};
use salver_model::{Code, Error, ParameterType, Permission, PgParameter, Result, Rows, SqlQuery};
use salver_service::reception::Welcome;

/// What a statement takes and gives.
#[derive(Debug)]
pub(super) struct Described {
    /// Types of the parameters, in order.
    pub(super) parameters: Vec<ParameterType>,
    /// Columns of the rows.
    pub(super) columns: SchemaRef,
}

/// Runs a statement.
///
/// # Errors
/// Those of [`salver_service::Service::sql`].
pub(super) async fn run(welcome: &Welcome, query: &SqlQuery) -> Result<Rows> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    let rows = match service.sql(caller, &snapshot, query).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.sql(caller, &settled, query).await
        }
        rows => rows,
    };
    rows.map(|rows| Rows { schema: told(&rows.schema), ..rows })
}

/// Plans a statement, of whose parameters some types are known, and returns what it takes and gives.
///
/// # Errors
/// Those of [`salver_service::Service::describe_statement`].
pub(super) async fn describe(welcome: &Welcome, text: &str, types: &[Option<ParameterType>]) -> Result<Described> {
    let types: Vec<Option<PgParameter>> = types.iter().map(|kind| kind.map(exact)).collect();
    let found = planned(welcome, StatementQuestion { text, types: &types, wants_columns: true }).await?;
    let columns =
        found.columns.ok_or_else(|| Error::internal("a statement was planned, and its columns are not known"))?;
    let parameters = found.parameters.into_iter().map(kind_of).collect();
    Ok(Described { parameters, columns: told(&columns) })
}

async fn planned(welcome: &Welcome, question: StatementQuestion<'_>) -> Result<StatementDescription> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    match service.describe_statement(caller, &snapshot, question).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.describe_statement(caller, &settled, question).await
        }
        found => found,
    }
}

/// Returns columns as clients are told them. Some compare what was told with what comes, and that a value can't be null
/// is only known of the values that a statement runs with.
fn told(columns: &Schema) -> SchemaRef {
    let fields = columns.fields().iter().map(|field| {
        let mut metadata = field.metadata().clone();
        metadata.remove(PG_NAME);
        metadata.remove(PG_OIDS);
        Field::clone(field).with_nullable(true).with_metadata(metadata)
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), columns.metadata().clone()))
}

/// Returns what a parameter of a type of PostgreSQL is taken for.
fn kind_of(parameter: PgParameter) -> ParameterType {
    match parameter.element {
        _ if parameter.is_array => ParameterType::Text,
        Element::Of(Scalar::Bool) => ParameterType::Boolean,
        Element::Of(Scalar::Int2 | Scalar::Int4 | Scalar::Int8 | Scalar::Oid) => ParameterType::Integer,
        Element::Of(Scalar::Float4 | Scalar::Float8 | Scalar::Numeric) => ParameterType::Number,
        Element::Of(Scalar::Date) => ParameterType::Date,
        Element::Of(Scalar::Timestamp) => ParameterType::Timestamp,
        _ => ParameterType::Text,
    }
}

/// Returns the type of PostgreSQL for a parameter.
fn exact(kind: ParameterType) -> PgParameter {
    PgParameter::of_scalar(match kind {
        ParameterType::Text => Scalar::Text,
        ParameterType::Integer => Scalar::Int8,
        ParameterType::Number => Scalar::Float8,
        ParameterType::Boolean => Scalar::Bool,
        ParameterType::Date => Scalar::Date,
        ParameterType::Timestamp => Scalar::Timestamp,
    })
}
