//! Decorrelation of subqueries that belong to each outer row: `cross join unnest(t.list)`,
//! `left join lateral (select ... where u.id > t.id order by ... limit 1)`, and scalar subqueries of such forms. The
//! engine supports them only where it can pull a condition out of the subquery: not through a limit, not if the
//! subquery reads no table, and out of an aggregate only if it is an equality.
//!
//! Here the nodes of the subquery are rebuilt on top of the outer rows: its table is replaced by a join of the outer
//! rows with it, and a limit by row numbers per outer row.
//!
//! A row of which `FOUND` is not true stands for an outer row, not for one of the subquery. Below an aggregate there
//! may be many for an outer row, which it leaves out. Elsewhere there is one, and only if the subquery has no row.

mod conditions;
mod earlier_conditions;
mod grouped;
mod join_conditions;
mod joins;
mod limits;
mod scalar_subquery;
mod shape;
mod single_row;
mod values;
mod windows;

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, NullHandling, Result};
use datafusion::config::ConfigOptions;
use datafusion::functions_nested::expr_fn::array_length;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{
    Distinct, Expr, ExprFunctionExt, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery, ident, lit, when,
};
use datafusion::optimizer::AnalyzerRule;

use self::shape::Shape;
use super::outer_references::{free_in, has_query, names_outer, renamed_in};

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
        rewritten(earlier_conditions::first(plan)?)
    }

    fn name(&self) -> &'static str {
        "lateral"
    }
}

fn rewritten(plan: LogicalPlan) -> Result<LogicalPlan> {
    let each = |plan| {
        let moved = join_conditions::moved(plan)?.transform_data(joined)?;
        moved.transform_data(single_row::values)?.transform_data(scalar_subquery::looked_up)
    };
    Ok(plan.transform_up_with_subqueries(each)?.data)
}

fn joined(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = &plan else { return Ok(Transformed::no(plan)) };
    let Some(query) = of_each_row(&join.right) else { return Ok(Transformed::no(plan)) };
    let keeps = join.join_type == JoinType::Left;
    let is_true = |filter: &Expr| *filter == lit(true);
    let mut filter = join.filter.clone().filter(|filter| !is_true(filter));
    if !matches!(join.join_type, JoinType::Inner | JoinType::Left) || !join.on.is_empty() {
        return Ok(Transformed::no(plan));
    }
    let mut within = Arc::clone(&query.subquery);
    if let Some(condition) = filter.take_if(|_| keeps) {
        if !Shape::of(&within)?.is_beyond_the_engine() {
            return Ok(Transformed::no(plan));
        }
        // An outer row is kept if none of its rows meets the condition.
        let condition = of_outer(condition, &join.left)?;
        within = Arc::new(LogicalPlan::Filter(Filter::try_new(condition, Arc::clone(&join.right))?));
    }
    let mut found = None;
    for loosely in [false, true] {
        let Some(before) = Before::new(&join.left, &within, keeps, loosely)? else { return Ok(Transformed::no(plan)) };
        if let Some(made) = before.through(&within)? {
            found = Some((before, made));
            break;
        }
    }
    let Some((before, made)) = found else { return Ok(Transformed::no(plan)) };
    let made = before.settled(made)?;
    let mut columns = before.restored();
    let own = made.schema().iter().skip(before.columns.len()).map(Expr::from).collect::<Vec<_>>();
    let named = own.into_iter().zip(join.right.schema().iter());
    columns.extend(named.map(|(own, (table, field))| own.alias_qualified(table.cloned(), field.name())));
    let made = LogicalPlanBuilder::from(made).project(columns)?;
    let made = if let Some(filter) = filter { made.filter(filter)? } else { made };
    before.finished(made.build()?).map(Transformed::yes)
}

