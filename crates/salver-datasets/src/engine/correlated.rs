//! Unique names for the columns that a correlated subquery compares with the outer row. The engine looks these columns
//! up by their unqualified names in the subquery's projection, so that in
//! `exists (select i.id from i join k on ... where k.id = c.id)` it would compare `i.id`.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Aggregate, Expr, Filter, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, lit};
use datafusion::optimizer::AnalyzerRule;

/// Prefix of the generated names, followed by a number.
const OWN: &str = "__salver_own_";
/// Name of the column of the values that `in` looks among. A name of the table that is read around the subquery would
/// be taken for the value that is looked for.
pub(super) const SOUGHT: &str = "__salver_sought";

/// The refusal of a window over rows that belong to the outer row.
const WINDOW: &str = "a window in a subquery can't be over the rows of one outer row";

/// The same of `rollup`, `cube` and `grouping sets`.
const SETS: &str = "a subquery that belongs to each outer row can't group by several sets";

/// Analyzer rule that runs before the engine's own rules.
#[derive(Debug)]
pub(super) struct Correlated;

impl AnalyzerRule for Correlated {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut names = 0;
        let named = plan.transform_up_with_subqueries(|plan| match plan {
            // The engine would move the condition above the window, which is then over the rows of all outer rows.
            LogicalPlan::Window(window) if is_of_outer(&window.input)? => plan_err!("{WINDOW}"),
            // The engine adds the compared columns to the groups, and none is left for the total of no rows.
            LogicalPlan::Aggregate(aggregate) if has_sets(&aggregate) && is_of_outer(&aggregate.input)? => {
                plan_err!("{SETS}")
            }
            LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => named(filter, &mut names),
            LogicalPlan::SubqueryAlias(alias) if is_of_outer(&alias.input)? => unaliased(alias),
            other => Ok(Transformed::no(other)),
        })?;
        Ok(named.data)
    }

    fn name(&self) -> &'static str {
        "correlated"
    }
}

fn has_sets(aggregate: &Aggregate) -> bool {
    aggregate.group_expr.iter().any(|group| matches!(group, Expr::GroupingSet(_)))
}

/// Returns whether a plan, without the subqueries in it, references columns of the outer query.
fn is_of_outer(plan: &LogicalPlan) -> Result<bool> {
    let found = plan.apply(|node| {
        Ok(match node {
            LogicalPlan::Subquery(_) => TreeNodeRecursion::Jump,
            node if node.contains_outer_reference() => TreeNodeRecursion::Stop,
            _ => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(found == TreeNodeRecursion::Stop)
}

/// Replaces a derived table by a projection. The engine would not pass the compared columns on through it.
fn unaliased(alias: SubqueryAlias) -> Result<Transformed<LogicalPlan>> {
    let own: Vec<Expr> = alias.input.schema().iter().map(Expr::from).collect();
    let columns = own.into_iter().zip(alias.schema.iter());
    let columns = columns.map(|(own, (table, field))| own.alias_qualified(table.cloned(), field.name()));
    let columns: Vec<Expr> = columns.collect();
    Ok(Transformed::yes(LogicalPlanBuilder::new_from_arc(alias.input).project(columns)?.build()?))
}

/// Puts a projection below the filter that gives the compared columns unique names.
fn named(filter: Filter, names: &mut usize) -> Result<Transformed<LogicalPlan>> {
    // The engine looks up columns of an aggregate by position.
    if matches!(*filter.input, LogicalPlan::Aggregate(_)) {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    let mut own: BTreeMap<Column, String> = BTreeMap::new();
    let mut terms = Vec::new();
    for term in split_conjunction_owned(filter.predicate) {
        if !term.contains_outer() {
            terms.push(term);
            continue;
        }
        let term = term.transform_up(|part| match part {
            Expr::Column(column) => {
                let name = own.entry(column).or_insert_with(|| {
                    *names += 1;
                    format!("{OWN}{names}")
                });
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name.as_str()))))
            }
            other => Ok(Transformed::no(other)),
        })?;
        terms.push(term.data);
    }
    let input = LogicalPlanBuilder::from(Arc::unwrap_or_clone(filter.input));
    let kept = input.schema().iter().map(Expr::from).collect::<Vec<_>>();
    let made = own.into_iter().map(|(column, name)| Expr::Column(column).alias(name));
    let input = input.project(kept.into_iter().chain(made))?.build()?;
    let predicate = conjunction(terms).unwrap_or_else(|| lit(true));
    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(input))?)))
}
