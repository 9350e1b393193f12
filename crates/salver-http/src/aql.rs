//! AQL, ArangoDB's query language, as far as exports need it: `FOR d IN c FILTER .. SORT .. LIMIT .. RETURN ..` over
//! one entry, with bind variables (<https://docs.arango.ai/arangodb/stable/aql/>).
//!
//! The lexer turns the text into tokens, the parser turns these into a statement (`syntax`), and `compile` turns that
//! into a query of the model. `condition` compiles FILTER, `columns` resolves fields, and `kind` classifies values
//! whose types never compare equal. AQL that is valid but not supported here is refused with an error; no clause is
//! ignored silently.

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
pub(crate) use compile::{Compiled, ResultShape, compile};
pub(crate) use parser::parse;

/// An error in a query text, with ArangoDB's error number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// ArangoDB's error number.
    pub(crate) number: u16,
    /// The error message.
    pub(crate) message: String,
}

/// Not implemented.
pub(crate) const NOT_IMPLEMENTED: u16 = 9;
/// Only reads are possible.
pub(crate) const READ_ONLY: u16 = 1004;
/// The text is not AQL.
pub(crate) const QUERY_PARSE: u16 = 1501;
/// The text is empty.
pub(crate) const QUERY_EMPTY: u16 = 1502;
/// A number is outside the range allowed at its position.
pub(crate) const NUMBER_OUT_OF_RANGE: u16 = 1504;
/// A variable is not declared.
pub(crate) const VARIABLE_NAME_UNKNOWN: u16 = 1512;
/// A limit on size or nesting depth is exceeded.
pub(crate) const TOO_MUCH_NESTING: u16 = 1524;
/// A bind variable has no value.
pub(crate) const BIND_PARAMETER_MISSING: u16 = 1551;
/// A value is given for a bind variable that the query does not have.
pub(crate) const BIND_PARAMETER_UNDECLARED: u16 = 1552;
/// The value of a bind variable has a type that is not allowed at its position.
pub(crate) const BIND_PARAMETER_TYPE: u16 = 1553;

impl Mistake {
    fn new(number: u16, message: impl Into<String>) -> Self {
        Self { number, message: message.into() }
    }
}
