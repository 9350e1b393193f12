//! A tree of inner joins, taken apart into relations and the conditions between them.

use std::sync::Arc;

use datafusion::common::{Column, ExprSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Filter, Join, LogicalPlan, Operator, binary_expr};

use super::estimate::{Estimate, estimate, share};
use super::is_inner;

/// Most relations whose order is searched for: time and memory grow by a factor of three with each.
const RELATIONS: usize = 10;
/// Most conditions between them: the search looks at each for every pair of sets.
const CONDITIONS: usize = 64;

/// A set of relations, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relations(pub(super) u32);

impl Relations {
    pub(super) fn one(relation: usize) -> Self {
        Self(1 << relation)
    }

    pub(super) fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub(super) fn is_within(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }

    pub(super) fn has(self, relation: usize) -> bool {
        self.0 & 1 << relation != 0
    }
}

/// An input of the joins.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) plan: LogicalPlan,
    pub(super) estimate: Estimate,
}

/// Columns that equal each other.
#[derive(Debug)]
pub(super) struct ColumnClass {
    members: Vec<(usize, Column)>,
    /// Number of different values: of the smallest table with such a column, whose key it most likely is.
    pub(super) values: f64,
}

impl ColumnClass {
    /// Returns a column of one of the relations.
    pub(super) fn column_of(&self, relations: Relations) -> Option<&Column> {
        self.members.iter().find(|(relation, _)| relations.has(*relation)).map(|(_, column)| column)
    }

    pub(super) fn relations(&self) -> Relations {
        Relations(self.members.iter().fold(0, |all, (relation, _)| all | 1 << relation))
    }
}

/// A condition that is not an equality of two columns.
#[derive(Debug)]
pub(super) enum Condition {
    /// Equality of two expressions.
    Equal {
        left: (Relations, Expr),
        right: (Relations, Expr),
    },
    Other(Relations, Expr),
}

impl Condition {
    pub(super) fn relations(&self) -> Relations {
        match self {
            Self::Equal { left, right } => left.0.with(right.0),
            Self::Other(relations, _) => *relations,
        }
    }

    /// Guesses the share of the rows that it leaves of all pairs of its relations.
    fn share(&self, relations: &[Relation]) -> f64 {
        match self {
            Self::Equal { .. } => {
                let all = self.relations();
                let rows = relations.iter().enumerate().filter(|(relation, _)| all.has(*relation));
                1.0 / rows.map(|(_, relation)| relation.estimate.base).fold(f64::INFINITY, f64::min).max(1.0)
            }
            Self::Other(_, expr) => share(expr),
        }
    }

    /// Returns the two sides as keys of a join of two sets of relations, if they are that.
    pub(super) fn as_keys(&self, one: Relations, other: Relations) -> Option<(&Expr, &Expr)> {
        let Self::Equal { left, right } = self else { return None };
        if left.0.is_within(one) && right.0.is_within(other) {
            Some((&left.1, &right.1))
        } else if left.0.is_within(other) && right.0.is_within(one) {
            Some((&right.1, &left.1))
        } else {
            None
        }
    }

    pub(super) fn expr(&self) -> Expr {
        match self {
            Self::Equal { left, right } => binary_expr(left.1.clone(), Operator::Eq, right.1.clone()),
            Self::Other(_, expr) => expr.clone(),
        }
    }
}

/// Inner joins as a graph.
#[derive(Debug, Default)]
pub(super) struct JoinGraph {
    pub(super) relations: Vec<Relation>,
    pub(super) classes: Vec<ColumnClass>,
    pub(super) conditions: Vec<Condition>,
    /// Share of the rows that each condition leaves, guessed.
    pub(super) shares: Vec<f64>,
}

impl JoinGraph {
    /// Takes a join apart; `None` if the order of its inputs is not worth a search, or can't be decided.
    pub(super) fn of(plan: &LogicalPlan) -> Option<Self> {
        let mut graph = Self::default();
        let mut equalities = Vec::new();
        let mut others = Vec::new();
        graph.take(plan, &mut equalities, &mut others)?;
        if graph.relations.len() < 3 || equalities.len() + others.len() > CONDITIONS {
            return None;
        }
        for (left, right) in equalities {
            graph.equate(left, right)?;
        }
        for expr in others {
            match expr {
                Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => graph.equate(*left, *right)?,
                expr => {
                    let relations = graph.relations_of(&expr).filter(|relations| relations.0 != 0)?;
                    graph.conditions.push(Condition::Other(relations, expr));
                }
            }
        }
        graph.filter_inputs().ok()?;
        graph.shares = graph.conditions.iter().map(|condition| condition.share(&graph.relations)).collect();
        Some(graph)
    }