/// Turns the columns of the outer rows in a condition into references to them.
fn of_outer(condition: Expr, rows: &LogicalPlan) -> Result<Expr> {
    let made = condition.transform_up(|part| match part {
        Expr::Column(column) => Ok(match rows.schema().maybe_index_of_column(&column) {
            Some(at) => {
                let field = Arc::clone(&rows.schema().fields()[at]);
                Transformed::yes(Expr::OuterReferenceColumn(field, column))
            }
            None => Transformed::no(Expr::Column(column)),
        }),
        part => Ok(Transformed::no(part)),
    })?;
    Ok(made.data)
}

/// Returns the correlated subquery on the right side of a join.
fn of_each_row(right: &LogicalPlan) -> Option<&Subquery> {
    match right {
        LogicalPlan::Subquery(query) => Some(query),
        LogicalPlan::SubqueryAlias(alias) => of_each_row(&alias.input),
        _ => None,
    }
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

/// The outer rows of a subquery.
struct Before<'p> {
    rows: &'p LogicalPlan,
    /// Columns of the outer rows as they pass through the subquery.
    columns: Vec<Expr>,
    /// Whether the subquery has a limit, an aggregate or a window, so that the outer rows must be numbered.
    numbered: bool,
    /// Whether there may be rows that stand for none beside others of an outer row: below an aggregate, and where they
    /// are left out in the end.
    aggregated: bool,
    /// Whether they are left out in the end.
    loosely: bool,
    /// Whether an outer row is kept if the subquery returns no row for it.
    keeps: bool,
    /// Whether subqueries within the subquery name the outer rows by new names, and are still to be rewritten.
    nests: Cell<bool>,
}

