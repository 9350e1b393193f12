//! Detects the dialect of a CSV file from its first lines: the delimiter, the quote, records before the table, and
//! whether it has a header.

use std::cmp::Reverse;

use salver_model::limits::CSV_RECORDS_BEFORE_MAX;
use salver_model::spec::{CsvOptions, DatasetSpec};

use super::column_inference::ColumnInference;
use super::split::{Block, Dialect, Splitter, View};
use crate::infer::TextKind;

/// Records from which the dialect is detected.
const RECORDS: usize = 50;
/// Records from which a header is detected: inferring types takes more rows.
const TYPED_RECORDS: usize = 1_000;

/// The beginning of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether this is the whole file.
    pub(super) is_whole: bool,
}

/// Score of a dialect for the first records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Percentage of records that are as wide as the first.
    even: usize,
    /// Number of records before the table; fewer are better.
    before: Reverse<usize>,
    /// The width of the first record; below two, the score is zero.
    width: usize,
}

/// Returns the delimiter that the first line names as `sep=;`, as spreadsheets write it for each other.
pub(super) fn named(head: Head<'_>) -> Option<u8> {
    let line = head.bytes.split(|byte| *byte == b'\n').next()?;
    match line.strip_suffix(b"\r").unwrap_or(line) {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter @ (b'|' | b'\t' | b';' | b',')] => Some(*delimiter),
        _ => None,
    }
}

/// Returns the delimiter that splits the first records most evenly; a comma if none splits them. It is no comma where
/// numbers are declared to have one, or where another delimiter leaves numbers as the only places of commas.
pub(super) fn delimiter(head: Head<'_>, dialect: Dialect, csv: &CsvOptions) -> u8 {
    let by = |delimiter: &u8| Dialect { delimiter: *delimiter, ..dialect };
    // The last of equals wins, so the most common delimiter is last.
    let others = [b'|', b'\t', b';'];
    let other = others.into_iter().max_by_key(|delimiter| score(head, by(delimiter))).unwrap_or(b';');
    let scored = score(head, by(&other));
    let is_even = scored.even == 100;
    if csv.decimal == Some(',') || is_even && has_decimal_commas(head, by(&other)) || scored > score(head, by(&b',')) {
        other
    } else {
        b','
    }
}

/// Returns whether there are commas behind the first record, and each stands in a number: `1.234,5`.
fn has_decimal_commas(head: Head<'_>, dialect: Dialect) -> bool {
    let block = records(head, dialect, RECORDS);
    let Some(view) = block.view() else { return false };
    let fields = (1..block.rows()).flat_map(|row| (0..view.width(row)).filter_map(move |at| view.field(row, at)));
    let mut with_commas = fields.map(|(text, _)| text.trim_ascii()).filter(|text| text.contains(',')).peekable();
    let is_number = |text: &str| {
        let (whole, rest) = text.trim_start_matches(['+', '-']).split_once(',').unwrap_or_default();
        let has_digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        has_digits(whole)
            && whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && has_digits(rest)
            && rest.bytes().all(|byte| byte.is_ascii_digit())
    };
    with_commas.peek().is_some() && with_commas.all(is_number)
}

/// Returns the quote of `dialect`, or `'` if that is clearly the quote; `None` if the dialect's quote is an ordinary
/// character.
pub(super) fn quote(head: Head<'_>, dialect: Dialect) -> Option<u8> {
    let usual = score(head, dialect);
    let by_apostrophe = Dialect { quote: Some(b'\''), ..dialect };
    let scored = score(head, by_apostrophe);
    let is_clear = wraps_a_column(head, dialect, b'\'') || usual.even < 100 && has_quoted(head, by_apostrophe);
    if is_clear && scored.even == 100 && scored >= usual {
        return by_apostrophe.quote;
    }
    let without = Dialect { quote: None, ..dialect };
    if is_torn(head, dialect) && score(head, without).even == 100 { None } else { dialect.quote }
}

/// Returns the number of records before the table, such as a title: those before the first record of the most frequent
/// width, if each of them is at most half as wide and all records after them have that width.
pub(super) fn before(head: Head<'_>, dialect: Dialect) -> usize {
    let block = records(head, dialect, RECORDS);
    block.view().map_or(0, |view| first_of_table(view, block.rows()))
}

