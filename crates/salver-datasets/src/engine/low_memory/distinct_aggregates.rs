//! Distinct aggregates. A distinct aggregate keeps all of its values in memory and can't spill; groups can. So each
//! distinct value becomes a group, with a grouping set per column, and the groups of each set are aggregated:
//!
//! `select k, count(distinct a), sum(distinct b), max(c) from t group by k` becomes
//!
//! `select k, count(a) filter (where set = 1), sum(b) filter (where set = 2), first_value(m) filter (where set = 3)`
//! `from (select k, a, b, max(c) as m from t group by grouping sets ((k, a), (k, b), (k))) group by k`.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams, GroupingSet};
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, cast, lit, when};
use datafusion::optimizer::AnalyzerRule;

/// Aggregates that ignore nulls.
const PASSING_NULLS: [&str; 5] = ["avg", "count", "max", "min", "sum"];
/// Aggregates that return 0 for no rows.
const COUNTING: [&str; 2] = ["count", "regr_count"];
/// Maximum number of columns in the grouping sets: each has a bit.
const COLUMN_BITS: usize = 60;

/// Analyzer rule that turns distinct values into groups.
#[derive(Debug)]
pub(super) struct Distincts;

impl AnalyzerRule for Distincts {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|plan| {
            let plan = match plan {
                LogicalPlan::Aggregate(aggregate) => match Split::of(&aggregate) {
                    Some(split) => Transformed::yes(split.plan(&aggregate)?),
                    None => Transformed::no(LogicalPlan::Aggregate(aggregate)),
                },
                other => Transformed::no(other),
            };
            // The columns of groups are nullable now.
            plan.map_data(LogicalPlan::recompute_schema)
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "distincts"
    }
}

fn is_column(value: &Expr) -> bool {
    match value {
        Expr::Column(_) => true,
        Expr::Cast(cast) => is_column(&cast.expr),
        _ => false,
    }
}

/// An aggregate, split into its parts.
struct Split {
    /// Expressions whose distinct values are aggregated.
    distinct: Vec<Expr>,
    /// Input of each aggregate.
    parts: Vec<AggregatePart>,
}

enum AggregatePart {
    /// The distinct values with this index.
    Distinct(usize, AggregateFunction),
    /// All rows.
    All(Expr),
}

impl Split {
    /// Splits an aggregate; returns `None` if that gains nothing or can't express it.
    fn of(aggregate: &Aggregate) -> Option<Self> {
        if aggregate.group_expr.iter().any(|group| matches!(group, Expr::GroupingSet(_))) {
            return None;
        }
        let mut split = Self { distinct: Vec::new(), parts: Vec::with_capacity(aggregate.aggr_expr.len()) };
        for expr in &aggregate.aggr_expr {
            // An aggregate whose arguments another rule has rewritten keeps its name by an alias.
            let expr = expr.clone().unalias();
            let Expr::AggregateFunction(function) = &expr else { return None };
            let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = &function.params;
            if !distinct {
                split.parts.push(AggregatePart::All(expr));
                continue;
            }
            let [value] = args.as_slice() else { return None };
            if !PASSING_NULLS.contains(&function.func.name()) || !order_by.is_empty() || null_treatment.is_some() {
                return None;
            }
            let value = match filter {
                Some(filter) => when((**filter).clone(), value.clone()).end().ok()?,
                None => value.clone(),
            };
            let number = split.distinct.iter().position(|own| *own == value).unwrap_or_else(|| {
                split.distinct.push(value);
                split.distinct.len() - 1
            });
            split.parts.push(AggregatePart::Distinct(number, function.clone()));
        }
        let of_all = split.parts.iter().any(|part| matches!(part, AggregatePart::All(_)));
        let columns = aggregate.group_expr.len() + split.distinct.len();
        // The engine itself groups the values of a single distinct column. Of an expression, a rule may rewrite the
        // aggregate before, which then keeps its name by an alias that the engine does not expect.
        let is_computed = split.distinct.iter().any(|value| !is_column(value));
        let gains = split.distinct.len() > 1 || split.distinct.len() == 1 && (of_all || is_computed);
        (gains && columns <= COLUMN_BITS).then_some(split)
    }

