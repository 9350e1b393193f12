//! Decorrelation of lateral joins: `cross join unnest(t.list)`, and
//! `left join lateral (select ... where u.id > t.id order by ... limit 1)`. The engine supports them only where it can
//! pull a condition out of the subquery: not through a limit, not if the subquery reads no table, and out of an
//! aggregate only if it is an equality.
//!
//! Here the nodes of the subquery are rebuilt on top of the outer rows: its table is replaced by a join of the outer
//! rows with it, and a limit by row numbers per outer row.

mod join_conditions;
mod scalar_subquery;
mod single_row;
mod windows;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, NullHandling, Result};
use datafusion::config::ConfigOptions;
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::functions_nested::expr_fn::array_length;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::Sort as Key;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprFunctionExt, FetchType, JoinType, Limit, LogicalPlan, LogicalPlanBuilder, Operator, SkipType,
    Subquery, ident, lit, when,
};
use datafusion::optimizer::AnalyzerRule;

/// Prefix of the outer columns while they pass through the subquery.
const BEFORE: &str = "__salver_before_";
/// Column that numbers the outer rows.
const ROW: &str = "__salver_row";
/// Column that is true if the subquery found a row for the outer row.
const FOUND: &str = "__salver_found";
/// Column that numbers the rows found for one outer row.
const PLACE: &str = "__salver_place";

/// Analyzer rule that runs before all others.
#[derive(Debug)]
pub(super) struct Lateral;

impl AnalyzerRule for Lateral {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let each = |plan| {
            let moved = join_conditions::moved(plan)?.transform_data(joined)?;
            moved.transform_data(single_row::values)?.transform_data(scalar_subquery::looked_up)
        };
        Ok(plan.transform_up_with_subqueries(each)?.data)
    }

    fn name(&self) -> &'static str {
        "lateral"
    }
}

fn joined(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = &plan else { return Ok(Transformed::no(plan)) };
    let Some(query) = of_each_row(&join.right) else { return Ok(Transformed::no(plan)) };
    let keeps = join.join_type == JoinType::Left;
    let is_true = |filter: &Expr| *filter == lit(true);
    let filter = join.filter.clone().filter(|filter| !is_true(filter));
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) || !join.on.is_empty() || keeps && filter.is_some() {
        return Ok(Transformed::no(plan));
    }
    let Some(before) = Before::new(&join.left, &query.subquery, keeps)? else { return Ok(Transformed::no(plan)) };
    let Some(made) = before.through(&query.subquery)? else { return Ok(Transformed::no(plan)) };
    let mut columns = before.restored();
    let own = made.schema().iter().skip(before.columns.len()).map(Expr::from).collect::<Vec<_>>();
    let named = own.into_iter().zip(join.right.schema().iter());
    columns.extend(named.map(|(own, (table, field))| own.alias_qualified(table.cloned(), field.name())));
    let made = LogicalPlanBuilder::from(made).project(columns)?;
    let made = if let Some(filter) = filter { made.filter(filter)? } else { made };
    Ok(Transformed::yes(made.build()?))
}

/// Returns the correlated subquery on the right side of a join.
fn of_each_row(right: &LogicalPlan) -> Option<&Subquery> {
    match right {
        LogicalPlan::Subquery(query) => Some(query),
        LogicalPlan::SubqueryAlias(alias) => of_each_row(&alias.input),
        _ => None,
    }
}

/// Returns whether a condition compares an outer column by other means than `=`.
fn compares_outer(condition: &Expr) -> bool {
    let is_equal = |part: &Expr| matches!(part, Expr::BinaryExpr(BinaryExpr { op: Operator::Eq, .. }));
    split_conjunction(condition).into_iter().any(|part| part.contains_outer() && !is_equal(part))
}

/// Returns whether a plan is an aggregate over all rows, such as the input of `having`.
fn is_aggregated(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(projection) => is_aggregated(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_aggregated(&alias.input),
        LogicalPlan::Filter(filter) => is_aggregated(&filter.input),
        _ => false,
    }
}