fn first_of_table(view: View<'_>, rows: usize) -> usize {
    let widths: Vec<usize> = (0..rows).map(|row| view.width(row)).collect();
    let mut sorted = widths.clone();
    sorted.sort_unstable();
    // A single row is not a table.
    let Some(&[usual, _, ..]) = sorted.chunk_by(|a, b| a == b).max_by_key(|same| same.len()) else { return 0 };
    let first = widths.iter().position(|width| *width == usual).unwrap_or(0);
    let (before, table) = widths.split_at(first);
    let is_clear = before.iter().all(|width| width * 2 <= usual) && table.iter().all(|width| *width == usual);
    if first <= CSV_RECORDS_BEFORE_MAX && is_clear { first } else { 0 }
}

/// Returns whether the record after the first `before` is a header. It is, unless there are columns of types other than
/// text and its values fit them all. It also is if it has a name that the dataset declares, or if its numbers go up or
/// down by one, as the years of a table do. A single record is a header unless one of its values is not text.
pub(super) fn has_header(head: Head<'_>, dialect: Dialect, before: usize, spec: &DatasetSpec) -> bool {
    let block = records(head, dialect, before + TYPED_RECORDS + 1);
    let Some(view) = block.view().filter(|_| block.rows() > before) else { return true };
    let behind = if block.rows() == before + 1 { before } else { before + 1 };
    let value = |row: usize, column: usize| {
        let (text, _) = view.field(row, column)?;
        Some(text.trim_ascii()).filter(|text| !text.is_empty() && !spec.csv.null_tokens.iter().any(|null| null == text))
    };
    let (mut is_typed, mut is_blank, mut numbers) = (false, true, Vec::new());
    for column in 0..view.width(before) {
        let values = || (behind..block.rows()).filter_map(|row| value(row, column));
        let first = value(before, column);
        is_blank &= first.is_none();
        let is_asked_for =
            |name: &str| spec.schema.iter().any(|c| c.name == name) || spec.key.iter().any(|k| k == name);
        if first.is_some_and(is_asked_for) {
            return true;
        }
        let (kind, whole) =
            (kind_of(dialect, spec, values()), kind_of(dialect, spec, first.into_iter().chain(values())));
        // The first value may tell in which form the others are dates.
        if kind == TextKind::Null || whole == TextKind::Text && kind == TextKind::Text {
            continue;
        }
        if whole == TextKind::Text {
            return true;
        }
        is_typed = true;
        numbers.extend(first.map(str::parse::<i64>));
    }
    !is_typed || is_blank || is_a_series(&numbers)
}

/// Returns the kind of a column's values.
fn kind_of<'v>(dialect: Dialect, spec: &DatasetSpec, values: impl Iterator<Item = &'v str>) -> TextKind {
    let mut column = ColumnInference::new(&spec.csv, dialect.delimiter);
    for value in values {
        column.see(value, 0);
    }
    column.finish().map_or(TextKind::Text, |found| found.kind)
}

fn is_a_series<E>(numbers: &[Result<i64, E>]) -> bool {
    let step = |pair: &[Result<i64, E>]| match pair {
        [Ok(a), Ok(b)] => b.checked_sub(*a),
        _ => None,
    };
    let mut steps = numbers.windows(2).map(step);
    match steps.next() {
        Some(Some(first @ (1 | -1))) => steps.all(|step| step == Some(first)),
        _ => false,
    }
}

fn score(head: Head<'_>, dialect: Dialect) -> Score {
    let block = records(head, dialect, RECORDS);
    let Some(view) = block.view().filter(|_| block.rows() > 0) else { return Score::default() };
    let first = first_of_table(view, block.rows());
    let width = view.width(first);
    if width < 2 {
        return Score::default();
    }
    let even = (first..block.rows()).filter(|row| view.width(*row) == width).count();
    Score { even: even * 100 / (block.rows() - first), before: Reverse(first), width }
}

