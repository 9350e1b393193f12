//! Which expressions are JSON, by their form: JSON is text here, so that types do not tell it.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, SelectItem,
    SetExpr, TypedString, Value,
};

use super::function_names::{is_null, is_quoted, name_of};
use super::take;

/// How JSON is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somehow: `json`.
    AsWritten,
    /// In its normal form: `jsonb`.
    Normal,
}

/// Functions that create JSON from values.
pub(super) const MAKERS: [&str; 12] = [
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
/// Functions that return JSON that they find in JSON.
const GIVERS: [&str; 8] = [
    "json_array_elements",
    "json_elements",
    "json_extract_path",
    "json_get_json",
    "json_path",
    "json_step",
    "json_strip_nulls",
    "json_values",
];
/// Those of `jsonb`, and those that change it.
const NORMAL: [&str; 14] = [
    "jsonb",
    "jsonb_array_elements",
    "jsonb_concat",
    "jsonb_delete_path",
    "jsonb_extract_path",
    "jsonb_greatest",
    "jsonb_insert",
    "jsonb_least",
    "jsonb_minus",
    "jsonb_path",
    "jsonb_set",
    "jsonb_step",
    "jsonb_strip_nulls",
    "try_jsonb",
];
/// Functions that return one of their arguments.
pub(super) const CHOOSERS: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];
/// Functions that return their first argument, of some row.
const FIRSTS: [&str; 7] = ["any_value", "first_value", "lag", "last_value", "lead", "nth_value", "unnest"];

/// Returns whether an expression is JSON, and how it is written; `None` for what is not known to be.
pub(super) fn kind(expr: &Expr) -> Option<Kind> {
    match expr {
        Expr::Nested(inner) => kind(inner),
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => of_type(data_type),
        Expr::Function(function) => of_function(function),
        Expr::Case { conditions, else_result, .. } => {
            common(conditions.iter().map(|branch| &branch.result).chain(else_result.as_deref()))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Arrow | BinaryOperator::HashArrow, .. } => {
            Some(kind(left).unwrap_or(Kind::AsWritten))
        }
        Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
            are_concatenated(left, right).then_some(Kind::Normal)
        }
        Expr::BinaryOp { op: BinaryOperator::HashMinus, .. } => Some(Kind::Normal),
        Expr::BinaryOp { left, op: BinaryOperator::Minus, .. } => kind(left).map(|_| Kind::Normal),
        Expr::Subquery(query) => match &*query.body {
            SetExpr::Select(select) => match select.projection.as_slice() {
                [SelectItem::UnnamedExpr(only) | SelectItem::ExprWithAlias { expr: only, .. }] => kind(only),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn of_type(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::JSON => Some(Kind::AsWritten),
        DataType::JSONB => Some(Kind::Normal),
        _ => None,
    }
}

/// Returns whether the result of a function is JSON, and how it is written.
pub(super) fn of_function(function: &Function) -> Option<Kind> {
    let name = match function.name.0.as_slice() {
        // Functions that have been rewritten have their names in quotes.
        [only] => only.as_ident()?.value.to_lowercase(),
        _ => return None,
    };
    let name = name.as_str();
    if NORMAL.contains(&name) || MAKERS.contains(&name) && (name.starts_with("jsonb") || name == "to_jsonb") {
        return Some(Kind::Normal);
    }
    if GIVERS.contains(&name) || MAKERS.contains(&name) {
        return Some(Kind::AsWritten);
    }
    let mut arguments = arguments(function);
    if CHOOSERS.contains(&name) {
        return common(arguments);
    }
    if FIRSTS.contains(&name) { arguments.next().and_then(kind) } else { None }
}

fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
        _ => None,
    })
}

/// Returns the kind of values of which one is JSON; those that are written out are read as it.
fn common<'e>(values: impl Iterator<Item = &'e Expr>) -> Option<Kind> {
    let mut found = None;
    for value in values.filter(|value| !is_quoted(value) && !is_null(value)) {
        found = match (found, kind(value)) {
            (None | Some(Kind::Normal), Some(Kind::Normal)) => Some(Kind::Normal),
            (found, own) => found.or(own).map(|_| Kind::AsWritten),
        };
    }
    found
}

/// Returns whether `||` between two expressions concatenates JSON. Beside what is known to be JSON, a column or a
/// literal is JSON, too; but a part of a document is glued to the text of a column.
pub(super) fn are_concatenated(left: &Expr, right: &Expr) -> bool {
    match (kind(left), kind(right)) {
        (Some(_), Some(_)) => true,
        (Some(_), None) => is_json_beside(right, left),
        (None, Some(_)) => is_json_beside(left, right),
        (None, None) => false,
    }
}

fn is_json_beside(expr: &Expr, json: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_json_beside(inner, json),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => !is_part(json),
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_) | Value::Placeholder(_) | Value::Null),
        _ => false,
    }
}

/// Returns whether an expression is a part of a document, found by `->` or `#>`.
fn is_part(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_part(inner),
        Expr::BinaryOp { op, .. } => matches!(op, BinaryOperator::Arrow | BinaryOperator::HashArrow),
        _ => false,
    }
}

/// Reads literals beside JSON as JSON: results of a `case`, and arguments of `coalesce` and the like.
pub(super) fn read_beside(expr: &mut Expr) {
    let Some(own) = kind(expr) else { return };
    let values: Vec<&mut Expr> = match expr {
        Expr::Case { conditions, else_result, .. } => {
            conditions.iter_mut().map(|branch| &mut branch.result).chain(else_result.as_deref_mut()).collect()
        }
        Expr::Function(function) if name_of(function).is_some_and(|name| CHOOSERS.contains(&name.as_str())) => {
            let FunctionArguments::List(list) = &mut function.args else { return };
            let values = list.args.iter_mut().filter_map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
                _ => None,
            });
            values.collect()
        }
        _ => return,
    };
    for value in values.into_iter().filter(|value| is_quoted(value)) {
        *value = cast(take(value), if own == Kind::Normal { DataType::JSONB } else { DataType::JSON });
    }
}

/// Returns a value as one of a type.
pub(super) fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::Cast, expr: Box::new(expr), data_type, array: false, format: None }
}

/// Returns the text in a cast to JSON, for functions that read it as JSON themselves. Literals keep the cast, which
/// checks the whole of them once.
pub(super) fn bare(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) if of_cast(&inner) => bare(*inner),
        Expr::Cast { kind: CastKind::Cast | CastKind::DoubleColon, expr: inner, data_type, .. }
            if of_type(&data_type).is_some() && !is_quoted(&inner) =>
        {
            cast(*inner, DataType::Varchar(None))
        }
        other => other,
    }
}

fn of_cast(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => of_cast(inner),
        Expr::Cast { data_type, .. } => of_type(data_type).is_some(),
        _ => false,
    }
}

/// Returns an expression in its normal form, for a function of `jsonb`.
pub(super) fn normal(expr: Expr) -> Expr {
    if kind(&expr) == Some(Kind::Normal) { expr } else { cast(expr, DataType::JSONB) }
}