    fn plan(self, aggregate: &Aggregate) -> Result<LogicalPlan> {
        let groups: Vec<String> = (0..aggregate.group_expr.len()).map(|number| format!("__group_{number}")).collect();
        let values: Vec<String> = (0..self.distinct.len()).map(|number| format!("__distinct_{number}")).collect();
        let column = |name: &String| Expr::Column(Column::from_name(name));
        let named = |exprs: &[Expr], names: &[String]| -> Vec<Expr> {
            exprs.iter().zip(names).map(|(expr, name)| expr.clone().unalias().alias(name)).collect()
        };
        let rows = aggregate.input.schema().iter().map(Expr::from);
        let rows = rows.chain(named(&aggregate.group_expr, &groups)).chain(named(&self.distinct, &values));
        let input = LogicalPlanBuilder::from(Arc::clone(&aggregate.input)).project(rows)?.build()?;

        let of_all = self.parts.iter().filter_map(|part| match part {
            AggregatePart::All(expr) => Some(expr.clone()),
            AggregatePart::Distinct(..) => None,
        });
        let of_all: Vec<Expr> =
            of_all.enumerate().map(|(number, expr)| expr.alias(format!("__all_{number}"))).collect();
        let with = |value: Option<&String>| groups.iter().chain(value).map(column).collect::<Vec<_>>();
        let mut sets: Vec<Vec<Expr>> = values.iter().map(|value| with(Some(value))).collect();
        if !of_all.is_empty() {
            sets.push(with(None));
        }
        let sets = vec![Expr::GroupingSet(GroupingSet::GroupingSets(sets))];
        let inner = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), sets, of_all)?);

        // Each column that a set lacks has a bit, the last column the lowest.
        let all = (1_u64 << values.len()) - 1;
        let bit = |number: usize| 1_u64 << (values.len() - 1 - number);
        let id = Column::from_name(Aggregate::INTERNAL_GROUPING_ID);
        let id_type = Expr::Column(id.clone()).get_type(inner.schema())?;
        let is_of = |set: u64| -> Result<Option<Box<Expr>>> {
            let set = ScalarValue::UInt64(Some(set)).cast_to(&id_type)?;
            Ok(Some(Box::new(Expr::Column(id.clone()).eq(lit(set)))))
        };
        let mut of_all = 0_usize;
        let mut counts = Vec::with_capacity(self.parts.len());
        let mut outer = Vec::with_capacity(self.parts.len());
        for (number, part) in self.parts.into_iter().enumerate() {
            let (func, value, set, counting) = match part {
                AggregatePart::Distinct(number, function) => {
                    (function.func, &values[number], all & !bit(number), false)
                }
                AggregatePart::All(Expr::AggregateFunction(function)) => {
                    of_all += 1;
                    let counting = COUNTING.contains(&function.func.name());
                    (first_value_udaf(), &format!("__all_{}", of_all - 1), all, counting)
                }
                AggregatePart::All(_) => continue,
            };
            let value = vec![column(value)];
            let made = AggregateFunction::new_udf(func, value, false, is_of(set)?, Vec::new(), None);
            outer.push(Expr::AggregateFunction(made).alias(format!("__made_{number}")));
            counts.push(counting);
        }
        let outer = Aggregate::try_new(Arc::new(inner), groups.iter().map(column).collect(), outer)?;
        let made = outer.schema.iter().skip(groups.len()).map(Expr::from).collect::<Vec<_>>();
        let made = made.into_iter().zip(counts).map(|(made, counts)| match counts {
            true => {
                let none = cast(lit(0_i64), made.get_type(&outer.schema)?);
                Ok(coalesce(vec![made, none]))
            }
            false => Ok(made),
        });
        let columns = groups.iter().map(|group| Ok(column(group))).chain(made).collect::<Result<Vec<_>>>()?;
        let columns = columns
            .into_iter()
            .zip(aggregate.schema.iter())
            .map(|(made, (qualifier, field))| made.alias_qualified(qualifier.cloned(), field.name()));
        let columns: Vec<Expr> = columns.collect();
        LogicalPlanBuilder::from(LogicalPlan::Aggregate(outer)).project(columns)?.build()
    }
}
