//! Functions that have another name in the engine, or that can be expressed by others.

use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList, FunctionArguments,
    Ident, ObjectName, ObjectNamePart, Value,
};
use salver_model::Error;

use super::{expression, refused, take};

/// Names of functions in PostgreSQL and in the engine.
const NAMES: [(&str, &str); 11] = [
    ("array_remove", "array_remove_all"),
    ("array_replace", "array_replace_all"),
    ("clock_timestamp", "now"),
    ("gen_random_uuid", "uuid"),
    ("statement_timestamp", "now"),
    ("transaction_timestamp", "now"),
    ("ceiling", "ceil"),
    ("every", "bool_and"),
    ("listagg", "string_agg"),
    ("variance", "var_samp"),
    ("char_length", "character_length"),
];

/// Functions that return unsigned integers in the engine, which divide and subtract differently from `bigint`.
const COUNTS: [&str; 8] =
    ["approx_distinct", "array_length", "array_position", "cardinality", "dense_rank", "ntile", "rank", "row_number"];

/// Functions with their number of arguments and their replacement in SQL.
const WORDS: &[(&str, usize, &str)] = &[
    // An empty array has no dimensions.
    (
        "array_dims",
        1,
        "(case when cardinality(__1) > 0 then '[1:' || array_to_string(array_dims(__1), '][1:') || ']' end)",
    ),
    ("array_length", 2, "length_of_dimension(__1, __2)"),
    ("array_lower", 2, "(case when length_of_dimension(__1, __2) > 0 then 1 end)"),
    // From behind the end nothing is found, and from before the beginning all.
    (
        "array_position",
        3,
        "(case when __3 <= cardinality(__1)::bigint then array_position(__1, __2, greatest(__3, 1)) end)::bigint",
    ),
    ("array_ndims", 1, "(case when cardinality(__1) > 0 then array_ndims(__1)::bigint end)"),
    ("array_upper", 2, "length_of_dimension(__1, __2)"),
    ("convert_from", 2, "arrow_cast(__1, 'Utf8')"),
    ("convert_to", 2, "arrow_cast(__1, 'Binary')"),
    ("age", 1, "age(current_date(), __1)"),
    ("div", 2, "trunc(__1 / __2)"),
    ("log", 1, "log10(__1)"),
    // The whole match, whatever groups the pattern has.
    ("regexp_substr", 2, "regexp_match(__1, '(' || __2 || ')')[1]"),
    (
        "width_bucket",
        4,
        "(case when __2 < __3 then case when __1 < __2 then 0 when __1 >= __3 then __4 + 1 \
          else floor((__1 - __2) * __4 / (__3 - __2))::bigint + 1 end \
          else case when __1 > __2 then 0 when __1 <= __3 then __4 + 1 \
          else floor((__2 - __1) * __4 / (__2 - __3))::bigint + 1 end end)",
    ),
    ("mod", 2, "(__1 % __2)"),
];

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    if name_of(function).as_deref() == Some("localtimestamp") {
        *expr = expression("arrow_cast(now(), 'Timestamp(Microsecond, None)')", Vec::new())?;
        return Ok(());
    }
    let Some(name) = name_of(function) else { return Ok(()) };
    if let Some((_, own)) = NAMES.iter().find(|(theirs, _)| *theirs == name) {
        function.name = ObjectName::from(vec![Ident::new(*own)]);
    }
    if let Some(arguments) = arguments(function)
        && let Some((_, _, words)) =
            WORDS.iter().find(|(theirs, count, _)| *theirs == name && *count == arguments.len())
    {
        *expr = expression(words, arguments)?;
        return Ok(());
    }
    if COUNTS.contains(&name.as_str()) {
        *expr = expression("__1::bigint", vec![take(expr)])?;
        return Ok(());
    }
    match name.as_str() {
        "percentile_cont" | "percentile_disc" | "mode" => ordered_set(function, &name),
        "string_agg" if function.over.is_some() => ordered_window(function),
        "make_interval" => intervals(function),
        "array_cat" => concatenated(expr),
        "array_fill" => filled(expr),
        "array_positions" => {
            *expr = expression("__1::bigint[]", vec![take(expr)])?;
            Ok(())
        }
        "num_nulls" | "num_nonnulls" => {
            let Some(arguments) = arguments(function) else { return Ok(()) };
            let test = if name == "num_nulls" { "is null" } else { "is not null" };
            let each: Vec<String> = (1..=arguments.len()).map(|number| format!("(__{number} {test})::int")).collect();
            *expr = expression(&format!("({})", each.join(" + ")), arguments)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Rewrites `array_cat(x, '{1}')` to `x || '{1}'`: the operator reads a quoted array as an array like the other.
fn concatenated(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    match arguments(function).map(<[Expr; 2]>::try_from) {
        // A null without a type is an array beside one.
        Some(Ok([left, right])) if is_null(&left) != is_null(&right) => {
            *expr = if is_null(&left) { right } else { left };
            Ok(())
        }
        Some(Ok([left, right])) if is_quoted(&left) != is_quoted(&right) => {
            *expr = expression("(__1 || __2)", vec![left, right])?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns whether an expression is a null literal.
pub(super) fn is_null(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_null(inner),
        Expr::Value(value) => value.value == Value::Null,
        _ => false,
    }
}

/// Returns whether an expression is a quoted literal.
pub(super) fn is_quoted(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_quoted(inner),
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_)),
        _ => false,
    }
}

/// Rewrites `array_fill(x, array[2, 3])` to a repeated repetition.
fn filled(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let Some([value, Expr::Array(lengths)]) = arguments(function).and_then(|all| <[Expr; 2]>::try_from(all).ok())
    else {
        return Err(refused("`array_fill` takes a value and its lengths", "write `array_fill(x, array[3])`"));
    };
    *expr = lengths
        .elem
        .into_iter()
        .rev()
        .try_fold(value, |value, length| expression("array_repeat(__1, __2)", vec![value, length]))?;
    Ok(())
}

/// Returns the unqualified name of a function, in lower case.
pub(super) fn name_of(function: &Function) -> Option<String> {
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] if name.quote_style.is_none() => Some(name.value.to_lowercase()),
        _ => None,
    }
}

