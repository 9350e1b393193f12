//! Templates that write one row as JSON with its child rows in place.

use salver_model::records::TableInfo;

use super::branch::{Branch, cells_of, fetch};
use super::child_rows::{Arena, JoinKey};
use crate::cell::Cell;
use crate::json::{self, JsonForm};
use crate::relation::Link;
use crate::scope::Scope;

/// A part of a row.
#[derive(Clone, Debug)]
enum TemplatePart {
    /// A cell.
    Cell { form: JsonForm, cell: usize },
    /// The row that the cells refer to.
    One { cells: Vec<usize>, branch: usize },
    /// The rows that refer to the cells, one link after the other.
    Many { ways: Vec<(Vec<usize>, usize)> },
}

/// The JSON template of one table's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    parts: Vec<(Box<[u8]>, TemplatePart)>,
}

/// The rows of the branches from the one numbered `base` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below<'a> {
    pub(crate) arenas: &'a [Arena],
    pub(crate) base: usize,
}

impl<'a> Below<'a> {
    fn rows(self, branch: usize, key: &JoinKey) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let arena = branch.checked_sub(self.base).and_then(|at| self.arenas.get(at));
        arena.map(|arena| arena.rows(key)).into_iter().flatten()
    }
}

/// The templates of all rows of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowTemplates {
    /// The template of the first table.
    pub(crate) root: Template,
    /// The templates of each branch, with the cells by which its rows are filed, and those that are null when there is
    /// no row.
    pub(crate) branches: Vec<(Template, Vec<usize>, Option<Vec<usize>>)>,
}

/// Builds the shape of a request; adds what it must fetch to the branches and to `fetched`, which are the columns of
/// the first table, shown ones first.
pub(crate) fn shape(
    scope: &Scope<'_>,
    table: &TableInfo,
    shown: &[usize],
    fetched: &mut Vec<usize>,
    branches: &mut [Branch<'_>],
) -> RowTemplates {
    for at in 0..branches.len() {
        let (own, target) = (branches[at].link.own().to_vec(), branches[at].link.target().to_vec());
        fetch(&mut branches[at].fetched, &target);
        match branches[at].parent {
            None => fetch(fetched, &own),
            Some(parent) => fetch(&mut branches[parent].fetched, &own),
        }
    }
    let root = template(scope, table, shown, fetched, (branches, None));
    let of_branch = |(at, branch): (usize, &Branch<'_>)| {
        let template = template(scope, branch.table, &branch.shown, &branch.fetched, (branches, Some(at)));
        (template, branch.key_cells(), branch.present_cells())
    };
    let branches = branches.iter().enumerate().map(of_branch).collect();
    RowTemplates { root, branches }
}

fn template(
    scope: &Scope<'_>,
    table: &TableInfo,
    shown: &[usize],
    fetched: &[usize],
    (branches, parent): (&[Branch<'_>], Option<usize>),
) -> Template {
    let mut parts: Vec<(String, TemplatePart)> = Vec::with_capacity(shown.len() + 2);
    for (cell, index) in shown.iter().enumerate() {
        let column = &table.columns[*index];
        parts.push((column.name.clone(), TemplatePart::Cell { form: JsonForm::of(scope.spec(), table, column), cell }));
    }
    for (at, branch) in branches.iter().enumerate().filter(|(_, branch)| branch.parent == parent) {
        let cells = cells_of(fetched, branch.link.own());
        if matches!(branch.link, Link::ToOne { .. }) {
            let place = branch.link.own().last().and_then(|own| shown.iter().position(|index| index == own));
            if let Some(place) = place {
                parts[place].1 = TemplatePart::One { cells, branch: at };
            }
            continue;
        }
        let name = &branch.table.name;
        match parts.iter_mut().find(|(own, _)| own == name) {
            Some((_, TemplatePart::Many { ways })) => ways.push((cells, at)),
            Some((_, part)) => *part = TemplatePart::Many { ways: vec![(cells, at)] },
            None => parts.push((name.clone(), TemplatePart::Many { ways: vec![(cells, at)] })),
        }
    }
    let leads = parts.into_iter().enumerate();
    Template { parts: leads.map(|(at, (name, part))| (json::lead(at == 0, &name), part)).collect() }
}

impl Template {
    /// Creates a template whose members are these cells, without joins.
    pub(crate) fn flat<'n>(members: impl Iterator<Item = (&'n str, JsonForm, usize)>) -> Self {
        let parts = members.enumerate();
        Self {
            parts: parts
                .map(|(at, (name, form, cell))| (json::lead(at == 0, name), TemplatePart::Cell { form, cell }))
                .collect(),
        }
    }

    /// Removes the member that is this cell.
    pub(crate) fn take(&mut self, cell: usize) {
        self.parts.retain(|(_, part)| !matches!(part, TemplatePart::Cell { cell: own, .. } if *own == cell));
        if let Some((lead, _)) = self.parts.first_mut() {
            lead[0] = b'{';
        }
    }

    /// Appends one row. The rows of all branches below must be buffered already.
    pub(crate) fn write(&self, cells: &[Cell<'_>], below: Below<'_>, key: &mut JoinKey, out: &mut Vec<u8>) {
        if self.parts.is_empty() {
            out.push(b'{');
        }
        for (lead, part) in &self.parts {
            out.extend_from_slice(lead);
            match part {
                TemplatePart::Cell { form, cell } => {
                    json::value(cells.get(*cell).copied().unwrap_or(Cell::Null), *form, out)
                }
                TemplatePart::One { cells: of, branch } => {
                    let row = key.of(cells, of).then(|| below.rows(*branch, key).next()).flatten();
                    out.extend_from_slice(row.unwrap_or(b"null"));
                }
                TemplatePart::Many { ways } => {
                    out.push(b'[');
                    let mut first = true;
                    for (of, branch) in ways {
                        if !key.of(cells, of) {
                            continue;
                        }
                        for row in below.rows(*branch, key) {
                            if !std::mem::replace(&mut first, false) {
                                out.push(b',');
                            }
                            out.extend_from_slice(row);
                        }
                    }
                    out.push(b']');
                }
            }
        }
        out.push(b'}');
    }
}
