//! Results of a `case`, the first of which is a quoted literal and others are not: `case when x then '1' else i end`.
//! The literal has the type of the others; the planner would take the `case` for a text, and refuse to add to it.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, Query, Visit, Visitor};
use salver_model::Error;

use super::function_names::{is_null, is_quoted, name_of};
use super::{expression, take};

/// Number of parts beyond which a result tells no type: it is copied, also where these nest.
const PARTS: usize = 16;

/// Says of the first result what it stands beside. `as_beside(a, b)` is `a`, has the type of `b` while the statement is
/// planned, and has no part in names.
pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Case { conditions, else_result, .. } = expr else { return Ok(()) };
    let mut results = conditions.iter_mut().map(|branch| &mut branch.result).chain(else_result.as_deref_mut());
    let Some(first) = results.find(|result| !is_null(result)).filter(|first| is_quoted(first)) else { return Ok(()) };
    let Some(other) = results.find(|result| !is_null(result) && !is_quoted(result)) else { return Ok(()) };
    if is_text(other) || other.visit(&mut Small(PARTS)).is_break() {
        return Ok(());
    }
    let parts = vec![take(first), other.clone()];
    *first = expression("as_beside(__1, __2)", parts)?;
    Ok(())
}

/// Returns whether an expression looks like a text, which a literal is anyway.
fn is_text(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_text(inner),
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => is_quoted(left) || is_quoted(right),
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::Text | DataType::Varchar(_)),
        _ => false,
    }
}

/// Visitor that ends at a subquery, at rows of an array, and behind a number of parts.
struct Small(usize);

impl Visitor for Small {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let has_rows = matches!(expr, Expr::Function(call) if name_of(call).is_some_and(|name| name == "unnest"));
        match self.0.checked_sub(1).filter(|_| !has_rows) {
            Some(left) => {
                self.0 = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{expression, rewrite};

    fn written(words: &str) -> String {
        let mut case = expression(words, Vec::new()).unwrap();
        rewrite(&mut case).unwrap();
        let once = case.to_string();
        rewrite(&mut case).unwrap();
        assert_eq!(case.to_string(), once);
        once
    }

    #[test]
    fn the_first_literal_stands_beside_the_first_other() {
        for (words, wanted) in [
            ("CASE WHEN a THEN '1' ELSE i END", "CASE WHEN a THEN as_beside('1', i) ELSE i END"),
            (
                "CASE i WHEN 1 THEN NULL WHEN 2 THEN ('1') WHEN 3 THEN n + 1 ELSE i END",
                "CASE i WHEN 1 THEN NULL WHEN 2 THEN as_beside(('1'), n + 1) WHEN 3 THEN n + 1 ELSE i END",
            ),
            ("CASE WHEN a THEN 'x' ELSE count(*) END", "CASE WHEN a THEN as_beside('x', count(*)) ELSE count(*) END"),
        ] {
            assert_eq!(written(words), wanted);
        }
        let long = format!("CASE WHEN a THEN '1' ELSE {}i END", "i + ".repeat(20));
        for words in [
            "CASE WHEN a THEN i ELSE '1' END",
            "CASE WHEN a THEN '1' ELSE '2' END",
            "CASE WHEN a THEN '1' END",
            "CASE WHEN a THEN '1' ELSE 'x' || i END",
            "CASE WHEN a THEN '1' ELSE (SELECT 1) END",
            "CASE WHEN a THEN '1' ELSE unnest(i) END",
            &long,
        ] {
            assert_eq!(written(words), words);
        }
    }
}
