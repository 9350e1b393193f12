//! Binds the values of parameters to their placeholders, token by token, so that a value can't be parsed as anything
//! else.

mod exact;

use ahash::AHashMap;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use salver_model::{Code, Error, ParameterType, PgValue, Result, SqlFault, SqlParameters, TypedValue, Value, suggest};

/// Replaces `?`, `$1` and `$name`.
pub(super) fn bind(tokens: Vec<TokenWithSpan>, parameters: &SqlParameters) -> Result<Vec<TokenWithSpan>> {
    if matches!(parameters, SqlParameters::None) {
        let open = tokens.iter().find(|token| matches!(token.token, Token::Placeholder(_)));
        return match open {
            Some(token) => Err(valueless(token).with_hint("send the values with the statement")),
            None => Ok(tokens),
        };
    }
    if let SqlParameters::Typed(values) = parameters {
        return bind_typed(tokens, values);
    }
    if let SqlParameters::Exact(values) = parameters {
        return bind_exact(tokens, values);
    }
    let named = match parameters {
        SqlParameters::Named(values) => by_name(values),
        _ => AHashMap::new(),
    };
    let mut bound = Vec::with_capacity(tokens.len());
    let mut in_order = 0;
    let mut used = 0;
    for token in tokens {
        let Token::Placeholder(name) = &token.token else {
            bound.push(token);
            continue;
        };
        let value = match parameters {
            SqlParameters::Positional(values) => {
                let number: usize = if name == "?" {
                    in_order += 1;
                    in_order
                } else {
                    name.trim_start_matches(['$', '?', ':']).parse().unwrap_or(0)
                };
                used = used.max(number);
                number.checked_sub(1).and_then(|index| values.get(index))
            }
            SqlParameters::Named(_) => named.get(plain(name)).copied(),
            SqlParameters::Typed(_) | SqlParameters::Exact(_) | SqlParameters::None => None,
        };
        let Some(value) = value else { return Err(missing(&token, name, parameters)) };
        let span = token.span;
        bound.extend(literal(value).into_iter().map(|token| TokenWithSpan { token, span }));
    }
    match parameters {
        SqlParameters::Positional(values) if used < values.len() => Err(Error::new(
            Code::InvalidValue,
            format!("the statement has {used} placeholders and {} values were sent", values.len()),
        )),
        _ => Ok(bound),
    }
}

/// Writes each `?` as `$` with its place among them, from 1.
pub(super) fn numbered(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let names = tokens.iter_mut().filter_map(|token| match &mut token.token {
        Token::Placeholder(name) if name == "?" => Some(name),
        _ => None,
    });
    names.zip(1_usize..).for_each(|(name, number)| *name = format!("${number}"));
    tokens
}

/// Replaces `$name`, and `$1` by the order of the values.
fn bind_typed(tokens: Vec<TokenWithSpan>, values: &[TypedValue]) -> Result<Vec<TokenWithSpan>> {
    let mut bound = Vec::with_capacity(tokens.len());
    for token in tokens {
        let Token::Placeholder(name) = &token.token else {
            bound.push(token);
            continue;
        };
        let name = plain(name);
        let value = match name.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|index| values.get(index)),
            Err(_) => values.iter().find(|value| value.name == name),
        };
        let Some(value) = value else {
            return Err(valueless(&token));
        };
        let span = token.span;
        bound.extend(typed_literal(value).into_iter().map(|token| TokenWithSpan { token, span }));
    }
    Ok(bound)
}

/// Replaces `$1`, `$2` by the order of the values.
fn bind_exact(tokens: Vec<TokenWithSpan>, values: &[PgValue]) -> Result<Vec<TokenWithSpan>> {
    let mut bound = Vec::with_capacity(tokens.len());
    for token in tokens {
        let Token::Placeholder(name) = &token.token else {
            bound.push(token);
            continue;
        };
        let number = name.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok());
        let value = number.and_then(|number| number.checked_sub(1)).and_then(|index| values.get(index));
        let Some(value) = value else {
            return Err(valueless(&token));
        };
        let span = token.span;
        let written = if is_after_fetch(&bound) { exact::bare(value) } else { exact::literal(value) };
        bound.extend(written.into_iter().map(|token| TokenWithSpan { token, span }));
    }
    Ok(bound)
}

