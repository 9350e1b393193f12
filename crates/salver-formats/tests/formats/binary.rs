//! Arrow and Parquet: what goes out reads back, whatever the types; what can't go out says which column.

use std::sync::Arc;

use arrow::array::types::*;
use arrow::array::*;
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit, UnionFields, UnionMode};
use arrow::ipc::reader::{FileReader, StreamReader};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use salver_formats::{Encoder, Format, Style, encode};
use salver_model::Code;

use super::sample::{batch, column, json};

const BINARY: [Format; 3] = [Format::ArrowStream, Format::ArrowFile, Format::Parquet];

fn read(format: Format, bytes: Vec<u8>) -> (SchemaRef, Vec<RecordBatch>) {
    match format {
        Format::ArrowStream => {
            let reader = StreamReader::try_new(bytes.as_slice(), None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
        Format::ArrowFile => {
            let reader = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
        _ => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
            (Arc::clone(builder.schema()), builder.build().unwrap().map(Result::unwrap).collect())
        }
    }
}

fn rows() -> RecordBatch {
    let texts: StringArray = (0..1_000).map(|i| (i % 7 > 0).then(|| format!("text {}", i % 100))).collect();
    let mut lists = ListBuilder::new(StringViewBuilder::new());
    for i in 0..1_000 {
        match i % 3 {
            0 => lists.append_null(),
            1 => lists.append_value([Some("a string that is longer than twelve bytes"), None]),
            _ => lists.append(true),
        }
    }
    let zoned = TimestampSecondArray::from_iter_values(0..1_000).with_timezone("Europe/Berlin");
    let dictionary = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
    batch(&[
        ("int", Arc::new(Int64Array::from_iter_values(0..1_000))),
        ("text", Arc::new(texts.clone())),
        ("view", cast(&texts, &DataType::Utf8View).unwrap()),
        ("dictionary", cast(&texts, &dictionary).unwrap()),
        ("at", Arc::new(zoned)),
        ("list", Arc::new(lists.finish())),
        ("time", Arc::new(Time32SecondArray::from_iter_values(0..1_000))),
        ("decimal", Arc::new(Decimal128Array::from_iter_values(0..1_000).with_precision_and_scale(10, 2).unwrap())),
    ])
}

/// The rows read back look the same in JSON, whatever types carried them; also from slices of several sizes.
#[test]
fn reads_back() {
    for format in BINARY {
        let parts = [rows().slice(3, 500), rows().slice(0, 0), rows().slice(503, 497)];
        let bytes = encode(format, &rows().schema(), &parts, &Style::default()).unwrap();
        let (schema, read) = read(format, bytes);
        let read = concat_batches(&schema, &read).unwrap();
        assert_eq!(json(&read), json(&rows().slice(3, 997)), "{format:?}");
    }
}

#[test]
fn types_that_readers_know() {
    for format in BINARY {
        let bytes = encode(format, &rows().schema(), &[rows()], &Style::default()).unwrap();
        let (schema, _) = read(format, bytes);
        let kind = |name: &str| schema.field_with_name(name).unwrap().data_type().clone();
        assert_eq!(kind("view"), DataType::Utf8, "{format:?}");
        assert_eq!(kind("list"), DataType::new_list(DataType::Utf8, true), "{format:?}");
        let keeps = matches!(kind("dictionary"), DataType::Dictionary(..));
        assert_eq!(keeps, format == Format::ArrowStream, "{format:?}");
        if format == Format::Parquet {
            assert_eq!(kind("at"), DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Berlin".into())));
        }
    }
}

/// A slice carries only its own rows, not the buffers it was cut from.
#[test]
fn slices_are_small() {
    for format in BINARY {
        let bytes = encode(format, &rows().schema(), &[rows().slice(10, 2)], &Style::default()).unwrap();
        assert!(bytes.len() < 10_000, "{format:?}: {} bytes", bytes.len());
    }
}

#[test]
fn dictionaries_may_change_from_batch_to_batch() {
    let parts: Vec<_> = [["a", "b"], ["c", "a"]]
        .map(|texts| column(Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>())))
        .into();
    for format in BINARY {
        let bytes = encode(format, &parts[0].schema(), &parts, &Style::default()).unwrap();
        let (_, read) = read(format, bytes);
        let read: Vec<_> = read.iter().map(json).collect();
        assert_eq!(read.concat().replace("][", ","), "[{\"v\":\"a\"},{\"v\":\"b\"},{\"v\":\"c\"},{\"v\":\"a\"}]");
    }
}

#[test]
fn no_rows() {
    for format in BINARY {
        for parts in [vec![], vec![rows().slice(0, 0)]] {
            let bytes = encode(format, &rows().schema(), &parts, &Style::default()).unwrap();
            let (schema, read) = read(format, bytes);
            assert_eq!(schema.fields().len(), rows().num_columns(), "{format:?}");
            assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 0, "{format:?}");
        }
    }
}

#[test]
fn no_columns() {
    let schema = Arc::new(Schema::empty());
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let bare = RecordBatch::try_new_with_options(Arc::clone(&schema), vec![], &options).unwrap();
    for format in [Format::ArrowStream, Format::ArrowFile] {
        let bytes = encode(format, &schema, std::slice::from_ref(&bare), &Style::default()).unwrap();
        assert_eq!(read(format, bytes).1[0].num_rows(), 3);
    }
    assert_eq!(Encoder::new(Format::Parquet, &schema, &Style::default()).unwrap_err().code, Code::UnknownFormat);
}

/// Bytes come out while rows go in, and nothing stays behind but the row group that is being filled.
#[test]
fn the_output_is_drained() {
    for format in BINARY {
        let mut encoder = Encoder::new(format, &rows().schema(), &Style::default()).unwrap();
        let (mut out, mut all) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            encoder.write(&rows(), &mut out).unwrap();
            assert!(format == Format::Parquet || !out.is_empty(), "{format:?}");
            all.append(&mut out);
        }
        encoder.finish(&mut out).unwrap();
        all.append(&mut out);
        let (_, read) = read(format, all);
        assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 3_000, "{format:?}");
    }
}

