//! What a door may ask beside a [`crate::Query`] of one entry.

use crate::value::Value;

/// Values for the placeholders of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SqlParameters {
    /// No placeholders.
    #[default]
    None,
    /// `$1`, `$2`, ... or `?` in order.
    Positional(Vec<Value>),
    /// `$name`.
    Named(Vec<(String, Value)>),
}

/// One SQL statement. Only statements that read are accepted, by an allow-list over the parsed statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqlQuery {
    /// The statement, in DataFusion's dialect.
    pub text: String,
    /// Its parameters.
    pub parameters: SqlParameters,
    /// Whether it may only call functions of files that GET may call too.
    pub is_safe: bool,
}
