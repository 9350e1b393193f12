//! Requests other than a [`crate::Query`] of one entry.

use crate::parameter::TypedValue;
use crate::pg_parameter::PgValue;
use crate::value::Value;

/// Values of a statement's placeholders.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SqlParameters {
    /// No placeholders.
    #[default]
    None,
    /// `$1`, `$2`, ... or `?` in order.
    Positional(Vec<Value>),
    /// `$name`.
    Named(Vec<(String, Value)>),
    /// `$name`, or `$1`, `$2`, ... in order, each of a type.
    Typed(Vec<TypedValue>),
    /// `$1`, `$2`, ... in order, each of a type of PostgreSQL.
    Exact(Vec<PgValue>),
}

/// SQL statement. Only statements that read are accepted, by an allow-list over the parsed statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqlQuery {
    /// Text of the statement, in DataFusion's dialect.
    pub text: String,
    /// Parameters of the statement.
    pub parameters: SqlParameters,
    /// Whether it may only call user functions that GET may call too.
    pub is_safe: bool,
    /// Whether it is of a client of PostgreSQL: it may name the system catalog, and its columns are told as PostgreSQL
    /// names them, too.
    pub sees_system_catalog: bool,
}
