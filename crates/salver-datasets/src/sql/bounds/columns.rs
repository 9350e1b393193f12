//! Limit on the columns of the tables that a statement reads. Planning carries them from step to step, referenced or
//! not, and compares each column of a `*` with all others.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ObjectName, ObjectNamePart, Select, SelectItem, Statement, TableFactor, Visit, Visitor,
};
use salver_model::limits::{SQL_COLUMNS_MAX, SQL_STARRED_MAX};
use salver_model::ports::Tables;
use salver_model::{Code, Error, Result};

/// Checks a statement with resolved names. A single table that is read once may have any number of columns.
///
/// # Errors
/// `InvalidSql` when several tables have too many together.
pub(in super::super) fn columns(statement: &Statement, tables: &dyn Tables) -> Result<()> {
    let mut seen = ColumnCount { tables, relations: 0, columns: 0, most: 0, stars: Vec::new() };
    let _ = Visit::visit(statement, &mut seen);
    // A subquery returns about as many columns as the widest table.
    let width = |(known, derived): &(usize, usize)| known.saturating_add(derived.saturating_mul(seen.most));
    let pairs = seen.stars.iter().map(width).fold(0_usize, |all, own| all.saturating_add(own.saturating_mul(own)));
    let starred = pairs > SQL_STARRED_MAX * SQL_STARRED_MAX && (seen.relations > 1 || seen.stars.len() > 1);
    if !starred && (seen.relations < 2 || seen.columns <= SQL_COLUMNS_MAX) {
        return Ok(());
    }
    let (most, hint) = if starred {
        (SQL_STARRED_MAX, "name the columns that you need in place of `*`, or read fewer tables")
    } else {
        (SQL_COLUMNS_MAX, "read fewer tables at once, or tables with fewer columns")
    };
    let what = if starred { " that a `*` stands for" } else { "" };
    let message =
        format!("the tables of the statement have too many columns{what} together: {most} are about the most");
    Err(Error::new(Code::InvalidSql, message).with_hint(hint))
}

struct ColumnCount<'t> {
    tables: &'t dyn Tables,
    /// Number of tables of the catalog, counting each as often as it is read.
    relations: usize,
    /// Number of their columns.
    columns: usize,
    /// Number of columns of the widest table.
    most: usize,
    /// For each `*`: the number of table columns that it stands for, and of subqueries.
    stars: Vec<(usize, usize)>,
}

impl ColumnCount<'_> {
    /// Returns the number of columns of a table of the catalog.
    fn width(&self, name: &ObjectName) -> Option<usize> {
        let last = name.0.last().and_then(ObjectNamePart::as_ident)?;
        let table = self.tables.table(&last.value).ok().flatten()?;
        Some(table.describe().schema.fields().len())
    }
}

impl Visitor for ColumnCount<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        if let Some(width) = self.width(name) {
            self.relations += 1;
            self.columns += width;
            self.most = self.most.max(width);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
        if !select.projection.iter().any(is_star) {
            return ControlFlow::Continue(());
        }
        let (mut known, mut derived) = (0, 0);
        for from in &select.from {
            for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)) {
                match factor {
                    TableFactor::Table { name, args: None, .. } => match self.width(name) {
                        Some(width) => known += width,
                        None => derived += 1,
                    },
                    _ => derived += 1,
                }
            }
        }
        self.stars.push((known, derived));
        ControlFlow::Continue(())
    }
}
