//! Streams of Arrow as data frames, and data frames as streams of Arrow.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch,
    RecordBatchOptions, StringArray, StringViewArray, Time32SecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampSecondArray, UInt32Array,
};
use arrow::datatypes::{DataType, Date32Type, Field, Int8Type, Int32Type, Schema, TimeUnit};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use serde_json::{Value, json};

use super::server::{Host, Outcome, Worker};

const ARROW: &str = "application/vnd.apache.arrow.stream";

/// Tells each column as R would write it.
const SHOW: &str = "show <- function(x) lapply(x, function(column) paste(deparse(column), collapse = ''))";

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn columns(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn one<A: Array + 'static>(array: A) -> Vec<u8> {
    stream(&[columns(vec![("a", Arc::new(array))])])
}

/// Columns with rows, but none of them.
fn bare(rows: usize) -> RecordBatch {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap()
}

/// What the function answers when JSON is asked for.
fn shown(worker: &mut Worker, body: &[u8]) -> Value {
    match worker.table("{}", body, "application/json") {
        Outcome::Answer { status: 200, body, .. } => serde_json::from_slice(&body).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The only batch of the stream that is answered.
fn batch(outcome: Outcome) -> RecordBatch {
    let Outcome::Answer { status: 200, headers, kind: 0, body } = outcome else { panic!("{outcome:?}") };
    assert_eq!(headers, [("content-type".to_owned(), ARROW.to_owned())]);
    let batches: Vec<_> = StreamReader::try_new(&body[..], None).unwrap().collect::<Result<_, _>>().unwrap();
    let [batch] = &batches[..] else { panic!("{} batches", batches.len()) };
    batch.clone()
}

#[test]
fn types_go_in() {
    let mut host = Host::loaded(SHOW);
    let mut worker = host.fork();
    let mixed: DictionaryArray<Int8Type> = [Some("b"), None].into_iter().collect();
    let numbers = DictionaryArray::new(Int32Array::from(vec![Some(1), None]), Arc::new(Int64Array::from(vec![5, 7])));
    let decimal = Decimal128Array::from(vec![Some(150), None]).with_precision_and_scale(5, 2).unwrap();
    let time =
        |code: &str, zone: &str| format!("structure({code}, tzone = \"{zone}\", class = c(\"POSIXct\", \"POSIXt\"))");
    let in_vienna = TimestampSecondArray::from(vec![Some(3), None]).with_timezone("Europe/Vienna");
    let in_offset = TimestampMillisecondArray::from(vec![Some(2_500), None]).with_timezone("+02:00");
    let cases: Vec<(ArrayRef, String)> = vec![
        (Arc::new(BooleanArray::from(vec![Some(true), None])), "c(TRUE, NA)".into()),
        (Arc::new(Int8Array::from(vec![Some(-1), None])), "c(-1L, NA)".into()),
        (Arc::new(UInt32Array::from(vec![Some(7), None])), "c(7L, NA)".into()),
        (Arc::new(UInt32Array::from(vec![Some(u32::MAX), None])), "c(4294967295, NA)".into()),
        (Arc::new(Int64Array::from(vec![Some(1), None])), "c(1L, NA)".into()),
        (Arc::new(Int64Array::from(vec![Some(1 << 40), None])), "c(1099511627776, NA)".into()),
        // R's integers have no place for their least one.
        (Arc::new(Int32Array::from(vec![Some(i32::MIN), None])), "c(-2147483648, NA)".into()),
        (Arc::new(Float32Array::from(vec![Some(0.5), None])), "c(0.5, NA)".into()),
        (Arc::new(Float64Array::from(vec![Some(f64::NAN), None])), "c(NaN, NA)".into()),
        (Arc::new(decimal), "c(1.5, NA)".into()),
        (Arc::new(StringArray::from(vec![Some("é"), None])), "c(\"é\", NA)".into()),
        (Arc::new(LargeStringArray::from(vec![Some(""), None])), "c(\"\", NA)".into()),
        (Arc::new(StringViewArray::from(vec![Some("a"), None])), "c(\"a\", NA)".into()),
        (Arc::new(mixed), "structure(c(1L, NA), levels = \"b\", class = \"factor\")".into()),
        (Arc::new(numbers), "c(7L, NA)".into()),
        (Arc::new(Date32Array::from(vec![Some(1), None])), "structure(c(1, NA), class = \"Date\")".into()),
        (Arc::new(Date64Array::from(vec![Some(86_400_000), None])), "structure(c(1, NA), class = \"Date\")".into()),
        (Arc::new(TimestampMicrosecondArray::from(vec![Some(1_500_000), None])), time("c(1.5, NA)", "UTC")),
        (Arc::new(in_vienna), time("c(3, NA)", "Europe/Vienna")),
        (Arc::new(in_offset), time("c(2.5, NA)", "UTC")),
        (Arc::new(NullArray::new(2)), "c(NA, NA)".into()),
        (Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\0\xff"), None])), "list(as.raw(c(0x00, 0xff)), NULL)".into()),
    ];
    for (array, code) in cases {
        let body = stream(&[columns(vec![("a", Arc::clone(&array))])]);
        assert_eq!(shown(&mut worker, &body)["a"], json!(code), "{}", array.data_type());
    }
}

#[test]
fn what_comes_in_goes_out_again() {
    let mut host = Host::loaded("same <- function(x) x");
    let mut worker = host.fork();
    let levels: DictionaryArray<Int32Type> = [Some("b"), None, Some("a")].into_iter().collect();
    let times = TimestampMicrosecondArray::from(vec![Some(1_700_000_000_000_001), None, Some(-1)]);
    let whole = columns(vec![
        ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("n", Arc::new(Int32Array::from(vec![Some(i32::MAX), None, Some(0)]))),
        ("x", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(f64::INFINITY)]))),
        ("text", Arc::new(StringArray::from(vec![Some("é\"\n"), None, Some("")]))),
        ("level", Arc::new(levels)),
        ("day", Arc::new(Date32Array::from(vec![Some(20_000), None, Some(-1)]))),
        ("time", Arc::new(times.with_timezone("Europe/Vienna"))),
        ("raw", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"\0\xff"), None, Some(b"")]))),
    ]);
    assert_eq!(batch(worker.table("{}", &stream(std::slice::from_ref(&whole)), ARROW)), whole);
    assert_eq!(batch(worker.table("{}", &stream(&[whole.slice(0, 0)]), ARROW)).num_rows(), 0);
    // Several batches, and none.
    let parts: Vec<_> = (0..3).map(|row| whole.slice(row, 1)).collect();
    assert_eq!(batch(worker.table("{}", &stream(&parts), ARROW)), whole);
    let none = StreamWriter::try_new(Vec::new(), &whole.schema()).unwrap().into_inner().unwrap();
    let empty = batch(worker.table("{}", &none, ARROW));
    // Of a list without elements nobody can tell what they would be.
    assert_eq!((empty.num_rows(), empty.schema().fields()[..7] == whole.schema().fields()[..7]), (0, true));
    for rows in [0, 5] {
        let back = batch(worker.table("{}", &stream(&[bare(rows)]), ARROW));
        assert_eq!((back.num_rows(), back.num_columns()), (rows, 0));
    }
    // More than one batch goes out of many rows.
    let many: Int32Array = (0..300_000).collect();
    let Outcome::Answer { body, .. } = worker.table("{}", &one(many), ARROW) else { panic!("no answer") };
    let batches: Vec<_> = StreamReader::try_new(&body[..], None).unwrap().map(Result::unwrap).collect();
    let numbers = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int32Type>().values().iter().copied());
    assert!(batches.len() > 1 && numbers.eq(0..300_000));
}

