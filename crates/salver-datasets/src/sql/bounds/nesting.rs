//! Limits on the nesting of brackets and types in the text of a statement, before it is parsed.

use datafusion::sql::sqlparser::tokenizer::Token;
use salver_model::limits::SQL_DEPTH_MAX;
use salver_model::{Code, Error, Result};

/// Keywords after which `<` opens the type of the elements and is no comparison.
const NESTED_TYPES: [&str; 6] = ["ARRAY", "LIST", "MAP", "NULLABLE", "STRUCT", "TABLE"];
/// Brackets that are open at a position in the text.
#[derive(Default)]
pub(super) struct Nesting {
    brackets: usize,
    types: usize,
    /// Number of brackets in `[1][2][3]` or `[][][]` so far.
    indexes: usize,
    after_index: bool,
    after_type: bool,
}

impl Nesting {
    /// Processes the next token.
    pub(super) fn see(&mut self, token: &Token) -> Result<()> {
        let begins_type = std::mem::take(&mut self.after_type);
        let goes_on = std::mem::take(&mut self.after_index);
        match token {
            Token::LBracket => {
                self.indexes = if goes_on { self.indexes + 1 } else { 1 };
                self.brackets += 1;
            }
            Token::LParen | Token::LBrace => self.brackets += 1,
            Token::RBracket => {
                self.after_index = true;
                self.brackets = self.brackets.saturating_sub(1);
            }
            Token::RParen | Token::RBrace => self.brackets = self.brackets.saturating_sub(1),
            Token::Lt if begins_type => self.types += 1,
            Token::Gt => self.types = self.types.saturating_sub(1),
            Token::ShiftRight => self.types = self.types.saturating_sub(2),
            Token::Word(word) => {
                self.after_type = NESTED_TYPES.iter().any(|own| word.value.eq_ignore_ascii_case(own));
            }
            _ => {}
        }
        if self.brackets.max(self.types).max(self.indexes) > SQL_DEPTH_MAX {
            return Err(too_deep());
        }
        Ok(())
    }
}

/// Returns the error for a statement that is nested too deep.
pub(in crate::sql) fn too_deep() -> Error {
    Error::new(Code::InvalidSql, format!("the statement nests deeper than {SQL_DEPTH_MAX} levels"))
        .with_hint("use `WITH` to name its parts")
}

/// Returns the error for a statement whose nesting exceeds the parser's.
pub(in crate::sql) fn too_deep_to_read() -> Error {
    Error::new(
        Code::InvalidSql,
        format!("the statement nests deeper than {SQL_DEPTH_MAX} levels of brackets, signs, `not` and `case` together"),
    )
    .with_hint("use `WITH` to name its parts")
}

/// Levels of a statement around the first bracket, and of a word within the last.
const LEVELS_AROUND: usize = 8;
/// Maximum depth of the parser, so that the limits here are what bounds a statement. It must not be higher: where
/// keywords are ambiguous, the parser's time doubles with each level.
pub(in crate::sql) const PARSER_LEVELS: usize = SQL_DEPTH_MAX + LEVELS_AROUND;