/// Returns whether a plan references outer columns.
fn names_outer(plan: &LogicalPlan) -> Result<bool> {
    let found = plan.apply_with_subqueries(|node| {
        Ok(if node.contains_outer_reference() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found == TreeNodeRecursion::Stop)
}

/// The outer rows of a subquery.
struct Before<'p> {
    rows: &'p LogicalPlan,
    /// Columns of the outer rows as they pass through the subquery.
    columns: Vec<Expr>,
    /// Whether the subquery has a limit, an aggregate or a window, so that the outer rows must be numbered.
    numbered: bool,
    /// Whether the subquery is an aggregate, which returns a row even for no input.
    aggregated: bool,
    /// Whether an outer row is kept if the subquery returns no row for it.
    keeps: bool,
}

impl<'p> Before<'p> {
    /// Prepares the outer rows; returns `None` if the engine supports the subquery itself, or if it can't be
    /// decorrelated here either.
    fn new(rows: &'p LogicalPlan, query: &LogicalPlan, keeps: bool) -> Result<Option<Self>> {
        let (mut limited, mut reads_nothing, mut aggregated, mut others) = (false, false, false, false);
        let (mut compares, mut has_having, mut windowed) = (false, false, false);
        query.apply(|node| {
            limited |= matches!(node, LogicalPlan::Limit(_));
            reads_nothing |= matches!(node, LogicalPlan::EmptyRelation(_));
            match node {
                LogicalPlan::Aggregate(aggregate) => {
                    aggregated |= aggregate.group_expr.is_empty();
                    others |= !aggregate.group_expr.is_empty();
                }
                LogicalPlan::Filter(filter) if is_aggregated(&filter.input) => has_having = true,
                LogicalPlan::Filter(filter) => compares |= compares_outer(&filter.predicate),
                LogicalPlan::Window(_) => windowed = true,
                LogicalPlan::Distinct(_) => others = true,
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        if others || !(limited || windowed || reads_nothing || aggregated && (compares || has_having)) {
            return Ok(None);
        }
        let mut columns: Vec<Expr> =
            (0..rows.schema().fields().len()).map(|at| ident(format!("{BEFORE}{at}"))).collect();
        let numbered = limited || windowed || aggregated;
        if numbered {
            columns.push(ident(ROW));
        }
        if keeps || aggregated {
            columns.push(ident(FOUND));
        }
        Ok(Some(Self { rows, columns, numbered, aggregated, keeps }))
    }

    /// Returns the outer rows with their names within the subquery.
    fn renamed(&self) -> Result<LogicalPlanBuilder> {
        let columns = self.rows.schema().iter().enumerate();
        let columns = columns.map(|(at, column)| Expr::from(column).alias(format!("{BEFORE}{at}")));
        let rows = LogicalPlanBuilder::from(self.rows.clone()).project(columns.collect::<Vec<_>>())?;
        if !self.numbered {
            return Ok(rows);
        }
        let number = row_number();
        let made = number.schema_name().to_string();
        let mut columns: Vec<Expr> = rows.schema().iter().map(Expr::from).collect();
        columns.push(ident(made).alias(ROW));
        rows.window(vec![number])?.project(columns)
    }

    /// Returns whether an outer row without a match is passed on.
    fn goes_on(&self) -> bool {
        self.keeps || self.aggregated
    }

    /// Returns the outer columns with their original names.
    fn restored(&self) -> Vec<Expr> {
        let names = self.columns.iter().cloned().zip(self.rows.schema().iter());
        names.map(|(column, (table, field))| column.alias_qualified(table.cloned(), field.name())).collect()
    }

    /// Replaces outer references in an expression by the columns of the outer rows; returns `None` if it references
    /// others.
    fn freed(&self, expr: &Expr) -> Result<Option<Expr>> {
        let mut known = true;
        let freed = expr.clone().transform_up(|part| match part {
            Expr::OuterReferenceColumn(_, column) => match self.rows.schema().maybe_index_of_column(&column) {
                Some(at) => Ok(Transformed::yes(ident(format!("{BEFORE}{at}")))),
                None => {
                    known = false;
                    Ok(Transformed::no(Expr::Column(column)))
                }
            },
            Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) => {
                known = false;
                Ok(Transformed::no(part))
            }
            other => Ok(Transformed::no(other)),
        })?;
        Ok(known.then_some(freed.data))
    }

    /// Rebuilds the subquery on top of the outer rows, whose columns come first.
    fn through(&self, query: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        Ok(match query {
            LogicalPlan::EmptyRelation(empty) if empty.produce_one_row => {
                let rows = self.renamed()?;
                let mut columns: Vec<Expr> = rows.schema().iter().map(Expr::from).collect();
                columns.extend(self.goes_on().then(|| lit(true).alias(FOUND)));
                Some(rows.project(columns)?.build()?)
            }
            LogicalPlan::Subquery(inner) => self.through(&inner.subquery)?,
            LogicalPlan::Projection(projection) => {
                let Some(input) = self.through(&projection.input)? else { return Ok(None) };
                self.projected(query, input)?
            }
            LogicalPlan::SubqueryAlias(alias) if names_outer(query)? => {
                let Some(input) = self.through(&alias.input)? else { return Ok(None) };
                let own = alias
                    .input
                    .schema()
                    .iter()
                    .zip(alias.schema.iter())
                    .map(|(own, (table, field))| Expr::from(own).alias_qualified(table.cloned(), field.name()));
                let columns: Vec<Expr> = self.columns.iter().cloned().chain(own).collect();
                Some(LogicalPlanBuilder::from(input).project(columns)?.build()?)
            }
            LogicalPlan::Unnest(unnest) => {
                let Some(input) = self.through(&unnest.input)? else { return Ok(None) };
                let mut options = unnest.options.clone();
                let mut input = LogicalPlanBuilder::from(input);
                if self.goes_on() {
                    options.null_handling = NullHandling::PreserveAndExpandEmpty;
                    let has = |list: &Column| array_length(Expr::Column(list.clone())).gt(lit(0_u64));
                    let found = unnest.exec_columns.iter().map(has).reduce(Expr::or).unwrap_or_else(|| lit(true));
                    let columns = input.schema().iter().map(|column| match Expr::from(column) {
                        column if column == ident(FOUND) => column.and(found.clone()).alias(FOUND),
                        column => column,
                    });
                    let columns: Vec<Expr> = columns.collect();
                    input = input.project(columns)?;
                }
                Some(input.unnest_columns_with_options(unnest.exec_columns.clone(), options)?.build()?)
            }
            LogicalPlan::Filter(filter) if !names_outer(&filter.input)? => {
                let Some(condition) = self.freed(&filter.predicate)? else { return Ok(None) };
                Some(self.with(&filter.input, condition)?)
            }
            LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
                let Some(input) = self.through(&aggregate.input)? else { return Ok(None) };
                self.grouped(query, &aggregate.aggr_expr, input)?
            }
            LogicalPlan::Filter(filter) if !self.goes_on() || is_aggregated(&filter.input) => {
                let Some(condition) = self.freed(&filter.predicate)? else { return Ok(None) };
                let Some(input) = self.through(&filter.input)? else { return Ok(None) };
                let input = LogicalPlanBuilder::from(input);
                Some(if self.keeps { self.marked(input, condition)? } else { input.filter(condition)? }.build()?)
            }
            // The rows that an aggregate leaves out stay, as rows for which there is none.
            LogicalPlan::Filter(filter) if self.aggregated => {
                let Some(condition) = self.freed(&filter.predicate)? else { return Ok(None) };
                let Some(input) = self.through(&filter.input)? else { return Ok(None) };
                Some(self.marked(LogicalPlanBuilder::from(input), condition)?.build()?)
            }
            LogicalPlan::Window(window) => {
                let Some(input) = self.through(&window.input)? else { return Ok(None) };
                self.windowed(window, input)?
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.through(&sort.input)?,
            LogicalPlan::Limit(limit) => self.limited(limit, &limit.input)?,
            other if !names_outer(other)? => Some(self.with(other, lit(true))?),
            _ => None,
        })
    }

    /// Joins the outer rows with the rows of a table for which the condition holds.
    fn with(&self, table: &LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
        let rows = self.renamed()?;
        if !self.goes_on() {
            return rows.join_on(table.clone(), JoinType::Inner, [condition])?.build();
        }
        let mut found: Vec<Expr> = vec![lit(true).alias(FOUND)];
        found.extend(table.schema().iter().map(Expr::from));
        let table = LogicalPlanBuilder::from(table.clone()).project(found)?.build()?;
        rows.join_on(table, JoinType::Left, [condition])?.build()
    }

    /// Adds the aggregates to the outer rows, as nulls where `having` does not hold.
    fn marked(&self, input: LogicalPlanBuilder, having: Expr) -> Result<LogicalPlanBuilder> {
        let found = ident(FOUND).and(having.is_true());
        let before = self.columns.iter().map(|column| match column {
            column if *column == ident(FOUND) => found.clone().alias(FOUND),
            column => column.clone(),
        });
        let own = input.schema().iter().skip(self.columns.len()).map(|(table, field)| {
            let value = when(found.clone(), Expr::from((table, field))).end()?;
            Ok(value.alias_qualified(table.cloned(), field.name()))
        });
        let columns = before.map(Ok).chain(own).collect::<Result<Vec<Expr>>>()?;
        input.project(columns)
    }

    /// Appends the columns of a projection to the outer columns.
    fn projected(&self, projection: &LogicalPlan, input: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let LogicalPlan::Projection(own) = projection else { return Ok(None) };
        let has_found = self.columns.contains(&ident(FOUND));
        let mut columns = self.columns.clone();
        for (expr, (table, field)) in own.expr.iter().zip(own.schema.iter()) {
            let Some(freed) = self.freed(expr)? else { return Ok(None) };
            let (freed, is_column) = (freed.unalias(), matches!(expr, Expr::Column(_)));
            // Without a row, a constant column is null too.
            let freed = if has_found && !is_column { when(ident(FOUND), freed).end()? } else { freed };
            columns.push(freed.alias_qualified(table.cloned(), field.name()));
        }
        Ok(Some(LogicalPlanBuilder::from(input).project(columns)?.build()?))
    }

    /// Computes the aggregates of a subquery per outer row.
    fn grouped(&self, query: &LogicalPlan, aggregates: &[Expr], input: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let rest = self.columns.iter().filter(|column| **column != ident(ROW) && **column != ident(FOUND));
        let mut made: Vec<Expr> = rest.clone().map(|column| first_value(column.clone(), Vec::new())).collect();
        let before = made.len();
        for aggregate in aggregates {
            let Some(freed) = self.freed(aggregate)? else { return Ok(None) };
            let Expr::AggregateFunction(mut call) = freed.unalias() else { return Ok(None) };
            let found = ident(FOUND);
            call.params.filter = Some(Box::new(match call.params.filter.take() {
                Some(filter) => filter.and(found),
                None => found,
            }));
            made.push(Expr::AggregateFunction(call));
        }
        let rows = LogicalPlanBuilder::from(input).aggregate(vec![ident(ROW)], made)?;
        let names: Vec<Expr> = rows.schema().iter().skip(1).map(Expr::from).collect();
        let mut columns: Vec<Expr> =
            names.iter().zip(rest).map(|(made, own)| made.clone().alias(own.schema_name().to_string())).collect();
        columns.push(ident(ROW));
        columns.push(lit(true).alias(FOUND));
        let own = names.into_iter().skip(before).zip(query.schema().iter());
        columns.extend(own.map(|(made, (table, field))| made.alias_qualified(table.cloned(), field.name())));
        Ok(Some(rows.project(columns)?.build()?))
    }

    /// Limits the rows per outer row.
    fn limited(&self, limit: &Limit, of: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Ok(None);
        };
        // The null row of an outer row without a match must not be skipped.
        if self.goes_on() && (skip > 0 || fetch == Some(0)) {
            return Ok(None);
        }
        match of {
            LogicalPlan::Projection(projection) => {
                let Some(input) = self.limited(limit, &projection.input)? else { return Ok(None) };
                self.projected(of, input)
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let mut keys = Vec::with_capacity(sort.expr.len());
                for key in &sort.expr {
                    let Some(expr) = self.freed(&key.expr)? else { return Ok(None) };
                    keys.push(Key { expr, ..key.clone() });
                }
                let Some(input) = self.through(&sort.input)? else { return Ok(None) };
                numbered(input, keys, skip, fetch).map(Some)
            }
            other => {
                let Some(input) = self.through(other)? else { return Ok(None) };
                numbered(input, Vec::new(), skip, fetch).map(Some)
            }
        }
    }
}

/// Keeps the rows whose number in the order of the keys is within a limit.
fn numbered(input: LogicalPlan, keys: Vec<Key>, skip: usize, fetch: Option<usize>) -> Result<LogicalPlan> {
    let number = row_number().partition_by(vec![ident(ROW)]);
    let number = if keys.is_empty() { number } else { number.order_by(keys) }.build()?;
    let made = Column::from_name(number.schema_name().to_string());
    let columns: Vec<Expr> = input.schema().iter().map(Expr::from).collect();
    let mut all = columns.clone();
    all.push(Expr::Column(made).alias(PLACE));
    let mut rows = LogicalPlanBuilder::from(input).window(vec![number])?.project(all)?;
    let count = |count: usize| lit(u64::try_from(count).unwrap_or(u64::MAX));
    if skip > 0 {
        rows = rows.filter(ident(PLACE).gt(count(skip)))?;
    }
    if let Some(fetch) = fetch {
        rows = rows.filter(ident(PLACE).lt_eq(count(skip.saturating_add(fetch))))?;
    }
    rows.project(columns)?.build()
}
