//! Calls over columns: what goes in, what comes out, and what becomes of calls that go wrong.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use salver_model::functions::{ColumnKind, ColumnsCall};
use salver_model::ports::Functions;
use salver_model::{Code, Error, Result};

use crate::served::{Served, stat, until};

const R: &str = r#"
fib <- function(n) {
  x <- c(0, 1)
  for (i in seq_len(n)) x <- c(x[2], x[1] + x[2])
  x[1]
}
same <- function(x) x
kind <- function(x) class(x)
add <- function(a, b = 10) a + b
nothing <- function() NULL
#' @vectorized
whole <- function(x) x * length(x)
#' @vectorized
words <- function(day) as.Date(day) + 1
short <- function(x) x[0]
fail <- function(why) stop("no ", why)
level <- function(x) factor(x)
eat <- function(n) numeric(n)
spin <- function(n) repeat n
leave <- function(n) quit(save = "no")
pid <- function() Sys.getpid()
"#;

const PYTHON: &str = r#"
import datetime, os
from typing import Optional

def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

def same(x): return x
def kind(x) -> str: return type(x).__name__
def add(a, b=10): return None if a is None else a + b
def nothing(): return None

#* @vectorized
def whole(x): return [None if each is None else each * len(x) for each in x]

def words(day: Optional[datetime.date]): return day and day + datetime.timedelta(days=1)
def short(x): return []
def fail(why): raise ValueError("no " + why)
def eat(n): return bytearray(n)[0]

def spin(n):
    while True:
        pass

def leave(n): raise SystemExit(3)
def pid(): return os.getpid()
async def later(n): return n
def keyword(*, a, b=2, c: Optional[int]): return a * b if c is None else c
"#;

async fn both() -> [Served; 2] {
    [Served::python(PYTHON).await, Served::r_with(R, |_| {}).await]
}

/// Calls `function` for every row of `columns`.
async fn over(served: &Served, function: &str, columns: &[&dyn Array], result: ColumnKind) -> Result<ArrayRef> {
    let interface = served.file.interface()?;
    let endpoint = interface.endpoints.iter().position(|endpoint| endpoint.function == function).unwrap();
    let columns: Vec<ArrayRef> = columns.iter().map(|column| column.slice(0, column.len())).collect();
    let rows = columns.first().map_or(3, |column| column.len());
    served.file.call_columns(ColumnsCall { endpoint, interface, rows, columns, result }).await
}

async fn failure(served: &Served, function: &str, column: &dyn Array, result: ColumnKind) -> Error {
    over(served, function, &[column], result).await.err().unwrap_or_else(|| panic!("{function} gave a column"))
}

fn same(got: &ArrayRef, expected: &dyn Array) {
    assert_eq!(got.to_data(), expected.to_data());
}

/// R has no text with U+0000, and the row is told before any code runs; Python has.
#[tokio::test]
async fn texts_that_r_can_not_have() {
    let [python, r] = both().await;
    let texts = StringArray::from(vec!["a", "b\0"]);
    same(&over(&python, "same", &[&texts], ColumnKind::Text).await.unwrap(), &texts);
    let error = failure(&r, "same", &texts, ColumnKind::Text).await;
    assert_eq!(error.code, Code::InvalidValue);
    assert_eq!(error.message, "`same` can't take the text in row 2 of 2: it has the character U+0000");
    same(&over(&r, "same", &[&texts.slice(0, 1)], ColumnKind::Text).await.unwrap(), &texts.slice(0, 1));
}

#[tokio::test]
async fn values_of_every_kind_go_in_and_come_out() {
    let truths = BooleanArray::from(vec![Some(true), None, Some(false)]);
    let whole = Int64Array::from(vec![Some(-5), None, Some(1 << 31)]);
    let numbers = Float64Array::from(vec![Some(0.5), None, Some(-1e300)]);
    let texts = StringArray::from(vec![Some("é"), None, Some("")]);
    let columns: [(&dyn Array, ColumnKind); 4] = [
        (&truths, ColumnKind::Boolean),
        (&whole, ColumnKind::Integer),
        (&numbers, ColumnKind::Number),
        (&texts, ColumnKind::Text),
    ];
    for served in both().await {
        for (column, kind) in columns {
            same(&over(&served, "same", &[column], kind).await.unwrap(), column);
            let last = column.slice(2, 1);
            same(&over(&served, "same", &[&last], kind).await.unwrap(), &last);
            let none = column.slice(0, 0);
            same(&over(&served, "same", &[&none], kind).await.unwrap(), &none);
        }
        let unknown = over(&served, "same", &[&Float64Array::from(vec![f64::NAN])], ColumnKind::Number).await.unwrap();
        assert!(unknown.is_valid(0), "what is not a number is not missing");
        let sums = over(&served, "add", &[&numbers], ColumnKind::Number).await.unwrap();
        same(&sums, &Float64Array::from(vec![Some(10.5), None, Some(-1e300)]));
    }
}

