//! Values of a `case` for types of kinds that there are none of, as domains and composites: drivers compute them by
//! subqueries that the engine can't plan, and nobody sees them. They become nulls of the same type.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query,
    SelectItem, SetExpr, Statement, TableWithJoins, Value, VisitMut, VisitorMut,
};

use super::pg_types;
use super::rewrite::{array_of, last, null, to};
use super::without_rows::type_of;

/// Column of `pg_type` that has the kind.
const KIND: &str = "typtype";

/// Rewrites the values of each `case` of a statement that are never computed.
pub(super) fn rewrite(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut Rewriter);
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        rewrite_case(expr);
        ControlFlow::Continue(())
    }
}

fn rewrite_case(expr: &mut Expr) {
    let Expr::Case { operand: None, conditions, .. } = expr else { return };
    for CaseWhen { result, .. } in conditions.iter_mut().filter(|when| is_of_no_type(&when.condition)) {
        if let Expr::Subquery(query) = result {
            *result = to(null(), type_of_query(query));
        }
    }
}

/// Returns whether a condition asks for a kind that no type has.
fn is_of_no_type(condition: &Expr) -> bool {
    let (left, right) = match condition {
        Expr::Nested(inner) => return is_of_no_type(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => (&**left, &**right),
        _ => return false,
    };
    let name = match left {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    let is_kind = name.is_some_and(|name| name.value.eq_ignore_ascii_case(KIND));
    let letter = match right {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(letter) => letter,
            _ => return false,
        },
        _ => return false,
    };
    is_kind && pg_types::all().iter().all(|row| row.kind != letter)
}

/// Returns the type of the one value of a query.
fn type_of_query(query: &Query) -> DataType {
    let SetExpr::Select(select) = &*query.body else { return DataType::Text };
    match select.projection.first() {
        Some(SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }) => {
            type_of_value(value, &select.from)
        }
        _ => DataType::Text,
    }
}

fn type_of_value(value: &Expr, from: &[TableWithJoins]) -> DataType {
    match value {
        Expr::Function(function) if last(&function.name).as_deref() == Some("array_agg") => {
            array_of(argument(function).map_or(DataType::Text, |of| element(of, from)))
        }
        // A query of the statement's own may have it.
        Expr::Identifier(name) if name.value.eq_ignore_ascii_case("oid") => DataType::Int(None),
        other => type_of(other, from),
    }
}

fn argument(function: &Function) -> Option<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
        _ => None,
    }
}

/// Returns the type of the elements of a list. Numbers of the catalog have no sign in lists, where clients are told
/// that they are `oid[]`.
fn element(expr: &Expr, from: &[TableWithJoins]) -> DataType {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    let is_number = name.is_some_and(|name| name.value.to_ascii_lowercase().ends_with("id"));
    match type_of(expr, from) {
        DataType::Int(None) if is_number => DataType::IntUnsigned(None),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::rewrite;

    fn rewritten(text: &str) -> String {
        let text = format!("SELECT {text} FROM pg_type AS t");
        let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, &text).unwrap().pop().unwrap();
        rewrite(&mut statement);
        statement.to_string()
    }

    #[test]
    fn values_of_no_type_are_nulls_of_their_type() {
        for (expr, wanted) in [
            (
                "CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(ia.atttypid ORDER BY ia.attnum) FROM pg_attribute ia \
                 INNER JOIN pg_class c ON (ia.attrelid = c.oid)) ELSE NULL END",
                "CASE WHEN t.typtype = 'c' THEN NULL::INT UNSIGNED[] ELSE NULL END",
            ),
            (
                "CASE WHEN (t.typtype = 'c') THEN (SELECT array_agg(ia.attname::text) FROM pg_attribute ia) END",
                "CASE WHEN (t.typtype = 'c') THEN NULL::TEXT[] END",
            ),
            (
                "CASE WHEN t.typtype = 'd' THEN (WITH RECURSIVE b(oid) AS (SELECT 1) SELECT oid FROM b LIMIT 1) END",
                "CASE WHEN t.typtype = 'd' THEN NULL::INT END",
            ),
        ] {
            assert_eq!(rewritten(expr), format!("SELECT {wanted} FROM pg_type AS t"));
        }
        for expr in [
            "CASE WHEN t.typtype = 'b' THEN (SELECT max(oid) FROM pg_class) END",
            "CASE WHEN t.typtype <> 'd' THEN (SELECT max(oid) FROM pg_class) END",
            "CASE WHEN t.typname = 'd' THEN (SELECT max(oid) FROM pg_class) END",
            "CASE WHEN t.typtype = 'd' THEN t.typname END",
        ] {
            assert_eq!(rewritten(expr), format!("SELECT {expr} FROM pg_type AS t"));
        }
    }
}
