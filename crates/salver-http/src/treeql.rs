//! Error numbers of PHP-CRUD-API, whose language is TreeQL, with their messages.

use std::borrow::Cow;

use salver_model::{Code, Error};

/// Number of success, used in responses of batches that were rolled back.
pub(crate) const SUCCESS: u16 = 0;
/// Number of every failure without one of its own.
const OTHER: u16 = 9999;

/// Returns the number of a failure.
pub(crate) fn number(code: Code) -> u16 {
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
        _ => OTHER,
    }
}

/// Returns the message of a failure: a fixed one if there is one, else the error's own.
pub(crate) fn message(error: &Error) -> Cow<'_, str> {
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
    use super::{OTHER, message, number};
    use salver_model::{Code, Error};

    #[test]
    fn codes_have_the_numbers_clients_know() {
        assert_eq!(number(Code::Integrity), 1010);
        assert_eq!(number(Code::Invalid), 1013);
        assert_eq!(number(Code::Execution), OTHER);
    }

    #[test]
    fn messages_with_names_are_kept_and_others_are_fixed() {
        assert_eq!(message(&Error::new(Code::UnknownTable, "Table 'x' not found")), "Table 'x' not found");
        assert_eq!(message(&Error::new(Code::DuplicateKey, "other words")), "Duplicate key exception");
    }
}