#[test]
fn every_batch_may_have_levels_of_its_own() {
    let mut host = Host::loaded("levels_of <- function(x) list(levels(x$a), as.character(x$a), is.ordered(x$a))");
    let mut worker = host.fork();
    let part = |texts: [Option<&str>; 2]| {
        let array: DictionaryArray<Int32Type> = texts.into_iter().collect();
        let field = Field::new("a", array.data_type().clone(), true).with_dict_is_ordered(true);
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(array)]).unwrap()
    };
    let body = stream(&[part([Some("b"), Some("a")]), part([Some("c"), Some("b")]), part([None, Some("a")])]);
    let answer = shown(&mut worker, &body);
    assert_eq!(answer, json!([["b", "a", "c"], ["b", "a", "c", "b", null, "a"], true]));
}

#[test]
fn other_arguments_stand_beside_a_table() {
    let mut host = Host::loaded("#* @param x:df\nsum_of <- function(by, x) list(sum(x[[by]]), class(x), names(x))");
    assert_eq!(host.offer()["endpoints"][0]["parameters"][1]["table"], json!(true));
    let mut worker = host.fork();
    let body = one(Int32Array::from(vec![1, 2]));
    let Outcome::Answer { body, .. } = worker.table(r#"{"by": "a"}"#, &body, "*/*") else { panic!("no answer") };
    assert_eq!(body, br#"[3,"data.frame","a"]"#);
}

#[test]
fn what_is_no_table_is_refused() {
    let mut host = Host::loaded(SHOW);
    let mut worker = host.fork();
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let good = one(StringArray::from(vec!["some text"]));
    for (body, words) in [
        (one(list), "R has no vectors for the column `a`, whose type is List(Int32)"),
        (one(Time32SecondArray::from(vec![1])), "R has no vectors for the column `a`, whose type is Time32(s)"),
        (one(StringArray::from(vec!["a\0b"])), "a text in the column `a` has a zero byte"),
        (stream(&[bare(1 << 40)]), "more rows than a data frame"),
        (b"{}".to_vec(), "Arrow stream"),
        (good[..good.len() / 2].to_vec(), "Arrow stream"),
        (good[..1].to_vec(), "Arrow stream"),
    ] {
        let outcome = worker.table("{}", &body, ARROW);
        let Outcome::Failed { kind: 2, message, detail } = outcome else { panic!("{outcome:?}") };
        assert!(message.starts_with("the body is not right for `x`: ") && message.contains(words), "{message}");
        assert_eq!(detail, "");
    }
    // Whatever is damaged, the worker goes on.
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x55;
        let outcome = worker.table("{}", &damaged, ARROW);
        assert!(matches!(outcome, Outcome::Answer { .. } | Outcome::Failed { kind: 1 | 2, .. }), "{at}: {outcome:?}");
    }
    assert_eq!(shown(&mut worker, &good)["a"], json!("\"some text\""));
}

#[test]
fn data_frames_go_out() {
    let mut host = Host::loaded(
        "make <- function(x) eval(parse(text = x), new.env(parent = globalenv()))
        #* @serializer csv
        csv <- function() data.frame(a = 1L)",
    );
    let mut worker = host.fork();
    let mut made = |code: &str| {
        batch(worker.accepting(0, &json!({ "x": code }).to_string(), "a/b, Application/vnd.apache.arrow.stream;q=0.5"))
    };
    let texts =
        |array: &ArrayRef| array.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>();
    let lists = made("data.frame(a = I(list(1:2, NULL, list(b = 'x'))))");
    assert_eq!(texts(lists.column(0)), [Some("[1,2]".into()), None, Some(r#"{"b":"x"}"#.into())]);
    let classes = made(
        "structure(list(n = structure(c(2^-1074, -0), class = 'integer64')), row.names = 1:2, class = 'data.frame')",
    );
    assert_eq!(**classes.column(0), Int64Array::from(vec![Some(1), None]));
    let spans = made("data.frame(a = as.difftime(c(1, NA), units = 'mins'), b = as.raw(0:1), c = c(NaN, NA))");
    assert_eq!(spans.column(0).data_type(), &DataType::Float64);
    assert_eq!(**spans.column(1), Int32Array::from(vec![0, 1]));
    assert!(spans.column(2).is_valid(0) && spans.column(2).is_null(1));
    let times = made(
        "data.frame(a = as.POSIXct('2020-01-01', tz = ''), b = structure(18262L, class = 'Date'), c = .POSIXct(Inf))",
    );
    assert_eq!(times.column(0).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
    assert_eq!(times.column(1).as_primitive::<Date32Type>().value(0), 18_262);
    assert!(times.column(2).is_null(0));
    let names = made("setNames(data.frame(1, 2, 3), c('a', '', 'a'))");
    assert_eq!(names.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["a", "2", "a"]);
    let latin =
        made("data.frame(a = iconv('\\u00e9', 'UTF-8', 'latin1'), b = factor('x', c('x', 'y'), ordered = TRUE))");
    assert_eq!(texts(latin.column(0)), [Some("é".into())]);
    assert_eq!(latin.column(1).as_any_dictionary().values().len(), 2);
    assert_eq!(latin.schema().field(1).dict_is_ordered(), Some(true));
    // A sequence that R keeps as two numbers, and texts of numbers that are not made yet.
    let lazy = made("x <- 1:3; list2DF(list(n = x, t = as.character(x)))");
    assert_eq!(**lazy.column(0), Int32Array::from(vec![1, 2, 3]));
    assert_eq!(texts(lazy.column(1)), [Some("1".into()), Some("2".into()), Some("3".into())]);
    for (code, body) in [("1:2", "[1,2]"), ("list(a = data.frame(b = 1L))", r#"{"a":[{"b":1}]}"#)] {
        let outcome = worker.accepting(0, &json!({ "x": code }).to_string(), ARROW);
        assert!(matches!(&outcome, Outcome::Answer { body: found, .. } if found == body.as_bytes()), "{outcome:?}");
    }
    for code in ["structure(list(a = 1:2), row.names = 1:3, class = 'data.frame')", "data.frame(a = I(list(sum)))"] {
        let outcome = worker.accepting(0, &json!({ "x": code }).to_string(), ARROW);
        assert!(matches!(outcome, Outcome::Failed { kind: 0, .. }), "{outcome:?}");
    }
    // Who says what the answer is gets that.
    let outcome = worker.accepting(1, "{}", ARROW);
    let Outcome::Answer { headers, body, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(headers, [("Content-Type".to_owned(), "text/csv; charset=UTF-8".to_owned())]);
    assert_eq!(body, b"\"a\"\n1\n");
}
