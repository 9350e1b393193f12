//! Text to one statement, with bounds that hold whatever the text is: no nesting and no chain of operators is deep
//! enough to exhaust a stack.

use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use salver_model::limits::SQL_DEPTH_MAX;
use salver_model::{Code, Error, Result, SqlQuery};

use super::parameters;
use crate::guard;

/// Most tokens beside commas and literals. Each of these may put the tree one level deeper, which is dropped and
/// visited recursively.
const TOKENS_MAX: usize = 4_000;

/// Parses the one statement of a request and puts the values of its parameters in.
pub(super) fn parse(query: &SqlQuery) -> Result<Statement> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, &query.text)
        .tokenize_with_location()
        .map_err(|error| fault(ParserError::TokenizerError(error.to_string())))?;
    bound(&tokens)?;
    let first_word = tokens.iter().find_map(|token| match &token.token {
        Token::Word(word) => Some(word.value.clone()),
        _ => None,
    });
    let tokens = parameters::bind(tokens, &query.parameters)?;
    let mut statements = Parser::new(&dialect)
        .with_recursion_limit(SQL_DEPTH_MAX)
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|error| match first_word.as_deref().map(guard::check_first_word) {
            Some(Err(refused)) => refused,
            _ => fault(error),
        })?;
    match (statements.pop(), statements.len()) {
        (Some(statement), 0) => Ok(statement),
        (None, _) => Err(Error::new(Code::InvalidSql, "there is no statement")
            .with_hint("write one, as in `SELECT * FROM a_table LIMIT 10`")),
        (Some(_), more) => {
            Err(Error::new(Code::InvalidSql, format!("there are {} statements, and one is run at a time", more + 1))
                .with_hint("send them one by one"))
        }
    }
}

fn bound(tokens: &[TokenWithSpan]) -> Result<()> {
    let deepens = |token: &&TokenWithSpan| {
        !matches!(
            token.token,
            Token::Whitespace(_) | Token::Comma | Token::Number(..) | Token::SingleQuotedString(_) | Token::EOF
        )
    };
    if tokens.iter().filter(deepens).count() > TOKENS_MAX {
        return Err(Error::new(
            Code::InvalidSql,
            format!("the statement has more than {TOKENS_MAX} words and operators"),
        )
        .with_hint("put many values into an `IN` list, or split the statement"));
    }
    Ok(())
}

fn fault(error: ParserError) -> Error {
    let (ParserError::ParserError(text) | ParserError::TokenizerError(text)) = error else {
        return Error::new(Code::InvalidSql, format!("the statement nests deeper than {SQL_DEPTH_MAX} levels"))
            .with_hint("use `WITH` to name its parts");
    };
    // The parser writes "... at Line: 1, Column: 14".
    let text = text.replace(" at Line: ", " at line ").replace(", Column: ", ", column ");
    let hint = if text.contains("found: EOF") { "the statement ends too early" } else { "check the spelling there" };
    Error::new(Code::InvalidSql, text).with_hint(hint)
}
