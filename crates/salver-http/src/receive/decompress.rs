//! Decompresses gzip and zstd incrementally: the output per step is bounded, whatever the compression ratio.

use std::fmt;
use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header};
use salver_model::limits::ZSTD_WINDOW_LOG_MAX;
use salver_model::{Code, Error, Result};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::body_buffer::BodyBuffer;

/// Compressed bytes per step of gzip, whose compression ratio is at most about 1000.
const STEP_BYTES: usize = 1024;
/// Output buffer per step of zstd, in bytes.
const ROOM_BYTES: usize = 64 * 1024;

/// The decompressor of one body.
pub(crate) struct Unpacker {
    coding: Packing,
    /// Bytes that are not decompressed yet.
    packed: Bytes,
}

enum Packing {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>, bool),
    Zstd {
        decoder: Decoder<'static>,
        /// Whether a frame has begun but not ended.
        is_open: bool,
        /// Whether the decoder may have more output.
        is_full: bool,
    },
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unpacker({} bytes)", self.packed.len())
    }
}

impl Unpacker {
    /// Returns the decompressor for a body with these headers; `None` when it is not compressed.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>> {
        let mut lines = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(given) = lines.next() else { return Ok(None) };
        let given = given.to_str().unwrap_or("?").trim().to_ascii_lowercase();
        let coding = match given.as_str() {
            _ if lines.next().is_some() => return Err(unknown("several codings")),
            "" | "identity" => return Ok(None),
            "gzip" | "x-gzip" => Packing::Gzip(Box::new(MultiGzDecoder::new(Vec::new())), false),
            "zstd" => {
                let mut decoder = Decoder::new().map_err(|error| damaged("zstd", error))?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
                decoder.set_parameter(window).map_err(|error| damaged("zstd", error))?;
                Packing::Zstd { decoder, is_open: false, is_full: false }
            }
            other => return Err(unknown(other)),
        };
        Ok(Some(Self { coding, packed: Bytes::new() }))
    }

    /// Adds compressed bytes.
    pub(crate) fn take(&mut self, bytes: Bytes) {
        debug_assert!(self.packed.is_empty(), "what came before is unpacked before more is read");
        self.packed = bytes;
    }

    /// Decompresses until `piece` has about `bytes_max` bytes, or all input is consumed.
    pub(crate) fn unpack(&mut self, piece: &mut BodyBuffer, bytes_max: usize) -> Result<()> {
        while self.has_more() && piece.len() < bytes_max {
            match &mut self.coding {
                Packing::Gzip(decoder, has_begun) => {
                    *has_begun = true;
                    let step = self.packed.split_to(self.packed.len().min(STEP_BYTES));
                    decoder.write_all(&step).map_err(|error| damaged("gzip", error))?;
                    let plain = decoder.get_mut();
                    piece.joined().extend_from_slice(plain);
                    plain.clear();
                }
                Packing::Zstd { decoder, is_open, is_full } => {
                    let out = piece.joined();
                    let start = out.len();
                    out.resize(start + ROOM_BYTES, 0);
                    let mut input = InBuffer::around(&self.packed[..]);
                    let mut output = OutBuffer::around(&mut out[start..]);
                    let left = decoder.run(&mut input, &mut output).map_err(|error| damaged("zstd", error))?;
                    let (read, written) = (input.pos(), output.pos());
                    out.truncate(start + written);
                    *is_open = left != 0;
                    *is_full = written == ROOM_BYTES;
                    let _ = self.packed.split_to(read);
                }
            }
        }
        Ok(())
    }

    fn has_more(&self) -> bool {
        !self.packed.is_empty() || matches!(self.coding, Packing::Zstd { is_full: true, .. })
    }

    /// Checks that the input was complete.
    pub(crate) fn finish(&mut self, piece: &mut BodyBuffer) -> Result<()> {
        let cut = |coding| Error::new(Code::InvalidBody, format!("the {coding} body is cut off or damaged"));
        match &mut self.coding {
            Packing::Gzip(_, false) => Ok(()),
            Packing::Gzip(decoder, true) => {
                decoder.try_finish().map_err(|_| cut("gzip"))?;
                let plain = decoder.get_mut();
                piece.joined().extend_from_slice(plain);
                plain.clear();
                Ok(())
            }
            Packing::Zstd { is_open: true, .. } => Err(cut("zstd")),
            Packing::Zstd { .. } => Ok(()),
        }
    }
}

fn unknown(given: &str) -> Error {
    Error::new(Code::UnsupportedMediaType, format!("a body in `{given}` is not read"))
        .with_hint("send it as gzip or zstd, or plain")
}

fn damaged(coding: &str, error: io::Error) -> Error {
    Error::new(Code::InvalidBody, format!("the {coding} body is damaged")).with_source(error)
}
