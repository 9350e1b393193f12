//! The frames of answers.

use std::io;
use std::path::{Path, PathBuf};

use bytes::{Buf, Bytes};
use salver_model::functions::{Answer, AnswerBody};
use salver_model::{Code, Error};

/// First frame of an answer.
#[derive(Debug)]
pub(crate) enum First {
    /// Complete answer.
    Whole(Answer),
    /// Answer with a streaming body.
    Begun { status: u16, headers: Vec<(String, String)> },
    /// The call failed.
    Failed(CallFailure),
}

/// Next frame of a streaming body.
#[derive(Debug)]
pub(crate) enum Next {
    Piece(Bytes),
    End,
    Failed(CallFailure),
}

/// Message of a failure, from a host that knows no name of the function.
pub(crate) const RAISED: &str = "the function raised an error";

/// Failure of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallFailure {
    code: Code,
    message: String,
    detail: String,
}

impl CallFailure {
    /// Returns whether the process ran out of memory.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code == Code::OutOfMemory
    }

    /// Prefixes the message with `name`.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.message = format!("`{name}` {}", self.message);
        self
    }

    /// Names the function, and its file, where the message says no more than that it raised an error.
    pub(crate) fn of(mut self, function: &str, file: &Path) -> Self {
        if self.message == RAISED {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            self.message = format!("the function `{function}` of `{file}` raised an error");
        }
        self
    }

    /// Converts to an error; the detail is only logged.
    pub(crate) fn into_error(self) -> Error {
        let error = Error::new(self.code, self.message);
        if self.detail.is_empty() { error } else { error.with_source(self.detail) }
    }
}

/// Parses the first frame after a call.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn first(kind: u8, mut frame: Bytes) -> io::Result<First> {
    match kind {
        b'A' => {
            let (status, headers) = head(&mut frame)?;
            if frame.is_empty() {
                return Err(torn());
            }
            let temporary = frame[0] == 2;
            let body = match frame.get_u8() {
                0 => AnswerBody::Whole(frame),
                1 | 2 => AnswerBody::File { path: path(&frame)?, temporary },
                _ => return Err(torn()),
            };
            Ok(First::Whole(Answer { status, headers, body }))
        }
        b'S' => {
            let (status, headers) = head(&mut frame)?;
            Ok(First::Begun { status, headers })
        }
        b'X' => failure(frame).map(First::Failed),
        _ => Err(torn()),
    }
}

/// Parses a frame of a streaming body.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn next(kind: u8, frame: Bytes) -> io::Result<Next> {
    match kind {
        b'D' => Ok(Next::Piece(frame)),
        b'E' => Ok(Next::End),
        b'X' => failure(frame).map(Next::Failed),
        _ => Err(torn()),
    }
}

/// Parses the frame with a worker's process id.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn hello(kind: u8, frame: &Bytes) -> io::Result<u32> {
    match frame.first_chunk::<4>() {
        Some(pid) if kind == b'H' && frame.len() == 4 => Ok(u32::from_le_bytes(*pid)),
        _ => Err(torn()),
    }
}

fn head(frame: &mut Bytes) -> io::Result<(u16, Vec<(String, String)>)> {
    let status = frame.try_get_u16_le().map_err(|_| torn())?;
    let count = frame.try_get_u32_le().map_err(|_| torn())? as usize;
    // A field has at least two lengths, which bounds the capacity.
    let mut headers = Vec::with_capacity(count.min(frame.len() / 8));
    for _ in 0..count {
        headers.push((text(frame)?, text(frame)?));
    }
    Ok((status, headers))
}

/// Parses the payload of a frame `X`.
///
/// # Errors
/// Returns `InvalidData` for anything else.
pub(crate) fn failure(mut frame: Bytes) -> io::Result<CallFailure> {
    let code = match frame.try_get_u8() {
        Ok(0) => Code::FunctionFailed,
        Ok(1) => Code::OutOfMemory,
        Ok(2) => Code::InvalidValue,
        _ => return Err(torn()),
    };
    Ok(CallFailure { code, message: text(&mut frame)?, detail: text(&mut frame)? })
}

fn text(frame: &mut Bytes) -> io::Result<String> {
    let length = frame.try_get_u32_le().map_err(|_| torn())? as usize;
    let bytes = frame.get(..length).ok_or_else(torn)?;
    // Headers or messages of user code that are not UTF-8 must not fail its call.
    let text = String::from_utf8_lossy(bytes).into_owned();
    frame.advance(length);
    Ok(text)
}

fn path(bytes: &[u8]) -> io::Result<PathBuf> {
    std::str::from_utf8(bytes).map(PathBuf::from).map_err(|_| torn())
}

/// Returns the error of a malformed frame.
pub(super) fn torn() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what the process says is not a frame of the protocol")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::Code;
    use salver_model::functions::AnswerBody;

    use super::{First, Next, first, hello, next};

    const HEAD: &[u8] = b"\xc8\0\x01\0\0\0\x01\0\0\0a\x02\0\0\0bc";

    fn frame(parts: &[&[u8]]) -> Bytes {
        parts.concat().into()
    }

    #[test]
    fn answers() {
        let Ok(First::Whole(whole)) = first(b'A', frame(&[HEAD, b"\0body"])) else { panic!("no answer") };
        assert_eq!((whole.status, whole.headers), (200, vec![("a".to_owned(), "bc".to_owned())]));
        assert!(matches!(whole.body, AnswerBody::Whole(body) if body == "body"));
        let Ok(First::Whole(file)) = first(b'A', frame(&[HEAD, b"\x02/tmp/x"])) else { panic!("no answer") };
        assert!(matches!(file.body, AnswerBody::File { path, temporary: true } if path.to_str() == Some("/tmp/x")));
        assert!(matches!(first(b'S', frame(&[HEAD])), Ok(First::Begun { status: 200, .. })));
        let Ok(First::Failed(failed)) = first(b'X', frame(&[b"\x01\x02\0\0\0no\x01\0\0\0d"])) else { panic!("none") };
        assert!(failed.is_out_of_memory());
        let error = failed.into_error();
        assert_eq!((error.code, error.chain().as_str()), (Code::OutOfMemory, "no: d"));
        assert!(matches!(next(b'D', frame(&[b"x"])), Ok(Next::Piece(piece)) if piece == "x"));
        assert!(matches!(next(b'E', Bytes::new()), Ok(Next::End)));
        assert_eq!(hello(b'H', &frame(&[b"\x01\x01\0\0"])).unwrap(), 257);
    }

    /// Checks that a truncated frame of any kind is refused without a panic.
    #[test]
    fn torn_frames() {
        let whole = frame(&[HEAD, b"\x01"]);
        for end in 0..HEAD.len() {
            assert!(first(b'A', whole.slice(..end)).is_err(), "{end}");
            assert!(first(b'X', whole.slice(..end)).is_err(), "{end}");
        }
        assert!(first(b'A', frame(&[HEAD, b"\x03"])).is_err());
        assert!(first(b'A', frame(&[b"\xc8\0\xff\xff\xff\xff"])).is_err());
        assert!(first(b'Z', whole.clone()).is_err());
        assert!(next(b'A', whole.clone()).is_err());
        assert!(hello(b'H', &whole).is_err());
    }
}
