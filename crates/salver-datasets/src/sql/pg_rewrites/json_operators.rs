//! Operators on JSON: `->` and `#>` return JSON, `->>` and `#>>` text; the paths of `#>` and `#>>` are PostgreSQL's
//! arrays.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value};
use salver_model::Error;

use super::{expression, refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    use BinaryOperator::{Arrow, HashArrow, HashLongArrow};
    let Expr::BinaryOp { left, op: op @ (Arrow | HashArrow | HashLongArrow), right } = expr else { return Ok(()) };
    let op = op.clone();
    let (left, right) = (take(left), take(right));
    if op == Arrow {
        *expr = expression("json_get_json(__1, __2)", vec![left, right])?;
        return Ok(());
    }
    let Some(path) = path(&right) else {
        return Err(refused(
            format!("the path behind `{op}` is not one like '{{a,b,0}}'"),
            "write it so, or one step after the other, as in `js->'a'->>'b'`",
        ));
    };
    let mut found = left;
    let steps = path.len();
    for (number, step) in path.into_iter().enumerate() {
        let is_text = op == HashLongArrow && number + 1 == steps;
        let get = if is_text { "json_as_text" } else { "json_get_json" };
        let name = Expr::value(Value::SingleQuotedString(step.clone()));
        // A number is the position in an array, or the key of an object.
        found = match step.parse::<i64>() {
            Ok(position) => {
                expression(&format!("coalesce({get}(__1, {position}), {get}(__1, __2))"), vec![found, name])?
            }
            Err(_) => expression(&format!("{get}(__1, __2)"), vec![found, name])?,
        };
    }
    *expr = found;
    Ok(())
}

/// Returns the steps of `'{a,b,0}'` or `array['a', 'b']`.
fn path(expr: &Expr) -> Option<Vec<String>> {
    let text = |value: &Expr| match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    match expr {
        Expr::Array(array) => array.elem.iter().map(text).collect(),
        Expr::Nested(inner) => path(inner),
        other => {
            let text = text(other)?;
            let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
            if inside.is_empty() {
                return None;
            }
            let unquoted = |step: &str| step.trim().trim_matches('"').to_owned();
            Some(inside.split(',').map(unquoted).collect())
        }
    }
}
