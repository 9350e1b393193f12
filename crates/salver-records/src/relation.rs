//! Relations between tables: by foreign keys, and through a junction table that refers to both.

use salver_model::records::{ForeignKey, Operation, TableInfo, TableKind};

use crate::scope::Scope;

/// One link from rows of a table to rows of another. Columns are indexes; corresponding lists have the same length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The table refers to the other: one row there.
    ToOne {
        /// Columns here.
        own: Vec<usize>,
        /// Columns there, which are unique.
        target: Vec<usize>,
    },
    /// The other refers to the table: many rows there.
    ToMany {
        /// Columns here, which are unique.
        own: Vec<usize>,
        /// Columns there.
        target: Vec<usize>,
    },
    /// A junction table refers to both: many rows there.
    Through {
        /// The junction table, by its position in the schema.
        junction: usize,
        /// Columns here.
        own: Vec<usize>,
        /// Columns of the junction table that refer to here.
        near: Vec<usize>,
        /// Columns of the junction table that refer to there.
        far: Vec<usize>,
        /// Columns there.
        target: Vec<usize>,
    },
}

impl Link {
    /// Returns the columns here.
    pub(crate) fn own(&self) -> &[usize] {
        match self {
            Self::ToOne { own, .. } | Self::ToMany { own, .. } | Self::Through { own, .. } => own,
        }
    }

    /// Returns the columns there.
    pub(crate) fn target(&self) -> &[usize] {
        match self {
            Self::ToOne { target, .. } | Self::ToMany { target, .. } | Self::Through { target, .. } => target,
        }
    }
}

/// Returns every link from `here` to `there` that the caller may see: all foreign keys in either direction, and only if
/// there are none, the first table that refers to both.
pub(crate) fn links(scope: &Scope<'_>, operation: Operation, here: &TableInfo, there: &TableInfo) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (columns, target) in references(scope, operation, here, there) {
        links.push(Link::ToOne { own: columns, target });
    }
    for (columns, target) in references(scope, operation, there, here) {
        links.push(Link::ToMany { own: target, target: columns });
    }
    if links.is_empty() {
        links.extend(through(scope, operation, here, there));
    }
    links
}

/// Returns the link through the first table that refers to both.
pub(crate) fn through(scope: &Scope<'_>, operation: Operation, here: &TableInfo, there: &TableInfo) -> Option<Link> {
    let tables = scope.schema.tables().iter().enumerate();
    let seen = tables.filter(|(_, table)| table.kind == TableKind::Table && scope.access.table(operation, &table.name));
    seen.into_iter().find_map(|(junction, table)| {
        let (near, own) = references(scope, operation, table, here).into_iter().next()?;
        // A table that refers twice to the same one joins its rows to each other.
        let mut far = references(scope, operation, table, there).into_iter();
        let (far, target) = far.find(|(columns, _)| *columns != near)?;
        Some(Link::Through { junction, own, near, far, target })
    })
}

/// Returns the foreign keys of `from` to `to`: the columns of each side.
fn references(
    scope: &Scope<'_>,
    operation: Operation,
    from: &TableInfo,
    to: &TableInfo,
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let visible = |columns: &[usize]| {
        columns.iter().all(|index| scope.access.column(operation, &from.name, &from.columns[*index].name))
    };
    let declared = from.foreign_keys.iter().filter(|key| key.target == to.name);
    let mut found: Vec<(Vec<usize>, Vec<usize>)> =
        declared.filter_map(|key| Some((key.columns.clone(), target_columns(key, to)?))).collect();
    if found.is_empty() && from.kind == TableKind::View {
        found = inferred(from, to);
    }
    let masked = |table: &TableInfo, columns: &[usize]| scope.access.is_any_masked(operation, table, columns);
    found.retain(|(columns, target)| {
        visible(columns)
            && !columns.is_empty()
            && columns.len() == target.len()
            && !masked(from, columns)
            && !masked(to, target)
    });
    found
}

/// Returns the columns that a foreign key refers to: those it names, or the primary key.
fn target_columns(key: &ForeignKey, to: &TableInfo) -> Option<Vec<usize>> {
    if key.target_columns.is_empty() {
        return Some(to.key.clone());
    }
    key.target_columns.iter().map(|name| to.column(name)).collect()
}

/// Infers foreign keys of views, which have none: a column whose name ends with `<table>_id` is taken as one.
fn inferred(from: &TableInfo, to: &TableInfo) -> Vec<(Vec<usize>, Vec<usize>)> {
    let Some(target) = to.single_key() else { return Vec::new() };
    let names_it = |name: &str| name.strip_suffix("_id").is_some_and(|rest| rest.ends_with(to.name.as_str()));
    let columns = from.columns.iter().enumerate().filter(|(_, column)| names_it(&column.name));
    columns.map(|(index, _)| (vec![index], vec![target])).collect()
}
