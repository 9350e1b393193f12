//! Lists of `values` in which a column has values of several kinds: `values (date '2024-01-01'), ('2024-05-05')`. Such
//! a column has the type that its values have in common, as the elements of an array have it, and a quoted literal is
//! read as that. The planner would go by the types as they are written, pair by pair.
//!
//! Columns become arrays that are taken apart side by side, which keeps the order of the rows; a `union all` would not.

use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Ident, Parens, SelectItem, SetExpr, TypedString, UnaryOperator, Value, Visit, Visitor,
};
use salver_model::Error;

use super::derived_tables::{ROWS, put};
use super::function_names::simple;
use super::set_returning::names_columns;
use super::{expression, take};

/// What a value looks like.
#[derive(PartialEq)]
enum Kind<'e> {
    Null,
    Number,
    Text,
    Boolean,
    Interval,
    Array,
    Of(&'e DataType),
    Other,
}

/// Rewrites the lists of a query, which set operations may combine.
pub(super) fn rewrite(body: &mut SetExpr) -> Result<(), Box<Error>> {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            rewrite(left)?;
            rewrite(right)
        }
        SetExpr::Values(values) if !values.value_keyword && is_mixed(&values.rows) => {
            if let Some(query) = side_by_side(std::mem::take(&mut values.rows))? {
                *body = query;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns whether a column of a list must be resolved; of values that are all computed the planner knows the types. A
/// list that names columns of a table, or has subqueries, stays as it is; so does one with rows of different lengths,
/// which the planner refuses.
fn is_mixed(rows: &[Parens<Vec<Expr>>]) -> bool {
    let width = rows.first().map_or(0, |row| row.content.len());
    if rows.len() < 2 || rows.iter().any(|row| row.content.len() != width) {
        return false;
    }
    let is_plain = |column: usize| {
        let mut kinds =
            rows.iter().filter_map(|row| row.content.get(column)).map(kind).filter(|own| *own != Kind::Null);
        let Some(first) = kinds.next() else { return true };
        kinds.all(|own| own == first)
    };
    let cells = || rows.iter().flat_map(|row| &row.content);
    !(0..width).all(is_plain) && !cells().any(|cell| names_columns(cell) || has_queries(cell))
}

fn kind(expr: &Expr) -> Kind<'_> {
    match expr {
        Expr::Nested(inner) => kind(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => match kind(expr) {
            Kind::Number => Kind::Number,
            _ => Kind::Other,
        },
        Expr::Value(value) => match &value.value {
            Value::Null => Kind::Null,
            Value::Number(..) => Kind::Number,
            Value::Boolean(_) => Kind::Boolean,
            Value::Placeholder(_) => Kind::Other,
            _ => Kind::Text,
        },
        Expr::Interval(_) => Kind::Interval,
        Expr::Array(_) => Kind::Array,
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => match data_type {
            DataType::Array(_) => Kind::Array,
            DataType::Interval { .. } => Kind::Interval,
            own => Kind::Of(own),
        },
        _ => Kind::Other,
    }
}

/// Returns `select column1 from (select unnest(make_array(...)) as column1) as r`.
fn side_by_side(mut rows: Vec<Parens<Vec<Expr>>>) -> Result<Option<SetExpr>, Box<Error>> {
    let width = rows.first().map_or(0, |row| row.content.len());
    let names: Vec<String> = (1..=width).map(|number| format!("column{number}")).collect();
    let items = names.iter().enumerate().map(|(column, name)| {
        let cells: Vec<Expr> = rows.iter_mut().filter_map(|row| row.content.get_mut(column)).map(take).collect();
        // An array of nothing but nulls has no type.
        let expr = match cells.iter().all(|cell| kind(cell) == Kind::Null) {
            true => Expr::value(Value::Null),
            false => Expr::Function(simple("unnest", vec![Expr::Function(simple("make_array", cells))])),
        };
        SelectItem::ExprWithAlias { expr, alias: Ident::new(name) }
    });
    let items: Vec<SelectItem> = items.collect();
    let Expr::Subquery(mut inner) = expression("(select 1)", Vec::new())? else { return Ok(None) };
    if let SetExpr::Select(select) = &mut *inner.body {
        select.projection = items;
    }
    let mut outer = expression(&format!("(select {} from (select 1) as {ROWS})", names.join(", ")), Vec::new())?;
    put(&mut outer, &inner);
    match outer {
        Expr::Subquery(outer) => Ok(Some(*outer.body)),
        _ => Ok(None),
    }
}

/// Returns whether an expression has a subquery.
pub(in crate::sql) fn has_queries(expr: &Expr) -> bool {
    struct Queries;

    impl Visitor for Queries {
        type Break = ();

        fn pre_visit_query(&mut self, _: &datafusion::sql::sqlparser::ast::Query) -> std::ops::ControlFlow<()> {
            std::ops::ControlFlow::Break(())
        }
    }

    expr.visit(&mut Queries).is_break()
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::ast::Expr;

    use super::{expression, rewrite};

    fn written(values: &str) -> String {
        let Expr::Exists { subquery: mut query, .. } = expression(&format!("exists ({values})"), Vec::new()).unwrap()
        else {
            panic!("`{values}` is no query")
        };
        rewrite(&mut query.body).unwrap();
        query.to_string()
    }

    #[test]
    fn columns_of_several_kinds_are_arrays() {
        for (values, wanted) in [
            (
                "VALUES (1, DATE '2024-01-01', NULL), (NULL, '2024-01-02', NULL)",
                "SELECT column1, column2, column3 FROM (SELECT unnest(make_array(1, NULL)) AS column1, \
                 unnest(make_array(DATE '2024-01-01', '2024-01-02')) AS column2, NULL AS column3) AS __salver_rows",
            ),
            (
                "VALUES (1) UNION ALL VALUES (now()), ('x')",
                "VALUES (1) UNION ALL SELECT column1 FROM (SELECT unnest(make_array(now(), 'x')) AS column1) AS \
                 __salver_rows",
            ),
        ] {
            assert_eq!(written(values), wanted);
        }
        for values in [
            "VALUES (1, 'a', true), (-2.5, NULL, false), (NULL, 'b', NULL)",
            "VALUES (DATE '2024-01-01'), (CAST('2024-01-02' AS DATE))",
            "VALUES (now())",
            "VALUES (1, '2'), ('3')",
            "VALUES (a), ('b')",
            "VALUES (1), ((SELECT 2))",
        ] {
            assert_eq!(written(values), values);
        }
    }
}
