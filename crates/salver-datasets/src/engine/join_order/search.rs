//! The cheapest order, by dynamic programming over sets of relations (Selinger and others 1979, with bushy trees).

use super::graph::{JoinGraph, Relations};

/// Cost of a row that is put into a hash table, and of one that is looked up, each for a row of the result.
const BUILD_COST: f64 = 2.0;
const PROBE_COST: f64 = 0.5;

/// Order of joins.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Leaf(usize),
    /// The smaller side first: it is built.
    Join(Box<Self>, Box<Self>),
}

impl Tree {
    pub(super) fn relations(&self) -> Relations {
        match self {
            Self::Leaf(relation) => Relations::one(*relation),
            Self::Join(left, right) => left.relations().with(right.relations()),
        }
    }
}

/// The best way to join a set.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    /// One side of the last join; 0 for a single relation.
    left: u32,
}

/// Returns the cheapest order; `None` if relations are joined by no condition.
pub(super) fn best(graph: &JoinGraph) -> Option<Tree> {
    let count = graph.relations.len();
    let all = (1_u32 << count) - 1;
    let rows: Vec<f64> = (0..=all).map(|set| rows_of(graph, Relations(set))).collect();
    let mut best: Vec<Option<Best>> = vec![None; all as usize + 1];
    for relation in 0..count {
        best[1 << relation] = Some(Best { cost: 0.0, left: 0 });
    }
    for set in 1..=all {
        if set.is_power_of_two() {
            continue;
        }
        // Each pair of sides once, the smaller one as the left.
        let mut left = (set - 1) & set;
        while left > 0 {
            let right = set & !left;
            let (own, other) = (rows[left as usize], rows[right as usize]);
            let is_smaller = own < other || own == other && left < right;
            if let (true, Some(one), Some(two)) = (is_smaller, best[left as usize], best[right as usize])
                && are_joined(graph, Relations(left), Relations(right))
            {
                let cost = one.cost + two.cost + rows[set as usize] + BUILD_COST * own + PROBE_COST * other;
                if best[set as usize].is_none_or(|known| cost < known.cost) {
                    best[set as usize] = Some(Best { cost, left });
                }
            }
            left = (left - 1) & set;
        }
    }
    tree(&best, all)
}

fn tree(best: &[Option<Best>], set: u32) -> Option<Tree> {
    let left = best[set as usize]?.left;
    if left == 0 {
        return Some(Tree::Leaf(set.trailing_zeros() as usize));
    }
    Some(Tree::Join(Box::new(tree(best, left)?), Box::new(tree(best, set & !left)?)))
}

fn are_joined(graph: &JoinGraph, left: Relations, right: Relations) -> bool {
    let by_class = || graph.classes.iter().any(|of| of.column_of(left).is_some() && of.column_of(right).is_some());
    let by_condition = || graph.conditions.iter().any(|of| of.as_keys(left, right).is_some());
    by_class() || by_condition()
}

/// Guesses the rows of the join of a set of relations.
fn rows_of(graph: &JoinGraph, set: Relations) -> f64 {
    let of = |relation: usize| graph.relations[relation].estimate;
    let relations = || (0..graph.relations.len()).filter(|relation| set.has(*relation));
    let mut rows: f64 = relations().map(|relation| of(relation).rows).product();
    for class in &graph.classes {
        let members = (class.relations().0 & set.0).count_ones();
        rows /= class.values.powi(members.saturating_sub(1) as i32);
    }
    // Columns that make up a key together have no more values than their table has rows.
    for one in relations() {
        for other in relations().filter(|other| *other > one) {
            let pair = Relations::one(one).with(Relations::one(other));
            let shared: Vec<_> = graph.classes.iter().filter(|class| pair.is_within(class.relations())).collect();
            if shared.len() > 1 {
                let values: f64 = shared.iter().map(|class| class.values).product();
                rows *= (values / of(one).base.min(of(other).base)).max(1.0);
            }
        }
    }
    let conditions = graph.conditions.iter().zip(&graph.shares);
    rows *= conditions
        .filter(|(condition, _)| condition.relations().is_within(set))
        .map(|(_, share)| share)
        .product::<f64>();
    rows.max(1.0)
}
