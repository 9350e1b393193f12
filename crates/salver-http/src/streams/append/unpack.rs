//! gzip and zstd, unpacked step by step: what comes out is bounded, however much it is packed.

use std::fmt;
use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header};
use salver_model::{Code, Error, Result};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::piece::Piece;

/// Packed bytes that are given to gzip at a time. It packs at most about a thousandfold.
const STEP_BYTES: usize = 1024;
/// What is made room for at a time, in bytes.
const ROOM_BYTES: usize = 64 * 1024;
/// The largest window of a zstd frame, as a power of two: what browsers accept (RFC 9659).
const WINDOW_LOG_MAX: u32 = 23;

/// Unpacks one body.
pub(super) struct Unpacker {
    coding: Packing,
    /// What came and is still packed.
    packed: Bytes,
}

enum Packing {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>, bool),
    Zstd {
        decoder: Decoder<'static>,
        /// Whether a frame has begun and not ended.
        is_open: bool,
        /// Whether more may be waiting to come out.
        is_full: bool,
    },
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unpacker({} bytes)", self.packed.len())
    }
}

impl Unpacker {
    /// What unpacks a body with these headers; `None` when it is not packed.
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<Self>> {
        let mut lines = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(given) = lines.next() else { return Ok(None) };
        let given = given.to_str().unwrap_or("?").trim().to_ascii_lowercase();
        let coding = match given.as_str() {
            _ if lines.next().is_some() => return Err(unknown("several codings")),
            "" | "identity" => return Ok(None),
            "gzip" | "x-gzip" => Packing::Gzip(Box::new(MultiGzDecoder::new(Vec::new())), false),
            "zstd" => {
                let mut decoder = Decoder::new().map_err(|error| damaged("zstd", error))?;
                let window = DParameter::WindowLogMax(WINDOW_LOG_MAX);
                decoder.set_parameter(window).map_err(|error| damaged("zstd", error))?;
                Packing::Zstd { decoder, is_open: false, is_full: false }
            }
            other => return Err(unknown(other)),
        };
        Ok(Some(Self { coding, packed: Bytes::new() }))
    }

    /// More to unpack.
    pub(super) fn take(&mut self, bytes: Bytes) {
        debug_assert!(self.packed.is_empty(), "what came before is unpacked before more is read");
        self.packed = bytes;
    }

    /// Unpacks until `piece` has about `bytes_max` bytes, or everything that came is unpacked.
    pub(super) fn unpack(&mut self, piece: &mut Piece, bytes_max: usize) -> Result<()> {
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

    /// Whether what came was whole.
    pub(super) fn finish(&mut self, piece: &mut Piece) -> Result<()> {
        let cut = |coding| Error::new(Code::InvalidBody, format!("the {coding} body is cut off"));
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
