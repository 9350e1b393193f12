//! Refusals of what a caller may not do.

use salver_model::{Caller, Code, Error, Permission, Result};

/// Checks that the caller has the permission for an entry. To a caller that may do nothing with it the entry is not
/// there, which is the error of `absent`.
///
/// # Errors
/// `Forbidden`, or what `absent` returns.
pub(crate) fn check(
    caller: &Caller,
    permission: Permission,
    entry: &str,
    absent: impl FnOnce() -> Error,
) -> Result<()> {
    if caller.may(permission, entry) {
        return Ok(());
    }
    if !knows(caller, entry) {
        return Err(absent());
    }
    Err(Error::new(Code::Forbidden, format!("you may not {} `{entry}`", doing(permission)))
        .with_hint("an [[access]] of the server's configuration would have to permit it"))
}

/// Returns whether the caller may do anything at all with an entry.
pub(crate) fn knows(caller: &Caller, entry: &str) -> bool {
    caller.grants.as_ref().is_none_or(|grants| grants.knows(entry))
}

/// Returns the words for it in a message.
fn doing(permission: Permission) -> &'static str {
    match permission {
        Permission::Append => "append to",
        Permission::Consume => "read the events of",
        Permission::Call => "call functions of",
        other => other.word(),
    }
}
