//! The one place that prints: answers to standard output, everything else to standard error.

use std::io::{self, Write};

use salver_config::Warning;
use salver_model::secrecy::masked;
use salver_model::{Code, Error};

use crate::failure::Failure;

/// Writes to standard output, at once.
pub(crate) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::writing("standard output", error))
}

/// Writes a line to standard error, without passwords of URLs and without what a terminal would obey. There is nobody
/// left to tell when that fails.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", tamed(&masked(text)));
}

/// Without what a terminal would obey: a value must not move its cursor or name its window. The pictures of control
/// characters are as wide as one character.
pub(crate) fn tamed(text: &str) -> String {
    let picture = |sign: char| match u32::from(sign) {
        0x0a => '\n',
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        0x80..=0x9f => '\u{fffd}',
        _ => sign,
    };
    text.chars().map(picture).collect()
}

/// Writes warnings to standard error.
pub(crate) fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        note(&format!("warning: {warning}"));
    }
}

/// Writes why a command failed to standard error.
pub(crate) fn failure(failure: &Failure) {
    match failure {
        Failure::Usage(error) | Failure::Error(error) => note(&format!("error: {}", with_hint(error))),
        Failure::Mistakes(mistakes) => {
            for mistake in mistakes {
                note(&format!("error: {mistake}"));
            }
            let count = mistakes.len();
            note(&format!("{count} mistake{} in the settings", if count == 1 { "" } else { "s" }));
        }
        Failure::Told | Failure::Closed => {}
    }
}

/// An error and its way out. On the command line the caller is the operator, who may read the causes of what is not
/// the statement's own fault.
pub(crate) fn with_hint(error: &Error) -> String {
    let text = match error.code {
        Code::Internal | Code::Source | Code::Config => error.chain(),
        _ => error.message.clone(),
    };
    match &error.hint {
        Some(hint) => format!("{text}\n  hint: {hint}"),
        None => text,
    }
}
