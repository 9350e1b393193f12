//! Functions of our own that statements call.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags, SqlFnArg};
use rusqlite::types::{FromSqlError, ValueRef};

use salver_model::like::Pattern;

use crate::dialect::KEPT;
use crate::dialect::like::ILIKE;
use crate::json::base64;

/// Gives a connection the functions.
pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_scalar_function(KEPT, 2, flags, |context| Ok(kept(context)))?;
    connection.create_scalar_function(ILIKE, 2, flags, is_like)
}

/// Whether a text is like a pattern, in whatever case; null where there is no text.
fn is_like(context: &Context<'_>) -> rusqlite::Result<Option<bool>> {
    let ValueRef::Text(text) = context.get_raw(0) else { return Ok(None) };
    // The pattern is read once for all rows.
    let pattern = context
        .get_or_create_aux(1, |value| -> Result<Pattern, FromSqlError> { Ok(Pattern::new(value.as_str()?, true)) })?;
    Ok(Some(pattern.matches(&String::from_utf8_lossy(text))))
}

/// The first value where the second is the same base64, as text of whatever alphabet and padding or as its bytes.
fn kept(context: &Context<'_>) -> SqlFnArg {
    let text = |text: &[u8]| std::str::from_utf8(text).ok().map(str::to_owned);
    let same = match (context.get_raw(0), context.get_raw(1)) {
        (ValueRef::Text(old), ValueRef::Blob(new)) => {
            text(old).and_then(|old| base64::decode(&old)).is_some_and(|old| old == new)
        }
        // A text is rather a text: only what is shown is taken for bytes.
        (ValueRef::Blob(old), ValueRef::Text(new)) => text(new)
            .filter(|new| base64::is_exact(new))
            .and_then(|new| base64::decode(&new))
            .is_some_and(|new| old == new),
        _ => false,
    };
    context.get_arg(usize::from(!same))
}
