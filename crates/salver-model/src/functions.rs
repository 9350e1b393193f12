//! The words for user code: what a file of functions offers, what is asked of it and what it answers.
//!
//! User code asks for the request as it came: its path, its header fields, its body. So this is the one place in the
//! vocabulary where they stand.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use bytes::Bytes;
use futures::stream::BoxStream;

use crate::caller::Holder;
use crate::error::Result;

/// What the files of user code are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// R.
    R,
    /// Python.
    Python,
}

impl Language {
    /// The language of a file by the end of its name.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "R" | "r" => Some(Self::R),
            "py" => Some(Self::Python),
            _ => None,
        }
    }
}

/// What a loaded file offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// The whole file is an application that routes for itself (RestRserve, plumber): requests go to it as they come,
    /// and it answers also what it does not know.
    pub application: bool,
    /// What it has, in the order of the file. Of an application what it could tell.
    pub endpoints: Vec<Endpoint>,
    /// The title and the description of the whole, when the file says them.
    pub title: Option<String>,
    /// See `title`.
    pub description: Option<String>,
    /// Which load of the file it is of: a later one has a higher number.
    pub load: u64,
}

/// One function or route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    /// The function's name; of a route in an application may be empty.
    pub function: String,
    /// Where it stands: the method (`*` for any) and the path, in which `<name>`, `<name:type>` and `{name}` are
    /// parameters. `None`: only callable as `POST /api/functions/{file}/{function}`.
    pub route: Option<(String, String)>,
    /// How the path is to match.
    pub matching: Matching,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The first line of its comment, and the rest.
    pub summary: Option<String>,
    /// See `summary`.
    pub description: Option<String>,
    /// Equal arguments give equal answers, so that one may be kept.
    pub pure: bool,
    /// What it gives: one value of this kind; `Any` when that is not said.
    pub result: ParameterKind,
    /// It works on whole columns: each argument is a vector of values, and so is what it gives.
    pub vectorized: bool,
    /// Calls of it whose arguments are plain values may be made as one over columns, in which each is a row.
    pub gathers: bool,
    /// It sees the request itself, and not its arguments alone.
    pub takes_request: bool,
}

/// How a route's path matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matching {
    /// The whole path.
    #[default]
    Exact,
    /// The path and all below it.
    Prefix,
}

/// One parameter of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: ParameterKind,
    /// Whether it takes a list of these.
    pub list: bool,
    /// Whether it must be given.
    pub required: bool,
    /// Whether its value may be a table, which comes as an Arrow stream.
    pub table: bool,
    /// What is said of it.
    pub description: Option<String>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterKind {
    /// Anything.
    #[default]
    Any,
    /// True or false.
    Boolean,
    /// A whole number.
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

/// What is asked of user code. To a function that does not see the request, its parts are of no use, but for the header
/// fields that say in which form the body is and the answer is to be.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Which of [`Interface::endpoints`]; `None` for an application, which finds it itself.
    pub endpoint: Option<usize>,
    /// What `endpoint` was looked up in, so that the same is called when the file is loaded again meanwhile; `None` for
    /// what the file offers when the call gets its worker.
    pub interface: Option<Arc<Interface>>,
    /// The method, in capitals.
    pub method: String,
    /// The path below where the file is mounted, beginning with `/`, as it came (not decoded).
    pub path: String,
    /// What stood behind `?`, as it came.
    pub query: String,
    /// Header fields in their order; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The named arguments of a function, checked, as the text of a JSON object; empty for applications.
    pub arguments: Bytes,
    /// The body, as it came but for its content coding.
    pub body: Bytes,
    /// The parameter whose value the body is, as an Arrow stream; nobody has looked into it.
    pub table: Option<String>,
    /// The caller's address, when one is known.
    pub address: Option<String>,
    /// Who is charged for the worker, when one is known.
    pub holder: Option<Holder>,
    /// `Some` for a job, for which nobody waits: it waits for its turn among the jobs for as long as it takes, has
    /// their time to run, and says here when that began.
    pub job: Option<Arc<OnceLock<SystemTime>>>,
}

/// Many calls of one function at once: each row of the columns is one.
#[derive(Clone, Debug)]
pub struct ColumnsCall {
    /// Which of [`Interface::endpoints`] of `interface`.
    pub endpoint: usize,
    /// What `endpoint` was looked up in, as in [`Call::interface`].
    pub interface: Arc<Interface>,
    /// How many calls.
    pub rows: usize,
    /// The arguments: for each of the first parameters a column of `rows` values, whose type is that of a
    /// [`ColumnKind`]. Parameters behind them are not given.
    pub columns: Vec<ArrayRef>,
    /// What is to come back.
    pub result: ColumnKind,
}

/// What the values of a column are that goes into a function or comes out of it. Any of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// True or false: `Boolean` of Arrow.
    Boolean,
    /// Whole numbers: `Int64`.
    Integer,
    /// Numbers: `Float64`.
    Number,
    /// Texts: `Utf8`.
    Text,
}

impl ColumnKind {
    /// Arrow's type of such columns.
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

/// What user code answers.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Header fields in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
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

/// The body of an answer.
pub enum AnswerBody {
    /// All of it.
    Whole(Bytes),
    /// Pieces as they are made. Dropping the stream ends the call.
    Stream(BoxStream<'static, Result<Bytes>>),
    /// The content of a file, and whether it goes away when it was sent.
    File {
        /// Where it is.
        path: PathBuf,
        /// Whether it goes away when it was sent.
        temporary: bool,
    },
}

/// How the workers of a file are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workers {
    /// Processes that are there.
    pub alive: usize,
    /// Of them, busy with a call.
    pub busy: usize,
    /// Calls that wait for one.
    pub waiting: usize,
    /// Processes that ended by themselves or had to be ended, since the start.
    pub lost: u64,
    /// How often the file was loaded.
    pub loads: u64,
    /// The longest wait a call had for a worker in the last second.
    pub wait: Duration,
}
