//! Several percentiles at once: `percentile_cont(array[a, b]) within group (order by x)` is an array of one call for
//! each, and null for no values.

use datafusion::sql::sqlparser::ast::{
    Array, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, OrderByExpr, Select,
    SelectItem,
};
use salver_model::Error;

use super::function_names::name_of;
use super::{expression, quoted};

/// Names the columns of a `select` that are such calls by their function, as PostgreSQL does.
pub(super) fn name_columns(select: &mut Select) {
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(Expr::Function(function)) = item
            && shares(function).is_some()
        {
            let alias = quoted(&name_of(function).unwrap_or_default());
            *item = SelectItem::ExprWithAlias { expr: Expr::Function(function.clone()), alias };
        }
    }
}

/// Returns the array that is the only argument of a percentile.
fn shares(function: &Function) -> Option<&Array> {
    let is_percentile =
        name_of(function).is_some_and(|name| matches!(name.as_str(), "percentile_cont" | "percentile_disc"));
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Array(shares)))] if is_percentile => Some(shares),
        _ => None,
    }
}

/// Rewrites a call whose only argument is an array that is written out.
pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let (Some(shares), [OrderByExpr { expr: value, .. }]) = (shares(function), function.within_group.as_slice()) else {
        return Ok(());
    };
    let mut array = shares.clone();
    for share in &mut array.elem {
        let own = std::mem::replace(share, Expr::Identifier(Ident::new("taken")));
        *share = with_argument(function, own);
    }
    let mut count = with_argument(function, value.clone());
    if let Expr::Function(count) = &mut count {
        count.name = ObjectName::from(vec![Ident::new("count")]);
        count.within_group = Vec::new();
    }
    *expr = expression("(case when __1 > 0 then __2 end)", vec![count, Expr::Array(array)])?;
    Ok(())
}

/// Returns the same call with another argument.
fn with_argument(function: &Function, argument: Expr) -> Expr {
    let mut call = function.clone();
    if let FunctionArguments::List(list) = &mut call.args {
        list.args = vec![FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))];
    }
    Expr::Function(call)
}
