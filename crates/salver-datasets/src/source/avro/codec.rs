//! Decompresses the blocks of an Avro file.

use std::io::{self, Read};

use salver_model::limits::{AVRO_BLOCK_BYTES_MAX, XZ_MEMORY_BYTES_MAX};

/// How blocks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Deflate,
    Snappy,
    Zstandard,
    Bzip2,
    Xz,
}

impl Codec {
    /// Returns the codec of this name in a header; `None` for one that is not known.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"" | b"null" => Self::None,
            b"deflate" => Self::Deflate,
            b"snappy" => Self::Snappy,
            b"zstandard" => Self::Zstandard,
            b"bzip2" => Self::Bzip2,
            b"xz" => Self::Xz,
            _ => return None,
        })
    }

    /// Decompresses a block.
    pub(super) fn unpacked(self, block: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(block),
            Self::Deflate => all(flate2::read::DeflateDecoder::new(&block[..])),
            Self::Snappy => snappy(&block),
            Self::Zstandard => all(zstd::stream::read::Decoder::new(&block[..])?),
            Self::Bzip2 => all(bzip2::read::MultiBzDecoder::new(&block[..])),
            Self::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, 0)?;
                all(liblzma::read::XzDecoder::new_stream(&block[..], stream))
            }
        }
    }
}

fn all(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(AVRO_BLOCK_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > AVRO_BLOCK_BYTES_MAX { Err(too_large()) } else { Ok(bytes) }
}

/// Decompresses Snappy, behind which stands the checksum of what was compressed.
fn snappy(block: &[u8]) -> io::Result<Vec<u8>> {
    let Some((packed, sum)) = block.split_last_chunk::<4>() else {
        return Err(io::Error::other("it has no checksum"));
    };
    if snap::raw::decompress_len(packed)? as u64 > AVRO_BLOCK_BYTES_MAX {
        return Err(too_large());
    }
    let bytes = snap::raw::Decoder::new().decompress_vec(packed)?;
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    if crc.sum() == u32::from_be_bytes(*sum) { Ok(bytes) } else { Err(io::Error::other("its checksum is wrong")) }
}

fn too_large() -> io::Error {
    io::Error::other(format!("it has more than {AVRO_BLOCK_BYTES_MAX} bytes"))
}
