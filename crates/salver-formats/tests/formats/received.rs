//! Streams of Arrow that clients send: what is damaged is refused, and nothing is believed of it.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array, Int64Array, ListArray, NullArray,
    RecordBatch, RecordBatchOptions, RunArray, StringArray, StringViewArray, StructArray,
};
use arrow::datatypes::{Field, Float64Type, Int32Type, Schema};
use arrow::error::ArrowError;
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use salver_formats::receive_arrow_stream;
use salver_model::Code;

use super::sample::batch;

const BYTES_MAX: u64 = 1 << 20;

fn table() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(i64::MAX)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("one"), Some(""), None]));
    let views: ArrayRef = Arc::new(StringViewArray::from(vec!["short", "a text that is longer than twelve", ""]));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    let keyed: ArrayRef = Arc::new(["red", "blue", "red"].into_iter().collect::<DictionaryArray<Int32Type>>());
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>([
        Some(vec![Some(1.5), None]),
        None,
        Some(vec![]),
    ]));
    let item = Arc::new(Field::new_list_field(arrow::datatypes::DataType::Int32, true));
    let pairs: ArrayRef =
        Arc::new(FixedSizeListArray::new(item, 2, Arc::new(Int32Array::from_iter_values(0..6)), None));
    let fields: ArrayRef = Arc::new(StructArray::try_from(vec![("n", Arc::clone(&numbers))]).unwrap());
    let nulls: ArrayRef = Arc::new(NullArray::new(3));
    batch(&[
        ("numbers", numbers),
        ("words", words),
        ("views", views),
        ("flags", flags),
        ("keyed", keyed),
        ("lists", lists),
        ("pairs", pairs),
        ("fields", fields),
        ("nulls", nulls),
    ])
}

fn stream(batch: &RecordBatch, packed: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn every_way() -> [Vec<u8>; 3] {
    [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)].map(|packed| stream(&table(), packed))
}

fn code(bytes: &[u8]) -> Option<Code> {
    receive_arrow_stream(bytes, BYTES_MAX).err().map(|error| error.code)
}

#[test]
fn whole_streams_pass() {
    for stream in every_way() {
        let taken = receive_arrow_stream(&stream, BYTES_MAX).unwrap();
        let batches = StreamReader::try_new(&taken[..], None).unwrap().map(Result::unwrap).collect::<Vec<_>>();
        assert_eq!(batches, [table(), table()]);
    }
    let empty = RecordBatch::new_empty(table().schema());
    assert_eq!(code(&stream(&empty, None)), None);
    let bare = RecordBatch::try_new_with_options(
        Arc::new(Schema::empty()),
        Vec::new(),
        &RecordBatchOptions::new().with_row_count(Some(7)),
    );
    assert_eq!(code(&stream(&bare.unwrap(), None)), None);
}

#[test]
fn damage_anywhere_is_told_or_does_no_harm() {
    let mut odd = Vec::new();
    // Panics of the library that are caught would be printed thousands of times.
    std::panic::set_hook(Box::new(|_| {}));
    for (way, stream) in every_way().iter().enumerate() {
        for at in 0..stream.len() {
            for change in [0x01_u8, 0x80, 0xff] {
                let mut damaged = stream.clone();
                damaged[at] ^= change;
                odd.extend(fault_of(&damaged).map(|fault| format!("way {way}, byte {at} ^ {change}: {fault}")));
            }
        }
        for length in 0..stream.len() {
            let fault = fault_of(&stream[..length]);
            odd.extend(fault.map(|fault| format!("way {way}, {length} of {} bytes: {fault}", stream.len())));
        }
    }
    let _ = std::panic::take_hook();
    assert!(odd.is_empty(), "{} of them, as {:#?}", odd.len(), &odd[..odd.len().min(5)]);
}

/// What is wrong with how a damaged stream is taken: what passes can be read without a fault, whatever it says now.
fn fault_of(damaged: &[u8]) -> Option<String> {
    match receive_arrow_stream(damaged, BYTES_MAX).map_err(|error| error.code) {
        Err(Code::InvalidBody | Code::BodyTooLarge) => None,
        Err(code) => Some(format!("{code:?}")),
        Ok(taken) => {
            let read = || -> Result<usize, ArrowError> {
                StreamReader::try_new(&taken[..], None)?.map(|batch| Ok(batch?.num_rows())).sum()
            };
            match std::panic::catch_unwind(read) {
                Ok(Ok(rows)) if rows <= 1_100_000 => None,
                read => Some(format!("{read:?}")),
            }
        }
    }
}

#[test]
fn what_it_claims_is_held_against_what_it_has() {
    // A text of a megabyte that packs to a few hundred bytes.
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(1 << 20)]));
    let packed = stream(&batch(&[("long", Arc::clone(&long))]), Some(CompressionType::ZSTD));
    assert!(packed.len() < 4_096);
    assert_eq!(code(&packed), Some(Code::BodyTooLarge));
    // Nulls take no bytes.
    let nulls: ArrayRef = Arc::new(NullArray::new(10_000_000));
    assert_eq!(code(&stream(&batch(&[("nulls", nulls)]), None)), Some(Code::InvalidBody));
}

#[test]
fn values_that_lie_on_one_another_are_counted_or_refused() {
    // One text of 100 kB, a thousand times.
    let long = "x".repeat(100_000);
    let texts: StringViewArray = std::iter::repeat_n(Some(&long[..]), 1_000).collect();
    let one = StringViewArray::from(vec![&long[..]]);
    let views = vec![one.views()[0]; 1_000];
    let shared = StringViewArray::new(views.into(), one.data_buffers().to_vec(), None);
    assert_eq!(shared, texts);
    let shared = batch(&[("shared", Arc::new(shared) as ArrayRef)]);
    assert_eq!(code(&stream(&shared, None)), Some(Code::BodyTooLarge));
    let keyed: DictionaryArray<Int32Type> = std::iter::repeat_n(Some(&long[..]), 1_000).collect();
    assert_eq!(code(&stream(&batch(&[("keyed", Arc::new(keyed) as ArrayRef)]), None)), Some(Code::BodyTooLarge));
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![3]), &StringArray::from(vec!["x"])).unwrap();
    let runs = batch(&[("runs", Arc::new(runs) as ArrayRef)]);
    let refused = receive_arrow_stream(&stream(&runs, None), BYTES_MAX).unwrap_err();
    assert!(refused.message.contains("columns of the type of `runs` are not taken"), "{}", refused.message);
}
