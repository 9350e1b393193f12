//! JSON from values. Text that is JSON itself is recognized by its expression: the result of another of these functions
//! or of `->`, a cast to `json`, or one of these chosen by a `case` or `coalesce`. Everything else becomes a string.
//! Those of `jsonb` are those of `json`, in the normal form.

use datafusion::sql::sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};
use salver_model::Error;

use super::function_names::{arguments, name_of, simple};
use super::json_kind::{MAKERS, kind, normal};
use super::{expression, refused, take};

/// Rewrites an expression before its children, while these are as they were written.
pub(super) fn before(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let Some(name) = name_of(function).filter(|name| MAKERS.contains(&name.as_str())) else { return Ok(()) };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    for argument in &mut list.args {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = argument {
            if kind(value).is_some() {
                let text = take(value);
                *value = Expr::Function(simple("json_itself", vec![text]));
            } else if let Some(fields) = fields(value) {
                *value = Expr::Function(simple("named_struct", fields));
            }
        } else if matches!(argument, FunctionArg::Unnamed(_)) {
            return Err(refused(
                format!("`{name}` takes values, and no `{argument}`"),
                "name its columns, as in `json_build_object('id', id, 'name', name)`",
            ));
        }
    }
    let count = list.args.len();
    let named = |function: &mut Function, own: &str| function.name = simple(own, Vec::new()).name;
    match name.as_str() {
        "row_to_json" | "array_to_json" => named(function, "to_json"),
        "json_build_object" | "jsonb_build_object" if count == 0 => *expr = text("{}"),
        "json_build_array" | "jsonb_build_array" if count == 0 => *expr = text("[]"),
        "to_jsonb" | "jsonb_build_array" | "jsonb_build_object" => {
            let own = if name == "to_jsonb" { "to_json".to_owned() } else { name.replacen("jsonb", "json", 1) };
            named(function, &own);
            let made = take(expr);
            *expr = expression("jsonb(__1)", vec![made])?;
        }
        "json_agg" | "jsonb_agg" if count == 1 => {
            let one = if name == "json_agg" { "to_json(__1)" } else { "jsonb(to_json(__1))" };
            gathered(function, &format!("coalesce({one}, 'null')"))?;
            let all = take(expr);
            *expr = expression("('[' || __1 || ']')", vec![all])?;
        }
        "json_object_agg" | "jsonb_object_agg" if count == 2 => {
            // The object of one pair without its braces; it refuses a null key.
            gathered(function, "substr(left(json_build_object(__1, __2), -1), 2)")?;
            let words = if name == "json_object_agg" { "('{ ' || __1 || ' }')" } else { "jsonb('{' || __1 || '}')" };
            let all = take(expr);
            *expr = expression(words, vec![all])?;
        }
        _ => {}
    }
    Ok(())
}

/// Rewrites functions that take JSON apart: a path of several arguments, and those of `jsonb`, which take its normal
/// form.
pub(super) fn taken_apart(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let Some(name) = name_of(function) else { return Ok(()) };
    let own = match name.as_str() {
        "json_extract_path" => "json_path",
        "json_extract_path_text" => "json_path_text",
        "jsonb_extract_path" => "jsonb_path",
        "jsonb_extract_path_text" => "jsonb_path_text",
        _ => return Ok(()),
    };
    let Some(mut path) = arguments(function).filter(|all| all.len() > 1) else { return Ok(()) };
    let document = path.remove(0);
    let document = if name.starts_with("jsonb") { normal(document) } else { document };
    let steps = path.into_iter().map(|step| expression("cast(__1 as varchar)", vec![step]));
    let steps = Expr::Function(simple("make_array", steps.collect::<Result<_, _>>()?));
    *expr = Expr::Function(simple(own, vec![document, steps]));
    Ok(())
}

/// Rewrites an aggregate of values to one of their JSON texts, and keeps its order, its filter and its window.
fn gathered(function: &mut Function, words: &str) -> Result<(), Box<Error>> {
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    let parts = list.args.drain(..).filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
        _ => None,
    });
    let value = expression(words, parts.collect())?;
    list.args = [value, text(", ")].map(|part| FunctionArg::Unnamed(FunctionArgExpr::Expr(part))).into();
    function.name = simple("string_agg", Vec::new()).name;
    Ok(())
}

fn text(own: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(own.to_owned()))
}

/// Returns the fields of `row(1, 'x')` with their names in JSON.
fn fields(expr: &Expr) -> Option<Vec<Expr>> {
    let values: Vec<Expr> = match expr {
        Expr::Tuple(values) => values.clone(),
        Expr::Function(function) if name_of(function).as_deref() == Some("row") => arguments(function)?,
        _ => return None,
    };
    let named = |(number, value): (usize, Expr)| [text(&format!("f{}", number + 1)), value];
    Some(values.into_iter().enumerate().flat_map(named).collect())
}
