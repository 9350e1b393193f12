//! Parameters that take their type from what stands beside them, as in `coalesce($1, name)` or the values of a `case`:
//! the planner finds types in comparisons alone, so that the statement is written with one for it.

use std::fmt::{self, Write};
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectNamePart, Statement, Value, VisitMut, VisitorMut,
};

use super::super::pg_rewrites::{expression, take};

/// Functions whose arguments have one type.
const ALIKE: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];
/// Functions of a list, with its place among the arguments, and the number of elements beside it.
const OF_LISTS: [(&str, usize, usize); 6] = [
    ("array_append", 0, 1),
    ("array_position", 0, 1),
    ("array_positions", 0, 1),
    ("array_prepend", 1, 1),
    ("array_remove", 0, 1),
    ("array_replace", 0, 2),
];
/// Bytes of SQL of what stands beside a parameter beyond which it tells nothing: it is copied, also where these nest.
const SIBLING_BYTES: usize = 256;
/// How many tell a type together.
const SIBLINGS: usize = 8;

/// Writes parameters so that the planner finds their types.
pub(super) fn write_compared(statement: &mut Statement) {
    let _ = statement.visit(&mut Comparer);
}

struct Comparer;

impl VisitorMut for Comparer {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Array(array) => compare(array.elem.iter_mut().collect()),
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
                if elements(right).is_none() && !matches!(**right, Expr::Subquery(_)) {
                    compare_with_elements(vec![right, left], 0, 1);
                } else if let Some(elements) = elements(right) {
                    compare(std::iter::once(&mut **left).chain(elements).collect());
                }
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                let (mut compared, mut results) = (Vec::new(), Vec::new());
                for when in conditions {
                    compared.push(&mut when.condition);
                    results.push(&mut when.result);
                }
                results.extend(else_result.as_deref_mut());
                compare(results);
                if let Some(operand) = operand.as_deref_mut() {
                    compared.push(operand);
                    compare(compared);
                }
            }
            Expr::Function(function) => {
                let name = function.name.0.last().and_then(ObjectNamePart::as_ident);
                let are_alike = name.is_some_and(|name| ALIKE.iter().any(|own| name.value.eq_ignore_ascii_case(own)));
                let of_list =
                    name.and_then(|name| OF_LISTS.iter().find(|(own, ..)| name.value.eq_ignore_ascii_case(own)));
                let FunctionArguments::List(list) = &mut function.args else { return ControlFlow::Continue(()) };
                let arguments = list.args.iter_mut().filter_map(argument);
                if are_alike {
                    compare(arguments.collect());
                } else if let Some((_, place, count)) = of_list {
                    compare_with_elements(arguments.collect(), *place, *count);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns the elements of an array that is written out.
fn elements(expr: &mut Expr) -> Option<&mut Vec<Expr>> {
    match expr {
        Expr::Nested(inner) => elements(inner),
        Expr::Array(array) => Some(&mut array.elem),
        _ => None,
    }
}

/// Writes the `count` parameters behind a list, or before it, as comparisons with its first element.
fn compare_with_elements(mut arguments: Vec<&mut Expr>, place: usize, count: usize) {
    if place >= arguments.len() {
        return;
    }
    let list = arguments.remove(place);
    if is_placeholder(list) || is_large(list) {
        return;
    }
    let Ok(mut first) = expression("__1[1]", vec![list.clone()]) else { return };
    compare(std::iter::once(&mut first).chain(arguments.into_iter().take(count)).collect());
}

fn argument(argument: &mut FunctionArg) -> Option<&mut Expr> {
    match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

/// Writes the parameters among expressions of one type as comparisons with the others, of the same type.
fn compare(alike: Vec<&mut Expr>) {
    let (parameters, others): (Vec<&mut Expr>, Vec<&mut Expr>) =
        alike.into_iter().partition(|expr| is_placeholder(expr));
    if parameters.is_empty() {
        return;
    }
    let others = others.into_iter().filter(|expr| !is_null(expr) && !is_large(expr)).take(SIBLINGS);
    let others: Vec<Expr> = others.map(|expr| expr.clone()).collect();
    let common = match others.as_slice() {
        [] => return,
        [one] => one.clone(),
        _ => {
            let places: Vec<String> = (1..=others.len()).map(|place| format!("__{place}")).collect();
            match expression(&format!("coalesce({})", places.join(", ")), others) {
                Ok(common) => common,
                Err(_) => return,
            }
        }
    };
    for parameter in parameters {
        let parts = vec![common.clone(), take(parameter)];
        if let Ok(compared) = expression("(case when __1 = __2 then __1 end)", parts) {
            *parameter = compared;
        }
    }
}

fn is_placeholder(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_placeholder(inner),
        Expr::Value(value) => matches!(value.value, Value::Placeholder(_)),
        _ => false,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == Value::Null)
}

/// Returns whether the SQL of an expression is longer than it may be, without writing more of it.
fn is_large(expr: &Expr) -> bool {
    struct Room(usize);

    impl fmt::Write for Room {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
            Ok(())
        }
    }

    write!(Room(SIBLING_BYTES), "{expr}").is_err()
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::write_compared;

    fn written(text: &str) -> String {
        let mut statement = parse::parse_open(&format!("SELECT {text} FROM t")).unwrap();
        write_compared(&mut statement);
        let text = statement.to_string();
        text.trim_start_matches("SELECT ").trim_end_matches(" FROM t").to_owned()
    }

    #[test]
    fn parameters_are_compared_with_what_stands_beside() {
        for (text, wanted) in [
            ("coalesce($1, a)", "coalesce((CASE WHEN a = $1 THEN a END), a)"),
            ("nullif(a, ($1))", "nullif(a, (CASE WHEN a = ($1) THEN a END))"),
            ("greatest($1, a, b)", "greatest((CASE WHEN coalesce(a, b) = $1 THEN coalesce(a, b) END), a, b)"),
            ("ARRAY[$1, NULL, 1]", "ARRAY[(CASE WHEN 1 = $1 THEN 1 END), NULL, 1]"),
            ("CASE WHEN b THEN $1 ELSE a END", "CASE WHEN b THEN (CASE WHEN a = $1 THEN a END) ELSE a END"),
            ("a = ANY(ARRAY[$1, 2])", "a = ANY(ARRAY[(CASE WHEN 2 = $1 THEN 2 END), 2])"),
            (
                "a <> ALL(ARRAY[$1, $2])",
                "a <> ALL(ARRAY[(CASE WHEN a = $1 THEN a END), (CASE WHEN a = $2 THEN a END)])",
            ),
            ("$1 = ANY(a)", "(CASE WHEN a[1] = $1 THEN a[1] END) = ANY(a)"),
            ("array_append(a, $1)", "array_append(a, (CASE WHEN a[1] = $1 THEN a[1] END))"),
            ("array_prepend($1, a)", "array_prepend((CASE WHEN a[1] = $1 THEN a[1] END), a)"),
            ("array_position(a, $1, $2)", "array_position(a, (CASE WHEN a[1] = $1 THEN a[1] END), $2)"),
            ("CASE a WHEN $1 THEN 1 END", "CASE a WHEN (CASE WHEN a = $1 THEN a END) THEN 1 END"),
        ] {
            assert_eq!(written(text), wanted);
        }
        for text in ["coalesce($1, $2)", "coalesce($1, NULL)", "$1 + a", "upper($1)", "CASE WHEN $1 THEN a ELSE b END"]
        {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn nesting_does_not_multiply() {
        assert_eq!(written(&format!("coalesce($1, '{}')", "a".repeat(300))).matches('$').count(), 1);
        let nested = (0..20).fold("a".to_owned(), |inner, _| format!("coalesce($1, {inner})"));
        assert!(written(&nested).len() < 20_000);
    }
}
