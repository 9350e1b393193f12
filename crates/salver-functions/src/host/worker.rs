//! A worker: one connection, one call at a time.

use std::io;
use std::os::unix::net::UnixStream;

use serde_json::{Map, Value as Json};

use super::argument;
use super::batch;
use super::call::{Call, Fields};
use super::combined_calls;
use super::failure::{OUT_OF_MEMORY, USER_CODE, WRONG_ARGUMENT, fail, fail_raised};
use super::frame::{self, Frame, FrameReader};
use super::json::{self, Unfit};
use super::process::Quiet;
use super::query::{self, Pairs, Text};
use super::session::RSession;
use super::start::{self, Runtime};
use super::table::{self, ARROW_STREAM, ArrowTable, Fault, Leaving};
use super::value::{Attribute, Inside, Preserved, RValueKind, Value};

/// Kind of an answer's body: text or bytes, the path of a file, or a value to be serialized as JSON.
const BODY: i32 = 0;
const TEMPORARY_FILE: i32 = 2;
const JSON: i32 = 3;

/// Context of a guarded function. It owns everything that is allocated.
struct CallContext<'a> {
    runtime: Runtime,
    call: Call<'a>,
    /// Arguments of an endpoint.
    arguments: Map<String, Json>,
    /// Table argument of an endpoint, with the name of its parameter, until it is converted to a data frame.
    table: Option<(&'a str, ArrowTable)>,
    /// For an application of our own classes: the answering function, the path and the query.
    own: Option<(Preserved, Text<'a>, Pairs<'a>)>,
    seen: &'a mut WorkerCache,
    /// Frame being written.
    out: &'a mut Vec<u8>,
    stream: &'a UnixStream,
    /// Result of sending. `None`: R raised an error.
    sent: Option<io::Result<()>>,
    /// Problem with the answer that R returned.
    unfit: Option<&'static str>,
    /// Data frame to be sent as an Arrow stream, after the head in the frame.
    leaving: Option<Leaving>,
}

/// State kept between calls.
struct WorkerCache {
    /// Function that answers calls of an application of our own classes.
    own: Option<Preserved>,
    /// Headers of the last call. A client usually sends the same ones again, which are then cached: an R list with one
    /// element, the character vector made of `bytes`. R never modifies in place a value with two references.
    vector: Preserved,
    bytes: Vec<u8>,
}

/// Message for an answer that does not fit into a frame.
const TOO_LARGE: &str = "the answer is larger than 4 GiB";
/// Largest headers that are cached, in bytes.
const SEEN_BYTES: usize = 4096;

