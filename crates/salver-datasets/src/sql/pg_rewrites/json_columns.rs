//! Columns of subqueries and table functions that are JSON by the expressions that they are computed from: `x` in
//! `select jsonb_agg(x) from (select jsonb_build_object('a', i) as x from t) as y`. Where it matters, such a column is
//! cast to what it is.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Distinct, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, ObjectName,
    ObjectNamePart, OrderByKind, Query, Select, SelectItem, SetExpr, TableAlias, TableFactor,
};
use salver_model::Error;

use super::function_names::name_of;
use super::json_kind::{CHOOSERS, Kind, MAKERS, cast, kind};
use super::outside_subqueries::outside_queries;
use super::take;
use crate::sql::identifier_case::fold;

/// Table functions whose last column is JSON, with its name.
const TABLES: [(&str, &str, Kind); 4] = [
    ("json_array_elements", "value", Kind::AsWritten),
    ("jsonb_array_elements", "value", Kind::Normal),
    ("json_each", "value", Kind::AsWritten),
    ("jsonb_each", "value", Kind::Normal),
];

/// The columns of a query: their names, and whether they are JSON.
type Columns = Vec<(Option<String>, Option<Kind>)>;

/// Casts the columns that are JSON in a query.
pub(super) fn of_query(query: &mut Query) -> Result<(), Box<Error>> {
    let mut named: Vec<(String, Columns)> = Vec::new();
    for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        of_body(&mut table.query.body, &named)?;
        let columns = called(columns(&table.query.body), &table.alias);
        named.push((fold(&table.alias.name), columns));
    }
    let order = match query.order_by.as_mut().map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(keys)) => keys.as_mut_slice(),
        _ => &mut [],
    };
    if let SetExpr::Select(select) = &*query.body {
        let known = known(select, &named);
        order.iter_mut().try_for_each(|key| cast_within(&mut key.expr, &known))?;
    }
    of_body(&mut query.body, &named)
}

fn of_body(body: &mut SetExpr, named: &[(String, Columns)]) -> Result<(), Box<Error>> {
    match body {
        SetExpr::Select(select) => of_select(select, named),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left, named)?;
            of_body(right, named)
        }
        _ => Ok(()),
    }
}

fn of_select(select: &mut Select, named: &[(String, Columns)]) -> Result<(), Box<Error>> {
    let known = known(select, named);
    let items = select.projection.iter_mut().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    });
    let groups = match &mut select.group_by {
        GroupByExpr::Expressions(groups, _) => groups.as_mut_slice(),
        GroupByExpr::All(_) => &mut [],
    };
    let on = match &mut select.distinct {
        Some(Distinct::On(keys)) => keys.as_mut_slice(),
        _ => &mut [],
    };
    let conditions = select.selection.iter_mut().chain(&mut select.having).chain(&mut select.qualify);
    items.chain(groups).chain(on).chain(conditions).try_for_each(|expr| cast_within(expr, &known))
}

/// Returns the columns that are JSON in the tables of a query: with the name of the table, and their own.
fn known(select: &Select, named: &[(String, Columns)]) -> Vec<(String, String, Kind)> {
    let mut known = Vec::new();
    for from in &select.from {
        for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)) {
            if let Some((table, columns)) = columns_of(factor, named) {
                let columns = columns.into_iter().filter_map(|(name, kind)| Some((name?, kind?)));
                known.extend(columns.map(|(name, kind)| (table.clone(), name, kind)));
            }
        }
    }
    known
}

fn cast_within(expr: &mut Expr, known: &[(String, String, Kind)]) -> Result<(), Box<Error>> {
    if known.is_empty() {
        return Ok(());
    }
    outside_queries(expr, &mut |part| {
        told(part, known);
        Ok(())
    })
}

