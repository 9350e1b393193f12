//! `lag(x, n, d)` and `lead(x, n, d)` whose default is computed of columns. The engine takes constants only. Where
//! there is no such row, `lag(true, n)` is null.

use datafusion::sql::sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value};
use salver_model::Error;

use super::expression;
use super::function_names::name_of;
use super::set_returning::names_columns;

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    if function.over.is_none() || !matches!(name_of(function).as_deref(), Some("lag" | "lead")) {
        return Ok(());
    }
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let default = match list.args.as_slice() {
        [_, _, FunctionArg::Unnamed(FunctionArgExpr::Expr(default))] if names_columns(default) => default.clone(),
        _ => return Ok(()),
    };
    list.args.truncate(2);
    let mut row = function.clone();
    if let FunctionArguments::List(list) = &mut row.args
        && let Some(value) = list.args.first_mut()
    {
        *value = FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(Value::Boolean(true))));
    }
    let value = Expr::Function(function.clone());
    *expr = expression("(case when __1 is null then __2 else __3 end)", vec![Expr::Function(row), default, value])?;
    Ok(())
}