/// Answers calls until the connection ends.
///
/// # Errors
/// Returns an error when the connection breaks, or the payload is not a call.
pub(super) fn run(session: &RSession, runtime: Runtime, stream: &UnixStream) -> io::Result<()> {
    let mut out = Vec::new();
    frame::begin(&mut out, b'H');
    out.extend_from_slice(&std::process::id().to_le_bytes());
    frame::send(&mut &*stream, &mut out, &[])?;
    let own = start::own_application(session, runtime);
    let mut seen = WorkerCache { own, vector: runtime.seen, bytes: Vec::new() };
    let mut reader = FrameReader::new(Quiet(stream));
    loop {
        match reader.next()? {
            None => return Ok(()),
            Some(Frame::TooLarge) => fail(stream, &mut out, OUT_OF_MEMORY, "the call does not fit into memory")?,
            Some(Frame::Whole(kind @ (b'C' | b'T'), payload)) => {
                let call = Call::read(payload, kind == b'T').ok_or(io::ErrorKind::InvalidData)?;
                answer(session, &mut seen, runtime, (stream, &mut out), call)?;
            }
            Some(Frame::Whole(b'B', payload)) => batch::answer(session, runtime, (stream, &mut out), payload)?,
            Some(Frame::Whole(b'G', payload)) => combined_calls::answer(session, runtime, (stream, &mut out), payload)?,
            Some(Frame::Whole(..)) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Answers one call.
fn answer(
    session: &RSession,
    seen: &mut WorkerCache,
    runtime: Runtime,
    (stream, out): (&UnixStream, &mut Vec<u8>),
    call: Call<'_>,
) -> io::Result<()> {
    let arguments = match call.arguments {
        [] => Map::new(),
        text => match serde_json::from_slice(text) {
            Ok(arguments) => arguments,
            Err(error) => {
                return fail(stream, out, WRONG_ARGUMENT, &format!("the arguments are not a JSON object: {error}"));
            }
        },
    };
    if let Some(why) = argument::unfit(&arguments) {
        return fail(stream, out, WRONG_ARGUMENT, &why);
    }
    let table = match call.table.map(|parameter| (parameter, table::read(call.body))) {
        None => None,
        Some((parameter, Ok(table))) => Some((parameter, table)),
        Some((_, Err(Fault::Memory))) => return fail(stream, out, OUT_OF_MEMORY, "the table does not fit into memory"),
        Some((parameter, Err(Fault::Unfit(why)))) => {
            return fail(stream, out, WRONG_ARGUMENT, &format!("the body is not right for `{parameter}`: {why}"));
        }
    };
    // Decoded here, because guarded code must not own memory.
    let own = seen.own.filter(|_| call.endpoint < 0);
    let own = own.map(|own| (own, query::decode(call.path, false), query::pairs(call.query)));
    let (sent, unfit, leaving) = (None, None, None);
    let mut exchange = CallContext { runtime, call, arguments, table, own, seen, out, stream, sent, unfit, leaving };
    let result = session.enter(&mut exchange, serve);
    let CallContext { out, sent, unfit, leaving, .. } = exchange;
    match (sent, unfit, result) {
        (Some(sent), ..) => sent,
        (None, Some(unfit), _) => fail(stream, out, USER_CODE, unfit),
        (None, None, Err(raised)) => fail_raised(session, runtime, (stream, out), &raised.0),
        (None, None, Ok(())) => match leaving {
            Some(leaving) => send_table(stream, out, leaving),
            None => fail(stream, out, USER_CODE, "no answer was made"),
        },
    }
}

/// Sends an answer whose head is in the frame, and whose body is an Arrow stream.
fn send_table(mut stream: &UnixStream, out: &mut Vec<u8>, leaving: Leaving) -> io::Result<()> {
    match table::write(leaving, out) {
        Err(error) => fail(stream, out, USER_CODE, &format!("the data frame is not a stream of Arrow: {error}")),
        Ok(()) if !frame::fits(out, &[]) => fail(stream, out, USER_CODE, TOO_LARGE),
        Ok(()) => frame::send(&mut stream, out, &[]),
    }
}

/// Guarded: calls the function, and sends its result.
fn serve(inside: &Inside<'_>, exchange: &mut CallContext<'_>) -> Option<()> {
    let call = &exchange.call;
    let result = if let Some((own, path, query)) = &exchange.own {
        let (method, path, query) = (inside.text(call.method), inside.text(path), parameters(inside, query));
        let (headers, body) = (fields(inside, exchange.seen, call.headers), inside.raw(call.body));
        inside.call(Value::of(*own), &[method, path, query, headers, body])?
    } else if call.endpoint < 0 {
        let [method, path, query] = [call.method, call.path, call.query].map(|text| inside.text(text));
        let function = Value::of(exchange.runtime.call_application);
        let (headers, body) = (fields(inside, exchange.seen, call.headers), inside.raw(call.body));
        inside.call(function, &[method, path, query, headers, body, inside.text(call.address)])?
    } else {
        let arguments = argument::object(inside, &exchange.arguments, exchange.table.as_ref());
        // R has its own copy now.
        exchange.table = None;
        let endpoint = inside.integer(call.endpoint.saturating_add(1));
        let function = Value::of(exchange.runtime.call_function);
        let headers = fields(inside, exchange.seen, call.headers);
        let request = request(inside, call, headers, Value::of(exchange.runtime.request_names));
        inside.call(function, &[endpoint, arguments, request])?
    };
    send(inside, exchange, result);
    Some(())
}

/// Returns the parameters of a query as a named list of texts.
fn parameters<'x>(inside: &'x Inside<'_>, query: &[(Text<'_>, Text<'_>)]) -> Value<'x> {
    let list = inside.vector(RValueKind::List, query.len());
    for (index, (_, value)) in query.iter().enumerate() {
        inside.set(list, index, |inside| inside.text(value));
    }
    if !query.is_empty() {
        inside.set_names(list, inside.texts(query.len(), query.iter().map(|(name, _)| name)));
    }
    list
}

/// Returns the request as a named list; the names are those of [`REQUEST`](super::start::REQUEST).
fn request<'x>(inside: &'x Inside<'_>, call: &Call<'_>, headers: Value<'x>, names: Value<'x>) -> Value<'x> {
    let list = inside.vector(RValueKind::List, inside.length(names));
    for (index, text) in [(0, call.method), (1, call.path), (2, call.query), (5, call.address)] {
        inside.set(list, index, |inside| inside.text(text));
    }
    inside.put(list, 3, headers);
    // A body that is a table is passed as an argument, and not again.
    inside.set(list, 4, |inside| inside.raw(if call.table.is_none() { call.body } else { &[] }));
    inside.set_names(list, names);
    list
}

/// Returns headers as a named character vector.
fn fields<'x>(inside: &'x Inside<'_>, seen: &mut WorkerCache, fields: Fields<'_>) -> Value<'x> {
    let held = Value::of(seen.vector);
    if seen.bytes.is_empty() || seen.bytes != fields.bytes {
        // The cache is invalid if R runs out of memory here.
        seen.bytes.clear();
        let vector = inside.texts(fields.count, fields.texts(true));
        inside.set_names(vector, inside.texts(fields.count, fields.texts(false)));
        if fields.bytes.len() > SEEN_BYTES {
            return vector;
        }
        inside.put(held, 0, vector);
        seen.bytes.extend_from_slice(fields.bytes);
    }
    inside.element(held, 0)
}

