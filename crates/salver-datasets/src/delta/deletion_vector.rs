//! Deletion vectors: the rows of a file that are no rows of the table any more.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use roaring::RoaringTreemap;
use salver_model::Result;
use salver_model::limits::DELTA_VECTOR_BYTES_MAX;

use super::action::VectorDescriptor;
use super::fault;
use super::place::{WholeFile, check_regular};

/// First bytes of the only form there is.
const MAGIC: [u8; 4] = 1_681_511_377_u32.to_le_bytes();
/// Characters of an encoded UUID.
const UUID_CHARACTERS: usize = 20;
/// The digits of Z85.
const DIGITS: &[u8; 85] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Returns the path, relative to the table, of the file with the vector; `None` if it is written in the log, and the
/// path as it is if it is absolute.
pub(super) fn file_of(root: &str, vector: &VectorDescriptor) -> Result<Option<String>> {
    let text = &vector.path_or_inline_dv;
    match vector.storage_type.as_str() {
        "i" => Ok(None),
        "p" => Ok(Some(text.clone())),
        "u" => {
            let uuid = text.len().checked_sub(UUID_CHARACTERS).and_then(|at| {
                let (prefix, encoded) = text.split_at_checked(at)?;
                Some((prefix, decoded(encoded)?))
            });
            let (prefix, uuid) = uuid.ok_or_else(|| damaged(root, vector, "its name is no UUID"))?;
            let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
            let directory = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
            Ok(Some(format!("{directory}deletion_vector_{name}.bin")))
        }
        other => Err(damaged(root, vector, &format!("its kind `{other}` is unknown"))),
    }
}

/// Returns the numbers of the rows that are deleted; `file` is what [`file_of`] named.
pub(super) fn rows(root: &str, vector: &VectorDescriptor, file: Option<&WholeFile>) -> Result<RoaringTreemap> {
    if vector.size_in_bytes > DELTA_VECTOR_BYTES_MAX {
        return Err(damaged(root, vector, &format!("it has more than {DELTA_VECTOR_BYTES_MAX} bytes")));
    }
    let bytes = match file {
        None => decoded(&vector.path_or_inline_dv).ok_or_else(|| damaged(root, vector, "it is not written in Z85"))?,
        Some(file) => {
            stored(vector, file).map_err(|cause| damaged(root, vector, &cause.to_string()).with_source(cause))?
        }
    };
    let Some((magic, bitmap)) = bytes.split_at_checked(MAGIC.len()) else {
        return Err(damaged(root, vector, "it is empty"));
    };
    if magic != MAGIC {
        return Err(damaged(root, vector, "it is not in the form that vectors have"));
    }
    let rows = RoaringTreemap::deserialize_from(bitmap)
        .map_err(|cause| damaged(root, vector, &cause.to_string()).with_source(cause))?;
    if rows.len() != vector.cardinality {
        let why = format!("it has {} rows, and {} by the log", rows.len(), vector.cardinality);
        return Err(damaged(root, vector, &why));
    }
    Ok(rows)
}

/// Reads a vector from a file with several: its length, the vector, and a checksum.
fn stored(vector: &VectorDescriptor, file: &WholeFile) -> std::io::Result<Vec<u8>> {
    check_regular(&file.path)?;
    let mut from = File::open(&file.path)?;
    from.seek(SeekFrom::Start(vector.offset.unwrap_or(0)))?;
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    if u64::from(u32::from_be_bytes(length)) != vector.size_in_bytes {
        return Err(std::io::Error::other("its file and the log say different lengths"));
    }
    let mut bytes = vec![0; usize::try_from(vector.size_in_bytes).unwrap_or(usize::MAX)];
    from.read_exact(&mut bytes)?;
    let mut sum = [0; 4];
    from.read_exact(&mut sum)?;
    if u32::from_be_bytes(sum) != crc32fast::hash(&bytes) {
        return Err(std::io::Error::other("its checksum is wrong"));
    }
    Ok(bytes)
}

/// Decodes Z85: five characters are four bytes.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 5 * 4);
    let groups = text.as_bytes().chunks_exact(5);
    if !groups.remainder().is_empty() {
        return None;
    }
    for group in groups {
        let number = group.iter().try_fold(0_u32, |number, character| {
            let digit = DIGITS.iter().position(|digit| digit == character)?;
            number.checked_mul(85)?.checked_add(u32::try_from(digit).ok()?)
        });
        bytes.extend_from_slice(&number?.to_be_bytes());
    }
    Some(bytes)
}

fn damaged(root: &str, vector: &VectorDescriptor, why: &str) -> salver_model::Error {
    let shown: String = vector.path_or_inline_dv.chars().take(40).collect();
    fault::damaged(format!("{root}: deletion vector {shown}"), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(kind: &str, text: &str, cardinality: u64) -> VectorDescriptor {
        VectorDescriptor {
            storage_type: kind.to_owned(),
            path_or_inline_dv: text.to_owned(),
            offset: None,
            size_in_bytes: 40,
            cardinality,
        }
    }

    /// A vector as it is written in a log.
    fn inline(rows: &[u64]) -> VectorDescriptor {
        let mut bytes = MAGIC.to_vec();
        RoaringTreemap::from_iter(rows).serialize_into(&mut bytes).unwrap();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let group = |group: &[u8]| {
            let number = u32::from_be_bytes(group.try_into().unwrap());
            (0..5).rev().map(move |place| char::from(DIGITS[(number / 85_u32.pow(place) % 85) as usize])).collect()
        };
        let text: Vec<String> = bytes.chunks(4).map(group).collect();
        vector("i", &text.concat(), rows.len() as u64)
    }

    #[test]
    fn names_of_files() {
        let file = |text: &str| file_of("t", &vector("u", text, 6)).unwrap().unwrap();
        // The examples of the protocol.
        assert_eq!(file("ab^-aqEH.-t@S}K{vb[*k^"), "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
        assert_eq!(file("^-aqEH.-t@S}K{vb[*k^"), "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
        assert!(file_of("t", &vector("u", "short", 1)).is_err());
        assert!(file_of("t", &vector("u", "äääääääääää", 1)).is_err());
        assert!(file_of("t", &vector("x", "", 1)).is_err());
    }

    #[test]
    fn written_in_the_log() {
        let rows_of = [3, 4, 7, 11, 18, 29, 70_000, 1 << 40];
        assert_eq!(rows("t", &inline(&rows_of), None).unwrap().iter().collect::<Vec<_>>(), rows_of);
    }

    #[test]
    fn damaged_ones() {
        let whole = inline(&[3, 4, 7, 11, 18, 29]);
        let text = whole.path_or_inline_dv.as_str();
        let why = |text: &str, count: u64| rows("t", &vector("i", text, count), None).unwrap_err().message;
        assert!(why(text, 5).contains("6 rows, and 5 by the log"));
        assert!(why(&text[..25], 6).contains("is damaged"));
        assert!(why(&text[..24], 6).contains("Z85"));
        assert!(why("", 6).contains("empty"));
        // The form in which an early version of Delta Lake wrote them.
        assert!(why("wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", 6).contains("form"));
    }
}
