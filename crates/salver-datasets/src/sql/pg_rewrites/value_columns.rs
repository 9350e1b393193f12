//! The column of `jsonb_array_elements(x) as e` in `from`: its name is `value`, and the name of the table stands for
//! it, too. Here it has the one that the query uses.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, ObjectNamePart, Select, TableAlias, TableAliasColumnDef, TableFactor, Visit, Visitor,
};

use super::quoted;
use crate::sql::identifier_case::fold;

/// Functions whose only column is `value`.
const VALUED: [&str; 4] =
    ["json_array_elements", "json_array_elements_text", "jsonb_array_elements", "jsonb_array_elements_text"];
const VALUE: &str = "value";

/// Names the columns of such functions in a query.
pub(super) fn of_select(select: &mut Select) {
    let has_any = select
        .from
        .iter()
        .flat_map(|from| std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)))
        .any(|factor| unnamed(factor).is_some());
    if !has_any {
        return;
    }
    let mut names = Names::default();
    let _ = select.visit(&mut names);
    for from in &mut select.from {
        for factor in std::iter::once(&mut from.relation).chain(from.joins.iter_mut().map(|join| &mut join.relation)) {
            let Some((own, is_given)) = unnamed(factor) else { continue };
            let is_row = names.alone.contains(&own);
            let is_value = names.behind.contains(&(own.clone(), VALUE.to_owned()))
                || !is_row && (names.alone.contains(VALUE) || !is_given);
            let (TableFactor::Table { alias, .. } | TableFactor::Function { alias, .. }) = factor else { continue };
            if is_value {
                let table = TableAlias { explicit: true, name: quoted(&own), columns: Vec::new(), at: None };
                let column = TableAliasColumnDef { name: quoted(VALUE), data_type: None };
                alias.get_or_insert(table).columns.push(column);
            }
        }
    }
}

/// Returns the name of such a function's table whose columns have no names, and whether it was given.
fn unnamed(factor: &TableFactor) -> Option<(String, bool)> {
    let (name, alias) = match factor {
        TableFactor::Table { name, alias, args: Some(_), with_ordinality: false, .. }
        | TableFactor::Function { name, alias, with_ordinality: false, .. } => (name, alias),
        _ => return None,
    };
    let own = called(name).filter(|own| VALUED.contains(&own.as_str()))?;
    match alias {
        Some(alias) if alias.columns.is_empty() => Some((fold(&alias.name), true)),
        Some(_) => None,
        None => Some((own, false)),
    }
}

fn called(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Some(fold(name)),
        _ => None,
    }
}

/// The names in a query: those that stand alone, and those behind another.
#[derive(Default)]
struct Names {
    alone: HashSet<String>,
    behind: HashSet<(String, String)>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(name) => _ = self.alone.insert(fold(name)),
            Expr::CompoundIdentifier(parts) => {
                if let [table, column] = parts.as_slice() {
                    self.behind.insert((fold(table), fold(column)));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
