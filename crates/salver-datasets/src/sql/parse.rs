//! Parses a text into one statement, with limits that hold for any text: neither nesting nor chains of operators are
//! deep enough to overflow a stack.

use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use salver_model::limits::SQL_WORDS_MAX;
use salver_model::{Code, Error, Result, SqlParameters, SqlQuery};

use super::grammar::{self, Grammar};
use super::{bounds, from_first, parameters, question_marks, shown_integers, type_names};
use crate::sql_allowlist;

/// Parses the only statement of a request and binds its parameters. The tree may be too deep for the stacks of threads
/// other than the engine's.
pub(super) fn parse(query: &SqlQuery) -> Result<Statement> {
    parse_within(query, SQL_WORDS_MAX)
}

/// Parses a statement that has at most `words_max` words and operators, and so at most as many levels.
pub(super) fn parse_within(query: &SqlQuery, words_max: usize) -> Result<Statement> {
    let mut statement = parse_tokens(&query.text, words_max, |tokens| match &query.parameters {
        SqlParameters::Typed(_) | SqlParameters::Exact(_) => {
            parameters::bind(parameters::numbered(tokens), &query.parameters)
        }
        others => parameters::bind(tokens, others),
    })?;
    if matches!(query.parameters, SqlParameters::Exact(_)) {
        shown_integers::keep(&mut statement);
    }
    Ok(statement)
}

/// Parses a statement whose placeholders stay in it, those without a number by their place.
pub(super) fn parse_open(text: &str) -> Result<Statement> {
    parse_tokens(text, SQL_WORDS_MAX, |tokens| Ok(parameters::numbered(tokens)))
}

/// Returns the placeholders of a statement, in order and with repeats.
pub(super) fn placeholders(text: &str) -> Result<Vec<Placeholder>> {
    let tokens = tokens(&Grammar::default(), text)?;
    let found = tokens.into_iter().filter_map(|token| match token.token {
        Token::Placeholder(text) => {
            Some(Placeholder { text, line: token.span.start.line, column: token.span.start.column })
        }
        _ => None,
    });
    Ok(found.collect())
}

/// A placeholder in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// How it is written: `$name`, `$1` or `?`.
    pub(super) text: String,
    /// Line in the statement, from 1.
    pub(super) line: u64,
    /// Column in the line, from 1.
    pub(super) column: u64,
}

fn tokens(grammar: &Grammar, text: &str) -> Result<Vec<TokenWithSpan>> {
    Tokenizer::new(grammar, text)
        .tokenize_with_location()
        .map(question_marks::read)
        .map_err(|error| fault(ParserError::TokenizerError(error.to_string())))
}

fn parse_tokens(
    text: &str,
    words_max: usize,
    bind: impl FnOnce(Vec<TokenWithSpan>) -> Result<Vec<TokenWithSpan>>,
) -> Result<Statement> {
    let grammar = Grammar::default();
    let tokens = tokens(&grammar, text)?;
    bounds::check_tokens(&tokens, words_max)?;
    let first_word = tokens.iter().find_map(|token| match &token.token {
        Token::Word(word) => Some(word.value.clone()),
        _ => None,
    });
    let tokens = grammar::write_tables_out(bind(tokens)?);
    let tokens = from_first::write_selects_out(tokens);
    grammar.allow(tokens.len());
    let mut statements = Parser::new(&grammar)
        .with_recursion_limit(bounds::PARSER_LEVELS)
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|error| match first_word.as_deref().map(sql_allowlist::check_first_word) {
            Some(Err(refused)) => refused,
            _ if grammar.is_spent() => bounds::too_many_readings(),
            _ => fault(error),
        })?;
    match (statements.pop(), statements.len()) {
        (Some(mut statement), 0) => {
            bounds::check(&statement)?;
            type_names::write_plainly(&mut statement);
            Ok(statement)
        }
        (None, _) => Err(Error::new(Code::InvalidSql, "there is no statement")
            .with_hint("write one, as in `SELECT * FROM a_table LIMIT 10`")),
        (Some(_), more) => {
            Err(Error::new(Code::InvalidSql, format!("there are {} statements, and one is run at a time", more + 1))
                .with_hint("send them one by one"))
        }
    }
}

fn fault(error: ParserError) -> Error {
    let (ParserError::ParserError(text) | ParserError::TokenizerError(text)) = error else {
        return bounds::too_deep_to_read();
    };
    // The parser writes "... at Line: 1, Column: 14".
    let text = text.replace(" at Line: ", " at line ").replace(", Column: ", ", column ");
    let hint = match text.split_once("found: ").map_or("", |(_, found)| found) {
        found if found.starts_with("EOF") => "the statement ends too early",
        found if found.to_ascii_lowercase().starts_with("exclude") => {
            "a window has no `exclude` here; take away what it leaves out, as `current row` in `sum(x) over (...) - x`"
        }
        _ => "check the spelling there",
    };
    Error::new(Code::InvalidSql, text).with_hint(hint)
}
