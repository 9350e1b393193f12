//! Locates the name in a planning error in the text of the statement.

use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use salver_model::Error;

use crate::fault;

/// Returns the error for the client, with line and column if these are known.
pub(super) fn place(error: DataFusionError, text: &str) -> Error {
    let found = name(&error).and_then(|name| find(&name, text));
    let mut error = fault::planning(error);
    if let Some((line, column)) = found {
        error.message.push_str(&format!(" at line {line}, column {column}"));
    }
    error
}

fn name(error: &DataFusionError) -> Option<String> {
    match error.find_root() {
        DataFusionError::SchemaError(schema, _) => Some(match &**schema {
            SchemaError::FieldNotFound { field, .. } | SchemaError::AmbiguousReference { field } => field.name.clone(),
            SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
                name.clone()
            }
        }),
        DataFusionError::Plan(message) => message.split('\'').nth(1).map(str::to_owned),
        _ => None,
    }
}

fn find(name: &str, text: &str) -> Option<(u64, u64)> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize_with_location().ok()?;
    tokens.iter().find_map(|token| match &token.token {
        Token::Word(word) if word.value.eq_ignore_ascii_case(name) => {
            Some((token.span.start.line, token.span.start.column))
        }
        _ => None,
    })
}
