//! A prepared statement.

use std::sync::Arc;

use salver_model::PgParameter;

use super::column::Column;
use super::command::Command;

/// A prepared statement.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    /// Text.
    pub(super) text: String,
    /// What it asks.
    pub(super) command: Command,
    /// Numbers of the types that the client said.
    pub(super) declared: Vec<u32>,
    /// What its parameters and its columns are, as far as it was planned.
    pub(super) parameters: Parameters,
    /// Columns of the rows.
    pub(super) columns: RowColumns,
}

/// The parameters of a statement.
#[derive(Clone, Debug)]
pub(super) enum Parameters {
    /// The statement was not planned.
    Unknown,
    /// The numbers of their types that the client said or is told, and what the statement takes them for.
    Known(Vec<(u32, PgParameter)>),
}

/// The columns of a statement's rows.
#[derive(Clone, Debug)]
pub(super) enum RowColumns {
    /// There are no rows.
    Nothing,
    /// The statement was not planned.
    Unknown,
    /// What the client is told, or was.
    Known(Arc<[Column]>),
}

impl RowColumns {
    /// Returns the columns, if they are known.
    pub(super) fn known(&self) -> Option<&Arc<[Column]>> {
        match self {
            Self::Known(columns) => Some(columns),
            Self::Nothing | Self::Unknown => None,
        }
    }
}

impl Prepared {
    /// Returns a statement without parameters that was not planned.
    pub(super) fn plain(text: String, command: Command) -> Self {
        let parameters = Parameters::Known(Vec::new());
        Self { text, command, declared: Vec::new(), parameters, columns: RowColumns::Unknown }
    }

    /// Returns its parameters; none if they are not known.
    pub(super) fn parameters(&self) -> &[(u32, PgParameter)] {
        match &self.parameters {
            Parameters::Known(parameters) => parameters,
            Parameters::Unknown => &[],
        }
    }

    /// Returns the memory for it, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let columns = self.columns.known().map(|columns| &columns[..]).unwrap_or_default();
        let names: usize = columns.iter().map(|column| column.name.len() + size_of::<Column>()).sum();
        let parameters = size_of_val(self.parameters()) + 4 * self.declared.len();
        size_of::<Self>() + self.text.len() + self.command.bytes() + names + parameters
    }
}
