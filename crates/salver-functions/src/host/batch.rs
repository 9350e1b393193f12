//! Batches: columns as vectors of R, a function called over them, and its values as a column.

use std::io;
use std::os::unix::net::UnixStream;

use salver_model::functions::ColumnKind;

use super::failure::{OUT_OF_MEMORY, USER_CODE, WRONG_ARGUMENT};
use super::frame;
use super::session::RSession;
use super::start::{self, Runtime};
use super::value::{Inside, MISSING, RValueKind, Value};
use crate::wire::columns::{self, WireColumn};

/// Largest magnitude up to which integers and doubles are equivalent.
const WHOLE_BOUND: f64 = 9_007_199_254_740_992.0;

/// Decoded batch.
struct RBatch<'a> {
    endpoint: u32,
    rows: usize,
    wanted: ColumnKind,
    columns: Vec<WireColumn<'a>>,
}

impl<'a> RBatch<'a> {
    /// Decodes a payload; `None` when it is not a batch.
    fn read(mut payload: &'a [u8]) -> Option<Self> {
        let rest = &mut payload;
        let mut number = || columns::take(rest, 4)?.try_into().map(u32::from_le_bytes).ok();
        let (endpoint, rows) = (number()?, number()? as usize);
        let [wanted, count] = columns::take(rest, 2)?.try_into().ok()?;
        let columns: Option<Vec<_>> = (0..count).map(|_| WireColumn::read(rest, rows)).collect();
        Some(Self { endpoint, rows, wanted: columns::kind(wanted)?, columns: columns? })
    }
}

impl RBatch<'_> {
    /// Returns the first row with a text that R can't have.
    fn unfit(&self) -> Option<usize> {
        let texts = self.columns.iter().filter(|column| column.kind == ColumnKind::Text);
        let rows =
            texts.filter_map(|column| column.texts().position(|text| text.is_some_and(|text| text.contains('\0'))));
        rows.min()
    }
}

/// Context of a guarded function. It owns everything that is allocated.
struct BatchContext<'a> {
    runtime: Runtime,
    batch: RBatch<'a>,
    /// Frame being written.
    out: &'a mut Vec<u8>,
    outcome: BatchOutcome,
}

/// Result of a batch.
enum BatchOutcome {
    /// R returned without a result.
    Nothing,
    /// The column is in the frame.
    Done,
    /// User code raised an error.
    Raised(String),
    /// Row whose value has the wrong type, and the type.
    Unfit(usize, &'static str),
    /// Wrong number of values.
    Count(usize),
}

/// Answers one batch.
///
/// # Errors
/// Returns an error when the connection breaks, or the payload is not a batch.
pub(super) fn answer(
    session: &RSession,
    runtime: Runtime,
    (stream, out): (&UnixStream, &mut Vec<u8>),
    payload: &[u8],
) -> io::Result<()> {
    let batch = RBatch::read(payload).ok_or(io::ErrorKind::InvalidData)?;
    let (rows, wanted) = (batch.rows, batch.wanted);
    if let Some(row) = batch.unfit() {
        let message = format!("can't take the text in row {} of {rows}: it has the character U+0000", row + 1);
        frame::begin(out, b'X');
        out.push(WRONG_ARGUMENT);
        frame::put(out, message.as_bytes());
        frame::put(out, b"");
        return frame::send(&mut &*stream, out, &[]);
    }
    let mut exchange = BatchContext { runtime, batch, out, outcome: BatchOutcome::Nothing };
    let result = session.enter(&mut exchange, serve);
    let BatchContext { out, outcome, .. } = exchange;
    let mut memory = false;
    let message = match (outcome, result) {
        (BatchOutcome::Done, _) => return frame::send(&mut &*stream, out, &[]),
        (BatchOutcome::Raised(message), _) => {
            memory = session.is_memory(&message);
            format!("raised an error: {message}")
        }
        (BatchOutcome::Unfit(row, gave), _) => {
            format!("gave {gave} where {} was asked for, in row {} of {rows}", word(wanted), row + 1)
        }
        (BatchOutcome::Count(count), _) => format!("gave {count} values for {rows} rows"),
        (BatchOutcome::Nothing, Err(raised)) => {
            start::forget(session, runtime);
            memory = session.is_memory(&raised.0);
            format!("was left by R: {}", raised.0)
        }
        (BatchOutcome::Nothing, Ok(())) => "gave nothing".to_owned(),
    };
    frame::begin(out, b'X');
    out.push(if memory { OUT_OF_MEMORY } else { USER_CODE });
    frame::put(out, if memory { b"ran out of memory" } else { message.as_bytes() });
    frame::put(out, if memory { message.as_bytes() } else { b"" });
    frame::send(&mut &*stream, out, &[])
}

fn word(wanted: ColumnKind) -> &'static str {
    match wanted {
        ColumnKind::Boolean => "true or false",
        ColumnKind::Integer => "a whole number",
        ColumnKind::Number => "a number",
        ColumnKind::Text => "a text",
    }
}

