//! JSON from values. Text that is JSON itself is recognized by its expression: the result of another of these functions
//! or of `->`, or a cast to `json`. Everything else becomes a string.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem, SetExpr,
    TypedString, Value,
};
use salver_model::Error;

use super::function_names::{name_of, simple};
use super::{expression, refused, take};

/// Functions that create JSON from values.
const MAKERS: [&str; 12] = [
    "array_to_json",
    "json_agg",
    "json_build_array",
    "json_build_object",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_object_agg",
    "row_to_json",
    "to_json",
    "to_jsonb",
];
/// Functions that extract JSON from JSON.
const GIVERS: [&str; 5] =
    ["json_array_elements", "json_extract_path", "json_get_json", "jsonb_array_elements", "jsonb_extract_path"];

/// Rewrites an expression before its children, while these are as they were written.
pub(super) fn before(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::Function(function) = expr else { return Ok(()) };
    let Some(name) = name_of(function).filter(|name| MAKERS.contains(&name.as_str())) else { return Ok(()) };
    let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    for argument in &mut list.args {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) = argument {
            if is_json(value) {
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
        "to_json" => {}
        "to_jsonb" | "row_to_json" | "array_to_json" => named(function, "to_json"),
        "json_build_object" | "jsonb_build_object" if count == 0 => *expr = text("{}"),
        "json_build_array" | "jsonb_build_array" if count == 0 => *expr = text("[]"),
        "jsonb_build_array" => named(function, "json_build_array"),
        "json_agg" | "jsonb_agg" if count == 1 => {
            gathered(function, "coalesce(to_json(__1), 'null')")?;
            let all = take(expr);
            *expr = expression("('[' || __1 || ']')", vec![all])?;
        }
        "json_object_agg" | "jsonb_object_agg" if count == 2 => {
            let (build, open, close) = match name.as_str() {
                "json_object_agg" => ("json_build_object", "{ ", " }"),
                _ => ("jsonb_build_object", "{", "}"),
            };
            // The object of one pair without its braces; it refuses a null key.
            gathered(function, &format!("substr(left({build}(__1, __2), -1), 2)"))?;
            let all = take(expr);
            *expr = expression(&format!("('{open}' || __1 || '{close}')"), vec![all])?;
        }
        _ => {}
    }
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
        Expr::Function(function) if name_of(function).as_deref() == Some("row") => {
            super::function_names::arguments(function)?
        }
        _ => return None,
    };
    let named = |(number, value): (usize, Expr)| [text(&format!("f{}", number + 1)), value];
    Some(values.into_iter().enumerate().flat_map(named).collect())
}

/// Returns whether an expression is JSON, by its form.
fn is_json(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_json(inner),
        Expr::Function(function) => {
            name_of(function).is_some_and(|name| MAKERS.contains(&name.as_str()) || GIVERS.contains(&name.as_str()))
        }
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
            matches!(data_type, DataType::JSON | DataType::JSONB)
        }
        Expr::BinaryOp { op: BinaryOperator::Arrow | BinaryOperator::HashArrow, .. } => true,
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => match select.projection.as_slice() {
                [SelectItem::UnnamedExpr(only) | SelectItem::ExprWithAlias { expr: only, .. }] => is_json(only),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}
