//! Grammar of statements: the parser's generic dialect with PostgreSQL's operators and their precedence: `^` is power
//! and binds more tightly than `*`, `#` is bitwise exclusive or, and `->` and `||` bind more tightly than comparisons.

use std::any::TypeId;
use std::cell::Cell;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, TrimWhereField, UnaryOperator, Value};
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use salver_model::limits::SQL_READINGS_MAX;

/// The dialect of one statement. It counts the parser's attempts: where keywords such as `array[`, `not (` or `cast(`
/// are ambiguous, the parser tries one reading and, if that fails, the other, so that each level of nesting would
/// double the time.
#[derive(Debug)]
pub(super) struct Grammar {
    /// Number of expressions that the parser may still begin.
    left: Cell<usize>,
}

impl Grammar {
    /// Adds the number of expressions that `tokens` may need.
    pub(super) fn allow(&self, tokens: usize) {
        self.left.set(self.left.get() + 4 * tokens);
    }

    /// Returns whether parsing was stopped because of the number of attempts.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

impl Default for Grammar {
    fn default() -> Self {
        Self { left: Cell::new(SQL_READINGS_MAX) }
    }
}

/// Delegates features to the parser's generic dialect.
macro_rules! as_generic {
    ($($feature:ident),* $(,)?) => {
        $(fn $feature(&self) -> bool {
            GenericDialect.$feature()
        })*
    };
}

impl Dialect for Grammar {
    /// The parser checks for its dialects where the features leave something open.
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        !matches!(ch, '#' | '@') && GenericDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        !matches!(ch, '#' | '@') && GenericDialect.is_identifier_part(ch)
    }

    /// Every expression begins here, in each attempt too, so attempts are counted here.
    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        match self.left.get() {
            // Only this error also ends the attempts at other readings.
            0 => return Some(Err(ParserError::RecursionLimitExceeded)),
            left => self.left.set(left - 1),
        }
        if let Some(trimmed) = trimmed(parser) {
            return Some(trimmed);
        }
        if let Some(negated) = not_exists(self, parser) {
            return Some(negated);
        }
        if let Some(values) = values(parser) {
            return Some(values);
        }
        // Unary `+` and `-` bind most tightly of all operators, and the other prefix operators most loosely.
        let (op, precedence) = match &parser.peek_token_ref().token {
            Token::Minus => (UnaryOperator::Minus, Precedence::AtTz),
            Token::Plus => (UnaryOperator::Plus, Precedence::AtTz),
            Token::PGSquareRoot => (UnaryOperator::PGSquareRoot, Precedence::PgOther),
            Token::PGCubeRoot => (UnaryOperator::PGCubeRoot, Precedence::PgOther),
            Token::AtSign => (UnaryOperator::PGAbs, Precedence::PgOther),
            Token::Tilde => (UnaryOperator::BitwiseNot, Precedence::PgOther),
            _ => return None,
        };
        parser.next_token();
        let precedence = self.prec_value(precedence);
        Some(parser.parse_subexpr(precedence).map(|inner| Expr::UnaryOp { op, expr: Box::new(inner) }))
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        PostgreSqlDialect {}.prec_value(precedence)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        match &parser.peek_token_ref().token {
            // It is not an operator, but separates keys and values of a map.
            Token::Colon => None,
            _ => PostgreSqlDialect {}.get_next_precedence(parser),
        }
    }

    fn parse_infix(&self, parser: &mut Parser<'_>, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        let own = symmetric(parser, left)
            .or_else(|| distinct(parser, left, precedence))
            .or_else(|| list_from_query(parser, left));
        if own.is_some() {
            return own;
        }
        let op = match &parser.peek_token_ref().token {
            Token::Caret => BinaryOperator::PGExp,
            Token::Sharp => BinaryOperator::PGBitwiseXor,
            _ => return None,
        };
        parser.next_token();
        Some(parser.parse_subexpr(precedence).map(|right| Expr::BinaryOp {
            left: Box::new(left.clone()),
            op,
            right: Box::new(right),
        }))
    }

    fn supports_order_by_all(&self) -> bool {
        true
    }

    as_generic! {
        supports_unicode_string_literal, supports_partition_by_after_order_by, supports_array_join_syntax,
        supports_group_by_expr, supports_group_by_with_modifier, supports_left_associative_joins_without_parens,
        supports_connect_by, supports_match_recognize, supports_pipe_operator, supports_start_transaction_modifier,
        supports_window_function_null_treatment_arg, supports_dictionary_syntax,
        supports_window_clause_named_window_reference, supports_parenthesized_set_variables,
        supports_select_wildcard_except, support_map_literal_syntax, allow_extract_custom, allow_extract_single_quotes,
        supports_extract_comma_syntax, supports_create_view_comment_syntax, supports_parens_around_table_factor,
        supports_values_as_table_factor, supports_create_index_with_clause, supports_explain_with_utility_options,
        supports_limit_comma, supports_update_order_by, supports_from_first_select, supports_projection_trailing_commas,
        supports_asc_desc_in_column_definition, supports_try_convert, supports_bitwise_shift_operators,
        supports_comment_on, supports_load_extension, supports_named_fn_args_with_assignment_operator,
        supports_struct_literal, supports_empty_projections, supports_nested_comments, supports_multiline_comment_hints,
        supports_user_host_grantee, supports_string_escape_constant, supports_array_typedef_with_brackets,
        supports_match_against, supports_set_names, supports_comma_separated_set_assignments,
        supports_filter_during_aggregation, supports_select_wildcard_exclude, supports_data_type_signed_suffix,
        supports_interval_options, supports_quote_delimited_string, supports_select_wildcard_replace,
        supports_select_wildcard_ilike, supports_select_wildcard_rename, supports_optimize_table, supports_install,
        supports_detach, supports_prewhere, supports_with_fill, supports_limit_by, supports_interpolate,
        supports_settings, supports_select_format, supports_comment_optimizer_hint,
        supports_constraint_keyword_without_name, supports_key_column_option, supports_comma_separated_trim,
        supports_cte_without_as, supports_select_item_multi_column_alias, supports_xml_expressions,
    }
}

