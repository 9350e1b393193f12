//! Array literals as text: `'{1,2}'::int[]` becomes `array[1, 2]::int[]`.

use datafusion::sql::sqlparser::ast::{Array, ArrayElemTypeDef, DataType, Expr, TypedString, Value};
use salver_model::Error;
use salver_model::limits::SQL_ARRAY_DEPTH_MAX;

use super::{refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let array = match expr {
        Expr::Cast { expr: inner, data_type: DataType::Array(_), .. } => {
            let Expr::Value(value) = &**inner else { return Ok(()) };
            match written(&value.value)? {
                Some(array) => {
                    **inner = array;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
        Expr::TypedString(TypedString { data_type: DataType::Array(of), value, .. }) => {
            let of = DataType::Array(ArrayElemTypeDef::clone(of));
            written(&value.value)?.map(|array| (array, of))
        }
        _ => None,
    };
    if let Some((array, data_type)) = array {
        let mut made = super::expression("__1::int[]", vec![array])?;
        if let Expr::Cast { data_type: to, .. } = &mut made {
            *to = data_type;
        }
        *expr = take(&mut made);
    }
    Ok(())
}

fn written(value: &Value) -> Result<Option<Expr>, Box<Error>> {
    let Value::SingleQuotedString(text) = value else { return Ok(None) };
    let mut rest = text.trim();
    match read(&mut rest, 1) {
        Some(array) if rest.trim().is_empty() => Ok(Some(array)),
        _ => Err(refused(
            format!("`{text}` is not an array, which is written as `{{1,2}}`"),
            "write `array[1, 2]`, or `string_to_array(x, ',')` for a text that has commas",
        )),
    }
}

/// Parses the brackets at the beginning of a text, and leaves the rest.
fn read(rest: &mut &str, depth: usize) -> Option<Expr> {
    *rest = rest.strip_prefix('{').filter(|_| depth <= SQL_ARRAY_DEPTH_MAX)?.trim_start();
    let mut elem = Vec::new();
    if let Some(behind) = rest.strip_prefix('}') {
        *rest = behind;
        return Some(Expr::Array(Array { elem, named: true }));
    }
    loop {
        *rest = rest.trim_start();
        elem.push(match rest.as_bytes().first()? {
            b'{' => read(rest, depth + 1)?,
            b'"' => Expr::value(Value::SingleQuotedString(quoted(rest)?)),
            _ => plain(rest)?,
        });
        *rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix(',') {
            *rest = behind;
            continue;
        }
        *rest = rest.strip_prefix('}')?;
        return Some(Expr::Array(Array { elem, named: true }));
    }
}

/// Parses a quoted element.
fn quoted(rest: &mut &str) -> Option<String> {
    let mut item = String::new();
    let mut signs = rest.char_indices().skip(1);
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                *rest = &rest[at + 1..];
                return Some(item);
            }
            '\\' => item.push(signs.next()?.1),
            sign => item.push(sign),
        }
    }
    None
}

/// Parses an unquoted element, which may be null.
fn plain(rest: &mut &str) -> Option<Expr> {
    let mut item = String::new();
    let mut signs = rest.char_indices();
    let end = loop {
        match signs.next()? {
            (at, ',' | '}') => break at,
            (_, '{' | '"') => return None,
            (_, '\\') => item.push(signs.next()?.1),
            (_, sign) => item.push(sign),
        }
    };
    let is_null = rest[..end].trim().eq_ignore_ascii_case("null");
    *rest = &rest[end..];
    let item = item.trim();
    match item {
        "" => None,
        _ if is_null => Some(Expr::value(Value::Null)),
        item => Some(Expr::value(Value::SingleQuotedString(item.to_owned()))),
    }
}
