//! Rewrites statements so that the engine evaluates them with PostgreSQL's semantics: constructs that it would misread,
//! ignore or refuse are expressed in SQL that it supports. Constructs that can't be expressed are refused, with an
//! alternative in the hint.
//!
//! Names and types are not known here. Rewrites that depend on them are in the engine's `exact` and `own`.

pub(super) mod alike;
mod arrays;
mod calls;
mod casts;
mod columns;
pub(super) mod compared;
mod derived;
mod json;
mod made_json;
mod merged;
mod operators;
mod ordered;
mod outside;
mod patterns;
mod plain;
mod queries;
mod query_arrays;
mod rows;
mod spans;
mod spelled;
mod subqueries;
mod texts;
mod windows;

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, Select, Statement, VisitMut, VisitorMut};
use datafusion::sql::sqlparser::parser::Parser;
use salver_model::{Code, Error, Result};

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
    let _ = VisitMut::visit(statement, &mut alike::Namer);
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
        flow(queries::before(query))
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> Flow {
        flow(queries::select(select))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        // This comes before the inner expressions: the subquery is still as it was written.
        flow(subqueries::rewrite(expr).and_then(|()| made_json::before(expr)))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        spelled::symmetric(expr);
        flow(
            spelled::overlaps(expr)
                .and_then(|()| arrays::rewrite(expr))
                .and_then(|()| texts::rewrite(expr))
                .and_then(|()| spans::rewrite(expr))
                .and_then(|()| casts::rewrite(expr))
                .and_then(|()| json::rewrite(expr))
                .and_then(|()| compared::rewrite(expr))
                .and_then(|()| operators::rewrite(expr))
                .and_then(|()| patterns::rewrite(expr))
                .and_then(|()| calls::rewrite(expr)),
        )
    }
}

/// Parses an expression from SQL, in which `__1` stands for the first of `parts`, and so on.
fn expression(words: &str, parts: Vec<Expr>) -> Result<Expr, Box<Error>> {
    let parsed = Parser::new(&Grammar::default()).try_with_sql(words).and_then(|mut parser| parser.parse_expr());
    let mut parsed = parsed.map_err(|error| Box::new(Error::internal("a rewriting is no SQL").with_source(error)))?;
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
fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Identifier(Ident::new("taken")))
}

/// Returns a generated name as a quoted identifier.
fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}