#[tokio::test]
async fn functions_are_called_for_rows_or_for_columns() {
    let n = Int64Array::from(vec![10, 20, 1]);
    for served in both().await {
        let fibs = over(&served, "fib", &[&n], ColumnKind::Number).await.unwrap();
        same(&fibs, &Float64Array::from(vec![55.0, 6765.0, 1.0]));
        let fibs = over(&served, "fib", &[&n], ColumnKind::Integer).await.unwrap();
        same(&fibs, &Int64Array::from(vec![55, 6765, 1]));
        let sums = over(&served, "add", &[&n, &n], ColumnKind::Integer).await.unwrap();
        same(&sums, &Int64Array::from(vec![20, 40, 2]));
        same(&over(&served, "whole", &[&n], ColumnKind::Integer).await.unwrap(), &Int64Array::from(vec![30, 60, 3]));
        same(
            &over(&served, "nothing", &[], ColumnKind::Text).await.unwrap(),
            &StringArray::from(vec![None::<&str>; 3]),
        );
        let days = StringArray::from(vec!["2024-02-28", "2023-12-31"]);
        let next = over(&served, "words", &[&days], ColumnKind::Text).await.unwrap();
        same(&next, &StringArray::from(vec!["2024-02-29", "2024-01-01"]));
    }
    let [python, r] = both().await;
    let kinds = over(&r, "kind", &[&n], ColumnKind::Text).await.unwrap();
    same(&kinds, &StringArray::from(vec!["integer"; 3]));
    let large = Int64Array::from(vec![1, 1 << 40]);
    same(&over(&r, "kind", &[&large], ColumnKind::Text).await.unwrap(), &StringArray::from(vec!["numeric"; 2]));
    same(&over(&r, "level", &[&days()], ColumnKind::Text).await.unwrap(), &days());
    same(&over(&python, "later", &[&n], ColumnKind::Integer).await.unwrap(), &n);
    let doubled = over(&python, "keyword", &[&n], ColumnKind::Integer).await.unwrap();
    same(&doubled, &Int64Array::from(vec![20, 40, 2]));
}

fn days() -> StringArray {
    StringArray::from(vec!["Mon", "Tue"])
}

#[tokio::test]
async fn what_goes_wrong_is_told_with_the_name_of_the_function() {
    let (n, texts) = (Int64Array::from(vec![1, 2]), StringArray::from(vec!["a", "b"]));
    for served in both().await {
        let told = |error: Error| {
            assert_eq!(error.code, Code::FunctionFailed, "{error:?}");
            error.message
        };
        let raised = told(failure(&served, "fail", &texts, ColumnKind::Text).await);
        assert!(raised.starts_with("`fail` raised ") && raised.ends_with(": no a"), "{raised}");
        let unfit = told(failure(&served, "same", &texts, ColumnKind::Number).await);
        assert!(unfit.contains("where a number was asked for, in row 1"), "{unfit}");
        let halves = Float64Array::from(vec![1.0, 0.5]);
        let unfit = told(failure(&served, "same", &halves, ColumnKind::Integer).await);
        assert!(unfit.starts_with("`same` gave ") && unfit.contains("in row 2"), "{unfit}");
        let unfit = told(failure(&served, "same", &n, ColumnKind::Boolean).await);
        assert!(unfit.contains("where true or false was asked for"), "{unfit}");
        let unfit = told(failure(&served, "short", &n, ColumnKind::Number).await);
        assert!(unfit.starts_with("`short` gave "), "{unfit}");
        assert_eq!(served.file.workers().lost, 0, "an error of user code is not the end of its process");
        let ended = told(failure(&served, "leave", &n, ColumnKind::Number).await);
        assert!(ended.contains("ended while it worked"), "{ended}");
        same(&over(&served, "same", &[&n], ColumnKind::Integer).await.unwrap(), &n);
    }
}

#[tokio::test]
async fn bounds_hold_for_batches() {
    let set = |spec: &mut salver_model::spec::FunctionSpec| {
        (spec.workers_max, spec.memory_bytes_max) = (1, Some(256 * 1024 * 1024));
        spec.timeout = Some(Duration::from_millis(500));
    };
    let n = Int64Array::from(vec![1]);
    for served in [Served::python_with(PYTHON, set).await, Served::r_with(R, set).await] {
        let error = failure(&served, "eat", &Int64Array::from(vec![4_000_000_000_i64]), ColumnKind::Number).await;
        assert_eq!((error.code, error.message.as_str()), (Code::OutOfMemory, "`eat` ran out of memory"));
        assert_eq!(failure(&served, "spin", &n, ColumnKind::Number).await.code, Code::Timeout);
        same(&over(&served, "same", &[&n], ColumnKind::Integer).await.unwrap(), &n);
    }
}

/// Whoever leaves takes the worker along, which would go on with it.
#[tokio::test]
async fn a_call_that_nobody_waits_for_ends() {
    let n = Int64Array::from(vec![1]);
    for served in [Served::python_with(PYTHON, |_| {}).await, Served::r_with(R, |_| {}).await] {
        let pid = over(&served, "pid", &[], ColumnKind::Integer).await.unwrap();
        let pid = pid.as_any().downcast_ref::<Int64Array>().unwrap().value(0);
        let columns: [&dyn Array; 1] = [&n];
        let spin = over(&served, "spin", &columns, ColumnKind::Number);
        assert!(tokio::time::timeout(Duration::from_millis(50), spin).await.is_err());
        let pid = u32::try_from(pid).unwrap();
        until("the worker is gone", || stat(pid).is_none_or(|stat| stat.is_zombie)).await;
    }
}

#[tokio::test]
async fn a_file_that_is_loaded_again_is_called_by_the_same_name() {
    let served = Served::python("def f(x): return x\ndef g(x): return -x\n").await;
    let interface = served.file.interface().unwrap();
    std::fs::write(served.path(), "def e(x): return 0\ndef f(x): return x + 1\n").unwrap();
    served.loaded(2).await;
    let columns = vec![Arc::new(Int64Array::from(vec![1])) as ArrayRef];
    let call = |endpoint| ColumnsCall {
        endpoint,
        interface: Arc::clone(&interface),
        rows: 1,
        columns: columns.clone(),
        result: ColumnKind::Integer,
    };
    same(&served.file.call_columns(call(0)).await.unwrap(), &Int64Array::from(vec![2]));
    assert_eq!(served.file.call_columns(call(1)).await.unwrap_err().code, Code::EntryUnavailable);
}
