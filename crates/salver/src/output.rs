//! All output of the program: results go to standard output, everything else to standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use salver_config::Warning;
use salver_model::{Code, Error};

use crate::failure::CommandFailure;
use crate::logging;

/// Writes to standard output, unbuffered.
pub(crate) fn out(text: &str) -> Result<(), CommandFailure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| CommandFailure::writing("standard output", error))
}

/// Whether notes are events of the log.
static IS_LOGGED: AtomicBool = AtomicBool::new(false);

/// Makes further notes events of the log, which has begun.
pub(crate) fn log_notes() {
    IS_LOGGED.store(true, Ordering::Relaxed);
}

/// Writes a line to standard error, without passwords of URLs and without terminal control sequences. A failure cannot
/// be reported.
pub(crate) fn note(text: &str) {
    if IS_LOGGED.load(Ordering::Relaxed) {
        tracing::warn!("{}", text.strip_prefix("warning: ").unwrap_or(text));
        return;
    }
    tell(text);
}

fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", tamed(&logging::discreet(text)));
}

/// Replaces control characters by their visible symbols, so that a value cannot move the terminal's cursor or set its
/// title. The symbols are one character wide.
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

/// Writes the reason for a command's failure to standard error.
pub(crate) fn failure(failure: &CommandFailure) {
    match failure {
        CommandFailure::Usage(error) | CommandFailure::Error(error) => tell(&format!("error: {}", with_hint(error))),
        CommandFailure::Mistakes(mistakes) => {
            for mistake in mistakes {
                tell(&format!("error: {mistake}"));
            }
            let count = mistakes.len();
            tell(&format!("{count} mistake{} in the settings", if count == 1 { "" } else { "s" }));
        }
        CommandFailure::Told | CommandFailure::Closed => {}
    }
}

/// Formats an error with its hint. On the command line the caller is the operator, who may read the causes of errors
/// other than the statement's own.
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
