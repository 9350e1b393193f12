//! Joins related rows: the tree of joined tables, what of them is shown, and the statements that fetch them.
//!
//! All statements of a request are known before the first one runs, since each selects its rows by a subquery over the
//! rows above it. So they are sent to the database together: one round trip, one snapshot.

mod branch;
pub(crate) mod child_rows;
mod template;

use salver_model::limits::{JOINED_RELATIONS_MAX, WAY_TABLES_MAX};
use salver_model::records::{Child, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result};

use super::columns::Chooser;
use super::order;
use super::range::least;
use crate::condition::{ConditionContext, unrelated};
use crate::relation::{Link, links, through};

pub(crate) use branch::{Branch, fetch as branch_fetch};
pub(crate) use template::{Below, RowTemplates, Template, shape};

/// A joined table as requested, with the tables joined to it.
#[derive(Clone, Debug)]
pub(crate) struct Node<'s> {
    table: &'s TableInfo,
    path: Vec<&'s str>,
    below: Vec<Node<'s>>,
}

/// Returns the tree of joined tables.
pub(crate) fn tree<'s>(
    ground: &ConditionContext<'s>,
    table: &'s TableInfo,
    query: &'s RecordQuery,
) -> Result<Vec<Node<'s>>> {
    let spec = ground.scope.spec();
    let depth_max = spec.joins_depth_max.unwrap_or(usize::MAX);
    let mut left = spec.joins_tables_max.unwrap_or(usize::MAX);
    let mut roots = Vec::new();
    for asked in &query.joins {
        if asked.len() > WAY_TABLES_MAX {
            return Err(Error::new(
                Code::InvalidRequest,
                format!("a join leads over more than {WAY_TABLES_MAX} tables"),
            ));
        }
        let cut = asked.len().min(depth_max).min(left);
        if ground.strict && cut < asked.len() {
            return Err(Error::new(Code::InvalidRequest, format!("`join={}` joins too many tables", asked.join(",")))
                .with_hint("this database has a limit on how many tables may be joined, and how deep"));
        }
        left -= cut;
        let mut path: Vec<&'s TableInfo> = Vec::with_capacity(cut);
        for name in &asked[..cut] {
            match ground.scope.table(ground.operation, name) {
                Ok(found) => path.push(found),
                Err(error) if !ground.scope.sure => return Err(error),
                // An unknown table is ignored, also when a rule hides it.
                Err(mut error) if ground.strict => {
                    error.code = Code::InvalidRequest;
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        if ground.strict {
            prove_related(ground, table, &path)?;
        }
        insert(&mut roots, &path, &[]);
    }
    Ok(roots)
}

fn prove_related(ground: &ConditionContext<'_>, table: &TableInfo, path: &[&TableInfo]) -> Result<()> {
    let mut here = table;
    for there in path {
        if links(ground.scope, ground.operation, here, there).is_empty() {
            let mut error = unrelated(ground.scope, ground.operation, here, &there.name);
            error.code = Code::InvalidRequest;
            return Err(error);
        }
        here = there;
    }
    Ok(())
}

fn insert<'s>(nodes: &mut Vec<Node<'s>>, path: &[&'s TableInfo], above: &[&'s str]) {
    let Some((table, rest)) = path.split_first() else { return };
    let mut own = above.to_vec();
    own.push(&table.name);
    let at = nodes.iter().position(|node| node.table.name == table.name).unwrap_or_else(|| {
        nodes.push(Node { table, path: own.clone(), below: Vec::new() });
        nodes.len() - 1
    });
    insert(&mut nodes[at].below, rest, &own);
}

/// Returns every table of the tree, beginning with the first one.
pub(crate) fn tables<'s>(table: &'s TableInfo, nodes: &[Node<'s>]) -> Vec<&'s TableInfo> {
    let mut all = vec![table];
    for node in nodes {
        all.extend(tables(node.table, &node.below));
    }
    all
}

/// Shows the keys that joined rows depend on, as PHP-CRUD-API does when columns are requested by name.
pub(crate) fn force_keys<'s>(
    ground: &ConditionContext<'s>,
    table: &'s TableInfo,
    nodes: &[Node<'s>],
    chooser: &mut Chooser<'s>,
) {
    if !chooser.includes() {
        return;
    }
    let (scope, operation) = (ground.scope, ground.operation);
    for node in nodes {
        for link in links(scope, operation, table, node.table) {
            chooser.force(table, link.own());
            chooser.force(node.table, link.target());
        }
        // There, a table that refers to both counts even if it is not used.
        if let Some(link) = through(scope, operation, table, node.table) {
            chooser.force(table, link.own());
            chooser.force(node.table, link.target());
        }
        force_keys(ground, node.table, &node.below, chooser);
    }
}

/// Plans the statements of all joins, parents before children.
pub(crate) fn branches<'s>(
    ground: &ConditionContext<'s>,
    (table, shown): (&'s TableInfo, &[usize]),
    nodes: &[Node<'s>],
    query: &'s RecordQuery,
    chooser: &Chooser<'s>,
) -> Result<Vec<Branch<'s>>> {
    let mut plan = JoinPlan { ground: *ground, query, chooser, branches: Vec::new() };
    plan.below(None, table, shown, nodes)?;
    prove_children(query, nodes)?;
    Ok(plan.branches)
}

struct JoinPlan<'s, 'c> {
    ground: ConditionContext<'s>,
    query: &'s RecordQuery,
    chooser: &'c Chooser<'s>,
    branches: Vec<Branch<'s>>,
}

impl<'s> JoinPlan<'s, '_> {
    fn below(
        &mut self,
        parent: Option<usize>,
        table: &'s TableInfo,
        shown: &[usize],
        nodes: &[Node<'s>],
    ) -> Result<()> {
        for node in nodes {
            for link in links(self.ground.scope, self.ground.operation, table, node.table) {
                // The joined row would replace a column that is not shown.
                if matches!(link, Link::ToOne { .. }) && link.own().last().is_none_or(|own| !shown.contains(own)) {
                    continue;
                }
                let at = self.branches.len();
                if at >= JOINED_RELATIONS_MAX {
                    return Err(Error::new(Code::InvalidRequest, "too many relations are joined")
                        .with_hint(format!("join at most {JOINED_RELATIONS_MAX}")));
                }
                let branch = self.branch(parent, node, link)?;
                let shown = branch.shown.clone();
                self.branches.push(branch);
                self.below(Some(at), node.table, &shown, &node.below)?;
            }
        }
        Ok(())
    }

    fn branch(&self, parent: Option<usize>, node: &Node<'s>, link: Link) -> Result<Branch<'s>> {
        let ConditionContext { scope, operation, .. } = self.ground;
        let shown = self.chooser.shown(scope, operation, node.table, false);
        let child: Option<&'s Child> = self.query.children.iter().find(|child| child.path == node.path);
        let asked = child.map_or(&[][..], |child| &child.order);
        // PHP-CRUD-API has no syntax for selecting joined rows, so that lenience serves no client.
        let ground = ConditionContext { strict: true, ..self.ground };
        let order = order::asked(&ground, node.table, asked)?;
        let is_one = matches!(link, Link::ToOne { .. });
        let limit = least(child.and_then(|child| child.size), scope.spec().joins_records_max);
        Ok(Branch {
            ground,
            table: node.table,
            parent,
            fetched: shown.clone(),
            shown,
            filter: child.and_then(|child| child.filter.as_ref()),
            order,
            limit: if is_one { None } else { limit },
            link,
        })
    }
}

/// Checks that every table with options for its rows is joined.
fn prove_children(query: &RecordQuery, nodes: &[Node<'_>]) -> Result<()> {
    for child in &query.children {
        let mut level = nodes;
        for name in &child.path {
            let Some(node) = level.iter().find(|node| node.table.name == *name) else {
                return Err(Error::new(Code::InvalidRequest, format!("`{}` is not joined", child.path.join(",")))
                    .with_hint(format!("add `join={}`", child.path.join(","))));
            };
            level = &node.below;
        }
    }
    Ok(())
}
