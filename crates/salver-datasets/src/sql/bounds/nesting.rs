//! How deep brackets and types nest in the text of a statement, before it is parsed.

use datafusion::sql::sqlparser::tokenizer::Token;
use salver_model::limits::SQL_DEPTH_MAX;
use salver_model::{Code, Error, Result};

/// Words behind which `<` begins the type of what is inside, and no comparison.
const NESTED_TYPES: [&str; 6] = ["ARRAY", "LIST", "MAP", "NULLABLE", "STRUCT", "TABLE"];
/// What is open at a place in the text.
#[derive(Default)]
pub(super) struct Nesting {
    brackets: usize,
    types: usize,
    /// `[1][2][3]` or `[][][]` so far.
    indexes: usize,
    after_index: bool,
    after_type: bool,
}

impl Nesting {
    /// Goes on behind a token.
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

/// What a statement is refused with that nests too deep.
pub(in crate::sql) fn too_deep() -> Error {
    Error::new(Code::InvalidSql, format!("the statement nests deeper than {SQL_DEPTH_MAX} levels"))
        .with_hint("use `WITH` to name its parts")
}

/// What a statement is refused with that the parser can't go deeper into.
pub(in crate::sql) fn too_deep_to_read() -> Error {
    Error::new(
        Code::InvalidSql,
        format!("the statement nests deeper than {SQL_DEPTH_MAX} levels of brackets, signs, `not` and `case` together"),
    )
    .with_hint("use `WITH` to name its parts")
}

/// Levels of a statement around the first bracket, and of a word within the last.
const LEVELS_AROUND: usize = 8;
/// The parser's own levels, so that what is counted here is what bounds a statement. Not more: where words have two
/// meanings the parser's time doubles with each level.
pub(in crate::sql) const PARSER_LEVELS_MAX: usize = SQL_DEPTH_MAX + LEVELS_AROUND;