    /// Filters inputs by what is about one of them alone: conditions, and equalities of its columns, which follow from
    /// equalities with columns of others.
    fn filter_inputs(&mut self) -> Result<()> {
        let mut filters: Vec<Vec<Expr>> = vec![Vec::new(); self.relations.len()];
        for class in &self.classes {
            for pair in class.members.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                let [one, other] = [&pair[0].1, &pair[1].1].map(|column| Expr::Column(column.clone()));
                filters[pair[0].0].push(binary_expr(one, Operator::Eq, other));
            }
        }
        self.conditions.retain(|condition| {
            let Relations(all) = condition.relations();
            if all.is_power_of_two() {
                filters[all.trailing_zeros() as usize].push(condition.expr());
            }
            !all.is_power_of_two()
        });
        for (relation, filters) in self.relations.iter_mut().zip(filters) {
            let Some(filter) = conjunction(filters) else { continue };
            relation.estimate = relation.estimate.share(share(&filter));
            relation.plan = LogicalPlan::Filter(Filter::try_new(filter, Arc::new(relation.plan.clone()))?);
        }
        Ok(())
    }

    fn take(&mut self, plan: &LogicalPlan, equal: &mut Vec<(Expr, Expr)>, others: &mut Vec<Expr>) -> Option<()> {
        match plan {
            LogicalPlan::Join(Join { left, right, on, filter, .. }) if is_inner(plan) => {
                self.take(left, equal, others)?;
                self.take(right, equal, others)?;
                equal.extend(on.iter().cloned());
                others.extend(filter.iter().flat_map(split_conjunction).cloned());
            }
            plan => {
                if self.relations.len() == RELATIONS {
                    return None;
                }
                self.relations.push(Relation { plan: plan.clone(), estimate: estimate(plan)? });
            }
        }
        Some(())
    }

    fn equate(&mut self, left: Expr, right: Expr) -> Option<()> {
        if let (Expr::Column(one), Expr::Column(other)) = (&left, &right) {
            let (one, other) = (self.place_of(one)?, self.place_of(other)?);
            let data_type = self.type_of(&one);
            // Equality of floats is not that of their bits.
            let is_plain = data_type.is_some_and(|of| !of.is_floating() && !of.is_nested());
            if one.0 != other.0 && is_plain && data_type == self.type_of(&other) {
                self.unite(one, other);
                return Some(());
            }
        }
        let (left_set, right_set) = (self.relations_of(&left)?, self.relations_of(&right)?);
        let all = left_set.with(right_set);
        if all.0 == 0 {
            return None;
        }
        self.conditions.push(if left_set.0 == 0 || right_set.0 == 0 || left_set.0 & right_set.0 != 0 {
            Condition::Other(all, binary_expr(left, Operator::Eq, right))
        } else {
            Condition::Equal { left: (left_set, left), right: (right_set, right) }
        });
        Some(())
    }

    fn place_of(&self, column: &Column) -> Option<(usize, Column)> {
        let relation = self.relations.iter().position(|relation| relation.plan.schema().has_column(column))?;
        Some((relation, column.clone()))
    }

    fn type_of(&self, (relation, column): &(usize, Column)) -> Option<&arrow::datatypes::DataType> {
        let field = self.relations[*relation].plan.schema().field_from_column(column).ok()?;
        Some(field.data_type())
    }

    /// Puts two columns into one class, and the classes that they are in.
    fn unite(&mut self, one: (usize, Column), other: (usize, Column)) {
        let mut members = vec![one, other];
        self.classes.retain_mut(|class| {
            let is_same = class.members.iter().any(|member| members[..2].contains(member));
            if is_same {
                members.append(&mut class.members);
            }
            !is_same
        });
        members.sort();
        members.dedup();
        let rows = members.iter().map(|(relation, _)| self.relations[*relation].estimate.base);
        let values = rows.fold(f64::INFINITY, f64::min).max(1.0);
        self.classes.push(ColumnClass { members, values });
    }

    /// Returns the relations whose columns an expression has; `None` if a column is of none.
    fn relations_of(&self, expr: &Expr) -> Option<Relations> {
        let places = expr.column_refs().into_iter().map(|column| self.place_of(column).map(|(relation, _)| relation));
        places.map(|place| place.map(Relations::one)).try_fold(Relations(0), |all, one| one.map(|one| all.with(one)))
    }
}
