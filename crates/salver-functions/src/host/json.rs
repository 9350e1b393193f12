//! Serialization of R values as JSON.
//!
//! Vectors of one element without names are scalars unless wrapped by `I()`; other vectors arrays; named lists objects;
//! data frames arrays of row objects, with names of rows as `_row`; matrices and arrays nested arrays; factors text;
//! dates and times ISO 8601 text; what is missing or not a number null; raw vectors base64.

use salver_model::limits::FUNCTION_DEPTH_MAX;

use super::value::{Attribute, Inside, MISSING, RValueKind, Value};

mod scalar;

/// Reason why a value has no JSON form.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unfit {
    /// It is or contains something that is not data: a function, an environment.
    Kind,
    /// Lists are nested too deeply.
    Depth,
    /// Wrong length of a data frame's columns, or of a matrix.
    Shape,
    /// It is not a vector with one value for each row.
    Rows,
}

impl Unfit {
    /// Returns the description for the log.
    pub(super) fn told(self) -> &'static str {
        match self {
            Self::Kind => "the function gave something that is not data, such as a function or environment",
            Self::Depth => "the function gave lists that are nested too deep",
            Self::Shape => "the function gave a data frame or matrix whose parts have different lengths",
            Self::Rows => "the function did not give a vector with one value for each row",
        }
    }
}

