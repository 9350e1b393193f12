//! Decodes text in any encoding to UTF-8. The encoding is that of the byte order mark, else the configured one, else
//! UTF-8, whose validity is checked by the caller.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use encoding_rs::{Decoder, Encoding, UTF_8, WINDOWS_1252};
use salver_model::{Code, Error, Result};

use super::{Input, damaged, io_error};
use crate::decompress;

/// Bytes that are examined to detect binary data.
const HEAD_BYTES: u64 = 1_024;
/// In text, at most one byte in this many is zero.
const ZEROS_RATIO: usize = 4;
/// In text, at most one byte in this many is a control character.
const CONTROLS_RATIO: usize = 20;

/// An open text file.
pub(crate) struct Text {
    /// Its content as UTF-8, without a byte order mark.
    pub(crate) reader: Box<dyn BufRead + Send>,
    /// Whether the encoding was neither declared nor marked, so that another one may be tried.
    pub(crate) is_guess: bool,
}

/// Opens a text file; with `legacy`, the default encoding is windows-1252.
pub(crate) fn open(input: &Input, label: Option<&str>, legacy: bool) -> Result<Text> {
    let declared = match label {
        Some(label) => Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| {
            Error::new(Code::Source, format!("`{}`: no encoding is called `{label}`", input.label))
                .with_hint("use a WHATWG label like `utf-8`, `windows-1252`, `iso-8859-2`, `shift_jis` or `utf-16le`")
        })?),
        None => None,
    };
    let mut reader = decompress::open(&input.path).map_err(|cause| io_error(input, cause))?;
    let mut head = Vec::with_capacity(HEAD_BYTES as usize);
    reader.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(|cause| io_error(input, cause))?;
    let marked = Encoding::for_bom(&head);
    let mark_len = marked.map_or(0, |(_, len)| len);
    let rest = Cursor::new(head[mark_len..].to_vec()).chain(reader);
    let fallback = if legacy { WINDOWS_1252 } else { UTF_8 };
    let encoding = marked.map(|(encoding, _)| encoding).or(declared).unwrap_or(fallback);
    let is_guess = marked.is_none() && declared.is_none();
    // In windows-1252 any bytes are valid text, even those of an image.
    if is_guess && is_binary(&head) {
        return Err(damaged(input, "it is binary data, not text").with_hint(
            "set `format` to what the file is; if it is text, say its `encoding`, for instance `utf-16le`",
        ));
    }
    if encoding == UTF_8 {
        return Ok(Text { reader: Box::new(rest), is_guess });
    }
    let decoder = encoding.new_decoder_without_bom_handling();
    let converted = Transcoder { inner: rest, decoder, is_done: false };
    Ok(Text { reader: Box::new(BufReader::with_capacity(256 * 1024, converted)), is_guess })
}

/// Returns whether these bytes are not text in any of the encodings that are tried by default.
fn is_binary(head: &[u8]) -> bool {
    let zeros = head.iter().filter(|byte| **byte == 0).count();
    // UTF-16 without a byte order mark is half zeros; a few zeros in a text are an accident.
    if zeros * ZEROS_RATIO > head.len() {
        return true;
    }
    // Separators (0x1c to 0x1f) may be delimiters, and DOS ended files with 0x1a.
    let is_control = |byte: &&u8| matches!(**byte, 0x01..=0x08 | 0x0b | 0x0e..=0x19 | 0x7f);
    let controls = head.iter().filter(is_control).count();
    // The last character may be truncated.
    let is_utf8 = std::str::from_utf8(head).map_or_else(|wrong| wrong.error_len().is_none(), |_| true);
    !is_utf8 && (zeros > 0 || controls * CONTROLS_RATIO > head.len())
}

struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    is_done: bool,
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.is_done {
            let bytes = self.inner.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, read, written, _) = self.decoder.decode_to_utf8(bytes, out, is_last);
            self.inner.consume(read);
            let is_full = result == encoding_rs::CoderResult::OutputFull;
            self.is_done = is_last && !is_full;
            if written > 0 {
                return Ok(written);
            }
            if is_full {
                return Err(io::Error::other("the buffer is too small for a character"));
            }
        }
        Ok(0)
    }
}
