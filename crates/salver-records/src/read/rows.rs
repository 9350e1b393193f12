//! Writes the rows of one request's statements as JSON: joined rows first, which are buffered; then the rows that they
//! belong to, which are complete once written.

use std::sync::Arc;

use salver_model::access::Bound;
use salver_model::limits::JOINED_BYTES_MAX;
use salver_model::{Code, Result};

use super::join::child_rows::{Arena, JoinKey};
use super::join::{Below, RowTemplates};
use crate::buffered_rows::Gathered;
use crate::cell::Cell;
use crate::geometry;
use crate::json::{self, JsonForm};

/// The JSON form of a row of the first table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Envelope {
    /// An object.
    Record,
    /// A GeoJSON feature, whose id and geometry are these cells.
    Feature { id: Option<usize>, geometry: Option<usize> },
}

/// The rows of one request.
#[derive(Debug)]
pub(crate) struct RowsWriter {
    shape: Arc<RowTemplates>,
    envelope: Envelope,
    arenas: Vec<Arena>,
    /// Reused keys: the one a row is filed by, and the one for looking up rows below.
    own: JoinKey,
    below: JoinKey,
    waiting: Gathered,
    /// Most rows, and how many of them may still come.
    bound: Bound,
    left: u64,
}

impl RowsWriter {
    /// Creates an empty state for rows within `bound`.
    pub(crate) fn new(shape: Arc<RowTemplates>, envelope: Envelope, bound: Bound) -> Self {
        let arenas = shape.branches.iter().map(|_| Arena::default()).collect();
        let left = bound.most().unwrap_or(u64::MAX);
        let (own, below) = (JoinKey::default(), JoinKey::default());
        Self { shape, envelope, arenas, own, below, waiting: Gathered::within(JOINED_BYTES_MAX), bound, left }
    }

    /// Counts one more row.
    ///
    /// # Errors
    /// `AnswerTooLarge` when there are more than the bound allows.
    pub(crate) fn count(&mut self) -> Result<()> {
        let Some(left) = self.left.checked_sub(1) else {
            let message = format!("the answer has more rows than {} allows", self.bound.setting());
            return Err(self
                .bound
                .refuse(Code::AnswerTooLarge, message)
                .with_hint("ask for fewer with `size`, and page through the rows with `after`"));
        };
        self.left = left;
        Ok(())
    }

    /// Returns an empty state of the same shape.
    pub(crate) fn anew(&self) -> Self {
        Self::new(Arc::clone(&self.shape), self.envelope, self.bound)
    }

    /// Returns the number of bytes of buffered joined rows.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.bytes()
    }

    /// Returns the number of statements that fetch joined rows; they come before all others, deepest first.
    pub(crate) fn branches(&self) -> usize {
        self.arenas.len()
    }

    /// Files a row of the joined statement `read`.
    pub(crate) fn joined(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()> {
        self.count()?;
        let branch = self.arenas.len() - 1 - read;
        let (template, key_cells, present) = &self.shape.branches[branch];
        let (above, arenas) = self.arenas.split_at_mut(branch + 1);
        let Some(own) = above.last_mut() else { return Ok(()) };
        if self.own.of(cells, key_cells) {
            let gone = present
                .as_ref()
                .is_some_and(|present| present.iter().any(|cell| matches!(cells.get(*cell), None | Some(Cell::Null))));
            let below = Below { arenas, base: branch + 1 };
            let before = own.bytes();
            let after = own.file(&self.own, |out| {
                if gone {
                    out.extend_from_slice(b"null");
                } else {
                    template.write(cells, below, &mut self.below, out);
                }
            });
            self.waiting.add(after - before).map_err(|error| {
                error.with_hint("ask for fewer rows with `size` or `page`, or for fewer columns with `include`")
            })?;
        }
        Ok(())
    }

    /// Appends a row of the first table.
    pub(crate) fn root(&mut self, cells: &[Cell<'_>], out: &mut Vec<u8>) -> Result<()> {
        self.count()?;
        let below = Below { arenas: &self.arenas, base: 0 };
        match self.envelope {
            Envelope::Record => self.shape.root.write(cells, below, &mut self.below, out),
            Envelope::Feature { id, geometry } => {
                let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).copied().unwrap_or(Cell::Null);
                out.extend_from_slice(b"{\"type\":\"Feature\",\"id\":");
                json::value(cell(id), JsonForm::Plain, out);
                out.extend_from_slice(b",\"properties\":");
                self.shape.root.write(cells, below, &mut self.below, out);
                out.extend_from_slice(b",\"geometry\":");
                geometry::write(cell(geometry), out)?;
                out.push(b'}');
            }
        }
        Ok(())
    }
}
