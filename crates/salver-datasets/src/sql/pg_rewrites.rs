//! Rewrites statements so that the engine evaluates them with PostgreSQL's semantics: constructs that it would misread,
//! ignore or refuse are expressed in SQL that it supports. Constructs that can't be expressed are refused, with an
//! alternative in the hint.
//!
//! Names and types are not known here. Rewrites that depend on them are in the engine's `pg_semantics`
//! and `pg_functions`.

mod array_literals;
mod case_results;
mod casts;
mod conditions;
mod derived_tables;
pub(super) mod duplicate_columns;
mod function_names;
mod grouping_sets;
mod interval_literals;
mod json_columns;
mod json_construction;
mod json_kind;
mod json_operators;
mod lag_defaults;
mod like_any;
mod literals;
mod named_windows;
mod operators;
mod outside_subqueries;
mod percentiles;
mod query_arrays;
mod query_clauses;
mod regular_expressions;
pub(super) mod row_comparison;
mod row_wise;
mod scalar_subqueries;
mod set_returning;
mod set_returning_order;
mod sort_keys;
mod special_predicates;
mod subqueries;
pub(super) mod using_columns;
mod uuids;
mod value_columns;
pub(super) mod value_lists;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, Statement, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::parser::Parser;
use salver_model::{Code, Error, Result};

pub(super) use self::casts::is_oid;
use super::grammar::Grammar;

/// Rewrites a statement.
pub(super) fn rewrite(statement: &mut Statement) -> Result<()> {
    match VisitMut::visit(statement, &mut Rewriter) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// Names the columns of every query and the types of every cast, after the engine generated the same name twice.
pub(super) fn tell_apart(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut duplicate_columns::Namer);
}

type Flow = ControlFlow<Box<Error>>;

struct Rewriter;

/// Returns the error for an unsupported construct, with an alternative in the hint.
fn refused(message: impl Into<String>, instead: impl Into<String>) -> Box<Error> {
    Box::new(Error::new(Code::InvalidSql, message).with_hint(instead))
}

fn flow(result: Result<(), Box<Error>>) -> Flow {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

impl VisitorMut for Rewriter {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &mut Query) -> Flow {
        flow(json_columns::of_query(query).and_then(|()| query_clauses::before(query)))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        percentiles::name_columns(select);
        conditions::of_select(select);
        flow(query_clauses::select(select))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        // This comes before the inner expressions: the subquery is still as it was written.
        row_comparison::without_word(expr);
        json_kind::read_beside(expr);
        flow(
            json_operators::before(expr)
                .and_then(|()| uuids::compared(expr))
                .and_then(|()| case_results::rewrite(expr))
                .and_then(|()| like_any::rewrite(expr))
                .and_then(|()| subqueries::rewrite(expr))
                .and_then(|()| json_construction::before(expr))
                .and_then(|()| json_construction::taken_apart(expr))
                .and_then(|()| lag_defaults::rewrite(expr))
                .and_then(|()| percentiles::rewrite(expr)),
        )
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        special_predicates::symmetric(expr);
        conditions::rewrite(expr);
        flow(
            special_predicates::overlaps(expr)
                .and_then(|()| array_literals::rewrite(expr))
                .and_then(|()| literals::rewrite(expr))
                .and_then(|()| interval_literals::rewrite(expr))
                .and_then(|()| casts::rewrite(expr))
                .and_then(|()| row_comparison::rewrite(expr))
                .and_then(|()| operators::rewrite(expr))
                .and_then(|()| regular_expressions::rewrite(expr))
                .and_then(|()| function_names::rewrite(expr))
                .map(|()| conditions::planned_as_operators(expr)),
        )
    }
}

/// Parses an expression from SQL, in which `__1` stands for the first of `parts`, and so on.
pub(super) fn expression(words: &str, parts: Vec<Expr>) -> Result<Expr, Box<Error>> {
    let parsed = Parser::new(&Grammar::default()).try_with_sql(words).and_then(|mut parser| parser.parse_expr());
    let mut parsed = parsed.map_err(|error| Box::new(Error::internal("a rewriting is not SQL").with_source(error)))?;
    let _ = VisitMut::visit(&mut parsed, &mut Places(parts));
    Ok(parsed)
}

/// Replaces `__1`, `__2`, ... by expressions.
struct Places(Vec<Expr>);

impl VisitorMut for Places {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(ident) = expr
            && let Some(number) = ident.value.strip_prefix("__").and_then(|number| number.parse::<usize>().ok())
            && let Some(part) = self.0.get(number.wrapping_sub(1))
        {
            *expr = part.clone();
        }
        ControlFlow::Continue(())
    }
}

/// Takes an expression and leaves a placeholder.
pub(super) fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Identifier(Ident::new("taken")))
}

/// Returns a generated name as a quoted identifier.
fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}
