//! Windows that refer to another: `over (w rows 1 preceding)`, and `w2 as (w order by k)`. The engine ignores the name,
//! and with it the partition and the order.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderByKind, Query, Select, SelectItem, SetExpr, WindowSpec,
    WindowType,
};
use salver_model::Error;
use salver_model::limits::SQL_WINDOW_EXPRESSIONS_MAX;

use super::merged::is_same;
use super::outside::outside_queries;
use super::refused;

/// Writes out the named windows of a query.
pub(super) fn of_query(query: &mut Query) -> Result<(), Box<Error>> {
    let SetExpr::Select(select) = &mut *query.body else { return Ok(()) };
    let mut windows = Windows::of(select)?;
    if windows.known.is_empty() {
        return Ok(());
    }
    if let Some(OrderByKind::Expressions(keys)) = query.order_by.as_mut().map(|order| &mut order.kind) {
        keys.iter_mut().try_for_each(|key| windows.write_out(&mut key.expr))?;
    }
    Ok(())
}

/// Writes out the named windows in the columns of a `select`.
pub(super) fn of_select(select: &mut Select) -> Result<(), Box<Error>> {
    let mut windows = Windows::of(select)?;
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
            windows.write_out(expr)?;
        }
    }
    select.qualify.iter_mut().try_for_each(|condition| windows.write_out(condition))
}

struct Windows {
    known: Vec<(Ident, WindowSpec)>,
    copies: usize,
}

impl Windows {
    /// Returns the named windows of a `select`, each completed by those before it.
    fn of(select: &mut Select) -> Result<Self, Box<Error>> {
        let mut windows = Self { known: Vec::new(), copies: 0 };
        for NamedWindowDefinition(name, window) in &mut select.named_window {
            if let NamedWindowExpr::WindowSpec(spec) = window {
                windows.complete(spec)?;
                windows.known.push((name.clone(), spec.clone()));
            }
        }
        Ok(windows)
    }

    fn write_out(&mut self, expr: &mut Expr) -> Result<(), Box<Error>> {
        outside_queries(expr, &mut |part| match part {
            Expr::Function(function) => match &mut function.over {
                Some(WindowType::WindowSpec(spec)) => self.complete(spec),
                _ => Ok(()),
            },
            _ => Ok(()),
        })
    }

    /// Adds the parts that a window inherits from the one that it names.
    fn complete(&mut self, spec: &mut WindowSpec) -> Result<(), Box<Error>> {
        let Some(name) = spec.window_name.take() else { return Ok(()) };
        let Some((_, base)) = self.known.iter().find(|(own, _)| is_same(own, &name)) else {
            return Err(refused(format!("there is no window `{name}`"), "name it in `window`, before it is used"));
        };
        if !spec.partition_by.is_empty() || !spec.order_by.is_empty() && !base.order_by.is_empty() {
            return Err(refused(
                format!("what the window `{name}` has can't be said again by one that stands on it"),
                "write the window out, as in `over (partition by a order by b)`",
            ));
        }
        if base.window_frame.is_some() {
            return Err(refused(
                format!("no other window can stand on `{name}`, which has a frame"),
                format!("write `over {name}` without parentheses, or name a window without its frame"),
            ));
        }
        self.copies += base.partition_by.len() + base.order_by.len();
        if self.copies > SQL_WINDOW_EXPRESSIONS_MAX {
            return Err(refused(
                format!(
                    "windows that stand on others have more than {SQL_WINDOW_EXPRESSIONS_MAX} expressions together"
                ),
                "split the statement",
            ));
        }
        spec.partition_by.clone_from(&base.partition_by);
        if spec.order_by.is_empty() {
            spec.order_by.clone_from(&base.order_by);
        }
        Ok(())
    }
}