/// Returns the name of a table and its columns; `None` if these are not known.
fn columns_of(factor: &TableFactor, named: &[(String, Columns)]) -> Option<(String, Columns)> {
    match factor {
        TableFactor::Derived { subquery, alias: Some(alias), .. } => {
            Some((fold(&alias.name), called(columns(&subquery.body), alias)))
        }
        TableFactor::Table { name, alias, args: None, .. } => {
            let own = plain(name)?;
            let (_, columns) = named.iter().rev().find(|(name, _)| *name == own)?;
            Some(match alias {
                Some(alias) => (fold(&alias.name), called(columns.clone(), alias)),
                None => (own, columns.clone()),
            })
        }
        TableFactor::Table { name, alias, .. } | TableFactor::Function { name, alias, .. } => {
            let own = plain(name)?;
            let (_, value, kind) = TABLES.iter().find(|(name, ..)| *name == own)?;
            let table = alias.as_ref().map_or(own.clone(), |alias| fold(&alias.name));
            let given = |place: usize| alias.as_ref()?.columns.get(place).map(|column| fold(&column.name));
            let is_each = own.ends_with("_each");
            let column = given(usize::from(is_each)).unwrap_or_else(|| (*value).to_owned());
            let mut columns = vec![(Some(column), Some(*kind))];
            // The name of a table with one column stands for that.
            if !is_each {
                columns.push((Some(table.clone()), Some(*kind)));
            }
            Some((table, columns))
        }
        _ => None,
    }
}

fn plain(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Some(fold(name)),
        _ => None,
    }
}

/// Returns columns with the names that an alias gives them.
fn called(mut columns: Columns, alias: &TableAlias) -> Columns {
    for ((name, _), given) in columns.iter_mut().zip(&alias.columns) {
        *name = Some(fold(&given.name));
    }
    columns
}

/// Returns the columns of a query, of which the first branch tells what they are; none if it has a `*`.
fn columns(body: &SetExpr) -> Columns {
    match body {
        SetExpr::Select(select) => {
            let column = |item: &SelectItem| match item {
                SelectItem::ExprWithAlias { expr, alias } => Some((Some(fold(alias)), kind(expr))),
                SelectItem::UnnamedExpr(expr) => Some((None, kind(expr))),
                _ => None,
            };
            select.projection.iter().map(column).collect::<Option<_>>().unwrap_or_default()
        }
        SetExpr::Values(values) => {
            let first = values.rows.first();
            first.map_or_else(Vec::new, |row| row.content.iter().map(|value| (None, kind(value))).collect())
        }
        SetExpr::SetOperation { left, .. } => columns(left),
        SetExpr::Query(query) => columns(&query.body),
        _ => Vec::new(),
    }
}

/// Casts the columns among the parts of an expression to what they are known to be, where that decides its meaning.
fn told(expr: &mut Expr, known: &[(String, String, Kind)]) {
    use BinaryOperator as Op;
    match expr {
        Expr::BinaryOp { left, op, right } => match op {
            Op::StringConcat
            | Op::AtArrow
            | Op::ArrowAt
            | Op::Eq
            | Op::NotEq
            | Op::Lt
            | Op::LtEq
            | Op::Gt
            | Op::GtEq => {
                [left, right].into_iter().for_each(|side| tell(side, known));
            }
            Op::Arrow | Op::LongArrow | Op::HashArrow | Op::HashLongArrow | Op::Minus => tell(left, known),
            _ => {}
        },
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter_mut().map(|branch| &mut branch.result).chain(else_result.as_deref_mut());
            results.for_each(|result| tell(result, known));
        }
        Expr::Function(function) => {
            let is_told = name_of(function)
                .is_some_and(|name| MAKERS.contains(&name.as_str()) || CHOOSERS.contains(&name.as_str()));
            let FunctionArguments::List(list) = &mut function.args else { return };
            for argument in list.args.iter_mut().filter(|_| is_told) {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) = argument {
                    tell(argument, known);
                }
            }
        }
        _ => {}
    }
}

fn tell(expr: &mut Expr, known: &[(String, String, Kind)]) {
    let found = match expr {
        Expr::Nested(inner) => return tell(inner, known),
        Expr::Identifier(name) => {
            let name = fold(name);
            known.iter().find(|(_, column, _)| *column == name)
        }
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, column] => {
                let (table, column) = (fold(table), fold(column));
                known.iter().find(|(own, name, _)| *own == table && *name == column)
            }
            _ => None,
        },
        _ => None,
    };
    if let Some((.., kind)) = found {
        let data_type = if *kind == Kind::Normal { DataType::JSONB } else { DataType::JSON };
        *expr = cast(take(expr), data_type);
    }
}
