//! Queries of relations of the catalog that have no rows, as those of indexes and constraints: what they compute for
//! each row, nobody sees, and much of it is more than the engine can plan. They become queries with the same columns
//! and without rows, and subqueries become what they are then.

use std::ops::ControlFlow;

use arrow::datatypes::{DataType as ArrowType, Field};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, FunctionArguments, GroupByExpr, Ident, Join, JoinOperator, ObjectName,
    ObjectNamePart, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier, Statement, TableFactor,
    TableWithJoins, Value, Visit, VisitMut, Visitor, VisitorMut, visit_expressions, visit_relations,
};

use super::definitions;
use super::rewrite::{SCHEMA, is_aggregate, last, null, to};
use super::tables::SystemTables;
use crate::pg_names::figured_name;

/// Lists of the catalog that are null in every row: nobody has rights or options of its own.
const NULL_LISTS: [&str; 9] =
    ["attacl", "attfdwoptions", "attoptions", "datacl", "nspacl", "relacl", "reloptions", "rolconfig", "typacl"];

/// Rewrites the queries of a statement that can't have rows.
pub(super) fn rewrite(statement: &mut Statement, tables: &SystemTables) {
    let mut names = LocalNames::default();
    let _ = Visit::visit(&*statement, &mut names);
    // A query of the statement's own would be taken for the relation.
    if !names.has_one_of_catalog {
        let _ = VisitMut::visit(statement, &mut Rewriter { tables, expands_keys: names.expands_keys });
    }
}

/// Finds out whether `WITH` gives a query the name of a relation of the catalog, and whether columns of keys are
/// expanded.
#[derive(Default)]
struct LocalNames {
    has_one_of_catalog: bool,
    expands_keys: bool,
}

impl Visitor for LocalNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let mut names = query.with.iter().flat_map(|with| &with.cte_tables).map(|table| &table.alias.name.value);
        self.has_one_of_catalog |= names.any(|name| definitions::columns(&name.to_lowercase()).is_some());
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.expands_keys |= is_expansion(expr);
        ControlFlow::Continue(())
    }
}

