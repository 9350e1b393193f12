//! Rows of a load that wait to be written: in memory if they are few, else in an unnamed file.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::limits::LOAD_SPOOL_BYTES_MAX;
use salver_model::{Code, Error, Result};

use crate::statement::Bind;

/// Bytes buffered in memory before they go to the file.
const BUFFER_BYTES: usize = 8 * 1024 * 1024;
/// Number of rows that are read back at a time.
const ROWS_AT_ONCE: usize = 1_024;

/// Some rows, each the values of its columns.
pub(super) type LoadRows = Vec<Vec<Bind>>;

/// Rows in order.
#[derive(Debug)]
pub(super) struct Spool {
    /// The path beside which the file is created; none for a database in memory, whose loads stay in memory too.
    beside: Option<PathBuf>,
    memory: Vec<u8>,
    file: Option<File>,
    file_bytes: u64,
    rows: u64,
}

impl Spool {
    /// Creates an empty spool.
    pub(super) fn new(beside: Option<PathBuf>) -> Self {
        Self { beside, memory: Vec::new(), file: None, file_bytes: 0, rows: 0 }
    }

    /// Adds rows. Blocks when they go to the file.
    pub(super) fn push(&mut self, rows: &LoadRows) -> Result<()> {
        for row in rows {
            write_row(row, &mut self.memory);
        }
        self.rows += rows.len() as u64;
        let bytes = self.file_bytes + self.memory.len() as u64;
        if bytes > LOAD_SPOOL_BYTES_MAX {
            return Err(Error::new(
                Code::BodyTooLarge,
                format!(
                    "the load has more than {} GiB and comes too slowly to be written as it comes",
                    LOAD_SPOOL_BYTES_MAX >> 30
                ),
            )
            .with_hint("send it in smaller parts"));
        }
        if self.memory.len() > BUFFER_BYTES {
            self.flush().map_err(broken)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.file.is_none() {
            let Some(beside) = &self.beside else { return Ok(()) };
            self.file = Some(unseen(beside)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.memory)?;
            self.file_bytes += self.memory.len() as u64;
            self.memory.clear();
        }
        Ok(())
    }

    /// Starts reading the rows back.
    pub(super) fn read(mut self) -> Result<Spooled> {
        let from: Box<dyn Read + Send> = match self.file.take() {
            None => Box::new(std::io::Cursor::new(self.memory)),
            Some(mut file) => {
                file.seek(SeekFrom::Start(0)).map_err(broken)?;
                Box::new(BufReader::with_capacity(1024 * 1024, file).chain(std::io::Cursor::new(self.memory)))
            }
        };
        Ok(Spooled { from, rows: self.rows })
    }
}

/// Rows that are read back.
pub(super) struct Spooled {
    from: Box<dyn Read + Send>,
    rows: u64,
}

impl Spooled {
    /// Returns the next rows; none at the end.
    pub(super) fn next(&mut self) -> Result<LoadRows> {
        let count = self.rows.min(ROWS_AT_ONCE as u64);
        self.rows -= count;
        (0..count).map(|_| read_row(&mut self.from).map_err(broken)).collect()
    }
}

/// Creates a file that disappears when it is closed.
fn unseen(beside: &Path) -> std::io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = beside.as_os_str().to_owned();
    name.push(format!(".load-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&name)?;
    std::fs::remove_file(&name)?;
    Ok(file)
}

fn broken(error: std::io::Error) -> Error {
    Error::new(Code::DatabaseUnavailable, "the rows of the load could not be kept until they are written")
        .with_hint("look at the room on the disk of the database")
        .with_source(error)
}

fn write_row(row: &[Bind], out: &mut Vec<u8>) {
    let mut put = |tag: u8, fixed: &[u8], bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(fixed);
        out.extend_from_slice(bytes);
    };
    put(0, &(row.len() as u64).to_le_bytes(), &[]);
    for bind in row {
        match bind {
            Bind::Null => put(1, &[], &[]),
            Bind::Bool(value) => put(2, &u64::from(*value).to_le_bytes(), &[]),
            Bind::Int(value) => put(3, &value.to_le_bytes(), &[]),
            Bind::Float(value) => put(4, &value.to_bits().to_le_bytes(), &[]),
            Bind::Text(text) => put(5, &(text.len() as u64).to_le_bytes(), text.as_bytes()),
            Bind::Bytes(bytes) => put(6, &(bytes.len() as u64).to_le_bytes(), bytes),
            Bind::Back { step, column } => put(7, &(*step as u64).to_le_bytes(), &(*column as u64).to_le_bytes()),
            Bind::BackKey { step } => put(8, &(*step as u64).to_le_bytes(), &[]),
            // Rows of a load refer to nothing that may be missing.
            Bind::BackOr { .. } => put(1, &[], &[]),
        }
    }
}

fn read_row(from: &mut impl Read) -> std::io::Result<Vec<Bind>> {
    let (_, count) = (tag(from)?, number(from)?);
    (0..count).map(|_| read_bind(from)).collect()
}

fn read_bind(from: &mut impl Read) -> std::io::Result<Bind> {
    let size = |number: u64| usize::try_from(number).map_err(|_| std::io::Error::from(std::io::ErrorKind::InvalidData));
    let bytes = |from: &mut dyn Read| {
        let mut bytes = vec![0; size(number(from)?)?];
        from.read_exact(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    Ok(match tag(from)? {
        2 => Bind::Bool(number(from)? != 0),
        3 => Bind::Int(number(from)?.cast_signed()),
        4 => Bind::Float(f64::from_bits(number(from)?)),
        5 => Bind::Text(String::from_utf8(bytes(from)?).map_err(|_| std::io::ErrorKind::InvalidData)?),
        6 => Bind::Bytes(bytes(from)?),
        7 => Bind::Back { step: size(number(from)?)?, column: size(number(from)?)? },
        8 => Bind::BackKey { step: size(number(from)?)? },
        _ => Bind::Null,
    })
}

fn tag(from: &mut dyn Read) -> std::io::Result<u8> {
    let mut tag = [0];
    from.read_exact(&mut tag)?;
    Ok(tag[0])
}

fn number(from: &mut dyn Read) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::{BUFFER_BYTES, Spool};
    use crate::statement::Bind;

    #[test]
    fn what_goes_in_comes_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.db");
        for (times, beside) in [(1, Some(path.clone())), (3, Some(path)), (3, None)] {
            let mut spool = Spool::new(beside);
            let row = vec![
                Bind::Null,
                Bind::Bool(true),
                Bind::Int(i64::MIN),
                Bind::Float(-0.5),
                Bind::Text("é".to_owned()),
                Bind::Bytes(vec![0; BUFFER_BYTES / 2]),
                Bind::Back { step: 1, column: 2 },
                Bind::BackKey { step: 3 },
            ];
            for _ in 0..times {
                spool.push(&vec![row.clone(), Vec::new()]).unwrap();
            }
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nobody sees it");
            let mut spooled = spool.read().unwrap();
            let rows = spooled.next().unwrap();
            assert_eq!(rows.len(), 2 * times);
            assert!(rows.chunks(2).all(|two| two[0] == row && two[1].is_empty()));
            assert!(spooled.next().unwrap().is_empty());
        }
    }
}
