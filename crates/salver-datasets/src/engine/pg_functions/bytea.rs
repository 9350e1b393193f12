//! `x::bytea` of a text, or of each text of a list: decodes `\x6162`, or text with escapes such as `\141`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, ListArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

/// `bytea(x)`, which is `x::bytea`.
pub(super) fn bytea() -> ScalarUDF {
    named("bytea", |arrays, _| read_all(arrays, false))
}

/// `try_bytea(x)`, which is null if `x` can't be decoded.
pub(super) fn try_bytea() -> ScalarUDF {
    named("try_bytea", |arrays, _| read_all(arrays, true))
}

fn named(name: &'static str, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name, signature, returns, values }.function()
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if is_text(own) || own.is_binary() || own.is_null() => Ok(DataType::Binary),
        [DataType::FixedSizeBinary(_)] => Ok(DataType::Binary),
        [DataType::List(item)] => {
            let own = returns(std::slice::from_ref(item.data_type()))?;
            Ok(DataType::List(Arc::new(item.as_ref().clone().with_data_type(own))))
        }
        _ => plan_err!("a text is cast to `bytea`; cast to text before, as in `x::text::bytea`"),
    }
}

fn is_text(own: &DataType) -> bool {
    match own {
        DataType::Dictionary(_, values) => is_text(values),
        own => own.is_string(),
    }
}

fn read_all(arrays: &[ArrayRef], tries: bool) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one text is cast to `bytea`") };
    if let DataType::List(item) = values.data_type() {
        let (_, offsets, items, nulls) = values.as_list::<i32>().clone().into_parts();
        let items = read_all(&[items], tries)?;
        let item = Arc::new(item.as_ref().clone().with_data_type(DataType::Binary));
        return Ok(Arc::new(ListArray::try_new(item, offsets, items, nulls)?));
    }
    if !is_text(values.data_type()) {
        return Ok(cast(values, &DataType::Binary)?);
    }
    let texts = cast(values, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    let mut all = BinaryBuilder::with_capacity(texts.len(), texts.value_data().len());
    for text in texts {
        match text.map(read) {
            None => all.append_null(),
            Some(Ok(bytes)) => all.append_value(bytes),
            Some(Err(_)) if tries => all.append_null(),
            Some(Err(wrong)) => {
                return exec_err!("a text is not a `bytea`: {wrong}; `convert_to(x, 'UTF8')` takes it as it is");
            }
        }
    }
    Ok(Arc::new(all.finish()))
}

/// Returns the bytes that a literal stands for.
///
/// # Errors
/// A text that is none of bytes.
pub(in crate::engine) fn bytes_of_literal(text: &str) -> Result<Vec<u8>> {
    read(text).or_else(|wrong| exec_err!("a text is not a `bytea`: {wrong}; `convert_to(x, 'UTF8')` takes it as it is"))
}

/// Decodes a text; an error describes the problem.
fn read(text: &str) -> Result<Vec<u8>, String> {
    match text.strip_prefix("\\x") {
        Some(digits) => hexadecimal(digits),
        None => escaped(text),
    }
}

/// Decodes hexadecimal digits; blanks may stand between bytes.
fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if matches!(sign, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let digit = |sign: char| sign.to_digit(16).ok_or_else(|| format!("`{sign}` is not a hexadecimal digit"));
        let second = signs.next().ok_or("it has an odd number of hexadecimal digits")?;
        bytes.push((digit(sign)? << 4 | digit(second)?) as u8);
    }
    Ok(bytes)
}

/// Decodes escapes: two backslashes are one, and a backslash with three octal digits is a byte.
fn escaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Ok(bytes),
            [b'\\', b'\\', rest @ ..] => {
                bytes.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', ..] => return Err("a backslash stands before another or three octal digits".to_owned()),
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn as_postgresql_reads_them() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("abc", b"abc"),
            ("\\x4142", b"AB"),
            ("\\x 4A 4b\n", b"JK"),
            ("\\x", b""),
            ("a\\\\b\\001\\377", b"a\\b\x01\xff"),
            ("\u{e4}", b"\xc3\xa4"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(bytes), "{text}");
        }
        for text in ["\\x4", "\\x4 1", "\\xg0", "\\", "a\\b", "\\400", "\\12"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