struct Rewriter<'t> {
    tables: &'t SystemTables,
    expands_keys: bool,
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        match &mut *query.body {
            SetExpr::Select(select) if self.is_select_empty(select) => {
                let is_hollow = hollow(select);
                if is_hollow {
                    (query.order_by, query.limit_clause, query.fetch) = (None, None, None);
                }
            }
            SetExpr::SetOperation { op: SetOperator::Union, set_quantifier: SetQuantifier::All, left, right }
                if self.is_empty(right) && !self.is_empty(left) =>
            {
                *query.body = SetExpr::clone(left);
            }
            body @ SetExpr::SetOperation { .. } if self.is_empty(body) => {
                if let Some(mut select) = leftmost(body).cloned().filter(|_| query.with.is_none())
                    && hollow(&mut select)
                {
                    *query.body = SetExpr::Select(Box::new(select));
                    (query.order_by, query.limit_clause, query.fetch) = (None, None, None);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let boolean = |is_true: bool| Expr::value(Value::Boolean(is_true));
        let found = match expr {
            Expr::Subquery(query) if self.is_empty(&query.body) || self.is_total_of_none(query) => Some(null()),
            Expr::Exists { subquery, negated } if self.is_empty(&subquery.body) => Some(boolean(*negated)),
            Expr::InSubquery { subquery, negated, .. } if self.is_empty(&subquery.body) => Some(boolean(*negated)),
            Expr::AnyOp { right, .. } => self.is_of_none(right).then(|| boolean(false)),
            Expr::AllOp { right, .. } => self.is_of_none(right).then(|| boolean(true)),
            Expr::Function(function) => match &function.args {
                FunctionArguments::Subquery(query)
                    if last(&function.name).as_deref() == Some("array") && self.is_empty(&query.body) =>
                {
                    Some(to(null(), super::rewrite::array_of(DataType::Text)))
                }
                _ => None,
            },
            // A field of what has no rows, as psql and pgJDBC ask for of the columns of keys.
            Expr::CompoundFieldAccess { root, .. } if self.expands_keys && is_of_keys(root) => {
                Some(to(null(), DataType::Int(None)))
            }
            _ => None,
        };
        if let Some(found) = found {
            *expr = found;
        }
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_> {
    fn is_of_none(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Subquery(query) if self.is_empty(&query.body))
            || matches!(expr, Expr::Nested(inner) if self.is_of_none(inner))
    }

    /// Returns whether a query can't have rows.
    fn is_empty(&self, body: &SetExpr) -> bool {
        match body {
            SetExpr::Select(select) => self.is_select_empty(select),
            SetExpr::Query(query) => query.with.is_none() && self.is_empty(&query.body),
            SetExpr::SetOperation { op: SetOperator::Intersect, left, right, .. } => {
                self.is_empty(left) || self.is_empty(right)
            }
            SetExpr::SetOperation { op: SetOperator::Except, left, .. } => self.is_empty(left),
            SetExpr::SetOperation { left, right, .. } => self.is_empty(left) && self.is_empty(right),
            _ => false,
        }
    }

    fn is_select_empty(&self, select: &Select) -> bool {
        let (has_groups, are_plain) = match &select.group_by {
            GroupByExpr::Expressions(by, modifiers) => (!by.is_empty(), modifiers.is_empty()),
            GroupByExpr::All(_) => (false, false),
        };
        let is_total = !has_groups && (has_aggregate(&select.projection) || select.having.is_some());
        let sets = |expr: &Expr| matches!(expr, Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_));
        let has_sets = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.iter().any(sets));
        if !are_plain || is_total || has_sets {
            return false;
        }
        select.selection.as_ref().is_some_and(never_holds) || self.is_input_empty(select)
    }

    fn is_input_empty(&self, select: &Select) -> bool {
        select.from.iter().any(|from| self.is_joined_empty(from))
    }

    /// Returns whether a query is one total of no rows, which is null, unless it counts.
    fn is_total_of_none(&self, query: &Query) -> bool {
        let SetExpr::Select(select) = &*query.body else { return false };
        let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] = &select.projection[..]
        else {
            return false;
        };
        let counts = matches!(value, Expr::Function(own) if last(&own.name).as_deref() == Some("count"));
        let is_one = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        is_one && select.having.is_none() && is_aggregate(value) && !counts && self.is_input_empty(select)
    }

    fn is_joined_empty(&self, from: &TableWithJoins) -> bool {
        from.joins.iter().fold(self.is_table_empty(&from.relation), |is_empty, Join { relation, join_operator, .. }| {
            match join_operator {
                JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_) => {
                    is_empty || self.is_table_empty(relation)
                }
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => is_empty,
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => self.is_table_empty(relation),
                JoinOperator::FullOuter(_) => is_empty && self.is_table_empty(relation),
                _ => false,
            }
        })
    }

    fn is_table_empty(&self, table: &TableFactor) -> bool {
        match table {
            TableFactor::Table { name, args: None, .. } => {
                relation_of(name).is_some_and(|name| self.tables.is_without_rows(&name))
            }
            TableFactor::Derived { subquery, .. } => subquery.with.is_none() && self.is_empty(&subquery.body),
            TableFactor::NestedJoin { table_with_joins, .. } => self.is_joined_empty(table_with_joins),
            _ => false,
        }
    }
}

/// Returns the relation of the catalog that is named.
fn relation_of(name: &ObjectName) -> Option<String> {
    let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
    match parts.as_slice() {
        [_] => {}
        [schema, _] if schema.value.eq_ignore_ascii_case(SCHEMA) => {}
        _ => return None,
    }
    last(name).filter(|name| definitions::columns(name).is_some())
}