impl<'p> Before<'p> {
    /// Prepares the outer rows; returns `None` if the engine supports the subquery itself, or if it can't be
    /// decorrelated here either.
    fn new(rows: &'p LogicalPlan, query: &LogicalPlan, keeps: bool, loosely: bool) -> Result<Option<Self>> {
        let shape = Shape::of(query)?;
        if !shape.is_beyond_the_engine() {
            return Ok(None);
        }
        let aggregated = shape.aggregated || loosely;
        let mut columns: Vec<Expr> =
            (0..rows.schema().fields().len()).map(|at| ident(format!("{BEFORE}{at}"))).collect();
        let numbered = shape.numbers_rows() || loosely;
        if numbered {
            columns.push(ident(ROW));
        }
        if keeps || aggregated {
            columns.push(ident(FOUND));
        }
        Ok(Some(Self { rows, columns, numbered, aggregated, loosely, keeps, nests: Cell::new(false) }))
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

    /// Leaves out rows that stand for none, except for one of each outer row that is kept and has no others.
    fn settled(&self, made: LogicalPlan) -> Result<LogicalPlan> {
        let rows = LogicalPlanBuilder::from(made);
        if !self.keeps {
            return if self.goes_on() { rows.filter(ident(FOUND).is_true())?.build() } else { rows.build() };
        }
        if !self.loosely {
            return rows.build();
        }
        let found = ident(FOUND).is_true();
        let number = row_number().partition_by(vec![ident(ROW)]).order_by(vec![found.clone().sort(false, false)]);
        let number = number.build()?;
        let name = Column::from_name(number.schema_name().to_string());
        let mut columns: Vec<Expr> = self.columns.clone();
        for (table, field) in rows.schema().iter().skip(self.columns.len()) {
            let value = when(found.clone(), Expr::from((table, field))).end()?;
            columns.push(value.alias_qualified(table.cloned(), field.name()));
        }
        let is_needed = found.or(Expr::Column(name).eq(lit(1_u64)));
        rows.window(vec![number])?.filter(is_needed)?.project(columns)?.build()
    }

    /// Rewrites the subqueries that are left, after the outer rows are joined.
    fn finished(&self, made: LogicalPlan) -> Result<LogicalPlan> {
        if self.nests.get() { rewritten(made) } else { Ok(made) }
    }

    /// Replaces outer references in an expression over rows of these columns by the columns of the outer rows; returns
    /// `None` if it references others.
    fn freed(&self, expr: &Expr, own: &Arc<DFSchema>) -> Result<Option<Expr>> {
        let at = |column: &Column| self.rows.schema().maybe_index_of_column(column);
        if free_in(expr, own)?.iter().any(|(_, column)| at(column).is_none()) {
            return Ok(None);
        }
        let renamed = |column: &Column| {
            let at = at(column)?;
            let name = Column::new_unqualified(format!("{BEFORE}{at}"));
            Some((Arc::clone(&self.rows.schema().fields()[at]), name))
        };
        let expr = renamed_in(expr.clone(), own, &renamed)?;
        if has_query(&expr.data) {
            self.nests.set(true);
        }
        let freed = expr.data.transform_up(|part| match part {
            Expr::OuterReferenceColumn(field, column) => Ok(match renamed(&column) {
                Some((_, column)) => Transformed::yes(Expr::Column(column)),
                None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
            }),
            other => Ok(Transformed::no(other)),
        })?;
        Ok(Some(freed.data))
    }

    /// Rebuilds the subquery on top of the outer rows, whose columns come first.
    fn through(&self, query: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        Ok(match query {
            LogicalPlan::EmptyRelation(empty) if empty.produce_one_row => Some(self.alone()?),
            other if !names_outer(other)? => Some(self.with(other, lit(true))?),
            LogicalPlan::Subquery(inner) => self.through(&inner.subquery)?,
            LogicalPlan::Projection(projection) => {
                let Some(input) = self.through(&projection.input)? else { return Ok(None) };
                self.projected(query, input)?
            }
            LogicalPlan::SubqueryAlias(alias) => {
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
            LogicalPlan::Filter(filter) => self.filtered(filter)?,
            // An aggregate that is not above everything else has a row of its own for an outer row without any.
            LogicalPlan::Aggregate(aggregate) if self.aggregated || !aggregate.group_expr.is_empty() => {
                let Some(input) = self.through(&aggregate.input)? else { return Ok(None) };
                self.grouped(query, &aggregate.group_expr, &aggregate.aggr_expr, &aggregate.input, input)?
            }
            LogicalPlan::Distinct(Distinct::All(all)) => {
                let Some(input) = self.through(all)? else { return Ok(None) };
                let columns: Vec<Expr> = all.schema().iter().map(Expr::from).collect();
                self.grouped(query, &columns, &[], all, input)?
            }
            LogicalPlan::Window(window) => {
                let Some(input) = self.through(&window.input)? else { return Ok(None) };
                self.windowed(window, input)?
            }
            LogicalPlan::Join(join) => self.joined(query, join)?,
            LogicalPlan::Values(values) => self.listed(values)?,
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => self.through(&sort.input)?,
            LogicalPlan::Limit(limit) => self.limited(limit, &limit.input)?,
            _ => None,
        })
    }

    /// Returns the outer rows, with a row of the subquery for each.
    fn alone(&self) -> Result<LogicalPlan> {
        let rows = self.renamed()?;
        let mut columns: Vec<Expr> = rows.schema().iter().map(Expr::from).collect();
        columns.extend(self.goes_on().then(|| lit(true).alias(FOUND)));
        rows.project(columns)?.build()
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

    /// Appends the columns of a projection to the outer columns.
    fn projected(&self, projection: &LogicalPlan, input: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let LogicalPlan::Projection(own) = projection else { return Ok(None) };
        let has_found = self.columns.contains(&ident(FOUND));
        let mut columns = self.columns.clone();
        for (expr, (table, field)) in own.expr.iter().zip(own.schema.iter()) {
            let Some(freed) = self.freed(expr, own.input.schema())? else { return Ok(None) };
            let freed = conditions::as_values(freed, input.schema())?;
            let (freed, is_column) = (freed.unalias(), matches!(expr, Expr::Column(_)));
            // Without a row, a constant column is null too.
            let freed = if has_found && !is_column { when(ident(FOUND), freed).end()? } else { freed };
            columns.push(freed.alias_qualified(table.cloned(), field.name()));
        }
        Ok(Some(LogicalPlanBuilder::from(input).project(columns)?.build()?))
    }
}
