//! Columns with duplicate names: the second `i` is renamed to `i_1`, so that JSON rows contain both.

use std::ops::ControlFlow;

use ahash::AHashSet;
use datafusion::sql::sqlparser::ast::{Expr, Select, SelectItem, TypedString, Value, VisitorMut};
use salver_model::limits::SQL_NAME_BYTES_MAX;

use super::function_names::simple;
use super::{quoted, take};
use crate::sql::identifier_case::fold;

/// Gives columns with duplicate names unique ones. With `all`, also names columns without a name, because the engine
/// may generate the same name for several.
pub(super) fn name(select: &mut Select, all: bool) {
    let has_rest = select
        .projection
        .iter()
        .any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    let name_of = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(Expr::Identifier(ident)) => Some(fold(ident)),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().map(fold),
        SelectItem::UnnamedExpr(expr) => Some(expr.to_string()),
        SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
        _ => None,
    };
    let names: AHashSet<String> = select.projection.iter().filter_map(name_of).map(cut).collect();
    let mut taken: AHashSet<String> = AHashSet::with_capacity(select.projection.len());
    for item in &mut select.projection {
        let Some(whole) = name_of(item) else { continue };
        let is_long = whole.len() > SQL_NAME_BYTES_MAX;
        let name = cut(whole);
        let is_column = matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)));
        let is_named = matches!(item, SelectItem::ExprWithAlias { .. });
        // The column may be one of those of `*`.
        let is_first = !(all && has_rest && is_column) && taken.insert(name.clone());
        let own = match is_first {
            // As in PostgreSQL a long name is truncated; it is compared with all others.
            true if is_long => name,
            true if !all || is_column || is_named => continue,
            true => name,
            false => numbered(&name, |other| names.contains(other) || taken.contains(other)),
        };
        taken.insert(own.clone());
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        *item = SelectItem::ExprWithAlias { expr: take(expr), alias: quoted(&own) };
    }
}

/// Appends the first number to a name that makes it unique.
pub(in crate::sql) fn numbered(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let free = (1_usize..).map(|number| format!("{name}_{number}")).find(|other| !is_taken(other));
    free.unwrap_or_else(|| name.to_owned())
}

fn cut(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(SQL_NAME_BYTES_MAX));
    name
}

/// Names all columns, and all casts by their target type.
pub(super) struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        name(select, true);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let (Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. })) = expr else {
            return ControlFlow::Continue(());
        };
        let words = Expr::value(Value::SingleQuotedString(data_type.to_string()));
        *expr = Expr::Function(simple("as_written", vec![words, take(expr)]));
        ControlFlow::Continue(())
    }
}
