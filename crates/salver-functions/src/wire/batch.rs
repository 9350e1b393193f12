//! Frames of a call over columns and of its answer, converted from and to Arrow arrays.

use std::io;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use bytes::Bytes;
use salver_model::functions::{ColumnKind, ColumnsCall};
use salver_model::{Code, Error, Result};

use super::answer::{self, CallFailure};
use super::columns::{self, WireColumn};

/// Writes the frame of a call.
///
/// # Errors
/// Returns `BodyTooLarge` for one that exceeds the length of a frame, and `Internal` for a column whose type is none of
/// [`ColumnKind`]'s.
pub(crate) fn write(out: &mut Vec<u8>, call: &ColumnsCall, endpoint: usize) -> Result<()> {
    out.clear();
    out.extend_from_slice(&[0; 4]);
    out.push(b'B');
    for number in [endpoint, call.rows] {
        out.extend_from_slice(&u32::try_from(number).map_err(|_| too_long())?.to_le_bytes());
    }
    out.extend_from_slice(&[columns::code(call.result), u8::try_from(call.columns.len()).map_err(|_| too_long())?]);
    for column in &call.columns {
        put(out, column)?;
    }
    let length = u32::try_from(out.len() - 4).map_err(|_| too_long())?;
    out[..4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn put(out: &mut Vec<u8>, column: &ArrayRef) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => {
            columns::put(out, ColumnKind::Boolean, column.as_boolean().iter(), |truth| [u8::from(truth)]);
        }
        DataType::Int64 => {
            columns::put(out, ColumnKind::Integer, column.as_primitive::<Int64Type>().iter(), i64::to_le_bytes);
        }
        DataType::Float64 => {
            columns::put(out, ColumnKind::Number, column.as_primitive::<Float64Type>().iter(), f64::to_le_bytes);
        }
        DataType::Utf8 => columns::put_texts(out, column.as_string::<i32>().iter()).ok_or_else(too_long)?,
        other => return Err(Error::internal(format!("a column of {other} can't go into a function"))),
    }
    Ok(())
}

/// Parses the answer to a call of `rows` rows: the column, or the failure.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn read(
    kind: u8,
    frame: Bytes,
    rows: usize,
    wanted: ColumnKind,
) -> io::Result<Result<ArrayRef, CallFailure>> {
    match kind {
        b'B' => {
            let mut rest = &frame[..];
            let column = WireColumn::read(&mut rest, rows).filter(|column| column.kind == wanted && rest.is_empty());
            Ok(Ok(array(column.ok_or_else(answer::torn)?)))
        }
        b'X' => answer::failure(frame).map(Err),
        _ => Err(answer::torn()),
    }
}

fn array(column: WireColumn<'_>) -> ArrayRef {
    match column.kind {
        ColumnKind::Boolean => Arc::new(column.booleans().collect::<BooleanArray>()),
        ColumnKind::Integer => Arc::new(column.integers().collect::<Int64Array>()),
        ColumnKind::Number => Arc::new(column.numbers().collect::<Float64Array>()),
        ColumnKind::Text => Arc::new(column.texts().collect::<StringArray>()),
    }
}

fn too_long() -> Error {
    Error::new(Code::BodyTooLarge, "a call of a function can't have more than 4 GiB")
        .with_hint("let it work on less, or on shorter texts")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, Int64Array, StringArray};
    use salver_model::functions::{ColumnKind, ColumnsCall, Interface};

    use super::{read, write};

    #[test]
    fn a_call_byte_for_byte() {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![Some(5), None])),
            Arc::new(StringArray::from(vec![Some("a"), Some("bc")])),
        ];
        let interface = Arc::new(Interface::default());
        let call = ColumnsCall { endpoint: 9, interface, rows: 2, columns, result: ColumnKind::Text };
        let mut out = vec![9; 3];
        write(&mut out, &call, 3).unwrap();
        let mut expected = b"\x2c\0\0\0B\x03\0\0\0\x02\0\0\0\x03\x02".to_vec();
        expected.extend_from_slice(b"\x01\x01\0\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        expected.extend_from_slice(b"\x03\x01\x01\x01\0\0\0\x03\0\0\0abc");
        assert_eq!(out, expected);
        assert_eq!(out.len(), 4 + 0x2c);
    }

    #[test]
    fn an_answer() {
        let frame = || b"\x03\x01\0\x01\0\0\0\x01\0\0\0x".as_slice().into();
        let column = read(b'B', frame(), 2, ColumnKind::Text).unwrap().unwrap();
        assert_eq!(column.to_data(), StringArray::from(vec![Some("x"), None]).to_data());
        assert!(read(b'B', frame(), 2, ColumnKind::Number).is_err(), "another kind than was asked for");
        assert!(read(b'B', frame(), 1, ColumnKind::Text).is_err(), "more rows");
        assert!(read(b'A', frame(), 2, ColumnKind::Text).is_err());
        let failed = read(b'X', b"\x01\x02\0\0\0no\0\0\0\0".as_slice().into(), 2, ColumnKind::Text).unwrap();
        assert!(failed.unwrap_err().is_out_of_memory());
    }
}
