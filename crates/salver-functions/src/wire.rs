//! The protocol between the server and the processes that run user code.
//!
//! All integers are little-endian. A *frame* is `u32 length`, then so many bytes: `u8 kind` and a payload. A *text* or
//! *bytes* in a payload is `u32 length` and so many bytes (text is UTF-8); *fields* are `u32 count` and so many pairs
//! of texts, name and value.
//!
//! For each file there is one *zygote*, a process that loads it once. Its standard input is one end of a pair of Unix
//! stream sockets: the control channel. Its arguments end with the file and the path of a Unix socket the server
//! listens on. When the control channel ends, the zygote kills its process group, which is its own and that of all its
//! workers, so that nothing outlives the server.
//!
//! From zygote to server:
//!
//! - `R`: the file is loaded. The rest of the frame is the text of a JSON object, an *offer*.
//! - `X`: the file can't be loaded. The rest of the frame is the reason as text; the zygote ends.
//! - `P`: the file is refused, since what it says of who may call it would not hold; as `X`. No other version of it is
//!   served in its place.
//! - `N`: this file and all others cannot be loaded, because the language's runtime is missing; as `X`.
//!
//! From server to zygote:
//!
//! - `F`: `u32`, fork this number of workers.
//! - `K`: `u32`, kill the worker with this process id.
//!
//! From worker to server:
//!
//! - `H`: on a new connection to the server's socket, `u32` its process id.
//! - `A`: the answer. `u16` status, fields headers, `u8` body: 0 the rest of the frame is the body; 1 it is the path of
//!   a file; 2 the same, and the file is deleted after sending.
//! - `S`: an answer in pieces begins. `u16` status, fields headers; `D` frames (the rest is the piece) follow, and at
//!   the end `E`, or `X`.
//! - `X`: the call failed. `u8` 0 user code raised, 1 out of memory, 2 an argument was invalid; text message for the
//!   client, text detail for the log.
//!
//! From server to worker:
//!
//! - `C`: a call. `i32` endpoint (-1: the application), bytes arguments (the text of a JSON object, or nothing), text
//!   method, text path, text query, text address, fields headers, bytes body.
//!
//! - `T`: a call whose body is the value of a parameter, as an Arrow stream. Text name of the parameter, and then what
//!   stands in a `C`.
//!
//! - `B`: a batch, which is a call for every row of some columns. `u32` endpoint, `u32` rows, `u8` expected result (the
//!   kind of a column), `u8` number of columns, and the columns: arguments for the first parameters.
//!
//! - `G`: combined calls of one function. `u32` endpoint, `u32` rows, and of each its arguments as bytes (the text of a
//!   JSON object). All of them have the same names, with scalars of the same kind or nulls.
//!
//! A batch is answered by `B`, one column with as many rows, or `X`, whose message continues after the function's name.
//! A *column* is `u8` kind (0 booleans, 1 integers, 2 numbers, 3 texts), a byte for each row (1: there is a value, 0:
//! it is missing), and then for each row: for booleans a byte, for integers `i64`, for numbers `f64`, for texts the
//! `u32` end in the UTF-8 bytes that follow all of these.
//!
//! Combined calls are answered by `G`, with the JSON text of each row's value as bytes; or, if there are no such
//! values, by `A` or `X`, which is then the answer to a call that was sent alone.
//!
//! A worker has one call at a time. It ends when its connection does. What user code writes to standard output or error
//! goes to pipes of the zygote, never into a frame.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod columns;
pub(crate) mod combined_calls;
pub(crate) mod frame;