/// Returns whether a quote is opened that is never closed, or only on a later line, with uneven records as the result.
fn is_torn(head: Head<'_>, dialect: Dialect) -> bool {
    let block = records(head, dialect, RECORDS);
    let Some(view) = block.view().filter(|_| block.rows() > 0) else { return true };
    let mut fields = (0..block.rows()).flat_map(|row| (0..view.width(row)).filter_map(move |at| view.field(row, at)));
    fields.any(|(text, is_quoted)| is_quoted && text.contains('\n')) && score(head, dialect).even < 100
}

/// Returns whether any field is quoted.
fn has_quoted(head: Head<'_>, dialect: Dialect) -> bool {
    let block = records(head, dialect, RECORDS);
    let Some(view) = block.view() else { return false };
    let mut fields = (0..block.rows()).flat_map(|row| (0..view.width(row)).filter_map(move |at| view.field(row, at)));
    fields.any(|(_, is_quoted)| is_quoted)
}

/// Returns whether `mark` encloses every value of a column that has values.
fn wraps_a_column(head: Head<'_>, dialect: Dialect, mark: u8) -> bool {
    let block = records(head, Dialect { quote: None, ..dialect }, RECORDS);
    let Some(view) = block.view().filter(|_| block.rows() > 1) else { return false };
    (0..view.width(0)).any(|column| is_wrapped(view, block.rows(), column, mark))
}

fn is_wrapped(view: View<'_>, rows: usize, column: usize, mark: u8) -> bool {
    let mark = char::from(mark);
    let mut values = (0..rows).filter_map(|row| view.field(row, column)).map(|(text, _)| text.trim_ascii());
    let wraps = |text: &str| text.len() > 1 && text.starts_with(mark) && text.ends_with(mark);
    // The first one may be a name without quotes.
    let _ = values.next();
    let mut values = values.filter(|text| !text.is_empty()).peekable();
    values.peek().is_some() && values.all(wraps)
}

/// Returns the first records; none if a quote is never closed.
fn records(head: Head<'_>, dialect: Dialect, records_max: usize) -> Block {
    let mut block = Block::default();
    let mut splitter = Splitter::new(dialect, 1);
    let used = splitter.feed(head.bytes, &mut block, records_max).unwrap_or(0);
    // The last line may be truncated, unless it is the only one.
    let has_all = used == head.bytes.len() && (head.is_whole || block.rows() == 0);
    if has_all && splitter.finish(&mut block).is_err() && head.is_whole {
        return Block::default();
    }
    block
}

#[cfg(test)]
mod tests {
    use salver_model::Name;
    use salver_model::spec::{CsvOptions, DatasetSpec};

    use super::{Dialect, Head, before, delimiter, has_header, quote};

