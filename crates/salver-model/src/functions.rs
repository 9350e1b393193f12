//! The vocabulary of user code: the interface of a file of functions, its calls and its answers.
//!
//! User code sees the HTTP request itself: its path, headers and body. This is therefore the only place in the
//! vocabulary that has them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bytes::Bytes;
use futures::stream::BoxStream;

use crate::error::Result;
use crate::principal::Holder;

/// Language of a file of user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// R.
    R,
    /// Python.
    Python,
}

impl Language {
    /// Returns the language of a file by its extension.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "R" | "r" => Some(Self::R),
            "py" => Some(Self::Python),
            _ => None,
        }
    }
}

/// Interface of a loaded file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// Whether the whole file is an application with its own routing (RestRserve, plumber): it gets requests unchanged,
    /// and also answers those for unknown paths.
    pub application: bool,
    /// Endpoints, in the order of the file; for an application those it could report.
    pub endpoints: Vec<Endpoint>,
    /// Title and description of the file, if it has them.
    pub title: Option<String>,
    /// See `title`.
    pub description: Option<String>,
    /// Number of the load this interface is from; later loads have higher numbers.
    pub load: u64,
    /// Further files that the code was loaded from: when one changes, it is loaded again.
    pub files: Vec<PathBuf>,
}

/// Function or route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    /// Name of the function; may be empty for a route in an application.
    pub function: String,
    /// Method (`*` for any) and path, in which `<name>`, `<name:type>` and `{name}` are parameters. `None`: only
    /// callable as `POST /api/functions/{file}/{function}`.
    pub route: Option<(String, String)>,
    /// Matching of the path.
    pub matching: Matching,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
    /// First line of its comment, and the rest.
    pub summary: Option<String>,
    /// See `summary`.
    pub description: Option<String>,
    /// Whether equal arguments give equal results, so that a result may be cached.
    pub pure: bool,
    /// Type of its result; `Any` when not declared.
    pub result: ParameterKind,
    /// Whether it works on whole columns: each argument and the result are vectors of values.
    pub vectorized: bool,
    /// Whether several calls with scalar arguments may be combined into one over columns, in which each is a row.
    pub gathers: bool,
    /// Whether it gets the request itself, beside its arguments.
    pub takes_request: bool,
    /// JSON Schema of its result, as text, if more is known than `result` says.
    pub answer_schema: Option<String>,
}

impl Endpoint {
    /// Returns what messages call it: its name, or its route, where the function has none.
    pub fn label(&self) -> Cow<'_, str> {
        match &self.route {
            Some((method, path)) if self.function.is_empty() => format!("{method} {path}").into(),
            _ => self.function.as_str().into(),
        }
    }
}

/// Matching of a route's path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The whole path.
    #[default]
    Exact,
    /// The path and everything below it.
    Prefix,
}

/// Parameter of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// Type of the parameter.
    pub kind: ParameterKind,
    /// Whether it takes a list of these.
    pub list: bool,
    /// Whether it is required.
    pub required: bool,
    /// Whether its value may be a table, passed as an Arrow stream.
    pub table: bool,
    /// Whether the function decides what a text of a URL or a form is: each is passed as `{"\u0000text": "..."}`.
    pub texts: bool,
    /// Description of the parameter.
    pub description: Option<String>,
    /// JSON Schema of its values, as text, if more is known than `kind` says.
    pub schema: Option<String>,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterKind {
    /// Anything.
    #[default]
    Any,
    /// True or false.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// An object or list.
    Object,
    /// The bytes of a body.
    Bytes,
}

/// Call of user code. A function that does not get the request does not need its parts, except the headers for the
/// media types of the body and the response.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Index into [`Interface::endpoints`]; `None` for an application, which routes by itself.
    pub endpoint: Option<usize>,
    /// Interface in which `endpoint` was looked up, so that the same function is called if the file is reloaded
    /// meanwhile; `None` for the interface that is current when the call gets its worker.
    pub interface: Option<Arc<Interface>>,
    /// Method, in capitals.
    pub method: String,
    /// Path below the mount point of the file, beginning with `/`, as received (not decoded).
    pub path: String,
    /// Query string, as received.
    pub query: String,
    /// Headers in order; names in lower case.
    pub headers: Vec<(String, String)>,
    /// Named arguments of a function, validated, as the text of a JSON object; empty for applications.
    pub arguments: Bytes,
    /// Body as received, with its content coding removed.
    pub body: Bytes,
    /// Parameter whose value is the body, as an Arrow stream that is not validated.
    pub table: Option<String>,
    /// Address of the caller, if known.
    pub address: Option<String>,
    /// Holder charged for the worker, if known.
    pub holder: Option<Holder>,
    /// `Some` for a job, which runs in the background: it waits in the queue of jobs without a timeout, has their time
    /// limit to run, and stores the start of the run here.
    pub job: Option<Arc<OnceLock<SystemTime>>>,
}

/// Many calls of one function at once: each row of the columns is one call.
#[derive(Clone, Debug)]
pub struct ColumnsCall {
    /// Index into [`Interface::endpoints`] of `interface`.
    pub endpoint: usize,
    /// Interface in which `endpoint` was looked up, as in [`Call::interface`].
    pub interface: Arc<Interface>,
    /// Number of calls.
    pub rows: usize,
    /// Arguments: for each of the first parameters a column of `rows` values with the type of a [`ColumnKind`]. Later
    /// parameters are not passed.
    pub columns: Vec<ArrayRef>,
    /// Expected type of the result.
    pub result: ColumnKind,
}

/// Type of the values of an argument or result column. Any value may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// Booleans: `Boolean` of Arrow.
    Boolean,
    /// Integers: `Int64`.
    Integer,
    /// Numbers: `Float64`.
    Number,
    /// Texts: `Utf8`.
    Text,
}

impl ColumnKind {
    /// Returns Arrow's type of such columns.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Number => DataType::Float64,
            Self::Text => DataType::Utf8,
        }
    }
}

/// Response of user code.
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Headers in order.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: AnswerBody,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).field("headers", &self.headers).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => f.debug_tuple("Whole").field(&bytes.len()).finish(),
            Self::Stream(_) => f.write_str("Stream"),
            Self::File { path, temporary } => write!(f, "File({}, temporary: {temporary})", path.display()),
        }
    }
}

/// Body of a response.
pub enum AnswerBody {
    /// Complete body.
    Whole(Bytes),
    /// Chunks as they are produced. Dropping the stream ends the call.
    Stream(BoxStream<'static, Result<Bytes>>),
    /// Content of a file, which may be deleted after sending.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Whether the file is deleted after sending.
        temporary: bool,
    },
}

/// State of the workers of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workers {
    /// Number of processes.
    pub alive: usize,
    /// Number of processes that are busy with a call.
    pub busy: usize,
    /// Number of calls that wait for a worker.
    pub waiting: usize,
    /// Number of processes that ended by themselves or had to be killed, since the start.
    pub lost: u64,
    /// Number of times the file was loaded.
    pub loads: u64,
    /// Longest wait of a call for a worker in the last second.
    pub wait: Duration,
}
