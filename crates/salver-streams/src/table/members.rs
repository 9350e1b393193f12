//! The members of JSON objects into columns, each object into one row.

use std::collections::HashMap;

use ahash::RandomState;
use arrow::array::{ArrayRef, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::Fields;
use salver_model::{Error, Result};

use super::decode::Column;
use crate::event::UNNAMED;
use crate::event::reader::{Reader, Text};

/// The columns of objects.
#[derive(Debug)]
pub(super) struct Members {
    fields: Fields,
    members: Vec<Member>,
    names: HashMap<Box<[u8]>, usize, RandomState>,
    rows: usize,
}

/// A member that is known.
#[derive(Debug)]
struct Member {
    /// `"name":`, as it mostly stands in a text.
    lead: Box<[u8]>,
    /// `None` for one that nobody wants.
    column: Option<Column>,
}

impl Members {
    /// Columns for those of `fields` that are wanted. The others are only known so that they can be gone over quickly.
    pub(super) fn new(fields: &Fields, is_wanted: impl Fn(usize) -> bool) -> Self {
        let members = fields.iter().enumerate().map(|(index, field)| Member {
            lead: format!("{}:", serde_json::Value::from(field.name().as_str())).into_bytes().into_boxed_slice(),
            column: is_wanted(index).then(|| Column::new(field.data_type())),
        });
        let named = fields.iter().enumerate().map(|(index, field)| (field.name().as_str(), index));
        let mut names: HashMap<Box<[u8]>, usize, RandomState> =
            named.map(|(name, index)| (name.as_bytes().into(), index)).collect();
        if let Some(unnamed) = names.get(UNNAMED.as_bytes()).copied() {
            names.insert(Box::default(), unnamed);
        }
        Self { fields: fields.clone(), members: members.collect(), names, rows: 0 }
    }

    /// Adds the value that comes as a row; all null when it is no object.
    pub(super) fn push(&mut self, reader: &mut Reader<'_>) {
        if reader.peek() != Some(b'{') {
            reader.skip();
            return self.push_nulls(1);
        }
        reader.enter();
        let mut next = 0;
        let mut is_first = true;
        loop {
            // Events of a stream are alike: mostly this is the member that is expected.
            let index = match self.members.get(next) {
                Some(member) if reader.member_is(&member.lead, is_first) => {
                    is_first = false;
                    Some(next)
                }
                _ => match reader.member(&mut is_first) {
                    Some(name) => self.find(name),
                    None => break,
                },
            };
            next = index.map_or(next, |index| index + 1);
            let Some(column) = index.and_then(|index| self.members[index].column.as_mut()) else {
                reader.skip();
                continue;
            };
            match self.rows.checked_sub(column.len()) {
                Some(0) => {}
                Some(missing) => column.push_nulls(missing),
                // Of members with the same name the last one counts.
                None => column.truncate(self.rows),
            }
            column.push(reader);
        }
        self.rows += 1;
    }

    fn find(&self, name: Text<'_>) -> Option<usize> {
        if name.is_escaped { self.names.get(&*name.unescaped()).copied() } else { self.names.get(name.raw).copied() }
    }

    /// Adds rows without values. The columns follow when they get their next value, so that a row costs what it has and
    /// not what it lacks.
    pub(super) fn push_nulls(&mut self, count: usize) {
        self.rows += count;
    }

    /// Takes away the last rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        for column in self.members.iter_mut().filter_map(|member| member.column.as_mut()) {
            if column.len() > rows {
                column.truncate(rows);
            }
        }
    }

    /// The rows as an array of structs, of which all members are wanted.
    pub(super) fn finish(&mut self, rows: usize, nulls: Option<NullBuffer>) -> Result<StructArray> {
        let columns = self.finish_columns()?.into_iter().flatten().collect();
        StructArray::try_new_with_length(self.fields.clone(), columns, nulls, rows)
            .map_err(|error| Error::internal("events do not make a struct").with_source(error))
    }

    /// The columns of the rows, `None` for those that nobody wants. There are no rows after that.
    pub(super) fn finish_columns(&mut self) -> Result<Vec<Option<ArrayRef>>> {
        let rows = std::mem::take(&mut self.rows);
        let finish = |column: &mut Column| {
            column.push_nulls(rows.saturating_sub(column.len()));
            column.finish()
        };
        self.members.iter_mut().map(|member| member.column.as_mut().map(finish).transpose()).collect()
    }
}