/// Guarded: calls the function over the columns, and writes the result.
fn serve(inside: &Inside<'_>, exchange: &mut BatchContext<'_>) -> Option<()> {
    let batch = &exchange.batch;
    let list = inside.vector(RValueKind::List, batch.columns.len());
    for (index, column) in batch.columns.iter().enumerate() {
        inside.set(list, index, |inside| vector(inside, *column));
    }
    // The numbers fit, since a vector of this length would not otherwise.
    let endpoint = inside.integer(batch.endpoint.cast_signed().saturating_add(1));
    let rows = inside.integer(i32::try_from(batch.rows).unwrap_or(i32::MAX));
    let text = inside.logical(batch.wanted == ColumnKind::Text);
    let function = Value::of(exchange.runtime.call_columns);
    let given = inside.call(function, &[endpoint, list, rows, text])?;
    let (value, raised) = (inside.element(given, 0), inside.element(given, 1));
    if inside.kind(raised) == RValueKind::Text {
        let outcome = &mut exchange.outcome;
        inside
            .with_string(raised, 0, |text| *outcome = BatchOutcome::Raised(String::from_utf8_lossy(text).into_owned()));
        return Some(());
    }
    exchange.outcome = match write(inside, exchange.out, value, batch) {
        Ok(()) => BatchOutcome::Done,
        Err(unfit) => unfit,
    };
    Some(())
}

/// Converts a column to a vector. Integers out of the range of R's make it a vector of doubles.
fn vector<'x>(inside: &'x Inside<'_>, column: WireColumn<'_>) -> Value<'x> {
    let rows = column.rows();
    match column.kind {
        ColumnKind::Boolean => {
            inside.integers(RValueKind::Logical, rows, column.booleans().map(|truth| truth.map_or(MISSING, i32::from)))
        }
        ColumnKind::Integer => {
            let small = |number: i64| i32::try_from(number).ok().filter(|number| *number != MISSING);
            if column.integers().flatten().all(|number| small(number).is_some()) {
                let numbers = column.integers().map(|number| number.and_then(small).unwrap_or(MISSING));
                return inside.integers(RValueKind::Integer, rows, numbers);
            }
            #[expect(clippy::cast_precision_loss, reason = "R has no other number for it")]
            let double = |number: Option<i64>| number.map_or(Inside::missing_double(), |number| number as f64);
            inside.doubles(rows, column.integers().map(double))
        }
        ColumnKind::Number => {
            inside.doubles(rows, column.numbers().map(|number| number.unwrap_or(Inside::missing_double())))
        }
        ColumnKind::Text => {
            let vector = inside.vector(RValueKind::Text, rows);
            for (index, text) in column.texts().enumerate() {
                inside.set_text(vector, index, text);
            }
            vector
        }
    }
}

