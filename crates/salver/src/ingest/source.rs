//! Source of events: a file or standard input, plain or compressed. CSV and TSV, by their suffix, become events here.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use salver_model::{Code, Error, Result};

use super::csv_events::{CsvEvents, CsvFault};

/// Bytes read from a compressed file at a time.
const READ_BYTES: usize = 256 * 1024;

/// Compression of a file, by its suffix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

/// Existing file, or standard input.
#[derive(Debug)]
pub(crate) struct EventSource {
    /// Name as given.
    pub(crate) name: String,
    /// Path; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    /// Length of the file, compressed; `None` when unknown.
    pub(crate) bytes: Option<u64>,
    compression: Compression,
    /// Delimiter of a file whose records become events.
    delimiter: Option<u8>,
}

impl EventSource {
    /// Looks up `name`; `-` is standard input.
    pub(crate) fn find(name: &str) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        let compression = match lower.rsplit_once('.') {
            Some((_, "gz")) => Compression::Gzip,
            Some((_, "zst")) => Compression::Zstd,
            _ => Compression::None,
        };
        let plain = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst")).unwrap_or(&lower);
        let delimiter = match plain.rsplit_once('.') {
            Some((_, "csv")) => Some(b','),
            Some((_, "tsv")) => Some(b'\t'),
            _ => None,
        };
        let mut source = Self { name: name.to_owned(), path: None, bytes: None, compression, delimiter };
        if name != "-" {
            let about = std::fs::metadata(name).map_err(|error| unreadable(name, error))?;
            if about.is_dir() {
                return Err(Error::new(Code::Source, format!("`{name}` is a directory"))
                    .with_hint("name the files in it, as in `logs/*.ndjson`"));
            }
            source.path = Some(PathBuf::from(name));
            source.bytes = about.is_file().then_some(about.len());
        }
        Ok(source)
    }

    /// Opens it at byte `offset` of its text, which of CSV is that of the events. Also returns a counter of the bytes
    /// read from the file.
    pub(crate) fn open(&self, offset: u64) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
        let read = Arc::new(AtomicU64::new(0));
        let failed = |error| unreadable(&self.name, error);
        let Some(path) = &self.path else {
            return Ok((Box::new(Counted { inner: io::stdin(), read: Arc::clone(&read) }), read));
        };
        let mut file = File::open(path).map_err(failed)?;
        let mut behind = offset;
        if self.compression == Compression::None && self.delimiter.is_none() && self.bytes.is_some() {
            file.seek(SeekFrom::Start(offset)).map_err(failed)?;
            read.store(offset, Ordering::Relaxed);
            behind = 0;
        }
        let counted = BufReader::with_capacity(READ_BYTES, Counted { inner: file, read: Arc::clone(&read) });
        let mut text: Box<dyn Read + Send> = match self.compression {
            Compression::None => Box::new(counted),
            Compression::Gzip => Box::new(MultiGzDecoder::new(counted)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(counted).map_err(failed)?),
        };
        if let Some(delimiter) = self.delimiter {
            text = Box::new(CsvEvents::new(text, delimiter));
        }
        io::copy(&mut text.by_ref().take(behind), &mut io::sink()).map_err(failed)?;
        Ok((text, read))
    }
}

/// Returns the error for an unreadable source.
pub(crate) fn unreadable(name: &str, cause: io::Error) -> Error {
    if let Some(fault) = cause.get_ref().and_then(|inner| inner.downcast_ref::<CsvFault>()) {
        return Error::new(Code::Source, format!("`{name}`: {fault}"))
            .with_hint("what stands before that place may have been sent; correct the file and run the same command");
    }
    Error::new(Code::Source, format!("can't read `{name}`"))
        .with_hint("check the path, the rights, and that the file is whole")
        .with_source(cause)
}

/// Reader that counts the bytes read.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
