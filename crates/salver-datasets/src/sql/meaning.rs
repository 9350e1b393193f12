//! Rewrites statements so that the engine means what PostgreSQL means by them: what it would take for something else,
//! pass over in silence or refuse is put into words that it has. What has no such words is refused, with what to write
//! instead.
//!
//! Names are not known here; types are not either. What depends on those is in the engine's `exact` and `own`.

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

/// Names the columns of every query and the types of every cast, for where names that the engine made were alike.
pub(super) fn tell_apart(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut alike::Namer);
}

type Flow = ControlFlow<Box<Error>>;

struct Rewriter;

/// A refusal that says what to write instead.
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
        // Before what is inside: the subquery is still as it was written.
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

/// An expression in words, in which `__1` stands for the first of `parts`, and so on.
fn expression(words: &str, parts: Vec<Expr>) -> Result<Expr, Box<Error>> {
    let parsed = Parser::new(&Grammar::default()).try_with_sql(words).and_then(|mut parser| parser.parse_expr());
    let mut parsed = parsed.map_err(|error| Box::new(Error::internal("a rewriting is no SQL").with_source(error)))?;
    let _ = VisitMut::visit(&mut parsed, &mut Places(parts));
    Ok(parsed)
}

/// Puts expressions in the places of `__1`, `__2`, ...
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

/// Takes an expression out of its place.
fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Identifier(Ident::new("taken")))
}

/// A name as it was made, whatever its letters.
fn quoted(name: &str) -> Ident {
    Ident::with_quote('"', name)
}
