//! Casts of short integers, which the values of parameters have: they stay where the client sees their type, as in
//! `select $1`, and go everywhere else, where a number is taken for what it stands beside, as one that is written out.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    ObjectNamePart, Query, Select, SelectItem, SetExpr, Statement, UnaryOperator, Value, VisitMut, VisitorMut,
};

/// Functions that return one of their arguments.
const CHOOSING: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];

/// Leaves the casts of short integers that show.
pub(super) fn keep(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut Keeper);
}

struct Keeper;

impl VisitorMut for Keeper {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let SetExpr::Values(values) = &mut *query.body {
            values.rows.iter_mut().flat_map(|row| row.iter_mut()).for_each(show);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                show(expr);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Cast { kind: CastKind::Cast, expr: inner, data_type, .. } = expr {
            let goes = match &*data_type {
                DataType::Int2(None) | DataType::Int4(None) => is_whole(inner, data_type),
                DataType::Array(ArrayElemTypeDef::SquareBracket(of, None)) => are_whole(inner, of),
                _ => false,
            };
            if goes {
                *expr = std::mem::replace(&mut **inner, Expr::value(Value::Null));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Writes the casts of a value that shows as those that stay.
fn show(expr: &mut Expr) {
    match expr {
        Expr::Nested(inner) => show(inner),
        Expr::Cast { kind: CastKind::Cast, data_type, .. } => match data_type {
            DataType::Array(ArrayElemTypeDef::SquareBracket(of, None)) => stay(of),
            other => stay(other),
        },
        Expr::Case { conditions, else_result, .. } => {
            conditions.iter_mut().for_each(|when| show(&mut when.result));
            else_result.iter_mut().for_each(|otherwise| show(otherwise));
        }
        Expr::Array(array) => array.elem.iter_mut().for_each(show),
        Expr::Function(function) if is_choosing(function) => {
            let FunctionArguments::List(list) = &mut function.args else { return };
            for argument in &mut list.args {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument {
                    show(argument);
                }
            }
        }
        _ => {}
    }
}

/// Writes a type by its other name.
fn stay(data_type: &mut DataType) {
    match data_type {
        DataType::Int2(None) => *data_type = DataType::SmallInt(None),
        DataType::Int4(None) => *data_type = DataType::Integer(None),
        _ => {}
    }
}

fn is_choosing(function: &Function) -> bool {
    let name = function.name.0.last().and_then(ObjectNamePart::as_ident);
    name.is_some_and(|name| CHOOSING.iter().any(|own| name.value.eq_ignore_ascii_case(own)))
}

/// Returns whether an expression is a whole number that a type has.
fn is_whole(expr: &Expr, data_type: &DataType) -> bool {
    let fits = |number: i64| match data_type {
        DataType::Int2(None) => i16::try_from(number).is_ok(),
        _ => i32::try_from(number).is_ok(),
    };
    whole(expr).is_some_and(fits)
}

/// Returns whether an expression is an array of such, or of nulls beside them.
fn are_whole(expr: &Expr, of: &DataType) -> bool {
    let is_null = |element: &Expr| matches!(element, Expr::Value(value) if value.value == Value::Null);
    let is_short = matches!(of, DataType::Int2(None) | DataType::Int4(None));
    match expr {
        Expr::Array(array) if is_short => {
            array.elem.iter().any(|element| !is_null(element))
                && array.elem.iter().all(|element| is_null(element) || is_whole(element, of))
        }
        _ => false,
    }
}

fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Nested(inner) => whole(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => whole(expr).and_then(i64::checked_neg),
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => digits.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::keep;

    fn kept(text: &str) -> String {
        let mut statement = parse::parse_open(text).unwrap();
        keep(&mut statement);
        statement.to_string()
    }

    #[test]
    fn casts_stay_where_they_show() {
        for (text, wanted) in [
            (
                "SELECT CAST((-7) AS INT4) AS a, (CAST(1 AS INT2))",
                "SELECT CAST((-7) AS INTEGER) AS a, (CAST(1 AS SMALLINT))",
            ),
            ("SELECT CAST(ARRAY[1, NULL] AS INT4[])", "SELECT CAST(ARRAY[1, NULL] AS INTEGER[])"),
            ("SELECT coalesce(CAST(1 AS INT4), a) FROM t", "SELECT coalesce(CAST(1 AS INTEGER), a) FROM t"),
            (
                "SELECT CASE WHEN a = CAST(1 AS INT4) THEN CAST(2 AS INT4) END FROM t",
                "SELECT CASE WHEN a = 1 THEN CAST(2 AS INTEGER) END FROM t",
            ),
            ("VALUES (CAST(1 AS INT2), 2)", "VALUES (CAST(1 AS SMALLINT), 2)"),
            ("SELECT a + CAST(1 AS INT4) FROM t", "SELECT a + 1 FROM t"),
            ("SELECT repeat(a, CAST(1 AS INT2)) FROM t", "SELECT repeat(a, 1) FROM t"),
            (
                "SELECT a FROM t WHERE a = ANY(CAST(ARRAY[1, -2] AS INT2[])) LIMIT CAST(5 AS INT4)",
                "SELECT a FROM t WHERE a = ANY(ARRAY[1, -2]) LIMIT 5",
            ),
            ("SELECT a FROM t WHERE a = CAST(70000 AS INT2)", "SELECT a FROM t WHERE a = CAST(70000 AS INT2)"),
            ("SELECT a FROM t WHERE a = CAST(b AS INT4)", "SELECT a FROM t WHERE a = CAST(b AS INT4)"),
            ("SELECT a FROM t WHERE a = CAST(1 AS INTEGER)", "SELECT a FROM t WHERE a = CAST(1 AS INTEGER)"),
        ] {
            assert_eq!(kept(text), wanted, "{text}");
        }
    }
}
