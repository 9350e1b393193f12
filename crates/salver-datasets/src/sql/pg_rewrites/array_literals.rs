//! Array literals as text: `'{1,2}'::int[]` becomes `array['1', '2']::int[]`.

use datafusion::sql::sqlparser::ast::{Array, ArrayElemTypeDef, DataType, Expr, TypedString, Value};
use salver_model::limits::SQL_ARRAY_DEPTH_MAX;
use salver_model::{Code, Error, SqlFault};

use super::take;

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let array = match expr {
        Expr::Cast { expr: inner, data_type, .. } if matches!(data_type, DataType::Array(_)) => {
            let Expr::Value(value) = &**inner else { return Ok(()) };
            match written(&value.value)? {
                Some(array) => {
                    // PostgreSQL has one type for arrays of any number of dimensions.
                    for _ in levels(data_type)..dimensions(&array) {
                        let of = std::mem::replace(data_type, DataType::Unspecified);
                        *data_type = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(of), None));
                    }
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

/// Reads the text of `any('{1,2}')`, whose elements have the type of what they are compared with; returns whether it is
/// one.
pub(super) fn read_untyped(expr: &mut Expr) -> Result<bool, Box<Error>> {
    match expr {
        Expr::Nested(inner) => read_untyped(inner),
        Expr::Value(value) => {
            let Some(array) = written(&value.value)? else { return Ok(false) };
            *expr = array;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn written(value: &Value) -> Result<Option<Expr>, Box<Error>> {
    let Value::SingleQuotedString(text) = value else { return Ok(None) };
    let mut rest = text.trim();
    match read(&mut rest, 1) {
        Some(array) if rest.trim().is_empty() => Ok(Some(array)),
        _ => {
            let message = format!("`{text}` is not an array, which is written as `{{1,2}}`");
            let hint = "write `array[1, 2]`, or `string_to_array(x, ',')` for a text that has commas";
            let error = Error::new(Code::InvalidSql, message).with_hint(hint);
            Err(Box::new(error.with_sql_fault(SqlFault::InvalidText)))
        }
    }
}

/// Returns how many dimensions a type has.
fn levels(data_type: &DataType) -> usize {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(of, _)) => 1 + levels(of),
        _ => 0,
    }
}

/// Returns how many dimensions an array has.
fn dimensions(array: &Expr) -> usize {
    match array {
        Expr::Array(array) => 1 + array.elem.first().map_or(0, dimensions),
        _ => 0,
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