/// Returns whether a condition holds for no row: it is false, asks for one of the lists that are null, or for the
/// relation that a type is of, of which there is none.
fn never_holds(condition: &Expr) -> bool {
    let named = |expr: &Expr, wanted: &[&str]| match expr {
        Expr::Identifier(name) => wanted.contains(&name.value.as_str()),
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|name| wanted.contains(&name.value.as_str())),
        _ => false,
    };
    match condition {
        Expr::Value(value) => value.value == Value::Boolean(false),
        Expr::Nested(inner) => never_holds(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => never_holds(left) || never_holds(right),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            named(left, &["oid"]) && named(right, &["typrelid"]) || named(left, &["typrelid"]) && named(right, &["oid"])
        }
        Expr::IsNotNull(inner) => named(inner, &NULL_LISTS),
        _ => false,
    }
}

/// Returns the first of the queries that a set operation combines.
fn leftmost(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => leftmost(left),
        SetExpr::Query(query) => leftmost(&query.body),
        _ => None,
    }
}

fn is_expansion(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(function) if last(&function.name).as_deref() == Some("_pg_expandarray"))
}

/// Returns whether an expression is made by the function that expands the columns of keys, or is named after it.
fn is_of_keys(root: &Expr) -> bool {
    match root {
        Expr::Nested(inner) => is_of_keys(inner),
        Expr::Function(_) => is_expansion(root),
        Expr::Identifier(name) => name.value.eq_ignore_ascii_case("keys"),
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|name| name.value.eq_ignore_ascii_case("keys")),
        _ => false,
    }
}

fn has_aggregate(projection: &[SelectItem]) -> bool {
    let has = |expr: &Expr| {
        let found = |part: &Expr| match part {
            Expr::Function(function) if function.over.is_none() && is_aggregate(part) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        visit_expressions(expr, found).is_break()
    };
    projection.iter().any(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => has(expr),
        _ => false,
    })
}

/// Leaves of a query its columns alone; returns whether that was done. Those of a `*` are not known here, and the types
/// of those of other tables than the catalog's neither.
fn hollow(select: &mut Select) -> bool {
    let is_of_catalog = |name: &ObjectName| match relation_of(name) {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(()),
    };
    if select.from.is_empty() || visit_relations(&select.from, is_of_catalog).is_break() {
        return false;
    }
    let mut names: Vec<Ident> = Vec::new();
    let mut projection = Vec::with_capacity(select.projection.len());
    for item in &select.projection {
        let (expr, name) = match item {
            SelectItem::ExprWithAlias { expr, alias } => (expr, alias.clone()),
            SelectItem::UnnamedExpr(expr) => (expr, Ident::with_quote('"', figured_name(expr))),
            _ => return false,
        };
        let taken = names.iter().filter(|own| own.value.eq_ignore_ascii_case(&name.value)).count();
        names.push(name.clone());
        // Nobody can name one of two columns with the same name.
        let alias = if taken == 0 { name } else { Ident::with_quote('"', format!("{}:{taken}", name.value)) };
        let expr = to(null(), type_of(expr, &select.from));
        projection.push(SelectItem::ExprWithAlias { expr, alias });
    }
    select.projection = projection;
    select.from.clear();
    select.selection = Some(Expr::value(Value::Boolean(false)));
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    (select.distinct, select.having, select.qualify) = (None, None, None);
    select.named_window.clear();
    true
}

