//! Calls that go well, and user code that says no.

use bytes::Bytes;
use futures::StreamExt;
use salver_model::Code;
use salver_model::functions::{Answer, AnswerBody, Language};
use salver_model::ports::Functions;

use crate::served::{Served, text_of, until};

const FIB: &str = "
def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

def fail(why):
    raise ValueError(why)

def numbers(count):
    for number in range(count):
        yield number

def broken():
    yield 1
    raise ValueError('in the middle')

def echo(request):
    import salver
    return salver.Response(request.body, content_type='application/octet-stream')
";

#[tokio::test]
async fn python_answers() {
    let served = Served::python(FIB).await;
    let interface = served.file.interface().unwrap();
    let names: Vec<_> = interface.endpoints.iter().map(|endpoint| endpoint.function.as_str()).collect();
    assert_eq!(names, ["fib", "fail", "numbers", "broken", "echo"]);
    assert_eq!(served.text("fib", r#"{"n": 10}"#).await.unwrap(), "55");
    let answer = served.call("fib", r#"{"n": 100}"#).await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.headers.iter().any(|(name, value)| name == "content-type" && value.contains("json")));
    assert_eq!(text_of(answer), "354224848179261915075");
    let error = served.call("fail", r#"{"why": "so"}"#).await.unwrap_err();
    assert_eq!(error.code, Code::FunctionFailed);
    assert!(!error.message.contains("so\""), "the cause is for the log: {}", error.message);
    assert!(error.chain().contains("ValueError: so"), "{}", error.chain());
    assert_eq!(served.file.workers().lost, 0, "an error of user code is not the end of its process");
}

#[tokio::test]
async fn r_answers() {
    let served = Served::r_with("fib <- function(n) if (n < 2L) n else fib(n - 1L) + fib(n - 2L)\n", |_| {}).await;
    assert_eq!(served.text("fib", r#"{"n": 10}"#).await.unwrap(), "55");
    assert!(served.call("fib", r#"{"n": "x"}"#).await.is_err_and(|error| error.code == Code::FunctionFailed));
    assert_eq!(served.text("fib", r#"{"n": 15}"#).await.unwrap(), "610");
    assert_eq!(served.file.workers().lost, 0);
}

/// Frames that are larger than every buffer on the way, both ways.
#[tokio::test]
async fn a_body_of_100_megabytes() {
    let served = Served::python(FIB).await;
    let body: Bytes = (0..100_000_000_u32).map(|number| (number % 251) as u8).collect::<Vec<_>>().into();
    let answer = served.call_with("echo", "{}", body.clone()).await.unwrap();
    let AnswerBody::Whole(echo) = answer.body else { panic!("not whole") };
    assert!(echo == body, "{} bytes of {} came back, or others", echo.len(), body.len());
}

async fn pieces(answer: Answer) -> (Vec<u8>, Option<Code>) {
    let AnswerBody::Stream(mut pieces) = answer.body else { panic!("not in pieces") };
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => whole.extend_from_slice(&piece),
            Err(error) => return (whole, Some(error.code)),
        }
    }
    (whole, None)
}

#[tokio::test]
async fn answers_in_pieces() {
    let served = Served::python_with(FIB, |spec| spec.workers_max = 1).await;
    let expected: String = (0..1000).map(|number| format!("{number}\n")).collect();
    for _ in 0..3 {
        let (whole, error) = pieces(served.call("numbers", r#"{"count": 1000}"#).await.unwrap()).await;
        assert_eq!((String::from_utf8(whole).unwrap(), error), (expected.clone(), None));
    }
    let (begun, error) = pieces(served.call("broken", "{}").await.unwrap()).await;
    assert_eq!((&begun[..], error), (&b"1\n"[..], Some(Code::FunctionFailed)));
    assert_eq!(served.file.workers().lost, 0, "ends and errors leave the worker where it is");
    // Whoever stops reading gets the worker ended: nobody else could have it before the body's end.
    let AnswerBody::Stream(mut pieces) = served.call("numbers", r#"{"count": 100000000}"#).await.unwrap().body else {
        panic!("not in pieces")
    };
    assert_eq!(pieces.next().await.unwrap().unwrap(), "0\n");
    assert_eq!(served.file.workers().busy, 1);
    drop(pieces);
    assert_eq!(served.text("fib", r#"{"n": 10}"#).await.unwrap(), "55");
    assert_eq!((served.file.workers().lost, served.file.workers().busy), (1, 0));
}

#[tokio::test]
async fn what_is_missing_is_said() {
    for (language, program, package) in [
        (Language::Python, "/nowhere/python9", "apt install python3"),
        (Language::R, "/nowhere/R9", "apt install r-base-core"),
    ] {
        let served = Served::start(language, "", |spec| spec.interpreter = Some(program.into()));
        let is_named = || served.file.fault().is_some_and(|fault| fault.message.contains(program));
        until("a fault that names the program", is_named).await;
        let error = served.file.interface().unwrap_err();
        assert_eq!(error.code, Code::EntryUnavailable);
        assert!(error.hint.unwrap().contains(package));
        let error = served.file.call(salver_model::functions::Call::default()).await.unwrap_err();
        assert_eq!(error.code, Code::EntryUnavailable);
    }
}