/// Decodes `list(status, headers, body, kind)` and sends it. R is not called any more once bytes are sent.
fn send(inside: &Inside<'_>, exchange: &mut CallContext<'_>, answer: Value<'_>) {
    const MALFORMED: &str = "the runtime did not answer with a status, headers, a body and its kind";
    exchange.unfit = Some(MALFORMED);
    if inside.kind(answer) != RValueKind::List || inside.length(answer) != 4 {
        return;
    }
    let [status, headers, body, kind] = [0, 1, 2, 3].map(|index| inside.element(answer, index));
    let (Some(status), Some(kind)) = (whole(inside, status), whole(inside, kind)) else { return };
    let Ok(status) = u16::try_from(status) else { return };
    let out = &mut *exchange.out;
    frame::begin(out, b'A');
    out.extend_from_slice(&status.to_le_bytes());
    let fields = out.len();
    let typed = put_headers(inside, out, headers);
    if kind == JSON && !typed && is_wanted_as_table(inside, &exchange.call, body) {
        put_type(out, fields, ARROW_STREAM);
        out.push(0);
        let gathered = table::gather(inside, body, exchange.leaving.insert(Leaving::default()));
        exchange.unfit = gathered.err().map(Unfit::told);
        return;
    }
    if kind == JSON && !typed {
        put_type(out, fields, "application/json");
    }
    let mut rest: &[u8] = &[];
    match kind {
        JSON => {
            out.push(0);
            if let Err(unfit) = json::write(inside, out, body) {
                exchange.unfit = Some(unfit.told());
                return;
            }
        }
        BODY..=TEMPORARY_FILE => {
            out.extend(u8::try_from(kind));
            match inside.kind(body) {
                RValueKind::Null => {}
                RValueKind::Raw => rest = inside.bytes(body),
                RValueKind::Text if inside.length(body) == 1 => {
                    inside.with_string(body, 0, |text| out.extend_from_slice(text));
                }
                _ => return,
            }
        }
        _ => return,
    }
    if !frame::fits(out, rest) {
        exchange.unfit = Some(TOO_LARGE);
        return;
    }
    exchange.sent = Some(frame::send(&mut exchange.stream, out, rest));
}

/// Returns the only integer of a vector.
fn whole(inside: &Inside<'_>, value: Value<'_>) -> Option<i32> {
    match inside.kind(value) {
        RValueKind::Integer => inside.numbers(value).first().copied(),
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is checked by who asked")]
        RValueKind::Double => inside.reals(value).first().map(|number| *number as i32),
        _ => None,
    }
}

/// Returns whether the result is a data frame, and the client accepts it as an Arrow stream.
fn is_wanted_as_table(inside: &Inside<'_>, call: &Call<'_>, value: Value<'_>) -> bool {
    let mut fields = call.headers.texts(false).zip(call.headers.texts(true));
    call.endpoint >= 0
        && inside.has_class(value)
        && inside.inherits(value, c"data.frame")
        && fields.any(|(name, accepted)| {
            let mut forms = accepted.split([',', ';']);
            name == "accept" && forms.any(|form| form.trim().eq_ignore_ascii_case(ARROW_STREAM))
        })
}

/// Writes the headers; returns whether they contain the media type.
fn put_headers(inside: &Inside<'_>, out: &mut Vec<u8>, headers: Value<'_>) -> bool {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count: u32 = 0;
    let mut typed = false;
    let names = inside.attribute(headers, Attribute::Names);
    if inside.kind(headers) == RValueKind::Text && inside.kind(names) == RValueKind::Text {
        for index in 0..inside.length(headers) {
            let before = out.len();
            let name = inside.with_string(names, index, |name| {
                typed |= name.eq_ignore_ascii_case(b"content-type");
                frame::put(out, name);
            });
            match name.and(inside.with_string(headers, index, |value| frame::put(out, value))) {
                Some(()) => count += 1,
                // A header with a missing value is omitted.
                None => out.truncate(before),
            }
        }
    }
    out[at..at + 4].copy_from_slice(&count.to_le_bytes());
    typed
}

/// Adds a header with the media type to those that begin at `fields`.
fn put_type(out: &mut Vec<u8>, fields: usize, media_type: &str) {
    if let Some(count) = out.get_mut(fields..).and_then(<[u8]>::first_chunk_mut) {
        *count = (u32::from_le_bytes(*count) + 1).to_le_bytes();
    }
    frame::put(out, b"content-type");
    frame::put(out, media_type.as_bytes());
}
