//! The contract of the `Functions` port, clause by clause.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array as _, ArrayRef, Int64Array};
use bytes::Bytes;
use salver_model::functions::{Answer, AnswerBody, Call, ColumnKind, ColumnsCall};
use salver_model::ports::Functions;
use salver_model::{Code, Error, Result};

/// What the suite needs, in Python: `add` of two integers, `fail` that raises what it is told, `end` that ends its
/// process, and `forever` that never returns.
pub const PYTHON: &str = "
def add(a: int, b: int) -> int:
    return a + b

def fail(why):
    raise ValueError(why)

def end():
    import os
    os._exit(7)

def forever():
    while True:
        pass
";

/// The same in R.
pub const R: &str = "
add <- function(a, b) a + b
fail <- function(why) stop(why)
end <- function() quit(save = 'no', status = 7)
forever <- function() repeat NULL
";

/// Runs the suite on a loaded file of [`PYTHON`] or [`R`] whose calls may take a second. `break_file` replaces the file
/// by text that can't be loaded, and waits until that was noticed.
///
/// # Panics
/// When the contract is broken.
pub async fn run(file: Arc<dyn Functions>, break_file: impl AsyncFnOnce()) {
    let interface = file.interface().expect("a loaded file");
    let names: Vec<_> = interface.endpoints.iter().map(|endpoint| endpoint.function.as_str()).collect();
    assert_eq!(names, ["add", "fail", "end", "forever"]);
    assert!(file.fault().is_none());
    adds(&*file).await;
    let failed = call(&*file, "fail", r#"{"why":"hidden"}"#).await.expect_err("it raises");
    assert_eq!(failed.code, Code::FunctionFailed);
    assert!(!failed.message.contains("hidden") && failed.chain().contains("hidden"), "{}", failed.chain());
    // Whatever a call does to its process is an error of that call only.
    for (function, code) in [("end", Code::FunctionFailed), ("forever", Code::Timeout)] {
        let beside = Arc::clone(&file);
        let other = tokio::spawn(async move { call(&*beside, "add", r#"{"a":1,"b":2}"#).await.map(text) });
        let error = call(&*file, function, "{}").await.expect_err(function);
        assert_eq!(error.code, code, "{function}: {error:?}");
        assert_eq!(other.await.expect("no panic").expect("a call beside it"), "3", "{function}");
        adds(&*file).await;
    }
    // A caller that goes away takes its call along.
    let gone = tokio::time::timeout(Duration::from_millis(20), call(&*file, "forever", "{}")).await;
    assert!(gone.is_err(), "it returned");
    adds(&*file).await;
    columns(&*file).await;
    break_file().await;
    let fault = file.fault().expect("the file can't be loaded, and nobody says so");
    assert!(!fault.message.is_empty());
    assert!(file.interface().is_ok(), "the last good version stays");
    adds(&*file).await;
}

async fn adds(file: &dyn Functions) {
    let answer = call(file, "add", r#"{"a":20,"b":22}"#).await.unwrap_or_else(|error| panic!("{}", error.chain()));
    assert_eq!((answer.status, text(answer).as_str()), (200, "42"));
}

/// A function over columns gives a column of as many rows, of the type that was asked for.
async fn columns(file: &dyn Functions) {
    let interface = file.interface().expect("a loaded file");
    let ask = |result| {
        let column = |from: i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(from..from + 100)) };
        let columns = vec![column(0), column(1_000)];
        ColumnsCall { endpoint: 0, interface: Arc::clone(&interface), rows: 100, columns, result }
    };
    for kind in [ColumnKind::Integer, ColumnKind::Number] {
        let sums = file.call_columns(ask(kind)).await.unwrap_or_else(|error| panic!("{}", error.chain()));
        assert_eq!((sums.len(), sums.data_type()), (100, &kind.data_type()));
        let sums = arrow::compute::cast(&sums, &arrow::datatypes::DataType::Int64).expect("numbers");
        let sums = sums.as_any().downcast_ref::<Int64Array>().expect("integers").clone();
        assert_eq!(sums, Int64Array::from_iter_values((0..100).map(|row| 1_000 + 2 * row)));
    }
}

async fn call(file: &dyn Functions, function: &str, arguments: &str) -> Result<Answer> {
    let interface = file.interface()?;
    let endpoint = interface.endpoints.iter().position(|endpoint| endpoint.function == function);
    let endpoint = endpoint.ok_or_else(|| Error::internal(format!("no function `{function}`")))?;
    let arguments = Bytes::copy_from_slice(arguments.as_bytes());
    file.call(Call { endpoint: Some(endpoint), interface: Some(interface), arguments, ..Call::default() }).await
}

fn text(answer: Answer) -> String {
    match answer.body {
        AnswerBody::Whole(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        other => panic!("not whole: {other:?}"),
    }
}
