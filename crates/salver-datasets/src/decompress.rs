//! Opens compressed files; the compression is detected from a file's first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use salver_model::limits::{UNPACKED_BYTES_MAX, UNPACKED_RATIO_MAX, XZ_MEMORY_BYTES_MAX};

/// Bytes read from disk at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Nothing.
    None,
    /// gzip, one or several members.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Detects the compression from the first bytes of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => Self::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Detects the compression from the first bytes of the file at `path`.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        Ok(Self::of(&head(path)?))
    }
}

/// Reads the first bytes of a file, up to 16.
pub(crate) fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16);
    File::open(path)?.take(16).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file for reading its decompressed content.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let compression = Compression::of_file(path)?;
    let file = File::open(path)?;
    let packed_bytes = file.metadata()?.len();
    let file = BufReader::with_capacity(BUFFER_BYTES, file);
    let unpacked: Box<dyn Read + Send> = match compression {
        Compression::None => return Ok(Box::new(file)),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
        Compression::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, flags)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(file, stream))
        }
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
    };
    let bytes_max = UNPACKED_BYTES_MAX.max(packed_bytes.saturating_mul(UNPACKED_RATIO_MAX));
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, Bounded { inner: unpacked, left: bytes_max })))
}

struct Bounded {
    inner: Box<dyn Read + Send>,
    left: u64,
}

impl Read for Bounded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(format!("it unpacks to more than {UNPACKED_RATIO_MAX} times its size")))?;
        Ok(count)
    }
}