/// Parses `trim(both from x)`, without the characters to trim.
fn trimmed(parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
    let word = |number: usize| match &parser.peek_nth_token_ref(number).token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    if word(0) != Keyword::TRIM || parser.peek_nth_token_ref(1).token != Token::LParen {
        return None;
    }
    let side = match word(2) {
        Keyword::BOTH => Some(TrimWhereField::Both),
        Keyword::LEADING => Some(TrimWhereField::Leading),
        Keyword::TRAILING => Some(TrimWhereField::Trailing),
        _ => None,
    };
    let skipped = 2 + usize::from(side.is_some());
    if word(skipped) != Keyword::FROM {
        return None;
    }
    for _ in 0..=skipped {
        parser.next_token();
    }
    let trimmed = parser.parse_expr().and_then(|expr| {
        parser.expect_token(&Token::RParen)?;
        Ok(Expr::Trim { trim_where: side, trim_what: None, expr: Box::new(expr), trim_characters: None })
    });
    Some(trimmed)
}

/// Parses `not exists (...)` with the usual precedence of `not`; the parser takes both for one keyword.
fn not_exists(grammar: &Grammar, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
    let is = |number: usize, keyword: Keyword| match &parser.peek_nth_token_ref(number).token {
        Token::Word(word) => word.keyword == keyword,
        _ => false,
    };
    if !is(0, Keyword::NOT) || !is(1, Keyword::EXISTS) {
        return None;
    }
    parser.next_token();
    Some(parser.parse_subexpr(grammar.prec_value(Precedence::UnaryNot)).map(|inner| match inner {
        Expr::Exists { subquery, negated } => Expr::Exists { subquery, negated: !negated },
        inner => Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(inner) },
    }))
}

/// Parses `values (1), (2)` as a query; the parser knows no lists within an expression, and takes the word for a
/// function.
fn values(parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
    let is_list = matches!(&parser.peek_token_ref().token, Token::Word(word) if word.keyword == Keyword::VALUES)
        && parser.peek_nth_token_ref(1).token == Token::LParen;
    is_list.then(|| parser.parse_query().map(Expr::Subquery))
}

/// Placeholder for `between symmetric` until the statement has been measured, because the expression is duplicated.
pub(super) const SYMMETRIC: &str = "between symmetric";

/// Parses `x between symmetric a and b`, in which either bound may be the lower.
fn symmetric(parser: &mut Parser<'_>, left: &Expr) -> Option<Result<Expr, ParserError>> {
    let is = |number: usize, keyword: Keyword| match &parser.peek_nth_token_ref(number).token {
        Token::Word(word) => word.keyword == keyword,
        _ => false,
    };
    let is_word = |number: usize, text: &str| {
        matches!(&parser.peek_nth_token_ref(number).token, Token::Word(word)
            if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(text))
    };
    let negated = is(0, Keyword::NOT);
    let start = usize::from(negated);
    if !is(start, Keyword::BETWEEN) || !(is_word(start + 1, "symmetric") || is_word(start + 1, "asymmetric")) {
        return None;
    }
    let both = is_word(start + 1, "symmetric");
    for _ in 0..start + 2 {
        parser.next_token();
    }
    Some(parser.parse_between(left.clone(), false).map(|between| {
        let found = if both {
            let (left, op) = (Box::new(between), BinaryOperator::Custom(SYMMETRIC.to_owned()));
            Expr::BinaryOp { left, op, right: Box::new(Expr::value(Value::Boolean(true))) }
        } else {
            between
        };
        let found = Expr::Nested(Box::new(found));
        if negated { Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(found) } } else { found }
    }))
}

/// Keywords that may precede a query.
const BEFORE_QUERY: [Keyword; 5] =
    [Keyword::ALL, Keyword::DISTINCT, Keyword::EXCEPT, Keyword::INTERSECT, Keyword::UNION];