/// Writes the frame of a column from the function's result: a vector, or a list with the result of each row.
fn write(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>, batch: &RBatch<'_>) -> Result<(), BatchOutcome> {
    let (rows, wanted) = (batch.rows, batch.wanted);
    let is_list = inside.kind(value) == RValueKind::List;
    if inside.length(value) != rows {
        return Err(BatchOutcome::Count(inside.length(value)));
    }
    frame::begin(out, b'B');
    out.push(columns::code(wanted));
    let present = out.len();
    out.resize(present + rows, 1);
    let ends = out.len();
    if wanted == ColumnKind::Text {
        out.resize(ends + 4 * rows, 0);
    }
    let texts = out.len();
    for row in 0..rows {
        let (cell, index) = if is_list { (inside.element(value, row), 0) } else { (value, row) };
        if is_list && inside.kind(cell) != RValueKind::Null && inside.length(cell) != 1 {
            return Err(BatchOutcome::Unfit(row, "a vector that has not one value"));
        }
        if !put(inside, out, cell, index, wanted).map_err(|gave| BatchOutcome::Unfit(row, gave))? {
            out[present + row] = 0;
        }
        if wanted == ColumnKind::Text {
            let end = u32::try_from(out.len() - texts).map_err(|_| BatchOutcome::Unfit(row, "texts of over 4 GiB"))?;
            out[ends + 4 * row..ends + 4 * row + 4].copy_from_slice(&end.to_le_bytes());
        }
    }
    if frame::fits(out, &[]) { Ok(()) } else { Err(BatchOutcome::Unfit(rows, "values of over 4 GiB")) }
}

/// Writes one value of a vector; returns whether it is present, or its type when that is wrong.
fn put(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    cell: Value<'_>,
    index: usize,
    wanted: ColumnKind,
) -> Result<bool, &'static str> {
    let kind = inside.kind(cell);
    if kind != RValueKind::Null && inside.has_class(cell) {
        return Err("an object of a class");
    }
    let number = match kind {
        RValueKind::Null => None,
        RValueKind::Logical | RValueKind::Integer => {
            inside.numbers(cell).get(index).copied().filter(|number| *number != MISSING).map(f64::from)
        }
        RValueKind::Double => {
            inside.reals(cell).get(index).copied().filter(|number| !Inside::is_missing_double(*number))
        }
        RValueKind::Text => return put_text(inside, out, cell, index, wanted),
        _ => return Err("something that is no plain value"),
    };
    match (wanted, kind, number) {
        (ColumnKind::Text, _, None) => {}
        (ColumnKind::Boolean, _, None) => out.push(0),
        (_, _, None) => out.extend_from_slice(&[0; 8]),
        (ColumnKind::Boolean, RValueKind::Logical, Some(number)) => out.push(u8::from(number != 0.0)),
        (ColumnKind::Number, _, Some(number)) => out.extend_from_slice(&number.to_le_bytes()),
        (ColumnKind::Integer, RValueKind::Integer | RValueKind::Double, Some(number)) => {
            if number.fract() != 0.0 || number.abs() > WHOLE_BOUND {
                return Err("a number that is not whole or is too large");
            }
            #[expect(clippy::cast_possible_truncation, reason = "just looked at")]
            out.extend_from_slice(&(number as i64).to_le_bytes());
        }
        (_, RValueKind::Logical, _) => return Err("true or false"),
        _ => return Err("a number"),
    }
    Ok(number.is_some())
}

fn put_text(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    cell: Value<'_>,
    index: usize,
    wanted: ColumnKind,
) -> Result<bool, &'static str> {
    let put = |text: &[u8]| match std::str::from_utf8(text) {
        Ok(_) => out.extend_from_slice(text),
        // User code declared a wrong encoding.
        Err(_) => out.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
    };
    if wanted == ColumnKind::Text {
        return Ok(inside.with_string(cell, index, put).is_some());
    }
    if inside.with_string(cell, index, |_| ()).is_some() {
        return Err("a text");
    }
    out.resize(out.len() + columns::width(wanted), 0);
    Ok(false)
}
