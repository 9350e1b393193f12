//! `md5`, `sha256` and the like, and `encode` of their results.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use md5::{Digest, Md5};
use ring::digest;
use salver_model::hexadecimal;

use super::super::row_function::RowFunction;

/// Characters in a line of base64.
const LINE: usize = 76;

/// MD5, in hexadecimal digits.
pub(super) fn md5() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let digests = bytes(arrays)?;
        Ok(Arc::new(
            digests
                .iter()
                .map(|value| value.map(|value| hexadecimal::encode(&Md5::digest(value))))
                .collect::<StringArray>(),
        ))
    };
    RowFunction { name: "md5", signature: one(), returns: |_| Ok(DataType::Utf8), values }.function()
}

/// SHA-256.
pub(super) fn sha256() -> ScalarUDF {
    sha("sha256", |arrays, _| hashed(arrays, &digest::SHA256))
}

/// SHA-384.
pub(super) fn sha384() -> ScalarUDF {
    sha("sha384", |arrays, _| hashed(arrays, &digest::SHA384))
}

/// SHA-512.
pub(super) fn sha512() -> ScalarUDF {
    sha("sha512", |arrays, _| hashed(arrays, &digest::SHA512))
}

/// `encode(bytes, 'hex' | 'base64' | 'escape')`.
pub(super) fn encode() -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "encode", signature, returns: |_| Ok(DataType::Utf8), values: encoded }.function()
}

fn one() -> Signature {
    Signature::any(1, Volatility::Immutable)
}

fn sha(name: &'static str, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    RowFunction { name, signature: one(), returns: |_| Ok(DataType::Binary), values }.function()
}

fn bytes(arrays: &[ArrayRef]) -> Result<BinaryArray> {
    let [values, ..] = arrays else { return plan_err!("there is nothing to make a digest of") };
    Ok(cast(values, &DataType::Binary)?.as_binary::<i32>().clone())
}

fn hashed(arrays: &[ArrayRef], algorithm: &'static digest::Algorithm) -> Result<ArrayRef> {
    let values = bytes(arrays)?;
    let digests: Vec<_> = values.iter().map(|value| value.map(|value| digest::digest(algorithm, value))).collect();
    Ok(Arc::new(digests.iter().map(|digest| digest.as_ref().map(AsRef::as_ref)).collect::<BinaryArray>()))
}

fn encoded(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [_, formats] = arrays else { return plan_err!("`encode` takes bytes and a format") };
    let values = bytes(arrays)?;
    let formats = cast(formats, &DataType::Utf8)?;
    let texts = values.iter().zip(formats.as_string::<i32>()).map(|(value, format)| {
        let (Some(value), Some(format)) = (value, format) else { return Ok(None) };
        Ok(Some(match format.to_ascii_lowercase().as_str() {
            "hex" => hexadecimal::encode(value),
            "base64" => {
                let text = STANDARD.encode(value);
                let lines: Vec<&str> =
                    (0..text.len()).step_by(LINE).map(|at| &text[at..text.len().min(at + LINE)]).collect();
                lines.join("\n")
            }
            "escape" => value.iter().fold(String::new(), |mut text, byte| {
                match byte {
                    0 | 128.. => {
                        let _ = write!(text, "\\{byte:03o}");
                    }
                    b'\\' => text.push_str("\\\\"),
                    other => text.push(char::from(*other)),
                }
                text
            }),
            other => return exec_err!("`encode` does not know '{other}'; it knows 'hex', 'base64' and 'escape'"),
        }))
    });
    Ok(Arc::new(texts.collect::<Result<StringArray>>()?))
}
