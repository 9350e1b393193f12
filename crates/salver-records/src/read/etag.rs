//! Entity tags of rows: the hash of a row's JSON, followed by its columns where not all visible ones were read. So a
//! row that was read in part can be compared later by the same columns; joined rows are not covered.

use salver_model::records::{Operation, TableInfo};
use salver_model::version::Version;

use crate::cell::Cell;
use crate::json::JsonRow;
use crate::scope::Scope;

/// Returns the entity tag of a whole row as JSON, with its marks.
pub(crate) fn tag(row: &[u8]) -> String {
    Version::of(&row).text()
}

/// Appends the marks of a row, for distinctions that JSON loses: which null is NaN or infinite, and which text is the
/// base64 of bytes.
pub(crate) fn marks(cells: &[Cell<'_>], out: &mut Vec<u8>) {
    for (at, cell) in cells.iter().enumerate() {
        let float = match cell {
            Cell::Float(value) => *value,
            Cell::Single(value) => f64::from(*value),
            Cell::Bytes(_) => 0.0,
            _ => continue,
        };
        let mark = match float {
            _ if matches!(cell, Cell::Bytes(_)) => b'b',
            _ if float.is_nan() => b'n',
            f64::INFINITY => b'i',
            f64::NEG_INFINITY => b'm',
            _ => continue,
        };
        out.push(mark);
        out.extend_from_slice(itoa::Buffer::new().format(at).as_bytes());
    }
}

/// Removes the marks from a row.
pub(crate) fn unmark(row: &mut Vec<u8>) {
    let end = row.iter().rposition(|byte| *byte == b'}').map_or(row.len(), |at| at + 1);
    row.truncate(end);
}

/// The columns that an entity tag covers.
#[derive(Clone, Debug)]
pub(crate) struct EtagColumns {
    columns: Vec<usize>,
    /// The suffix after the hash; empty for all visible columns.
    mark: String,
    row: JsonRow,
}

impl EtagColumns {
    /// Returns those of `columns` that the caller may see.
    pub(crate) fn of(scope: &Scope<'_>, table: &TableInfo, columns: &[usize]) -> Self {
        let all = visible(scope, table);
        let columns: Vec<usize> = all.iter().copied().filter(|column| columns.contains(column)).collect();
        let mark = if columns == all { String::new() } else { mark(&columns) };
        let row = JsonRow::new(scope.spec(), table, &columns);
        Self { columns, mark, row }
    }

    /// Returns the columns that `tag` covers; `None` when one of them is hidden from the caller, or it is not a tag.
    pub(crate) fn by(scope: &Scope<'_>, table: &TableInfo, tag: &str) -> Option<Self> {
        let all = visible(scope, table);
        let Some((_, mark)) = tag.split_once('.') else { return Some(Self::of(scope, table, &all)) };
        let columns = columns(mark)?;
        let known = !columns.is_empty() && columns.iter().all(|column| all.contains(column));
        known.then(|| Self { row: JsonRow::new(scope.spec(), table, &columns), mark: mark.to_owned(), columns })
    }

    /// Returns the columns, in the table's order.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the tag of a row, whose `cells` are those of the columns `fetched`.
    pub(crate) fn tag(&self, fetched: &[usize], cells: &[Cell<'_>]) -> String {
        let cell = |column: &usize| {
            let at = fetched.iter().position(|own| own == column);
            at.and_then(|at| cells.get(at)).copied().unwrap_or(Cell::Null)
        };
        let own: Vec<Cell<'_>> = self.columns.iter().map(cell).collect();
        let mut json = Vec::with_capacity(256);
        self.row.write(&own, &mut json);
        marks(&own, &mut json);
        let mut text = tag(&json);
        if !self.mark.is_empty() {
            text.push('.');
            text.push_str(&self.mark);
        }
        text
    }
}

fn visible(scope: &Scope<'_>, table: &TableInfo) -> Vec<usize> {
    let seen = |index: &usize| scope.column(Operation::Read, table, &table.columns[*index].name).is_some();
    (0..table.columns.len()).filter(seen).collect()
}

/// Encodes columns as hexadecimal digits, four columns per digit.
fn mark(columns: &[usize]) -> String {
    let digits = columns.last().map_or(0, |last| last / 4 + 1);
    let bits = |digit: usize| {
        let own = columns.iter().filter(|column| **column / 4 == digit);
        own.fold(0, |bits: u32, column| bits | 1 << (column % 4))
    };
    (0..digits).filter_map(|digit| char::from_digit(bits(digit), 16)).collect()
}

/// Decodes the columns of a mark.
fn columns(mark: &str) -> Option<Vec<usize>> {
    let mut columns = Vec::new();
    for (digit, c) in mark.chars().enumerate() {
        let bits = c.to_digit(16)?;
        columns.extend((0..4).filter(|bit| bits & (1 << bit) != 0).map(|bit| digit * 4 + bit));
    }
    Some(columns)
}

#[cfg(test)]
mod tests {
    use super::{columns, mark, marks, unmark};
    use crate::cell::Cell;

    #[test]
    fn what_json_does_not_tell_is_marked() {
        let marked = |cell: Cell<'_>| {
            let mut row = b"{\"v\":null}".to_vec();
            marks(&[Cell::Int(1), cell], &mut row);
            String::from_utf8(row).unwrap()
        };
        assert_eq!(marked(Cell::Null), "{\"v\":null}");
        assert_eq!(marked(Cell::Float(1.5)), "{\"v\":null}");
        assert_eq!(marked(Cell::Single(f32::INFINITY)), "{\"v\":null}i1");
        let mut row = marked(Cell::Float(f64::NAN)).into_bytes();
        assert_eq!(row, b"{\"v\":null}n1");
        unmark(&mut row);
        assert_eq!(row, b"{\"v\":null}");
    }

    #[test]
    fn marks_come_back() {
        for own in [vec![0], vec![3, 4], vec![0, 1, 2, 3, 9, 31], vec![4095], (0..70).collect()] {
            assert_eq!(columns(&mark(&own)), Some(own));
        }
        assert_eq!(columns("x1"), None);
    }
}
