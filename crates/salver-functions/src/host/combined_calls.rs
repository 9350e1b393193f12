//! Combined calls of a vectorized function, run as one whose arguments are vectors.

use std::io;
use std::os::unix::net::UnixStream;

use serde_json::{Map, Value as Json};

use super::argument;
use super::failure::{USER_CODE, WRONG_ARGUMENT, fail, fail_raised};
use super::frame;
use super::json;
use super::session::RSession;
use super::start::Runtime;
use super::value::{Inside, RValueKind, Value};
use crate::wire::columns::take;

/// Context of a guarded function. It owns everything that is allocated.
struct CombinedContext<'a> {
    runtime: Runtime,
    calls: Calls,
    /// Frame being written.
    out: &'a mut Vec<u8>,
    /// Whether the frame is complete, or why it cannot be. `None`: R raised an error.
    made: Option<Result<(), &'static str>>,
}

/// Decoded calls.
struct Calls {
    endpoint: u32,
    rows: usize,
    /// For each argument the values of all calls, or a null if it is null in all of them.
    arguments: Map<String, Json>,
}

impl Calls {
    /// Decodes a payload; `None` when it is malformed.
    fn read(mut payload: &[u8]) -> Option<Self> {
        let rest = &mut payload;
        let (endpoint, rows) = (number(rest)?, number(rest)?);
        let mut arguments = Map::new();
        for row in 0..rows {
            let length = number(rest)? as usize;
            let call: Map<String, Json> = serde_json::from_slice(take(rest, length)?).ok()?;
            if row > 0 && call.len() != arguments.len() {
                return None;
            }
            for (name, value) in call {
                match arguments.get_mut(&name) {
                    Some(Json::Array(values)) if values.len() == row as usize => values.push(value),
                    Some(Json::Null) if value.is_null() => {}
                    None if row == 0 && value.is_null() => drop(arguments.insert(name, value)),
                    None if row == 0 => drop(arguments.insert(name, Json::Array(vec![value]))),
                    _ => return None,
                }
            }
        }
        rest.is_empty().then_some(Self { endpoint, rows: rows as usize, arguments })
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4)?.try_into().map(u32::from_le_bytes).ok()
}

/// Answers combined calls.
///
/// # Errors
/// Returns an error when the connection breaks, or the payload is something else.
pub(super) fn answer(
    session: &RSession,
    runtime: Runtime,
    (stream, out): (&UnixStream, &mut Vec<u8>),
    payload: &[u8],
) -> io::Result<()> {
    let calls = Calls::read(payload).ok_or(io::ErrorKind::InvalidData)?;
    if let Some(why) = argument::unfit(&calls.arguments) {
        return fail(stream, out, WRONG_ARGUMENT, &why);
    }
    let mut exchange = CombinedContext { runtime, calls, out, made: None };
    let result = session.enter(&mut exchange, serve);
    let CombinedContext { out, made, .. } = exchange;
    match (made, result) {
        (Some(Ok(())), _) => frame::send(&mut &*stream, out, &[]),
        (Some(Err(unfit)), _) => fail(stream, out, USER_CODE, unfit),
        (None, Err(raised)) => fail_raised(session, runtime, (stream, out), &raised.0),
        (None, Ok(())) => fail(stream, out, USER_CODE, "no answer was made"),
    }
}

/// Guarded: calls the function, and writes the results.
fn serve(inside: &Inside<'_>, exchange: &mut CombinedContext<'_>) -> Option<()> {
    let calls = &exchange.calls;
    let arguments = argument::object(inside, &calls.arguments, None);
    let endpoint = inside.integer(calls.endpoint.cast_signed().saturating_add(1));
    let function = Value::of(exchange.runtime.call_function);
    let given = inside.call(function, &[endpoint, arguments, inside.null()])?;
    if inside.kind(given) != RValueKind::List || inside.length(given) != 4 {
        exchange.made = Some(Err("the runtime did not answer with a status, headers, a body and its kind"));
        return Some(());
    }
    frame::begin(exchange.out, b'G');
    let written = json::write_rows(inside, exchange.out, inside.element(given, 2), calls.rows);
    let fits = frame::fits(exchange.out, &[]);
    exchange.made = Some(match written {
        Ok(()) if fits => Ok(()),
        Ok(()) => Err("the answer is larger than 4 GiB"),
        Err(unfit) => Err(unfit.told()),
    });
    Some(())
}
