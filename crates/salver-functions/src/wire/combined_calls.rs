//! Frames of combined calls, and of their answer.

use std::io;

use bytes::{Buf, Bytes};
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::{Code, Error, Result};

use super::answer::{self, First};

/// Answer to combined calls.
#[derive(Debug)]
pub(crate) enum Said {
    /// JSON text of the value of each call.
    Values(Vec<Bytes>),
    /// Answer to a single call, without values.
    Other(First),
}

/// Writes the frame of the calls.
///
/// # Errors
/// Returns `BodyTooLarge` for one that exceeds the length of a frame.
pub(crate) fn write(out: &mut Vec<u8>, calls: &[Call], endpoint: usize) -> Result<()> {
    let short = |number: usize| u32::try_from(number).map(u32::to_le_bytes).map_err(|_| too_long());
    out.clear();
    out.extend_from_slice(&[0; 4]);
    out.push(b'G');
    out.extend_from_slice(&short(endpoint)?);
    out.extend_from_slice(&short(calls.len())?);
    for call in calls {
        out.extend_from_slice(&short(call.arguments.len())?);
        out.extend_from_slice(&call.arguments);
    }
    let length = short(out.len() - 4)?;
    out[..4].copy_from_slice(&length);
    Ok(())
}

/// Parses the answer to `rows` calls.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn read(kind: u8, mut frame: Bytes, rows: usize) -> io::Result<Said> {
    match kind {
        b'G' => {
            let mut values = Vec::with_capacity(rows);
            for _ in 0..rows {
                let length = frame.try_get_u32_le().map_err(|_| answer::torn())? as usize;
                if length > frame.len() {
                    return Err(answer::torn());
                }
                values.push(frame.split_to(length));
            }
            if frame.is_empty() { Ok(Said::Values(values)) } else { Err(answer::torn()) }
        }
        // These are never answered with a streaming body.
        b'A' | b'X' => answer::first(kind, frame).map(Said::Other),
        _ => Err(answer::torn()),
    }
}

/// Converts the JSON text of a value to an answer.
pub(crate) fn answer(value: Bytes) -> Answer {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Answer { status: 200, headers, body: AnswerBody::Whole(value) }
}

fn too_long() -> Error {
    Error::new(Code::BodyTooLarge, "a call of a function can't have more than 4 GiB")
        .with_hint("hand over where what it works on lies")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::functions::Call;

    use super::{Said, read, write};

    #[test]
    fn calls_byte_for_byte() {
        let calls = ["{}", r#"{"n":1}"#].map(|text| Call { arguments: text.into(), ..Call::default() });
        let mut out = vec![9; 3];
        write(&mut out, &calls, 3).unwrap();
        assert_eq!(out, b"\x1a\0\0\0G\x03\0\0\0\x02\0\0\0\x02\0\0\0{}\x07\0\0\0{\"n\":1}");
        assert_eq!(out.len(), 4 + 0x1a);
    }

    /// Checks that a truncated answer, or one with another number of values, is refused without a panic.
    #[test]
    fn answers() {
        let frame = Bytes::from_static(b"\x01\0\0\x007\x04\0\0\0null");
        let Ok(Said::Values(values)) = read(b'G', frame.clone(), 2) else { panic!("no values") };
        assert_eq!(values, ["7", "null"]);
        for end in 0..frame.len() {
            assert!(read(b'G', frame.slice(..end), 2).is_err(), "{end}");
        }
        assert!(read(b'G', frame.clone(), 1).is_err());
        assert!(read(b'G', frame.clone(), 3).is_err());
        assert!(read(b'S', Bytes::from_static(b"\xc8\0\0\0\0\0"), 1).is_err());
        assert!(matches!(read(b'X', Bytes::from_static(b"\0\0\0\0\0\0\0\0\0"), 2), Ok(Said::Other(_))));
    }
}
