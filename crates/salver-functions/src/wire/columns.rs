//! Columns of values in frames, read and written here for both sides of the protocol.

use salver_model::functions::ColumnKind;

/// Borrowed column of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireColumn<'a> {
    pub(crate) kind: ColumnKind,
    /// For each row, whether there is a value.
    present: &'a [u8],
    /// Values, all of one width; for texts the end of each.
    values: &'a [u8],
    texts: &'a [u8],
}

impl<'a> WireColumn<'a> {
    /// Reads a column of `rows` rows from the front of `rest`; `None` when it is missing or malformed.
    pub(crate) fn read(rest: &mut &'a [u8], rows: usize) -> Option<Self> {
        let kind = kind(take(rest, 1)?[0])?;
        let present = take(rest, rows)?;
        let values = take(rest, rows.checked_mul(width(kind))?)?;
        let mut texts: &[u8] = &[];
        if kind == ColumnKind::Text {
            let mut last = 0;
            for end in values.chunks_exact(4).map(end) {
                if end < last {
                    return None;
                }
                last = end;
            }
            texts = take(rest, last)?;
        }
        let column = Self { kind, present, values, texts };
        column.is_utf8().then_some(column)
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.present.len()
    }

    /// Returns its booleans.
    pub(crate) fn booleans(self) -> impl Iterator<Item = Option<bool>> {
        self.present.iter().zip(self.values).map(|(present, value)| (*present != 0).then_some(*value != 0))
    }

    /// Returns its integers.
    pub(crate) fn integers(self) -> impl Iterator<Item = Option<i64>> {
        self.wide().map(|value| value.map(i64::from_le_bytes))
    }

    /// Returns its numbers.
    pub(crate) fn numbers(self) -> impl Iterator<Item = Option<f64>> {
        self.wide().map(|value| value.map(f64::from_le_bytes))
    }

    /// Returns its texts.
    pub(crate) fn texts(self) -> impl Iterator<Item = Option<&'a str>> {
        // Validated when the column was read.
        self.cells().map(|cell| cell.map(|text| std::str::from_utf8(text).unwrap_or_default()))
    }

    fn wide(self) -> impl Iterator<Item = Option<[u8; 8]>> {
        let values = self.values.chunks_exact(8).map(|value| value.first_chunk::<8>().copied().unwrap_or_default());
        self.present.iter().zip(values).map(|(present, value)| (*present != 0).then_some(value))
    }

    fn cells(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let mut begin = 0;
        self.present.iter().zip(self.values.chunks_exact(4).map(end)).map(move |(present, end)| {
            let text = &self.texts[begin..end];
            begin = end;
            (*present != 0).then_some(text)
        })
    }

    fn is_utf8(&self) -> bool {
        self.kind != ColumnKind::Text || self.cells().flatten().all(|text| std::str::from_utf8(text).is_ok())
    }
}

/// Writes a column of values of fixed width.
pub(crate) fn put<T, const N: usize>(
    out: &mut Vec<u8>,
    kind: ColumnKind,
    values: impl Iterator<Item = Option<T>> + Clone,
    bytes: impl Fn(T) -> [u8; N],
) {
    out.push(code(kind));
    out.extend(values.clone().map(|value| u8::from(value.is_some())));
    values.for_each(|value| out.extend_from_slice(&value.map_or([0; N], &bytes)));
}

/// Writes a column of texts; `None` when they exceed the length of a frame.
pub(crate) fn put_texts<'t>(out: &mut Vec<u8>, values: impl Iterator<Item = Option<&'t str>> + Clone) -> Option<()> {
    out.push(code(ColumnKind::Text));
    out.extend(values.clone().map(|value| u8::from(value.is_some())));
    let mut end = 0_u32;
    for value in values.clone() {
        end = end.checked_add(u32::try_from(value.unwrap_or_default().len()).ok()?)?;
        out.extend_from_slice(&end.to_le_bytes());
    }
    values.flatten().for_each(|text| out.extend_from_slice(text.as_bytes()));
    Some(())
}

/// Returns the code of a kind.
pub(crate) fn code(kind: ColumnKind) -> u8 {
    match kind {
        ColumnKind::Boolean => 0,
        ColumnKind::Integer => 1,
        ColumnKind::Number => 2,
        ColumnKind::Text => 3,
    }
}

/// Returns the kind of a code.
pub(crate) fn kind(code: u8) -> Option<ColumnKind> {
    [ColumnKind::Boolean, ColumnKind::Integer, ColumnKind::Number, ColumnKind::Text].get(usize::from(code)).copied()
}

/// Returns the number of bytes per row, beside the texts.
pub(crate) fn width(kind: ColumnKind) -> usize {
    match kind {
        ColumnKind::Boolean => 1,
        ColumnKind::Integer | ColumnKind::Number => 8,
        ColumnKind::Text => 4,
    }
}

/// Takes `count` bytes from the front.
pub(crate) fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, behind) = rest.split_at_checked(count)?;
    *rest = behind;
    Some(first)
}

fn end(bytes: &[u8]) -> usize {
    bytes.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

#[cfg(test)]
mod tests {
    use salver_model::functions::ColumnKind;

    use super::{WireColumn, put, put_texts};

    #[test]
    fn columns_come_back_as_they_went() {
        let mut out = Vec::new();
        put(&mut out, ColumnKind::Boolean, [Some(true), None, Some(false)].into_iter(), |truth| [u8::from(truth)]);
        put(&mut out, ColumnKind::Integer, [Some(i64::MIN), Some(7), None].into_iter(), i64::to_le_bytes);
        put(&mut out, ColumnKind::Number, [Some(0.5), None, Some(-1e300)].into_iter(), f64::to_le_bytes);
        put_texts(&mut out, [Some("é"), None, Some("")].into_iter()).unwrap();
        let mut rest = &out[..];
        let mut next = || WireColumn::read(&mut rest, 3).unwrap();
        assert_eq!(next().booleans().collect::<Vec<_>>(), [Some(true), None, Some(false)]);
        assert_eq!(next().integers().collect::<Vec<_>>(), [Some(i64::MIN), Some(7), None]);
        assert_eq!(next().numbers().collect::<Vec<_>>(), [Some(0.5), None, Some(-1e300)]);
        assert_eq!(next().texts().collect::<Vec<_>>(), [Some("é"), None, Some("")]);
        assert!(rest.is_empty());
        assert_eq!(out[..7], [0, 1, 0, 1, 1, 0, 0]);
    }

    /// Checks that truncated columns, decreasing ends and invalid texts are refused without a panic.
    #[test]
    fn what_is_no_column() {
        let mut out = Vec::new();
        put_texts(&mut out, [Some("é"), Some("b")].into_iter()).unwrap();
        for end in 0..out.len() {
            assert!(WireColumn::read(&mut &out[..end], 2).is_none(), "{end}");
        }
        assert!(WireColumn::read(&mut &out[..], usize::MAX).is_none());
        let (mut back, mut torn, mut strange) = (out.clone(), out.clone(), out);
        back[7] = 1;
        torn[3] = 1;
        strange[0] = 4;
        for wrong in [back, torn, strange] {
            assert!(WireColumn::read(&mut &wrong[..], 2).is_none());
        }
    }
}
