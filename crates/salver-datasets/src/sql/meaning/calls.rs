//! Functions that have another name here, or none but can be said with others.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident, ObjectName,
    ObjectNamePart,
};
use salver_model::Error;

use super::{expression, refused};

/// PostgreSQL's name of a function, and the engine's.
const NAMES: [(&str, &str); 6] = [
    ("sign", "signum"),
    ("ceiling", "ceil"),
    ("every", "bool_and"),
    ("listagg", "string_agg"),
    ("variance", "var_samp"),
    ("char_length", "character_length"),
];

/// Functions in other words.
const WORDS: [(&str, usize, &str); 8] = [
    ("age", 1, "age(current_date(), __1)"),
    ("div", 2, "trunc(__1 / __2)"),
    ("log10", 1, "log(10, __1)"),
    ("regexp_substr", 2, "regexp_match(__1, __2)[1]"),
    (
        "width_bucket",
        4,
        "(case when __2 < __3 then case when __1 < __2 then 0 when __1 >= __3 then __4 + 1 \
          else floor((__1 - __2) * __4 / (__3 - __2))::bigint + 1 end \
          else case when __1 > __2 then 0 when __1 <= __3 then __4 + 1 \
          else floor((__2 - __1) * __4 / (__2 - __3))::bigint + 1 end end)",
    ),
    ("mod", 2, "(__1 % __2)"),
    ("json_extract_path", 2, "json_get_json(__1, __2)"),
    ("json_extract_path_text", 2, "json_as_text(__1, __2)"),
];

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return Ok(()) };
    if name.quote_style.is_some() {
        return Ok(());
    }
    let name = name.value.to_lowercase();
    if let Some((_, own)) = NAMES.iter().find(|(theirs, _)| *theirs == name) {
        function.name = ObjectName::from(vec![Ident::new(*own)]);
    }
    if let Some(arguments) = plain(function)
        && let Some((_, _, words)) =
            WORDS.iter().find(|(theirs, count, _)| *theirs == name && *count == arguments.len())
    {
        *expr = expression(words, arguments)?;
        return Ok(());
    }
    match name.as_str() {
        "percentile_disc" | "mode" => ordered_set(function, &name),
        "string_agg" if function.over.is_some() => ordered_window(function),
        _ => Ok(()),
    }
}

/// The arguments of a call that has nothing else.
fn plain(function: &Function) -> Option<Vec<Expr>> {
    let Function {
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(list),
        filter: None,
        null_treatment: None,
        over: None,
        within_group,
        ..
    } = function
    else {
        return None;
    };
    if list.duplicate_treatment.is_some() || !list.clauses.is_empty() || !within_group.is_empty() {
        return None;
    }
    let argument = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    };
    list.args.iter().map(argument).collect()
}

/// `mode() within group (order by x)` as `mode(x)`: an aggregate of our own that needs no order.
fn ordered_set(function: &mut Function, name: &str) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let [key] = function.within_group.as_slice() else {
        return Err(refused(
            format!("`{name}` needs one expression to order by"),
            format!("write `{name}(...) within group (order by x)`"),
        ));
    };
    let value = FunctionArg::Unnamed(FunctionArgExpr::Expr(key.expr.clone()));
    if name == "percentile_disc" && key.options.asc == Some(false) {
        return Err(refused(
            "`percentile_disc` goes by ascending order here",
            "write `percentile_disc(1 - p) within group (order by x)`",
        ));
    }
    list.args.insert(0, value);
    function.within_group.clear();
    Ok(())
}

/// A window has its order behind `over`.
fn ordered_window(function: &Function) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    if list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_))) {
        return Err(refused("an aggregate over a window has no order of its own", "put `order by` behind `over (`"));
    }
    Ok(())
}
