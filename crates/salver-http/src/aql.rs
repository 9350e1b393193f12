//! AQL, ArangoDB's query language, as far as exports need it: `FOR d IN c FILTER .. SORT .. LIMIT .. RETURN ..` over
//! one entry, with bind variables (<https://docs.arango.ai/arangodb/stable/aql/>).
//!
//! A text becomes tokens (`lexer`), these a statement (`parser`, with the words of `syntax`), and that a query of the
//! model (`compile`, with `condition` for what stands behind FILTER, `columns` for what a field is, and `kind` for what
//! is never equal). Whatever is AQL but not understood here is said to be so; nothing is left out in silence.

mod bind;
mod columns;
mod compile;
mod condition;
mod kind;
mod lexer;
mod parser;
mod syntax;
#[cfg(test)]
mod tests;

pub(crate) use bind::{Binds, scalar, wrong_type};
pub(crate) use compile::{Compiled, Shape, compile};
pub(crate) use parser::parse;

/// Why a text is no query, by ArangoDB's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// ArangoDB's number of the error.
    pub(crate) number: u16,
    /// What is wrong.
    pub(crate) message: String,
}

/// Not implemented.
pub(crate) const NOT_IMPLEMENTED: u16 = 9;
/// Only reading is possible.
pub(crate) const READ_ONLY: u16 = 1004;
/// The text is not AQL.
pub(crate) const QUERY_PARSE: u16 = 1501;
/// There is no text.
pub(crate) const QUERY_EMPTY: u16 = 1502;
/// A number is not in the range its place demands.
pub(crate) const NUMBER_OUT_OF_RANGE: u16 = 1504;
/// A variable is not declared.
pub(crate) const VARIABLE_NAME_UNKNOWN: u16 = 1512;
/// There is too much of something, or it is nested too deeply.
pub(crate) const TOO_MUCH_NESTING: u16 = 1524;
/// A bind variable has no value.
pub(crate) const BIND_PARAMETER_MISSING: u16 = 1551;
/// A value is given for a bind variable that the query does not have.
pub(crate) const BIND_PARAMETER_UNDECLARED: u16 = 1552;
/// The value of a bind variable can't stand where the variable does.
pub(crate) const BIND_PARAMETER_TYPE: u16 = 1553;

impl Mistake {
    fn new(number: u16, message: impl Into<String>) -> Self {
        Self { number, message: message.into() }
    }
}
