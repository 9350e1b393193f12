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
//! - `N`: nor can any other, because what runs the language is not there; as `X`.
//!
//! From server to zygote:
//!
//! - `F`: `u32`, fork so many workers.
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
//! - `B`: a batch, which is a call for every row of some columns. `u32` endpoint, `u32` rows, `u8` what is to come back
//!   (the kind of a column), `u8` columns, so many columns: arguments for the first parameters.
//!
//! - `G`: combined calls of one function. `u32` endpoint, `u32` rows, and of each its arguments as bytes (the text of a
//!   JSON object). All of them have the same names, with scalars of the same kind or nulls.
//!
//! To a batch a worker answers `B`, one column with as many rows, or `X`, whose message goes on where the function's
//! name stood before it. A *column* is `u8` kind (0 truth values, 1 whole numbers, 2 numbers, 3 texts), a byte for each
//! row (1: there is a value, 0: it is missing), and then for each row: of truth values a byte, of whole numbers `i64`,
//! of numbers `f64`, of texts `u32`, where it ends in the UTF-8 bytes that follow all of these.
//!
//! Combined calls are answered by `G`, with the JSON text of each row's value as bytes; or, if that fails or there is
//! only one, like a single call, by `A` or `X`.
//!
//! A worker has one call at a time. It ends when its connection does. What user code writes to standard output or error
//! goes to pipes of the zygote, never into a frame.

pub(crate) mod answer;
pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod columns;
pub(crate) mod frame;
pub(crate) mod gathered;
