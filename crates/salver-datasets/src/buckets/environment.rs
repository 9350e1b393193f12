//! What the environment says under the names that the tools of object stores, and of Google, read: where credentials
//! and addresses are that no setting names. Nobody would write these twice.

/// Returns the variable called `name`, unless it is empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
