//! Limits on the length of names and numbers.

use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, TableFactor};
use datafusion::sql::sqlparser::tokenizer::Token;
use salver_model::limits::SQL_NAME_BYTES_MAX;
use salver_model::{Code, Error, Result};

/// Checks a token.
pub(super) fn token(token: &Token) -> Result<()> {
    match token {
        Token::Word(word) if word.value.len() > SQL_NAME_BYTES_MAX => Err(too_long("name")),
        Token::Placeholder(name) if name.len() > SQL_NAME_BYTES_MAX => Err(too_long("name")),
        Token::Number(digits, _) if digits.len() > SQL_NAME_BYTES_MAX => Err(too_long("number")),
        _ => Ok(()),
    }
}

/// Checks the names of an expression, of which some can also be written as texts.
pub(super) fn of_expr(expr: &Expr) -> Result<()> {
    match expr {
        Expr::Identifier(ident) => named(ident),
        Expr::CompoundIdentifier(parts) => parts.iter().try_for_each(named),
        Expr::Function(function) => of_object(&function.name),
        _ => Ok(()),
    }
}

/// Checks the name of a table or function.
pub(super) fn of_object(name: &ObjectName) -> Result<()> {
    name.0.iter().filter_map(ObjectNamePart::as_ident).try_for_each(named)
}

/// Checks the alias of a table.
pub(super) fn of_table(table: &TableFactor) -> Result<()> {
    let (TableFactor::Table { alias: Some(alias), .. }
    | TableFactor::Derived { alias: Some(alias), .. }
    | TableFactor::Function { alias: Some(alias), .. }
    | TableFactor::UNNEST { alias: Some(alias), .. }
    | TableFactor::NestedJoin { alias: Some(alias), .. }) = table
    else {
        return Ok(());
    };
    named(&alias.name)?;
    alias.columns.iter().try_for_each(|column| named(&column.name))
}

fn named(ident: &Ident) -> Result<()> {
    if ident.value.len() > SQL_NAME_BYTES_MAX { Err(too_long("name")) } else { Ok(()) }
}

fn too_long(what: &str) -> Error {
    let message = format!("a {what} of the statement has more than {SQL_NAME_BYTES_MAX} bytes");
    Error::new(Code::InvalidSql, message).with_hint("write what is a text in single quotes, or pass it as a parameter")
}
