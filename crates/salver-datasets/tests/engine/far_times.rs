//! Times of 96 bits, which Spark and Impala write: nanoseconds of a day and a Julian day, from long before the year
//! 1677 to long after 2262.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMicrosecondType;
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use salver_datasets::DatasetLoader;
use salver_model::ports::{Loader, Table};
use salver_model::spec::{DatasetSpec, Residency};
use salver_model::{Comparison, Filter, Name, Query, Value};

use super::generated;

/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;
const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// Microseconds since 1970: of 0001-01-01, 1677-09-21, 1970, 2262-04-12, 9999-12-31 at its end, and none.
const TIMES: [Option<i64>; 6] = [
    Some(-62_135_596_800_000_000),
    Some(-9_223_372_800_000_000),
    Some(0),
    Some(9_223_372_800_000_000),
    Some(253_402_300_799_999_999),
    None,
];

fn write(path: &Path) {
    let schema = Arc::new(parse_message_type("message m { optional int96 t; }").unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<Int96> = TIMES
        .iter()
        .flatten()
        .map(|time| {
            let (day, rest) = (time.div_euclid(DAY_MICROSECONDS), time.rem_euclid(DAY_MICROSECONDS));
            let nanoseconds = u64::try_from(rest).unwrap() * 1_000;
            let mut value = Int96::new();
            value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, u32::try_from(day + EPOCH).unwrap());
            value
        })
        .collect();
    let levels: Vec<i16> = TIMES.iter().map(|time| i16::from(time.is_some())).collect();
    column.typed::<Int96Type>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_what_was_written_wherever_the_rows_are() {
    let (engine, dir) = generated::engine();
    let path = dir.path().join("t.parquet");
    write(&path);
    for residency in [Residency::Always, Residency::Never] {
        let spec = DatasetSpec::new(Name::new("t").unwrap(), vec![path.display().to_string()]);
        let spec = DatasetSpec { residency, ..spec };
        let table: Arc<dyn Table> = DatasetLoader::new(spec, Arc::clone(&engine)).load().await.unwrap();
        let times = async |query: &Query| -> Vec<Option<i64>> {
            let rows = generated::collect(table.read(query).await.unwrap()).await.unwrap();
            let column = rows.column(0).as_primitive::<TimestampMicrosecondType>();
            (0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row))).collect()
        };
        assert_eq!(times(&Query::default()).await, TIMES, "{residency:?}");
        let late = Value::Text("2262-04-12T00:00:00".to_owned());
        let filter = Some(Filter::Compare { column: "t".into(), op: Comparison::GtEq, value: late });
        assert_eq!(times(&Query { filter, ..Query::default() }).await, TIMES[3..5], "{residency:?}");
    }
}
