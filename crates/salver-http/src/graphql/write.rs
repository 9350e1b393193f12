//! Writes the columns of a batch as JSON objects, directly into the body.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType;
use salver_formats::json::ColumnWriter;
use salver_model::limits::GRAPHQL_BYTES_MAX;
use salver_model::{Error, Result};

use crate::graphql::plan::{FieldPlan, Part, RelationPlan, Selection, ValuePlan};
use crate::graphql::run::Joined;

/// A writer for the rows of one batch as objects.
#[derive(Debug)]
pub(crate) struct Objects<'a> {
    fields: Vec<(&'a [u8], FieldWriter<'a>)>,
}

/// A writer for the values of one field.
#[derive(Debug)]
enum FieldWriter<'a> {
    Constant(&'a [u8]),
    Column(ColumnWriter<'a>),
    Struct(Option<&'a NullBuffer>, Objects<'a>),
    List(List<'a>, Box<FieldWriter<'a>>),
    Group(Objects<'a>),
    Relation(&'a Joined, Option<Objects<'a>>, bool),
    /// A relation that could not be read; the reason is among the errors of the document.
    Failed,
}

#[derive(Debug)]
struct List<'a> {
    nulls: Option<&'a NullBuffer>,
    offsets: Offsets<'a>,
}

#[derive(Debug)]
enum Offsets<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
    Fixed(usize),
}

impl<'a> Objects<'a> {
    /// Creates a writer of `fields` over `columns`, with the rows of `relations` in `joined`.
    pub(crate) fn of(
        fields: &'a [FieldPlan],
        columns: &'a [ArrayRef],
        relations: &'a [RelationPlan],
        joined: &'a [Result<Joined>],
    ) -> Result<Self> {
        let cells = fields.iter().map(|field| {
            let cell = match &field.value {
                ValuePlan::Constant(bytes) => FieldWriter::Constant(bytes),
                ValuePlan::Column(index, part) => match columns.get(*index) {
                    Some(column) => FieldWriter::of(column, part)?,
                    None => return Err(Error::internal("an answer lacks a requested column")),
                },
                ValuePlan::Object(inner) => FieldWriter::Group(Self::of(inner, columns, &[], &[])?),
                ValuePlan::Relation(index) => match (&joined[*index], &relations[*index]) {
                    (Ok(rows), plan) => {
                        let Selection { fields, relations } = &*plan.child.selection;
                        let objects = match &rows.batch {
                            Some(batch) => Some(Self::of(fields, batch.columns(), relations, &rows.below)?),
                            None => None,
                        };
                        FieldWriter::Relation(rows, objects, plan.one)
                    }
                    (Err(_), _) => FieldWriter::Failed,
                },
            };
            Ok((field.prefix.as_slice(), cell))
        });
        Ok(Self { fields: cells.collect::<Result<_>>()? })
    }

    /// Writes row `row`.
    pub(crate) fn write(&self, row: usize, out: &mut Vec<u8>) {
        for (prefix, cell) in &self.fields {
            out.extend_from_slice(prefix);
            cell.write(row, out);
        }
        out.push(b'}');
    }
}

impl<'a> FieldWriter<'a> {
    fn of(column: &'a ArrayRef, part: &'a Part) -> Result<Self> {
        Ok(match part {
            Part::Whole => Self::Column(ColumnWriter::new(column)?),
            Part::Fields(fields) => {
                let array = column.as_struct_opt().ok_or_else(|| unexpected(column))?;
                Self::Struct(array.nulls(), Objects::of(fields, array.columns(), &[], &[])?)
            }
            Part::Items(item) => {
                let (offsets, values) = match column.data_type() {
                    DataType::List(_) => {
                        let list = column.as_list::<i32>();
                        (Offsets::Small(list.value_offsets()), list.values())
                    }
                    DataType::LargeList(_) => {
                        let list = column.as_list::<i64>();
                        (Offsets::Large(list.value_offsets()), list.values())
                    }
                    DataType::FixedSizeList(_, size) => {
                        (Offsets::Fixed(usize::try_from(*size).unwrap_or(0)), column.as_fixed_size_list().values())
                    }
                    _ => return Err(unexpected(column)),
                };
                Self::List(List { nulls: column.nulls(), offsets }, Box::new(Self::of(values, item)?))
            }
        })
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Constant(bytes) => out.extend_from_slice(bytes),
            Self::Column(writer) => writer.write(row, out),
            Self::Struct(nulls, _) | Self::List(List { nulls, .. }, _) if nulls.is_some_and(|n| n.is_null(row)) => {
                out.extend_from_slice(b"null");
            }
            Self::Struct(_, objects) | Self::Group(objects) => objects.write(row, out),
            Self::List(list, item) => {
                let range = match &list.offsets {
                    Offsets::Small(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
                    Offsets::Large(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
                    Offsets::Fixed(size) => row * size..(row + 1) * size,
                };
                write_list(range, out, |row, out| item.write(row, out));
            }
            Self::Relation(joined, Some(objects), true) => match joined.matches.of(row).first() {
                Some(row) => objects.write(*row as usize, out),
                None => out.extend_from_slice(b"null"),
            },
            Self::Relation(joined, Some(objects), false) => {
                let rows = joined.matches.of(row).iter().map(|row| *row as usize);
                write_list(rows, out, |row, out| objects.write(row, out));
            }
            Self::Relation(_, None, true) | Self::Failed => out.extend_from_slice(b"null"),
            Self::Relation(_, None, false) => out.extend_from_slice(b"[]"),
        }
    }
}

fn write_list(rows: impl Iterator<Item = usize>, out: &mut Vec<u8>, mut write: impl FnMut(usize, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, row) in rows.enumerate() {
        if out.len() > GRAPHQL_BYTES_MAX {
            // Rows of relations multiply. The caller refuses a body over the limit, so the truncation does no harm.
            return;
        }
        if index > 0 {
            out.push(b',');
        }
        write(row, out);
    }
    out.push(b']');
}

fn unexpected(column: &ArrayRef) -> Error {
    Error::internal(format!("a column is {}, which is not the type of its table", column.data_type()))
}