/// Parses `is [not] distinct from` with an operand that binds more tightly than `is`; the parser takes everything that
/// follows.
fn distinct(parser: &mut Parser<'_>, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
    let is_word = |parser: &Parser<'_>, at: usize, keyword: Keyword| match &parser.peek_nth_token_ref(at).token {
        Token::Word(word) => word.keyword == keyword,
        _ => false,
    };
    if !is_word(parser, 0, Keyword::IS) {
        return None;
    }
    let negated = is_word(parser, 1, Keyword::NOT);
    let behind = 1 + usize::from(negated);
    if !is_word(parser, behind, Keyword::DISTINCT) || !is_word(parser, behind + 1, Keyword::FROM) {
        return None;
    }
    for _ in 0..behind + 2 {
        parser.next_token();
    }
    Some(parser.parse_subexpr(precedence).map(|right| {
        let (left, right) = (Box::new(left.clone()), Box::new(right));
        if negated { Expr::IsNotDistinctFrom(left, right) } else { Expr::IsDistinctFrom(left, right) }
    }))
}

/// Parses a list of values that begins with a subquery, `x in ((select 1), 2)`; the parser takes it for one query.
fn list_from_query(parser: &mut Parser<'_>, left: &Expr) -> Option<Result<Expr, ParserError>> {
    let keyword = |number: usize| match &parser.peek_nth_token_ref(number).token {
        Token::Word(word) => word.keyword,
        _ => Keyword::NoKeyword,
    };
    let negated = keyword(0) == Keyword::NOT;
    let start = usize::from(negated);
    if keyword(start) != Keyword::IN {
        return None;
    }
    let opens = |number: &usize| parser.peek_nth_token_ref(*number).token == Token::LParen;
    let opened = (start + 1..).take_while(opens).count();
    let inner = keyword(start + 1 + opened);
    if opened < 2 || !matches!(inner, Keyword::SELECT | Keyword::WITH | Keyword::VALUES) {
        return None;
    }
    let parsed = parser.maybe_parse(|parser| {
        for _ in 0..start + 2 {
            parser.next_token();
        }
        let first = parser.parse_expr()?;
        // A query alone is a query, whatever parentheses it has.
        parser.expect_token(&Token::Comma)?;
        let mut list = vec![first];
        list.extend(parser.parse_comma_separated(Parser::parse_expr)?);
        parser.expect_token(&Token::RParen)?;
        Ok(Expr::InList { expr: Box::new(left.clone()), list, negated })
    });
    parsed.transpose()
}

/// Rewrites `table t` to the query that it stands for. Drops `materialized`, because the engine decides how a query of
/// a `with` is evaluated, and `exclude no others`, which is the default of windows.
pub(super) fn write_tables_out(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is_table =
        |token: &Token| matches!(token, Token::Word(Word { keyword: Keyword::TABLE, quote_style: None, .. }));
    let is_choice =
        |token: &Token| matches!(token, Token::Word(Word { keyword: Keyword::MATERIALIZED, quote_style: None, .. }));
    let is = |token: &Token, own: &str| match token {
        Token::Word(Word { value, quote_style: None, .. }) => value.eq_ignore_ascii_case(own),
        _ => false,
    };
    if !tokens.iter().any(|token| is_table(&token.token) || is_choice(&token.token) || is(&token.token, "exclude")) {
        return tokens;
    }
    let mut written = Vec::with_capacity(tokens.len() + 2);
    let mut begins = true;
    let meaning = |token: &Token| !matches!(token, Token::Whitespace(_));
    let mut left_out = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if meaning(&token.token) && left_out > 0 {
            left_out -= 1;
            continue;
        }
        if is(&token.token, "exclude") {
            let mut behind = tokens[at + 1..].iter().map(|token| &token.token).filter(|token| meaning(token));
            let no_others = behind.next().is_some_and(|no| is(no, "no"))
                && behind.next().is_some_and(|others| is(others, "others"))
                && behind.next() == Some(&Token::RParen);
            if no_others {
                left_out = 2;
                continue;
            }
        }
        let next = tokens[at + 1..].iter().find(|next| meaning(&next.token)).map(|next| &next.token);
        let is_not = matches!(&token.token, Token::Word(word) if word.keyword == Keyword::NOT);
        if is_choice(&token.token) && next == Some(&Token::LParen) || is_not && next.is_some_and(is_choice) {
            continue;
        }
        let names = next.is_some_and(|next| matches!(next, Token::Word(word) if word.keyword == Keyword::NoKeyword));
        if begins && names && is_table(&token.token) {
            let with = |token: Token, span| TokenWithSpan { token, span };
            written.push(with(Token::make_keyword("SELECT"), token.span));
            written.push(with(Token::Mul, token.span));
            written.push(with(Token::make_keyword("FROM"), token.span));
        } else {
            written.push(token.clone());
        }
        if meaning(&token.token) {
            begins = match &token.token {
                // Also after the queries of a `with`.
                Token::LParen | Token::RParen => true,
                Token::Word(word) => BEFORE_QUERY.contains(&word.keyword),
                _ => false,
            };
        }
    }
    written
}
