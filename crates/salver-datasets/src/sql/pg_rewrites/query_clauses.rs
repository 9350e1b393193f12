//! Parts of queries besides expressions: `fetch first`, `table t`, samples of tables, and duplicate column names.

use datafusion::sql::sqlparser::ast::{
    CastKind, DataType, Distinct, Expr, Ident, LimitClause, ObjectNamePart, Parens, Query, Select, SetExpr, TableAlias,
    TableFactor, TableSample, TableSampleKind, TableSampleMethod, TableSampleUnit, Value,
};
use datafusion::sql::sqlparser::parser::Parser;
use salver_model::{Code, Error, SqlFault};

use super::outside_subqueries::outside_queries;
use super::{
    duplicate_columns, expression, grouping_sets, named_windows, refused, scalar_subqueries, set_returning,
    set_returning_order, sort_keys, using_columns, value_columns, value_lists,
};
use crate::sql::grammar::Grammar;

pub(super) fn before(query: &mut Query) -> Result<(), Box<Error>> {
    for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
        // The engine decides how it is evaluated.
        cte.materialized = None;
    }
    if let Some(fetch) = query.fetch.take() {
        if fetch.with_ties || fetch.percent {
            return Err(refused(
                "`fetch` takes neither `with ties` nor `percent`",
                "number the rows in a subquery, as in `select ..., rank() over (order by x) as r`, and filter by `r`",
            ));
        }
        let one = || Expr::value(Value::Number("1".to_owned(), false));
        let quantity = fetch.quantity.unwrap_or_else(one);
        match &mut query.limit_clause {
            Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(quantity),
            None => {
                query.limit_clause =
                    Some(LimitClause::LimitOffset { limit: Some(quantity), offset: None, limit_by: Vec::new() });
            }
            Some(_) => return Err(refused("there is a `limit` and a `fetch`", "leave one of them out")),
        }
    }
    if let SetExpr::Values(values) = &mut *query.body {
        floats(&mut values.rows);
    }
    value_lists::rewrite(&mut query.body)?;
    named_windows::of_query(query)?;
    sort_keys::by_names(query);
    sort_keys::by_expressions(query)?;
    using_columns::of_order(query)?;
    scalar_subqueries::of_order(query.order_by.as_mut())?;
    sort_keys::by_all(query)?;
    sort_keys::by_positions(query);
    set_returning_order::of_query(query)
}

/// Casts the decimal literals in a column of `values` to floats if another value is cast to a float; the engine would
/// coerce all of them to decimals of fifteen digits.
fn floats(rows: &mut [Parens<Vec<Expr>>]) {
    let columns = rows.first().map_or(0, |row| row.content.len());
    for column in 0..columns {
        let float = rows.iter().find_map(|row| match row.content.get(column) {
            Some(Expr::Cast { data_type, .. }) if is_float(data_type) => Some(data_type.clone()),
            _ => None,
        });
        let Some(float) = float else { continue };
        for value in rows.iter_mut().filter_map(|row| row.content.get_mut(column)) {
            if is_decimal(value) {
                let (expr, data_type) = (Box::new(super::take(value)), float.clone());
                *value = Expr::Cast { kind: CastKind::DoubleColon, expr, data_type, array: false, format: None };
            }
        }
    }
}

fn is_float(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Float(_)
            | DataType::Float4
            | DataType::Float8
            | DataType::Float64
            | DataType::Real
            | DataType::Double(_)
            | DataType::DoublePrecision
    )
}

/// Returns whether an expression is a literal with a decimal point or an exponent.
fn is_decimal(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _) if digits.contains(['.', 'e', 'E'])),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_decimal(expr),
        _ => false,
    }
}

