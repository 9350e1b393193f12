//! A prepared statement.

use std::sync::Arc;

use salver_model::PgParameter;

use super::column::Column;
use super::command::Command;

/// A prepared statement.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Text.
    pub(super) text: String,
    /// What it asks.
    pub(super) command: Command,
    /// Types of the parameters: the numbers that the client said or is told, and what the statement takes them for.
    pub(super) parameters: Vec<(u32, PgParameter)>,
    /// Columns of the rows; `None` if there are no rows.
    pub(super) columns: Option<Arc<[Column]>>,
}

impl Prepared {
    /// Returns the memory for it, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let columns = self.columns.as_deref().unwrap_or_default();
        let names: usize = columns.iter().map(|column| column.name.len() + size_of::<Column>()).sum();
        size_of::<Self>() + self.text.len() + names + 8 * self.parameters.len()
    }
}
