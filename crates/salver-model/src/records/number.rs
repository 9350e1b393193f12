//! Error codes of PHP-CRUD-API, with their messages.

use std::borrow::Cow;

use crate::error::{Code, Error};

/// Code for success, used in responses of batches that were rolled back.
pub const TREEQL_SUCCESS: u16 = 0;
/// Code for every failure without one of its own.
pub const TREEQL_OTHER: u16 = 9999;

/// Returns the error code of PHP-CRUD-API for a failure.
#[must_use]
pub fn treeql_code(code: Code) -> u16 {
    match code {
        Code::NotFound | Code::MethodNotAllowed => 1000,
        Code::UnknownTable | Code::UnknownEntry => 1001,
        Code::ArgumentCount => 1002,
        Code::RecordNotFound => 1003,
        Code::OriginForbidden => 1004,
        Code::UnknownColumn | Code::InvalidColumn => 1005,
        Code::TableExists => 1006,
        Code::ColumnExists => 1007,
        Code::InvalidBody | Code::BodyTooLarge | Code::UnsupportedMediaType => 1008,
        Code::DuplicateKey => 1009,
        Code::Integrity => 1010,
        Code::AuthenticationRequired => 1011,
        Code::AuthenticationFailed => 1012,
        Code::Invalid => 1013,
        Code::Forbidden | Code::ReadOnly => 1014,
        Code::Unsupported => 1015,
        Code::Blocked => 1016,
        Code::XsrfToken => 1017,
        Code::PageForbidden => 1019,
        Code::UserExists => 1020,
        Code::PasswordTooShort => 1021,
        Code::UsernameEmpty => 1022,
        Code::NoPrimaryKey => 1023,
        _ => TREEQL_OTHER,
    }
}

/// Returns the message of PHP-CRUD-API for a failure: a fixed one if there is one, else the error's own.
#[must_use]
pub fn treeql_message(error: &Error) -> Cow<'_, str> {
    Cow::Borrowed(match error.code {
        Code::DuplicateKey => "Duplicate key exception",
        Code::Integrity => "Data integrity violation",
        Code::Forbidden | Code::ReadOnly => "Operation forbidden",
        Code::InvalidBody => "Cannot read HTTP message",
        Code::Blocked => "Temporary or permanently blocked",
        Code::XsrfToken => "Bad or missing XSRF token",
        Code::PageForbidden => "Pagination forbidden",
        _ => error.message.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use super::{TREEQL_OTHER, treeql_code, treeql_message};
    use crate::error::{Code, Error};

    #[test]
    fn codes_have_the_numbers_clients_know() {
        assert_eq!(treeql_code(Code::Integrity), 1010);
        assert_eq!(treeql_code(Code::Invalid), 1013);
        assert_eq!(treeql_code(Code::Execution), TREEQL_OTHER);
    }

    #[test]
    fn messages_with_names_are_kept_and_others_are_fixed() {
        assert_eq!(treeql_message(&Error::new(Code::UnknownTable, "Table 'x' not found")), "Table 'x' not found");
        assert_eq!(treeql_message(&Error::new(Code::DuplicateKey, "other words")), "Duplicate key exception");
    }
}
