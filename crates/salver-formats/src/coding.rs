//! Content codings: their negotiation, and the compressors, for whole bodies and streams.

mod brotli_stage;

use std::fmt;
use std::io::Write;

use salver_model::{Error, Result};

use self::brotli_stage::BrotliStage;
use crate::quality;

/// Levels for compression on the fly: a higher one would take more time than it saves on the network.
const GZIP_LEVEL: u32 = 4;
const ZSTD_LEVEL: i32 = 3;

/// The content coding of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Coding {
    /// No compression.
    #[default]
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// Brotli (RFC 7932).
    Brotli,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl Coding {
    /// Every coding in the order of preference among equal weights. Zstandard compresses rows about as well as Brotli,
    /// several times faster; gzip is for clients that support nothing else.
    const PREFERENCE: [Self; 4] = [Self::Zstd, Self::Brotli, Self::Gzip, Self::Identity];

    /// Returns the coding for a client's `Accept-Encoding` (RFC 9110, section 12.5.3): the most preferred of those with
    /// the highest weight. Without a header, or if it accepts none of the supported codings, [`Coding::Identity`].
    #[must_use]
    pub fn negotiate(accept_encoding: Option<&str>) -> Self {
        let Some(header) = accept_encoding else { return Self::Identity };
        let asked: Vec<(String, u16)> = quality::members(header).collect();
        let weight = |coding: Self| {
            let named = |name: &str| asked.iter().find(|(other, _)| other == name).map(|(_, weight)| *weight);
            match (coding, named(coding.token()), named("*")) {
                (_, Some(weight), _) => weight,
                (Self::Gzip, None, any) => named("x-gzip").or(any).unwrap_or(0),
                // Identity is acceptable unless it is excluded, but never preferred to a coding that is named.
                (Self::Identity, None, any) => u16::from(any != Some(0)),
                (_, None, any) => any.unwrap_or(0),
            }
        };
        let mut best = Self::Identity;
        let mut most = 0;
        for coding in Self::PREFERENCE {
            if weight(coding) > most {
                (best, most) = (coding, weight(coding));
            }
        }
        best
    }

    /// Returns its name in `Content-Encoding`.
    #[must_use]
    pub fn token(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Compresses a whole body.
    ///
    /// # Errors
    /// [`salver_model::Code::Internal`] if the encoder fails; the body may then be sent as [`Coding::Identity`].
    pub fn compress(self, body: &[u8]) -> Result<Vec<u8>> {
        let mut compressor = Compressor::new(self)?;
        let mut out = compressor.write(body, false)?;
        out.append(&mut compressor.finish()?);
        Ok(out)
    }
}

/// Compresses a body chunk by chunk. After an error the body can't be completed: the response must be aborted, so that
/// the client detects the truncation.
pub struct Compressor(Stage);

enum Stage {
    Identity,
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Brotli(BrotliStage),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({})", self.coding().token())
    }
}

impl Compressor {
    /// Returns a compressor for one body.
    ///
    /// # Errors
    /// [`salver_model::Code::Internal`] if the encoder can't be set up, for which it allocates memory.
    pub fn new(coding: Coding) -> Result<Self> {
        Ok(Self(match coding {
            Coding::Identity => Stage::Identity,
            Coding::Gzip => {
                Stage::Gzip(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(GZIP_LEVEL)))
            }
            Coding::Brotli => Stage::Brotli(BrotliStage::new()),
            Coding::Zstd => {
                let encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL);
                Stage::Zstd(encoder.map_err(|error| broken(coding.token(), error))?)
            }
        }))
    }

    fn coding(&self) -> Coding {
        match self.0 {
            Stage::Identity => Coding::Identity,
            Stage::Gzip(_) => Coding::Gzip,
            Stage::Brotli(_) => Coding::Brotli,
            Stage::Zstd(_) => Coding::Zstd,
        }
    }

    /// Compresses the next chunk, and returns the compressed bytes that are ready. With `flush`, these include
    /// everything so far, at the cost of a few bytes.
    ///
    /// # Errors
    /// [`salver_model::Code::Internal`] if the encoder fails.
    pub fn write(&mut self, chunk: &[u8], flush: bool) -> Result<Vec<u8>> {
        let token = self.coding().token();
        match &mut self.0 {
            Stage::Identity => Ok(chunk.to_vec()),
            Stage::Gzip(encoder) => {
                feed(encoder, chunk, flush, token)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
            Stage::Brotli(encoder) => {
                let mut out = Vec::new();
                encoder.write(chunk, flush, &mut out)?;
                Ok(out)
            }
            Stage::Zstd(encoder) => {
                feed(encoder, chunk, flush, token)?;
                Ok(std::mem::take(encoder.get_mut()))
            }
        }
    }

    /// Returns the rest of the compressed body.
    ///
    /// # Errors
    /// [`salver_model::Code::Internal`] if the encoder fails.
    pub fn finish(self) -> Result<Vec<u8>> {
        let token = self.coding().token();
        match self.0 {
            Stage::Identity => Ok(Vec::new()),
            Stage::Gzip(encoder) => encoder.finish().map_err(|error| broken(token, error)),
            Stage::Brotli(encoder) => {
                let mut out = Vec::new();
                encoder.finish(&mut out)?;
                Ok(out)
            }
            Stage::Zstd(encoder) => encoder.finish().map_err(|error| broken(token, error)),
        }
    }
}

fn feed(encoder: &mut impl Write, chunk: &[u8], flush: bool, token: &'static str) -> Result<()> {
    let written = encoder.write_all(chunk).and_then(|()| if flush { encoder.flush() } else { Ok(()) });
    written.map_err(|error| broken(token, error))
}

fn broken(token: &str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::internal(format!("the answer can't be compressed as `{token}`")).with_source(cause)
}
