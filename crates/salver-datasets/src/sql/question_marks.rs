//! Question marks that are operators on JSON, and no placeholders: `x ? 'key'`, `x ?| array['a', 'b']`, `x ?&
//! '{a,b}'`. They are told by what is behind them: no literal stands behind a placeholder, and no array behind a
//! bitwise operator.

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Makes placeholders operators where they can be nothing else.
pub(super) fn read(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_mark = |token: &Token| matches!(token, Token::Placeholder(text) if text == "?");
    if !tokens.iter().any(|token| is_mark(&token.token)) {
        return tokens;
    }
    let mut at = 0;
    while at < tokens.len() {
        if is_mark(&tokens[at].token) {
            let with = match tokens.get(at + 1).map(|next| &next.token) {
                Some(Token::Pipe) => Some(Token::QuestionPipe),
                Some(Token::Ampersand) => Some(Token::QuestionAnd),
                _ => None,
            };
            if let Some(operator) = with {
                if begins_array(behind(&tokens, at + 2)) {
                    tokens[at].token = operator;
                    tokens[at + 1].token = Token::Whitespace(Whitespace::Space);
                }
            } else if matches!(behind(&tokens, at + 1), Some(Token::SingleQuotedString(_))) {
                tokens[at].token = Token::Question;
            }
        }
        at += 1;
    }
    tokens
}

/// Returns the first token from a place on that is not white space.
fn behind(tokens: &[TokenWithSpan], at: usize) -> Option<&Token> {
    let rest = tokens.get(at..).unwrap_or_default();
    rest.iter().map(|token| &token.token).find(|token| !matches!(token, Token::Whitespace(_)))
}

fn begins_array(token: Option<&Token>) -> bool {
    match token {
        Some(Token::SingleQuotedString(_)) => true,
        Some(Token::Word(word)) => word.keyword == Keyword::ARRAY,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{parse_open, placeholders};

    #[test]
    fn question_marks_are_what_they_can_be() {
        for (text, count) in [
            ("select x ? 'a' from t", 0),
            ("select x ?| array['a'], x ?& '{a}', x ?'a' from t where i = ?", 1),
            ("select ?, x from t where s like ? || '%' limit ? offset ?", 4),
            ("select 1 ?| 2", 1),
        ] {
            assert_eq!(placeholders(text).unwrap().len(), count, "{text}");
        }
        for text in ["select x ? 'a'", "select x ?| array['a']", "select x ?& '{a}' and y ? 'b'"] {
            assert!(parse_open(text).is_ok(), "{text}");
        }
    }
}