/// Creates a call with nothing but arguments.
pub(super) fn simple(name: &str, arguments: Vec<Expr>) -> Function {
    let args = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect();
    Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// Parts of an interval, in the order of the arguments.
const INTERVAL: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/// Rewrites `make_interval(days => 10)` to have all parts in their order.
fn intervals(function: &mut Function) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    let zero = || Expr::value(Value::Number("0".to_owned(), false));
    let mut parts: Vec<Expr> = INTERVAL.iter().map(|_| zero()).collect();
    for (number, argument) in list.args.iter().enumerate() {
        let (place, value) = match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (Some(number), value),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
                (INTERVAL.iter().position(|part| name.value.eq_ignore_ascii_case(part)), value)
            }
            _ => (None, &parts[0]),
        };
        let value = value.clone();
        let Some(part) = place.and_then(|place| parts.get_mut(place)) else {
            return Err(refused(
                format!("`make_interval` does not take `{argument}`"),
                format!("write its parts by name, as in `make_interval(days => 10)`: {}", INTERVAL.join(", ")),
            ));
        };
        *part = value;
    }
    *function = simple("make_interval", parts);
    Ok(())
}

/// Returns the arguments of a call that has nothing else.
pub(super) fn arguments(function: &Function) -> Option<Vec<Expr>> {
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

/// Rewrites `mode() within group (order by x)` to `mode(x)`: an aggregate of our own that needs no order.
fn ordered_set(function: &mut Function, name: &str) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let [key] = function.within_group.as_slice() else {
        return Err(refused(
            format!("`{name}` needs one expression to order by"),
            format!("write `{name}(...) within group (order by x)`"),
        ));
    };
    let value = FunctionArg::Unnamed(FunctionArgExpr::Expr(key.expr.clone()));
    if name == "percentile_cont"
        && key.options.asc == Some(false)
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(part))] = list.args.as_mut_slice()
    {
        *part = expression("1 - __1", vec![super::take(part)])?;
    }
    if name == "mode" && key.options.asc == Some(false) {
        return Err(refused(
            "`mode` goes by ascending order here",
            "among values that are equally frequent it gives the least: take the last of `select x, count(*) from t \
             group by x order by 2, 1`",
        ));
    }
    if name == "percentile_disc" && key.options.asc == Some(false) {
        return Err(refused(
            "`percentile_disc` goes by ascending order here",
            "of a part p of n values, that is the one at `n - ceil(p * n) + 1` by `row_number()` in ascending order",
        ));
    }
    list.args.insert(0, value);
    function.within_group.clear();
    Ok(())
}

/// Refuses an aggregate over a window with an order outside of `over`.
fn ordered_window(function: &Function) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    if list.clauses.iter().any(|clause| matches!(clause, FunctionArgumentClause::OrderBy(_))) {
        return Err(refused("an aggregate over a window has no order of its own", "put `order by` behind `over (`"));
    }
    Ok(())
}
