//! Buffers joined rows until their parent rows come: each is written to JSON when it arrives, deepest tables first, and
//! looked up by key when the parent row arrives. Each row is copied once per level; nothing else is kept of it.

use ahash::AHashMap;

use crate::cell::Cell;

/// No further row.
const END: u32 = u32::MAX;

/// The key that ties rows together: integers as such, everything else as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinKey {
    whole: Option<i64>,
    bytes: Vec<u8>,
}

impl JoinKey {
    /// Takes the key from these cells of a row; returns `false` when a part is null, which matches nothing.
    pub(crate) fn of(&mut self, row: &[Cell<'_>], cells: &[usize]) -> bool {
        self.whole = None;
        self.bytes.clear();
        if let [only] = cells
            && let Some(whole) = row.get(*only).copied().and_then(whole)
        {
            self.whole = Some(whole);
            return true;
        }
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                self.bytes.push(0);
            }
            match row.get(*cell).copied().unwrap_or(Cell::Null) {
                Cell::Null => return false,
                Cell::Bytes(bytes) => {
                    // No text begins with this byte: a column without a type may have both.
                    self.bytes.push(0xff);
                    self.bytes.extend_from_slice(bytes);
                }
                Cell::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
                other => match (whole(other), float(other)) {
                    (Some(whole), _) => crate::json::integer(whole, &mut self.bytes),
                    // JSON has one literal for NaN and the infinities.
                    (None, Some(value)) if !value.is_finite() => {
                        self.bytes.extend_from_slice(value.to_string().as_bytes());
                    }
                    (None, _) => crate::json::value(other, crate::json::JsonForm::Plain, &mut self.bytes),
                },
            }
        }
        !cells.is_empty()
    }
}

/// Returns the integer that the cell is, or whose text it is: an untyped system may have one on either side.
fn whole(cell: Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Int(value) => Some(value),
        Cell::UInt(value) => i64::try_from(value).ok(),
        Cell::Bool(value) => Some(i64::from(value)),
        Cell::Text(text) if text.len() < 20 => {
            let canonical = !text.starts_with(['+', '0']) && !text.starts_with("-0") || text == "0";
            if canonical { text.parse().ok() } else { None }
        }
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
        Cell::Float(_) | Cell::Single(_) => {
            float(cell).filter(|value| value.trunc() == *value && value.abs() < 9e15).map(|value| value as i64)
        }
        _ => None,
    }
}

fn float(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Float(value) => Some(value),
        Cell::Single(value) => Some(f64::from(value)),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug)]
struct ChildRow {
    start: usize,
    end: usize,
    next: u32,
}

/// The rows of one branch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    bytes: Vec<u8>,
    entries: Vec<ChildRow>,
    /// The first and last row of each key.
    wholes: AHashMap<i64, (u32, u32)>,
    others: AHashMap<Box<[u8]>, (u32, u32)>,
}

impl Arena {
    /// Returns the number of bytes of the rows.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Files a row that `write` appends; returns the number of bytes so far.
    pub(crate) fn file(&mut self, key: &JoinKey, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let number = u32::try_from(self.entries.len()).unwrap_or(END);
        let span = match key.whole {
            Some(whole) => self.wholes.get_mut(&whole),
            None => self.others.get_mut(key.bytes.as_slice()),
        };
        match span {
            Some((_, last)) => {
                if let Some(entry) = self.entries.get_mut(*last as usize) {
                    entry.next = number;
                }
                *last = number;
            }
            None => match key.whole {
                Some(whole) => {
                    self.wholes.insert(whole, (number, number));
                }
                None => {
                    self.others.insert(key.bytes.as_slice().into(), (number, number));
                }
            },
        }
        self.entries.push(ChildRow { start, end: self.bytes.len(), next: END });
        self.bytes.len()
    }

    /// Returns the rows filed under the key, in the order of arrival.
    pub(crate) fn rows<'a>(&'a self, key: &JoinKey) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let span = match key.whole {
            Some(whole) => self.wholes.get(&whole),
            None => self.others.get(key.bytes.as_slice()),
        };
        let mut next = span.map_or(END, |(first, _)| *first);
        std::iter::from_fn(move || {
            let entry = self.entries.get(next as usize)?;
            next = entry.next;
            self.bytes.get(entry.start..entry.end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, JoinKey};
    use crate::cell::Cell;

    fn whole(number: i64) -> JoinKey {
        JoinKey { whole: Some(number), bytes: Vec::new() }
    }

    #[test]
    fn rows_of_a_key_in_order() {
        let mut arena = Arena::default();
        let mut key = JoinKey::default();
        for (cell, text) in [(Cell::Int(1), "a"), (Cell::Text("x"), "b"), (Cell::Text("1"), "c"), (Cell::UInt(2), "d")]
        {
            assert!(key.of(&[cell], &[0]));
            arena.file(&key, |out| out.extend_from_slice(text.as_bytes()));
        }
        let found =
            |key: &JoinKey| arena.rows(key).map(|row| String::from_utf8_lossy(row).into_owned()).collect::<String>();
        assert_eq!(found(&whole(1)), "ac");
        assert_eq!(found(&whole(2)), "d");
        assert_eq!(found(&whole(3)), "");
        assert!(key.of(&[Cell::Text("x")], &[0]));
        assert_eq!(found(&key), "b");
        assert!(!key.of(&[Cell::Null], &[0]));
        assert!(!key.of(&[Cell::Int(1), Cell::Null], &[0, 1]));
        assert!(key.of(&[Cell::Text("01")], &[0]));
        assert_eq!(found(&key), "");
    }
}