/// Returns the type of a column, as far as it is one of the catalog's.
pub(super) fn type_of(expr: &Expr, from: &[TableWithJoins]) -> DataType {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        Expr::Cast { data_type, .. } if !matches!(data_type, DataType::Custom(..) | DataType::Regclass) => {
            return data_type.clone();
        }
        _ => None,
    };
    let tables = from
        .iter()
        .flat_map(|from| std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)));
    let mut schemas = tables.filter_map(|table| match table {
        TableFactor::Table { name, .. } => definitions::columns(&relation_of(name)?),
        _ => None,
    });
    let field = name.map(|name| name.value.to_lowercase());
    let field = field.and_then(|name| schemas.find_map(|schema| schema.field_with_name(&name).ok()));
    match field.map(Field::data_type) {
        Some(ArrowType::Int32) => DataType::Int(None),
        Some(ArrowType::Int16) => DataType::SmallInt(None),
        Some(ArrowType::Int64) => DataType::BigInt(None),
        Some(ArrowType::Boolean) => DataType::Boolean,
        _ => DataType::Text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;
    use salver_model::ports::{Table, Tables};
    use salver_model::{Name, Result};

    use super::super::tables::SystemTables;
    use super::rewrite;

    #[derive(Debug)]
    struct NoEntries;

    impl Tables for NoEntries {
        fn table(&self, _: &str) -> Result<Option<Arc<dyn Table>>> {
            Ok(None)
        }

        fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
            Vec::new()
        }

        fn generation(&self) -> u64 {
            0
        }
    }

    fn rewritten(text: &str) -> String {
        let mut statement = Parser::parse_sql(&PostgreSqlDialect {}, text).unwrap().pop().unwrap();
        rewrite(&mut statement, &SystemTables::new(Arc::new(NoEntries)));
        statement.to_string()
    }

    #[test]
    fn queries_without_rows_have_their_columns_alone() {
        for (text, wanted) in [
            (
                "SELECT i.indrelid, (i.indkey)[1] AS a, count(*) OVER () FROM pg_catalog.pg_index i ORDER BY 2",
                "SELECT NULL::INT AS \"indrelid\", NULL::TEXT AS a, NULL::TEXT AS \"count\" WHERE false",
            ),
            (
                "SELECT c.oid FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid GROUP BY 1",
                "SELECT NULL::INT AS \"oid\" WHERE false",
            ),
            (
                "SELECT 1 FROM (SELECT conname, contype FROM pg_constraint) k, pg_class",
                "SELECT NULL::TEXT AS \"?column?\" WHERE false",
            ),
            (
                "SELECT n FROM t WHERE EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = n)",
                "SELECT n FROM t WHERE false",
            ),
            ("SELECT (SELECT conname FROM pg_constraint LIMIT 1) FROM t", "SELECT NULL FROM t"),
            ("SELECT (SELECT max(conname) FROM pg_constraint) FROM t", "SELECT NULL FROM t"),
            ("SELECT array(SELECT polname FROM pg_policy) FROM t", "SELECT NULL::TEXT[] FROM t"),
            ("SELECT a FROM t WHERE NOT b IN (SELECT polname FROM pg_policy)", "SELECT a FROM t WHERE NOT false"),
            ("SELECT a FROM t UNION ALL SELECT polname FROM pg_policy", "SELECT a FROM t"),
            (
                "SELECT oid FROM pg_policy UNION SELECT oid FROM pg_index ORDER BY 1",
                "SELECT NULL::INT AS \"oid\" WHERE false",
            ),
            (
                "SELECT 1 FROM pg_type t WHERE t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_class c \
                 WHERE c.oid = t.typrelid)",
                "SELECT 1 FROM pg_type t WHERE t.typrelid = 0 OR NULL",
            ),
            (
                "SELECT array(SELECT attname FROM pg_attribute a WHERE a.attrelid = t.a AND attacl IS NOT NULL) FROM t",
                "SELECT NULL::TEXT[] FROM t",
            ),
            (
                "SELECT (r.keys).x, (information_schema._pg_expandarray(a)).n FROM r",
                "SELECT NULL::INT, NULL::INT FROM r",
            ),
        ] {
            assert_eq!(rewritten(text), wanted, "{text}");
        }
    }

    #[test]
    fn other_queries_stay() {
        for text in [
            "SELECT c.oid FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid",
            "SELECT count(*) FROM pg_index",
            "SELECT (SELECT count(*) FROM pg_index) FROM t",
            "SELECT * FROM pg_index",
            "WITH pg_index AS (SELECT 1 AS a) SELECT a FROM pg_index",
            "SELECT a FROM public.pg_index",
            "SELECT a FROM t WHERE false",
            "SELECT 1 AS a WHERE false",
            "SELECT typname FROM pg_type WHERE typname IS NOT NULL",
            "SELECT a FROM t UNION SELECT polname FROM pg_policy",
            "SELECT (r.keys).x FROM r",
        ] {
            assert_eq!(rewritten(text), text);
        }
    }
}
