//! What a client is told of a failure, in the codes of gRPC (<https://grpc.io/docs/guides/status-codes/>).

use arrow::error::ArrowError;
use salver_model::limits::FLIGHT_STATUS_CHARS_MAX;
use salver_model::{Code, Error};
use tonic::{Code as GrpcCode, Status};

/// Returns the status of an error, of which nothing is left that its client may not read.
pub(super) fn status(error: Error) -> Status {
    let code = code(&error);
    let mut text = match error.hint {
        Some(hint) => format!("{}. Hint: {hint}", error.message),
        None => error.message,
    };
    if let Some((end, _)) = text.char_indices().nth(FLIGHT_STATUS_CHARS_MAX) {
        text.truncate(end);
        text.push_str("...");
    }
    Status::new(code, text)
}

/// The error for columns that can't be written.
pub(super) fn unwritable(cause: ArrowError) -> Error {
    Error::internal("the columns can't be written").with_source(cause)
}

/// Returns the refusal of what only changes data.
pub(super) fn read_only() -> Status {
    Status::unimplemented("nothing can be changed here: statements only read. Hint: change rows at `/api/records`")
}

/// Returns the refusal of what is not offered.
pub(super) fn not_offered(what: &str, hint: &str) -> Status {
    Status::unimplemented(format!("{what} not supported. Hint: {hint}"))
}

/// Returns the refusal of a message that can't be read.
pub(super) fn unreadable(what: &str) -> Status {
    Status::invalid_argument(format!("{what} can't be read"))
}

fn code(error: &Error) -> GrpcCode {
    match error.code {
        Code::InvalidSql if error.message.starts_with("no table ") => GrpcCode::NotFound,
        Code::UnknownEntry | Code::UnknownTable | Code::UnknownStore | Code::UnknownStream | Code::NotFound => {
            GrpcCode::NotFound
        }
        Code::AuthenticationRequired | Code::AuthenticationFailed => GrpcCode::Unauthenticated,
        Code::Forbidden | Code::Blocked => GrpcCode::PermissionDenied,
        Code::TooManyAttempts
        | Code::TooManyRequests
        | Code::Overloaded
        | Code::OutOfMemory
        | Code::QueryTooLarge
        | Code::AnswerTooLarge
        | Code::BodyTooLarge => GrpcCode::ResourceExhausted,
        Code::Timeout => GrpcCode::DeadlineExceeded,
        Code::EntryUnavailable
        | Code::DatabaseUnavailable
        | Code::AuthenticationUnavailable
        | Code::StreamUnavailable
        | Code::Source => GrpcCode::Unavailable,
        Code::Contention | Code::ExpiredCursor | Code::FunctionFailed => GrpcCode::Aborted,
        Code::Unsupported => GrpcCode::Unimplemented,
        Code::Internal | Code::Config => GrpcCode::Internal,
        _ => GrpcCode::InvalidArgument,
    }
}

#[cfg(test)]
mod tests {
    use salver_model::{Code, Error};
    use tonic::Code as GrpcCode;

    use super::status;

    #[test]
    fn a_status_has_the_hint_and_an_end() {
        let told = status(Error::new(Code::InvalidSql, "no table `a`").with_hint("did you mean `b`?"));
        assert_eq!((told.code(), told.message()), (GrpcCode::NotFound, "no table `a`. Hint: did you mean `b`?"));
        let told = status(Error::new(Code::Execution, "\u{fc}".repeat(100_000)));
        assert_eq!(told.code(), GrpcCode::InvalidArgument);
        assert!(told.message().len() < 4_000);
    }
}
