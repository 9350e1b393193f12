//! Panics of libraries caused by client input. They are caught and reported to the client as invalid input, and not
//! logged as faults of the server.

use std::cell::Cell;
use std::panic::{UnwindSafe, catch_unwind};

thread_local! {
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `work`; `None` when it panics.
pub fn caught<T>(work: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let before = IS_EXPECTED.replace(true);
    let outcome = catch_unwind(work);
    IS_EXPECTED.set(before);
    outcome.ok()
}

/// Returns whether a panic of this thread will be caught by [`caught`], so that the panic hook must not report it.
#[must_use]
pub fn is_expected() -> bool {
    IS_EXPECTED.get()
}

#[cfg(test)]
mod tests {
    use super::{caught, is_expected};

    #[test]
    fn they_are_expected_within_and_not_behind() {
        assert!(!is_expected());
        assert_eq!(caught(|| caught(is_expected)), Some(Some(true)));
        assert_eq!(caught(|| Vec::<u8>::new()[1]), None);
        assert!(!is_expected());
    }
}