/// Vector whose elements are written one by one.
#[derive(Clone, Copy)]
enum JsonVector<'x> {
    Logicals(&'x [i32]),
    Integers(&'x [i32]),
    Doubles(&'x [f64]),
    Integers64(&'x [f64]),
    Dates(&'x [f64]),
    DatesInteger(&'x [i32]),
    Times(&'x [f64]),
    TimesInteger(&'x [i32]),
    Texts(Value<'x>),
    Factor(&'x [i32], Value<'x>),
    Bytes(&'x [u8]),
    List(Value<'x>),
}

/// Writes a value.
pub(super) fn write(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>) -> Result<(), Unfit> {
    any(inside, out, value, 0)
}

/// Writes for each row the length of a text and the text: for one row the value itself, for several each element of a
/// vector as it would be written alone.
pub(super) fn write_rows(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>, rows: usize) -> Result<(), Unfit> {
    if rows == 1 {
        return text_of(out, |out| write(inside, out, value));
    }
    if inside.kind(value) == RValueKind::Null {
        return Err(Unfit::Rows);
    }
    let column = JsonVector::of(inside, value)?;
    let dimensions = inside.length(inside.attribute(value, Attribute::Dimensions));
    if column.length(inside) != rows || dimensions > 1 || matches!(column, JsonVector::List(_) | JsonVector::Bytes(_)) {
        return Err(Unfit::Rows);
    }
    let names = inside.attribute(value, Attribute::Names);
    let has_names = inside.kind(names) == RValueKind::Text;
    let boxed = inside.has_class(value) && inside.inherits(value, c"AsIs");
    for row in 0..rows {
        text_of(out, |out| {
            if has_names {
                out.push(b'{');
                name(inside, out, names, row, 1);
                column.put(inside, out, row, 0)?;
                out.push(b'}');
                Ok(())
            } else if boxed {
                array(inside, out, column, row..=row, 0)
            } else {
                column.put(inside, out, row, 0)
            }
        })?;
    }
    Ok(())
}

/// Writes a text with its length before it.
fn text_of(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unfit>) -> Result<(), Unfit> {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out)?;
    // A longer one does not fit into a frame either, which is checked at the end.
    let length = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Writes a value at this nesting depth.
fn any(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>, depth: u32) -> Result<(), Unfit> {
    if depth > FUNCTION_DEPTH_MAX {
        return Err(Unfit::Depth);
    }
    if inside.kind(value) == RValueKind::Null {
        out.extend_from_slice(b"null");
        return Ok(());
    }
    inside.scope(|inside| {
        if inside.has_class(value) && inside.inherits(value, c"data.frame") {
            return frame(inside, out, value, depth);
        }
        if inside.has_class(value) && inside.inherits(value, c"POSIXlt") {
            let convert = inside.evaluate(c"base::as.POSIXct");
            let time = inside.call(convert, &[value]).ok_or(Unfit::Kind)?;
            return any(inside, out, time, depth + 1);
        }
        let column = JsonVector::of(inside, value)?;
        let names = inside.attribute(value, Attribute::Names);
        if inside.kind(names) == RValueKind::Text && !matches!(column, JsonVector::Bytes(_)) {
            return object(inside, out, column, distinct(inside, names), depth);
        }
        let dimensions = inside.attribute(value, Attribute::Dimensions);
        if inside.length(dimensions) >= 2 && !matches!(column, JsonVector::Bytes(_)) {
            return matrix(inside, out, column, inside.numbers(dimensions), depth);
        }
        let boxed = inside.has_class(value) && inside.inherits(value, c"AsIs");
        match column {
            JsonVector::Bytes(bytes) => scalar::base64(out, bytes),
            JsonVector::List(_) => array(inside, out, column, 0..column.length(inside), depth)?,
            _ if column.length(inside) == 1 && !boxed => column.put(inside, out, 0, depth)?,
            _ => array(inside, out, column, 0..column.length(inside), depth)?,
        }
        Ok(())
    })
}

/// Writes elements in brackets.
fn array(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    column: JsonVector<'_>,
    indices: impl Iterator<Item = usize>,
    depth: u32,
) -> Result<(), Unfit> {
    out.push(b'[');
    for (count, index) in indices.enumerate() {
        if count > 0 {
            out.push(b',');
        }
        column.put(inside, out, index, depth)?;
    }
    out.push(b']');
    Ok(())
}

/// Writes named elements in braces. An element without a name gets its index, counted from one.
fn object(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    column: JsonVector<'_>,
    names: Value<'_>,
    depth: u32,
) -> Result<(), Unfit> {
    out.push(b'{');
    for index in 0..column.length(inside) {
        if index > 0 {
            out.push(b',');
        }
        name(inside, out, names, index, index + 1);
        column.put(inside, out, index, depth)?;
    }
    out.push(b'}');
    Ok(())
}

/// Returns the names, of which none comes twice: as jsonlite numbers those that do.
fn distinct<'x>(inside: &'x Inside<'_>, names: Value<'x>) -> Value<'x> {
    if inside.kind(names) != RValueKind::Text || !inside.has_repeated(names) {
        return names;
    }
    let number = inside.evaluate(
        c"function(names) {
            nameless <- is.na(names) | !nzchar(names)
            names[nameless] <- which(nameless)
            base::make.unique(names)
        }",
    );
    inside.call(number, &[names]).unwrap_or(names)
}

/// Writes a member's name and the colon. One without a name gets its index.
fn name(inside: &Inside<'_>, out: &mut Vec<u8>, names: Value<'_>, index: usize, place: usize) {
    let written = inside.with_string(names, index, |name| {
        let some = !name.is_empty();
        if some {
            scalar::text(out, name);
        }
        some
    });
    if written != Some(true) {
        out.push(b'"');
        scalar::integer(out, place as i64);
        out.push(b'"');
    }
    out.push(b':');
}

/// Writes the rows of a data frame.
fn frame(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>, depth: u32) -> Result<(), Unfit> {
    let rows = Rows::of(inside, value, depth)?;
    out.push(b'[');
    for row in 0..rows.count {
        if row > 0 {
            out.push(b',');
        }
        rows.write(inside, out, row, depth)?;
    }
    out.push(b']');
    Ok(())
}

/// Rows of a data frame. An error of R may leave this without dropping it, so that it owns nothing.
#[derive(Clone, Copy)]
struct Rows<'x> {
    count: usize,
    names: Value<'x>,
    columns: &'x [Result<Column<'x>, Unfit>],
    /// Names of the rows, unless they are only numbers.
    row_names: Option<Value<'x>>,
}

/// Column of a data frame.
#[derive(Clone, Copy)]
enum Column<'x> {
    Vector(JsonVector<'x>),
    /// Matrix or array, whose first dimension are the rows.
    Array(JsonVector<'x>, &'x [i32]),
    Frame(Rows<'x>),
}

impl<'x> Rows<'x> {
    fn of(inside: &'x Inside<'_>, value: Value<'x>, depth: u32) -> Result<Self, Unfit> {
        if depth > FUNCTION_DEPTH_MAX {
            return Err(Unfit::Depth);
        }
        let row_names = inside.attribute(value, Attribute::RowNames);
        let count = inside.length(row_names);
        let columns =
            inside.array(inside.length(value), |index| Column::of(inside, inside.element(value, index), count, depth));
        let row_names = (inside.kind(row_names) == RValueKind::Text).then_some(row_names);
        let names = distinct(inside, inside.attribute(value, Attribute::Names));
        Ok(Self { count, names, columns, row_names })
    }

    /// Writes a row, as jsonlite does: with its name as `_row`.
    fn write(&self, inside: &Inside<'_>, out: &mut Vec<u8>, row: usize, depth: u32) -> Result<(), Unfit> {
        out.push(b'{');
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            name(inside, out, self.names, index, index + 1);
            match (*column)? {
                Column::Vector(column) => column.put(inside, out, row, depth)?,
                Column::Array(column, dimensions) => {
                    nested(inside, out, column, &dimensions[1..], (row, self.count), depth)?;
                }
                Column::Frame(rows) => rows.write(inside, out, row, depth + 1)?,
            }
        }
        if let Some(row_names) = self.row_names {
            out.extend_from_slice(if self.columns.is_empty() { &b"\"_row\":"[..] } else { b",\"_row\":" });
            text(inside, out, row_names, row);
        }
        out.push(b'}');
        Ok(())
    }
}

impl<'x> Column<'x> {
    fn of(inside: &'x Inside<'_>, value: Value<'x>, rows: usize, depth: u32) -> Result<Self, Unfit> {
        if inside.has_class(value) && inside.inherits(value, c"data.frame") {
            let inner = Rows::of(inside, value, depth + 1)?;
            return if inner.count == rows { Ok(Self::Frame(inner)) } else { Err(Unfit::Shape) };
        }
        let column = JsonVector::of(inside, value)?;
        // There may be more columns than R lets anybody protect.
        if inside.scope(|inside| inside.length(inside.attribute(value, Attribute::Dimensions))) < 2 {
            return if column.length(inside) == rows { Ok(Self::Vector(column)) } else { Err(Unfit::Shape) };
        }
        let dimensions = inside.numbers(inside.attribute(value, Attribute::Dimensions));
        let first = usize::try_from(dimensions[0]).map_err(|_| Unfit::Shape)?;
        if first != rows || elements(dimensions, depth)? != column.length(inside) {
            return Err(Unfit::Shape);
        }
        Ok(Self::Array(column, dimensions))
    }
}

/// Writes a matrix or an array, which is stored in column-major order: arrays of its last dimension, in arrays.
fn matrix(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    column: JsonVector<'_>,
    dimensions: &[i32],
    depth: u32,
) -> Result<(), Unfit> {
    if elements(dimensions, depth)? != column.length(inside) {
        return Err(Unfit::Shape);
    }
    nested(inside, out, column, dimensions, (0, 1), depth)
}

/// Returns the number of elements of an array.
fn elements(dimensions: &[i32], depth: u32) -> Result<usize, Unfit> {
    if u32::try_from(dimensions.len()).unwrap_or(u32::MAX).saturating_add(depth) > FUNCTION_DEPTH_MAX {
        return Err(Unfit::Depth);
    }
    let all = dimensions.iter().try_fold(1_usize, |all, size| all.checked_mul(usize::try_from(*size).ok()?));
    all.ok_or(Unfit::Shape)
}

/// Writes the part of an array that begins at an index, and in which the first of these dimensions has this stride.
fn nested(
    inside: &Inside<'_>,
    out: &mut Vec<u8>,
    column: JsonVector<'_>,
    dimensions: &[i32],
    (at, stride): (usize, usize),
    depth: u32,
) -> Result<(), Unfit> {
    let Some((size, inner)) = dimensions.split_first() else { return column.put(inside, out, at, depth) };
    let size = size.cast_unsigned() as usize;
    out.push(b'[');
    for index in 0..size {
        if index > 0 {
            out.push(b',');
        }
        nested(inside, out, column, inner, (at + index * stride, stride * size), depth)?;
    }
    out.push(b']');
    Ok(())
}

impl<'x> JsonVector<'x> {
    /// Returns the representation of this vector's elements.
    fn of(inside: &'x Inside<'_>, value: Value<'x>) -> Result<Self, Unfit> {
        let class = |name| inside.has_class(value) && inside.inherits(value, name);
        Ok(match inside.kind(value) {
            RValueKind::Logical => Self::Logicals(inside.numbers(value)),
            RValueKind::Integer if class(c"factor") => {
                Self::Factor(inside.numbers(value), inside.attribute(value, Attribute::Levels))
            }
            RValueKind::Integer if class(c"Date") => Self::DatesInteger(inside.numbers(value)),
            RValueKind::Integer if class(c"POSIXct") => Self::TimesInteger(inside.numbers(value)),
            RValueKind::Integer => Self::Integers(inside.numbers(value)),
            RValueKind::Double if class(c"Date") => Self::Dates(inside.reals(value)),
            RValueKind::Double if class(c"POSIXct") => Self::Times(inside.reals(value)),
            RValueKind::Double if class(c"integer64") => Self::Integers64(inside.reals(value)),
            RValueKind::Double => Self::Doubles(inside.reals(value)),
            RValueKind::Text => Self::Texts(value),
            RValueKind::Raw => Self::Bytes(inside.bytes(value)),
            RValueKind::List => Self::List(value),
            RValueKind::Complex => {
                let convert = inside.evaluate(c"base::as.character");
                Self::Texts(inside.call(convert, &[value]).ok_or(Unfit::Kind)?)
            }
            RValueKind::Null | RValueKind::Symbol | RValueKind::Other => return Err(Unfit::Kind),
        })
    }

    /// Returns the number of elements.
    fn length(self, inside: &Inside<'_>) -> usize {
        match self {
            Self::Logicals(numbers)
            | Self::Integers(numbers)
            | Self::DatesInteger(numbers)
            | Self::TimesInteger(numbers)
            | Self::Factor(numbers, _) => numbers.len(),
            Self::Doubles(numbers) | Self::Integers64(numbers) | Self::Dates(numbers) | Self::Times(numbers) => {
                numbers.len()
            }
            Self::Texts(value) | Self::List(value) => inside.length(value),
            Self::Bytes(bytes) => bytes.len(),
        }
    }

    /// Writes an element.
    fn put(self, inside: &Inside<'_>, out: &mut Vec<u8>, index: usize, depth: u32) -> Result<(), Unfit> {
        let whole = |number: i32| if number == MISSING { f64::NAN } else { f64::from(number) };
        match self {
            Self::Logicals(numbers) => match numbers[index] {
                MISSING => out.extend_from_slice(b"null"),
                0 => out.extend_from_slice(b"false"),
                _ => out.extend_from_slice(b"true"),
            },
            Self::Integers(numbers) if numbers[index] == MISSING => out.extend_from_slice(b"null"),
            Self::Integers(numbers) => scalar::integer(out, i64::from(numbers[index])),
            Self::Doubles(numbers) => scalar::double(out, numbers[index]),
            Self::Integers64(numbers) => match numbers[index].to_bits().cast_signed() {
                i64::MIN => out.extend_from_slice(b"null"),
                number => scalar::integer(out, number),
            },
            Self::Dates(numbers) => scalar::date(out, numbers[index]),
            Self::DatesInteger(numbers) => scalar::date(out, whole(numbers[index])),
            Self::Times(numbers) => scalar::time(out, numbers[index]),
            Self::TimesInteger(numbers) => scalar::time(out, whole(numbers[index])),
            Self::Texts(value) => text(inside, out, value, index),
            Self::Factor(numbers, levels) => match usize::try_from(numbers[index]) {
                Ok(level) if level >= 1 && level <= inside.length(levels) => text(inside, out, levels, level - 1),
                _ => out.extend_from_slice(b"null"),
            },
            Self::Bytes(bytes) => scalar::integer(out, i64::from(bytes[index])),
            Self::List(value) => return any(inside, out, inside.element(value, index), depth + 1),
        }
        Ok(())
    }
}

/// Writes one text of a character vector.
fn text(inside: &Inside<'_>, out: &mut Vec<u8>, value: Value<'_>, index: usize) {
    if inside.with_string(value, index, |bytes| scalar::text(out, bytes)).is_none() {
        out.extend_from_slice(b"null");
    }
}
