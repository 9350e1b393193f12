//! What the environment says under the names that the tools of object stores read: where credentials and addresses are
//! that no setting names. Nobody would write these twice.

/// Returns the variable called `name`, unless it is empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