/// Returns whether the next token is the number of `FETCH FIRST`, which the parser takes as a bare one alone.
fn is_after_fetch(tokens: &[TokenWithSpan]) -> bool {
    let last = tokens.iter().rev().find(|token| !matches!(token.token, Token::Whitespace(_)));
    last.is_some_and(|last| match &last.token {
        Token::Word(word) => matches!(word.keyword, Keyword::FIRST | Keyword::NEXT),
        _ => false,
    })
}

/// Returns a literal of the parameter's type.
fn typed_literal(typed: &TypedValue) -> Vec<Token> {
    let of_type = |word: &str| Token::make_keyword(word);
    match (&typed.value, typed.kind) {
        (None, kind) => {
            let word = match kind {
                ParameterType::Text => "VARCHAR",
                ParameterType::Integer => "BIGINT",
                ParameterType::Number => "DOUBLE",
                ParameterType::Boolean => "BOOLEAN",
                ParameterType::Date => "DATE",
                ParameterType::Timestamp => "TIMESTAMP",
            };
            let null = [Token::make_keyword("CAST"), Token::LParen, Token::make_keyword("NULL")];
            null.into_iter().chain([Token::make_keyword("AS"), of_type(word), Token::RParen]).collect()
        }
        (Some(Value::Text(text)), ParameterType::Date) => {
            vec![of_type("DATE"), Token::SingleQuotedString(text.clone())]
        }
        (Some(Value::Text(text)), ParameterType::Timestamp) => {
            vec![of_type("TIMESTAMP"), Token::SingleQuotedString(text.clone())]
        }
        (Some(value), _) => literal(value),
    }
}

/// Returns the values by their bare names; of two with the same name the first counts.
fn by_name(values: &[(String, Value)]) -> AHashMap<&str, &Value> {
    let mut named = AHashMap::with_capacity(values.len());
    for (name, value) in values {
        named.entry(plain(name)).or_insert(value);
    }
    named
}

fn plain(name: &str) -> &str {
    name.trim_start_matches(['$', ':', '@'])
}

fn describe(token: &TokenWithSpan) -> String {
    format!("`{}` at line {}, column {}", token.token, token.span.start.line, token.span.start.column)
}

/// Returns the error for a placeholder of which no value is sent.
fn valueless(token: &TokenWithSpan) -> Error {
    Error::new(Code::InvalidValue, format!("no value for {}", describe(token)))
        .with_sql_fault(SqlFault::UnknownParameter)
}

fn missing(token: &TokenWithSpan, name: &str, parameters: &SqlParameters) -> Error {
    let error = valueless(token);
    match parameters {
        SqlParameters::Named(values) => error
            .with_hint_if(suggest::hint(name.trim_start_matches('$'), values.iter().map(|(name, _)| name.as_str()))),
        SqlParameters::Positional(values) => error.with_hint(format!("{} values were sent", values.len())),
        SqlParameters::Typed(_) | SqlParameters::Exact(_) | SqlParameters::None => error,
    }
}

fn literal(value: &Value) -> Vec<Token> {
    let number = |text: String| match text.strip_prefix('-') {
        Some(digits) => {
            vec![Token::LParen, Token::Minus, Token::Number(digits.to_owned(), false), Token::RParen]
        }
        None => vec![Token::Number(text, false)],
    };
    match value {
        Value::Null => vec![Token::make_keyword("NULL")],
        Value::Bool(true) => vec![Token::make_keyword("TRUE")],
        Value::Bool(false) => vec![Token::make_keyword("FALSE")],
        Value::Int(i) => number(i.to_string()),
        Value::UInt(u) => number(u.to_string()),
        Value::Float(x) if x.is_finite() => number(format!("{x:?}")),
        // There is no literal for these, but text can be cast to them.
        Value::Float(x) => vec![Token::SingleQuotedString(x.to_string())],
        // This has more digits than a float.
        Value::Bare(text) if Value::number(text).is_some() => number(text.trim_start_matches('+').to_owned()),
        Value::Text(text) | Value::Bare(text) => vec![Token::SingleQuotedString(text.clone())],
    }
}