pub(super) fn select(select: &mut Select) -> Result<(), Box<Error>> {
    let conditions = [("where", &mut select.selection), ("having", &mut select.having)];
    for (clause, condition) in conditions.into_iter().filter_map(|(clause, own)| Some((clause, own.as_mut()?))) {
        without_windows(clause, condition)?;
    }
    named_windows::of_select(select)?;
    if let Some(Distinct::On(keys)) = &mut select.distinct {
        let mut seen = Vec::with_capacity(keys.len());
        keys.retain(|key| {
            let is_new = !seen.contains(key);
            seen.extend(is_new.then(|| key.clone()));
            is_new
        });
    }
    select.from.iter_mut().try_for_each(using_columns::named_joins)?;
    using_columns::of_select(select)?;
    value_columns::of_select(select);
    for from in &mut select.from {
        for factor in std::iter::once(&mut from.relation).chain(from.joins.iter_mut().map(|join| &mut join.relation)) {
            sample(factor)?;
            set_returning::in_from(factor)?;
        }
    }
    duplicate_columns::name(select, false);
    grouping_sets::rewrite(&mut select.group_by)?;
    for item in &mut select.projection {
        set_returning::in_columns(item)?;
    }
    scalar_subqueries::of_select(select)
}

/// Refuses a window function in a condition on rows, before there are windows.
fn without_windows(clause: &str, condition: &mut Expr) -> Result<(), Box<Error>> {
    outside_queries(condition, &mut |part| match part {
        Expr::Function(function) if function.over.is_some() => {
            let message = format!("a window function can't stand in `{clause}`");
            let hint = "compute it in a subquery, as in `select * from (select ..., row_number() over () as n from t) \
                        where n = 1`, or filter by `qualify`";
            let error = Error::new(Code::InvalidSql, message).with_hint(hint);
            Err(Box::new(error.with_sql_fault(SqlFault::Window)))
        }
        _ => Ok(()),
    })
}

/// Rewrites a sample of a table to a query that takes rows at random.
fn sample(factor: &mut TableFactor) -> Result<(), Box<Error>> {
    let (sample, alias) = match factor {
        TableFactor::Table { sample, alias, name, .. } => {
            let own = name.0.last().and_then(ObjectNamePart::as_ident).cloned();
            let alias = if sample.is_some() { alias.take() } else { None };
            (sample, alias.or_else(|| own.map(plain_alias)))
        }
        TableFactor::Derived { sample, alias, .. } => {
            let alias = if sample.is_some() { alias.take() } else { None };
            (sample, alias)
        }
        _ => return Ok(()),
    };
    let Some(TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) = sample.take()
    else {
        return Ok(());
    };
    let TableSample { name, quantity, seed, bucket, offset, .. } = *sample;
    if seed.is_some() || bucket.is_some() || offset.is_some() {
        return Err(refused(
            "a sample can't be repeated here",
            "leave `repeatable` out, or choose rows by a column, as in `where id % 100 < 10`",
        ));
    }
    let in_percent = |unit: Option<&TableSampleUnit>| unit.is_none_or(|unit| matches!(unit, TableSampleUnit::Percent));
    let Some(quantity) = quantity.filter(|quantity| in_percent(quantity.unit.as_ref())) else {
        return Err(refused("a sample is a part of the table", "write percents, or `order by random() limit n`"));
    };
    if matches!(name, Some(TableSampleMethod::Block)) {
        return Err(refused("there are no samples by blocks", "write `tablesample bernoulli (10)`"));
    }
    let parsed =
        Parser::new(&Grammar::default()).try_with_sql("select * from t").and_then(|mut parser| parser.parse_query());
    let mut query = parsed.map_err(|error| Box::new(Error::internal("a rewriting is not SQL").with_source(error)))?;
    let whole = std::mem::replace(
        factor,
        TableFactor::Derived { lateral: false, subquery: query.clone(), alias, sample: None },
    );
    if let (SetExpr::Select(select), TableFactor::Derived { subquery, .. }) = (&mut *query.body, factor) {
        select.selection = Some(expression("random() * 100 < __1", vec![quantity.value])?);
        if let Some(from) = select.from.first_mut() {
            from.relation = whole;
        }
        *subquery = query;
    }
    Ok(())
}

fn plain_alias(name: Ident) -> TableAlias {
    TableAlias { explicit: true, name, columns: Vec::new(), at: None }
}
