//! SQL functions that Salver's statements call.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags, SqlFnArg};
use rusqlite::types::{FromSqlError, ValueRef};

use salver_model::like::Pattern;

use crate::dialect::KEPT;
use crate::dialect::like::ILIKE;
use crate::json::base64;

/// Registers the functions on a connection.
pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function(KEPT, 2, flags, |context| Ok(kept(context)))?;
    connection.create_scalar_function(ILIKE, 2, flags, is_like)
}

/// Returns whether a text matches a pattern, ignoring case; null where there is no text.
fn is_like(context: &Context<'_>) -> rusqlite::Result<Option<bool>> {
    let ValueRef::Text(text) = context.get_raw(0) else { return Ok(None) };
    // The pattern is parsed once for all rows.
    let pattern = context
        .get_or_create_aux(1, |value| -> Result<Pattern, FromSqlError> { Ok(Pattern::new(value.as_str()?, true)) })?;
    Ok(Some(pattern.matches(&String::from_utf8_lossy(text))))
}

/// Returns the first value if the second is the same base64, as text of any alphabet and padding or as its bytes.
fn kept(context: &Context<'_>) -> SqlFnArg {
    let text = |text: &[u8]| std::str::from_utf8(text).ok().map(str::to_owned);
    let same = match (context.get_raw(0), context.get_raw(1)) {
        (ValueRef::Text(old), ValueRef::Blob(new)) => {
            text(old).and_then(|old| base64::decode(&old)).is_some_and(|old| old == new)
        }
        // A text is taken as text first: only a value in its displayed form is decoded to bytes.
        (ValueRef::Blob(old), ValueRef::Text(new)) => text(new)
            .filter(|new| base64::is_exact(new))
            .and_then(|new| base64::decode(&new))
            .is_some_and(|new| old == new),
        _ => false,
    };
    context.get_arg(usize::from(!same))
}
