//! Column chunks of a row group in memory, read and verified before they are decoded.

use std::fs::File;
use std::os::unix::fs::FileExt;

use bytes::{Buf, Bytes};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::Footer;

/// Projected chunks of a row group.
#[derive(Debug)]
pub(super) struct Chunks {
    file_bytes: u64,
    /// Chunks with their positions in the file.
    chunks: Vec<(u64, Bytes)>,
}

impl Chunks {
    /// Reads the chunks of the leaf columns for which `is_wanted` returns true.
    pub(super) fn read(
        file: &File,
        footer: &Footer,
        group: usize,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Self, ParquetError> {
        let groups = footer.metadata.metadata().row_groups();
        let first: usize = groups[..group].iter().map(|group| group.num_columns()).sum();
        let file_bytes = file.metadata()?.len();
        let mut chunks = Vec::new();
        for (leaf, column) in groups[group].columns().iter().enumerate().filter(|(leaf, _)| is_wanted(*leaf)) {
            let (start, length) = column.byte_range();
            if start.saturating_add(length) > file_bytes {
                return Err(ParquetError::EOF(format!("column chunk at {start}")));
            }
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, start)?;
            if footer.sums.get(first + leaf) != Some(&crc32fast::hash(&bytes)) {
                return Err(ParquetError::General(format!("the column chunk at byte {start} is damaged")));
            }
            chunks.push((start, Bytes::from(bytes)));
        }
        Ok(Self { file_bytes, chunks })
    }

    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        self.chunks
            .iter()
            .find_map(|(own, bytes)| {
                let at = usize::try_from(start.checked_sub(*own)?).ok()?;
                (at < bytes.len()).then(|| bytes.slice(at..))
            })
            .ok_or_else(|| ParquetError::EOF(format!("byte {start} is in no column chunk")))
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for Chunks {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let rest = self.from(start)?;
        if rest.len() < length {
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start}")));
        }
        Ok(rest.slice(..length))
    }
}
