//! Parameters that are compared as arrays: of `x = any($1)` the planner finds no type, but of `x = $1` it does.

use std::ops::ControlFlow;

use ahash::AHashSet;
use datafusion::sql::sqlparser::ast::{Expr, Statement, Value, VisitMut, VisitorMut};

use super::super::pg_rewrites::take;

/// Writes comparisons with any or all elements of a parameter as comparisons with the parameter, and returns the names
/// of these parameters, without their `$`.
pub(super) fn written_singly(statement: &mut Statement) -> AHashSet<String> {
    let mut found = Found::default();
    let _ = statement.visit(&mut found);
    found.0
}

#[derive(Default)]
struct Found(AHashSet<String>);

impl VisitorMut for Found {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (Expr::AnyOp { left, compare_op: op, right, .. } | Expr::AllOp { left, compare_op: op, right }) = expr
        else {
            return ControlFlow::Continue(());
        };
        if let Some(name) = placeholder(right) {
            self.0.insert(name);
            let (left, op, right) = (Box::new(take(left)), op.clone(), Box::new(take(right)));
            *expr = Expr::Nested(Box::new(Expr::BinaryOp { left, op, right }));
        }
        ControlFlow::Continue(())
    }
}

fn placeholder(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) => placeholder(inner),
        Expr::Value(value) => match &value.value {
            Value::Placeholder(name) => Some(name.trim_start_matches('$').to_owned()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::written_singly;

    #[test]
    fn arrays_are_found() {
        let text = "SELECT a = any($1), b <> all(($2)), c = any(array[$3]) FROM t WHERE d = ANY($4::int[])";
        let mut statement = parse::parse_open(text).unwrap();
        let mut found: Vec<String> = written_singly(&mut statement).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, ["1", "2"]);
        let text = statement.to_string();
        assert!(text.starts_with("SELECT (a = $1), (b <> ($2)), c = ANY(ARRAY[$3])"), "{text}");
    }
}
