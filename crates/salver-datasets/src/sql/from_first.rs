//! `from t`, `from t where ...`: queries that begin with `from` and have no `select` have every column, as in DuckDB.
//! The parser would give them none, or not read them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Select, SelectFlavor};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use salver_model::{Code, Error};

/// What is known of the query that the tokens at one level of parentheses are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum QueryState {
    /// Nothing, also where it is no query.
    #[default]
    Unknown,
    /// It began with `with`.
    With,
    /// It has its `select`.
    Selected,
}

/// Writes out the `select *` of such queries.
pub(super) fn write_selects_out(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let first = tokens.iter().position(|token| keyword(&token.token) == Some(Keyword::FROM));
    if first.is_none() {
        return tokens;
    }
    let selected = selected_behind(&tokens);
    let mut written = Vec::with_capacity(tokens.len() + 2);
    let mut levels = vec![QueryState::default()];
    let (mut begins, mut before) = (true, None);
    for (token, is_selected) in tokens.into_iter().zip(selected) {
        let word = keyword(&token.token);
        let state = levels.last().copied().unwrap_or_default();
        if begins && word == Some(Keyword::FROM) && !is_selected && state != QueryState::Selected {
            written.push(TokenWithSpan { token: Token::make_keyword("SELECT"), span: token.span });
            written.push(TokenWithSpan { token: Token::Mul, span: token.span });
            set(&mut levels, QueryState::Selected);
        }
        if matches!(token.token, Token::Whitespace(_)) {
            written.push(token);
            continue;
        }
        match &token.token {
            Token::LParen => levels.push(QueryState::default()),
            Token::RParen if levels.len() > 1 => {
                levels.pop();
            }
            _ => {}
        }
        match word {
            Some(Keyword::SELECT) => set(&mut levels, QueryState::Selected),
            Some(Keyword::WITH) if begins => set(&mut levels, QueryState::With),
            Some(word) if ends_query(word) => set(&mut levels, QueryState::default()),
            _ => {}
        }
        begins = match &token.token {
            // What is in the parentheses of `trim(from x)` is no query.
            Token::LParen => before != Some(Keyword::TRIM),
            // Only after the queries of a `with`: in `substring(f(x) from 2)` it begins nothing.
            Token::RParen => levels.last() == Some(&QueryState::With),
            Token::SemiColon => true,
            _ => word.is_some_and(|word| precedes_query(word, before, begins)),
        };
        before = word;
        written.push(token);
    }
    written
}

/// Refuses a query that begins with `from` and to which no `select *` was written, which would have no columns:
/// `select` stands in it as a name.
pub(super) fn has_columns(select: &Select) -> ControlFlow<Box<Error>> {
    if select.flavor != SelectFlavor::FromFirstNoSelect {
        return ControlFlow::Continue(());
    }
    let hint =
        "write `select * from ...`; a name that is a word of SQL stands in double quotes, like `from \"select\"`";
    ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, "a query has no `select`").with_hint(hint)))
}

/// Returns for each token whether a `select` follows in the same query, as in `from t select a`.
fn selected_behind(tokens: &[TokenWithSpan]) -> Vec<bool> {
    let mut levels = vec![false];
    let mut selected = vec![false; tokens.len()];
    for (at, token) in tokens.iter().enumerate().rev() {
        selected[at] = levels.last().copied().unwrap_or_default();
        match (&token.token, keyword(&token.token)) {
            (Token::RParen, _) => levels.push(false),
            (Token::LParen, _) if levels.len() > 1 => {
                levels.pop();
            }
            (_, Some(Keyword::SELECT)) => set(&mut levels, true),
            (Token::SemiColon, _) => set(&mut levels, false),
            (_, Some(word)) if ends_query(word) => set(&mut levels, false),
            _ => {}
        }
    }
    selected
}

fn set<T>(levels: &mut [T], value: T) {
    if let Some(last) = levels.last_mut() {
        *last = value;
    }
}

/// Returns whether a query may begin behind `word`, before which stands `before`. `begins` tells that one could begin
/// at the word itself.
fn precedes_query(word: Keyword, before: Option<Keyword>, begins: bool) -> bool {
    match word {
        // Not that of `is distinct from`.
        Keyword::ALL | Keyword::DISTINCT => before.is_some_and(ends_query),
        Keyword::EXPLAIN => begins,
        Keyword::ANALYZE | Keyword::VERBOSE => begins && matches!(before, Some(Keyword::EXPLAIN | Keyword::ANALYZE)),
        word => ends_query(word),
    }
}

/// Returns whether another query follows this word at the same level.
fn ends_query(word: Keyword) -> bool {
    matches!(word, Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT)
}

fn keyword(token: &Token) -> Option<Keyword> {
    match token {
        Token::Word(Word { keyword, quote_style: None, .. }) => Some(*keyword),
        _ => None,
    }
}