/// Long texts that don't compress fill row groups early, so that none is held that is larger than the bound.
#[test]
fn row_groups_are_bounded() {
    let mut seed = 1_u64;
    let texts = StringArray::from_iter_values((0..2_000).map(|_| {
        (0..4_000)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b' ' + (seed >> 58) as u8)
            })
            .collect::<String>()
    }));
    let rows = column(Arc::new(texts));
    let mut encoder = Encoder::new(Format::Parquet, &rows.schema(), &Style::default()).unwrap();
    let mut out = Vec::new();
    let mut early = 0;
    for _ in 0..20 {
        encoder.write(&rows, &mut out).unwrap();
        early = out.len();
    }
    assert!(early > 30_000_000, "{early}");
    encoder.finish(&mut out).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(out)).unwrap();
    assert!(reader.metadata().num_row_groups() > 1);
}

/// Every type either goes out in every format or is refused by name; nothing panics.
#[test]
fn odd_types_are_written_or_refused() {
    let item = || Arc::new(Field::new_list_field(DataType::Int32, true));
    let entries = Field::new(
        "entries",
        DataType::Struct(Fields::from(vec![
            Field::new("keys", DataType::Utf8, false),
            Field::new("values", DataType::Interval(IntervalUnit::MonthDayNano), true),
        ])),
        false,
    );
    let union = UnionFields::try_new([0], [Field::new("a", DataType::Int32, true)]).unwrap();
    let run = DataType::RunEndEncoded(
        Arc::new(Field::new("run_ends", DataType::Int32, false)),
        Arc::new(Field::new("values", DataType::Utf8, true)),
    );
    let odd = [
        DataType::Null,
        DataType::Float16,
        DataType::Decimal32(9, 2),
        DataType::Decimal256(76, 2),
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Duration(TimeUnit::Second),
        DataType::Interval(IntervalUnit::YearMonth),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::Interval(IntervalUnit::MonthDayNano),
        DataType::FixedSizeBinary(0),
        DataType::FixedSizeBinary(3),
        DataType::BinaryView,
        DataType::FixedSizeList(item(), 0),
        DataType::FixedSizeList(item(), 2),
        DataType::ListView(item()),
        DataType::LargeListView(item()),
        DataType::Struct(Fields::empty()),
        DataType::new_list(DataType::Interval(IntervalUnit::MonthDayNano), true),
        DataType::Map(Arc::new(entries), false),
        DataType::Union(union.clone(), UnionMode::Dense),
        DataType::Union(union, UnionMode::Sparse),
        run.clone(),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::new_list(DataType::Utf8View, true))),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Date32)),
        DataType::new_list(run, true),
    ];
    for kind in odd {
        let array = new_null_array(&kind, 3);
        let rows = column(array);
        for format in Format::ALL {
            match encode(format, &rows.schema(), std::slice::from_ref(&rows), &Style::default()) {
                Ok(bytes) if BINARY.contains(&format) => {
                    let count: usize = read(format, bytes).1.iter().map(RecordBatch::num_rows).sum();
                    assert_eq!(count, 3, "{kind} as {format:?}");
                }
                Ok(bytes) => assert!(!bytes.is_empty(), "{kind} as {format:?}"),
                Err(error) => {
                    assert!(BINARY.contains(&format), "{kind} as {format:?}: {error:?}");
                    assert!(matches!(error.code, Code::UnknownFormat | Code::Execution), "{kind}: {error:?}");
                    assert!(error.hint.is_some(), "{kind}: {error:?}");
                    assert!(error.code == Code::Execution || error.message.contains("`v`"), "{kind}: {error:?}");
                }
            }
        }
    }
}

