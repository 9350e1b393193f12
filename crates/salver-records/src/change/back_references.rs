//! References to earlier changes of the same request: `{"post_id": {"$ref": ...}}`, in whatever syntax a door has, is a
//! column of the first row of an earlier change.

use salver_model::limits::NEW_COLUMNS_MAX;
use salver_model::records::{Change, Field, Operation};
use salver_model::{Code, Error, Result};

use super::context::WriteContext;
use super::plan::Planned;
use super::returned_rows::readable;
use crate::statement::Bind;

/// Returns the columns of each change that later ones refer to.
///
/// # Errors
/// A reference to the change itself, to a later one, or to one that does not exist.
pub(crate) fn wanted(changes: &[Change]) -> Result<Vec<Vec<String>>> {
    let mut wanted: Vec<Vec<String>> = vec![Vec::new(); changes.len()];
    for (own, change) in changes.iter().enumerate() {
        for field in change.records.iter().flatten().map(|(_, field)| field) {
            let Field::Back { change, column } = field else { continue };
            if *change >= own {
                return Err(Error::new(
                    Code::InvalidRequest,
                    format!("operation {own} refers to operation {change}, which does not come before it"),
                )
                .with_hint("operations are counted from 0; refer to earlier ones"));
            }
            if wanted[*change].len() >= NEW_COLUMNS_MAX {
                let message = format!("operation {own} refers to more columns than a table has");
                return Err(Error::new(Code::InvalidRequest, message));
            }
            if !wanted[*change].contains(column) {
                wanted[*change].push(column.clone());
            }
        }
    }
    Ok(wanted)
}

/// Returns the indexes of the referenced columns of a change.
pub(crate) fn columns(ground: &WriteContext<'_>, names: &[String]) -> Result<Vec<usize>> {
    let column = |name: &String| {
        let column = readable(ground, name)?;
        // The value behind a mask would come out where it is written.
        if ground.scope.access.is_any_masked(Operation::Read, ground.table, &[column]) {
            let message = format!("`{name}` of `{}` can't be referred to", ground.table.name);
            return Err(Error::new(Code::InvalidColumn, message).with_hint("an access rule masks the column"));
        }
        Ok(column)
    };
    names.iter().map(column).collect()
}

/// Returns the bind that refers to an earlier change's value.
pub(crate) fn resolve(earlier: &[Planned], change: usize, column: &str) -> Result<Bind> {
    let found = earlier.get(change).and_then(|change| change.exports.iter().find(|(name, _)| name == column));
    found.map(|(_, bind)| bind.clone()).ok_or_else(|| {
        Error::new(Code::InvalidRequest, format!("operation {change} has no row whose `{column}` could be referred to"))
            .with_hint("refer to an operation that makes or changes one row")
    })
}
