//! Cache of Parquet footers.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::Schema;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::PageIndexPolicy;

use super::conform::conforms;
use super::{BASE, END, SUM_BYTES, SUMS};
use crate::log::Segment;

/// Most footers in the cache.
const FOOTERS_CAPACITY: usize = 256;

/// Identity of a file, which detects a replacement with the same name.
type Identity = (u64, u64, i64, i64);

/// Footers of the files read so far.
#[derive(Debug, Default)]
pub(in crate::table) struct Footers {
    known: Mutex<HashMap<u64, (Identity, Arc<Footer>)>>,
}

/// Footer of a file, verified against its segment.
#[derive(Debug)]
pub(in crate::table) struct Footer {
    pub(super) metadata: ArrowReaderMetadata,
    /// Checksum of each leaf column of each row group.
    pub(super) sums: Vec<u32>,
    /// Offsets of each row group.
    pub(super) groups: Vec<Range<u64>>,
}

impl Footers {
    /// Opens the file of a segment with its footer; `None` when there is no usable one. Blocks.
    pub(in crate::table) fn open(&self, segment: &Segment) -> Option<(File, Arc<Footer>)> {
        let file = File::open(segment.parquet_path()).ok()?;
        let identity = identity(&file).ok()?;
        if let Some((own, footer)) = self.lock().get(&segment.base())
            && *own == identity
        {
            return Some((file, Arc::clone(footer)));
        }
        let footer = Arc::new(Footer::read(&file, segment.base()..segment.end())?);
        let mut known = self.lock();
        if known.len() >= FOOTERS_CAPACITY {
            known.clear();
        }
        known.insert(segment.base(), (identity, Arc::clone(&footer)));
        Some((file, footer))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, (Identity, Arc<Footer>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(file: &File) -> io::Result<Identity> {
    let metadata = file.metadata()?;
    Ok((metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

/// Returns the length of the metadata, its length field and the final magic of a file that ends with `tail`.
pub(super) fn footer_bytes(tail: &[u8]) -> Option<u64> {
    let (rest, magic) = tail.split_last_chunk::<4>()?;
    let length = u32::from_le_bytes(*rest.last_chunk::<4>()?);
    (magic == b"PAR1").then_some(u64::from(length) + 8)
}

/// Returns whether the metadata matches its checksum.
fn is_whole(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut tail = [0; 8];
    file.read_exact_at(&mut tail, length.saturating_sub(8))?;
    let start = footer_bytes(&tail).and_then(|bytes| length.checked_sub(bytes + SUM_BYTES as u64));
    let Some(start) = start else { return Ok(false) };
    let mut bytes = vec![0; (length - start) as usize];
    file.read_exact_at(&mut bytes, start)?;
    let (sum, footer) = bytes.split_at(SUM_BYTES);
    Ok(sum == crc32fast::hash(footer).to_le_bytes())
}

impl Footer {
    /// Returns whether all columns of the file can be converted to those of `schema`.
    pub(in crate::table) fn conforms(&self, schema: &Schema) -> bool {
        self.metadata.schema().fields().iter().all(|own| {
            schema.field_with_name(own.name()).is_ok_and(|field| conforms(own.data_type(), field.data_type()))
        })
    }

    fn read(file: &File, offsets: Range<u64>) -> Option<Self> {
        if !is_whole(file).ok()? {
            return None;
        }
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
        let metadata = ArrowReaderMetadata::load(file, options).ok()?;
        let own = metadata.metadata();
        let pairs = own.file_metadata().key_value_metadata()?;
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
        if value(BASE)?.parse() != Ok(offsets.start) || value(END)?.parse() != Ok(offsets.end) {
            return None;
        }
        let sums = value(SUMS)?.split(',').map(|sum| u32::from_str_radix(sum, 16).ok()).collect::<Option<Vec<_>>>()?;
        let mut next = offsets.start;
        let groups = own.row_groups().iter().map(|group| {
            let start = next;
            next += u64::try_from(group.num_rows()).unwrap_or_default();
            start..next
        });
        let groups: Vec<_> = groups.collect();
        let chunks: usize = own.row_groups().iter().map(|group| group.num_columns()).sum();
        (next == offsets.end && chunks == sums.len()).then_some(Self { metadata, sums, groups })
    }
}