/// Parquet's own types carry what a column is, for readers that know nothing of Arrow, or the column is refused by name
/// before anything is written.
#[test]
fn nothing_goes_into_parquet_as_a_bare_number() {
    let instants = vec![Some(86_400_000), None, Some(-1), Some(253_402_300_799_999), Some(-62_135_596_800_000)];
    let rows = column(Arc::new(Date64Array::from(instants.clone())));
    let bytes = encode(Format::Parquet, &rows.schema(), std::slice::from_ref(&rows), &Style::default()).unwrap();
    let (schema, read) = read(Format::Parquet, bytes);
    assert_eq!(schema.field(0).data_type(), &DataType::Timestamp(TimeUnit::Millisecond, None));
    let wanted: ArrayRef = Arc::new(TimestampMillisecondArray::from(instants));
    assert_eq!(read[0].column(0), &wanted);
    for kind in [DataType::Decimal32(5, -1), DataType::Decimal128(10, -3), DataType::Decimal256(40, -2)] {
        let error = Encoder::check(Format::Parquet, &column(new_null_array(&kind, 1)).schema()).unwrap_err();
        assert!(error.code == Code::UnknownFormat && error.message.contains("`v`"), "{kind}: {error:?}");
    }
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        let duration = DataType::Duration(unit);
        for kind in [duration.clone(), DataType::new_list(duration.clone(), true)] {
            let schema = column(new_null_array(&kind, 1)).schema();
            let error = Encoder::check(Format::Parquet, &schema).unwrap_err();
            assert_eq!(error.code, Code::UnknownFormat, "{kind}");
            assert!(error.message.contains("`v`") && error.message.contains("Duration"), "{error:?}");
            for format in [Format::ArrowStream, Format::ArrowFile, Format::Json, Format::Csv] {
                assert!(Encoder::check(format, &schema).is_ok(), "{kind} as {format:?}");
            }
        }
    }
}

/// A zone that does not exist is told before a body begins, in the formats that write times in their zone.
#[test]
fn zones_that_do_not_exist_are_refused_beforehand() {
    let times = TimestampSecondArray::from(vec![0]).with_timezone("Mars/Olympus");
    let listed = DataType::new_list(times.data_type().clone(), true);
    for schema in [column(Arc::new(times)).schema(), column(new_null_array(&listed, 1)).schema()] {
        for format in Format::ALL {
            let checked = Encoder::check(format, &schema);
            assert_eq!(checked.is_err(), format.is_text() || format == Format::Xlsx, "{format:?}");
            if let Err(error) = checked {
                assert!(error.message.contains("`v`") && error.message.contains("Mars/Olympus"), "{error:?}");
            }
        }
    }
}