    fn whole(text: &str) -> Head<'_> {
        Head { bytes: text.as_bytes(), is_whole: true }
    }

    fn dialect() -> Dialect {
        Dialect { delimiter: b',', quote: Some(b'"'), escape: None, comment: None }
    }

    #[test]
    fn names_or_rows() {
        let spec = DatasetSpec {
            csv: CsvOptions { null_tokens: vec!["NA".to_owned()], ..CsvOptions::default() },
            key: vec!["7".to_owned()],
            ..DatasetSpec::new(Name::new("t").unwrap(), Vec::new())
        };
        for (text, expected) in [
            ("id,name\n1,a\n2,b\n", true),
            ("1,a\n2,b\n3,c\n", false),
            // Any text may be the name of a text column.
            ("a,b\nc,d\ne,f\n", true),
            ("", true),
            // A single record.
            ("1,a\n", false),
            ("a,b\n", true),
            ("country,2019,2020\n", true),
            (",\n1,a\n", true),
            ("2026-01-31,1.5\n2026-02-01,2\n", false),
            ("1,true\n2.5,false\n", false),
            ("day,1.5\n2026-02-01,2\n", true),
            // Null in a numeric column.
            ("NA,a\n2,b\n", false),
            (",a\n2,b\n", false),
            // Years as column names, and numbered columns.
            ("country,2019,2020,2021\nDE,1,2,3\n", true),
            ("country,2021,2020\nDE,1,2\n", true),
            ("country,2019,2025\nDE,1,2\n", false),
            ("1,2,3\n4,7,5\n", true),
            ("7,x\n8,y\n", true),
            ("x,31.12.2026\ny,30.11.2026\n", false),
            ("x,day\ny,30.11.2026\n", true),
        ] {
            assert_eq!(has_header(whole(text), dialect(), 0, &spec), expected, "{text:?}");
        }
    }

    #[test]
    fn what_stands_before_a_table() {
        for (text, expected) in [
            ("a,b\n1,2\n", 0),
            ("Report\na,b\n1,2\n", 1),
            ("Report\nof, well, some kind\na,b,c,d,e,f\n1,2,3,4,5,6\n7,8,9,1,2,3\n", 2),
            // A header shorter than its rows, a note after the table, and one record of each width.
            ("a,b\n1,2,\n3,4,\n", 0),
            ("a,b\n1,2\n3,4\nin all\n", 0),
            ("Report\na,b\n", 0),
            ("a:b:c\n:1:x,y\n:1\n:1:x,y\n", 0),
            ("", 0),
        ] {
            assert_eq!(before(whole(text), dialect()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_first_row_in_another_form_is_no_header() {
        let spec = DatasetSpec::new(salver_model::Name::new("t").unwrap(), vec!["t.csv".to_owned()]);
        for (text, expected) in [
            ("1,5;x\n2;y\n3;z\n", false),
            ("1.234,5;x;u\n7,25;y;u\n8,5;z;u\n", false),
            ("31.01.2026;x\n01.02.2026;y\n02.02.2026;z\n", false),
            ("n;x\n1,5;y\n3;z\n", true),
            ("2020;x\n31.01.2026;y\n02.02.2026;z\n", true),
        ] {
            let dialect = Dialect { delimiter: b';', ..dialect() };
            assert_eq!(has_header(whole(text), dialect, 0, &spec), expected, "{text:?}");
        }
    }

    #[test]
    fn commas_of_numbers_do_not_delimit() {
        for (text, expected) in [
            ("Report, of a kind\na;b;c;d\n1;2;3;4\n5;6;7;8\n", b';'),
            ("name;betrag, EUR\nx;1234,5\ny;2345,5\nz;-3,25\n", b';'),
            ("1.234,5;a\n2,5;b\n", b';'),
            ("1.234,50\t2\n7,25\t3\n", b'\t'),
            ("1,5|2\n2,5|3\n", b'|'),
            ("a,b\n1,2\n3,4\n", b','),
            ("a,b\n1,x;y\n3,x;z\n", b','),
            ("a,b,c;d\n1,2,3;4\n5,6,7;8\n", b','),
        ] {
            assert_eq!(delimiter(whole(text), dialect(), &CsvOptions::default()), expected, "{text:?}");
        }
        let csv = CsvOptions { decimal: Some(','), ..CsvOptions::default() };
        assert_eq!(delimiter(whole("a;b\n1,5;2,5\n"), dialect(), &csv), b';');
    }

    #[test]
    fn what_stands_around_fields() {
        for (text, expected) in [
            ("a,b\n\"x,y\",1\n", Some(b'"')),
            ("a,b\n'x,y',1\n'z',2\n", Some(b'\'')),
            ("a,b\n'x',1\n'z',2\n", Some(b'\'')),
            // Apostrophes at one end, or inside, are text.
            ("a,b\n'tis,1\nit's,2\n", Some(b'"')),
            ("a,b\n'x',1\n'y,2\n", Some(b'"')),
            ("a,b\n\"Bob\" Ross,1\n\"Ann\" Lee,2\n", Some(b'"')),
            ("a,b\n5\" pipe,1\n6\" pipe,2\n", Some(b'"')),
            // Opened, and never closed.
            ("a,b\n\"x,1\ny,2\n", None),
            ("a,b\n\"x\",1\n\"y\",2,3\n", Some(b'"')),
            // One column.
            ("a,b\n1,2\n3,4\n\"Source: x, y\"\n", Some(b'"')),
            ("a,b\n\"x,1\ny,\"2\nz,3\n", None),
            ("of 2024\n\"a\"\n\"x,y\"\n\"x,z\"\n", Some(b'"')),
        ] {
            assert_eq!(quote(whole(text), dialect()), expected, "{text:?}");
        }
    }
}
