//! Statistics of a file for the table's log, by which readers leave files out.

use arrow::datatypes::{DataType, FieldRef, Schema};
use chrono::{DateTime, Datelike};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;
use salver_model::limits::PUBLISHED_STATS_COLUMNS_MAX;
use serde_json::{Map, Value, json};

/// Longest name of a column, and longest text, that has statistics, in bytes: they are kept for every file.
const TEXT_BYTES: usize = 256;

/// Returns the number of rows, and the minimum, the maximum and the number of nulls of the first columns.
pub(super) fn statistics(file: &ParquetMetaData, schema: &Schema) -> String {
    let (mut min, mut max, mut nulls) = (Map::new(), Map::new(), Map::new());
    let leaves = file.file_metadata().schema_descr();
    let is_short = |field: &&FieldRef| field.name().len() <= TEXT_BYTES;
    for field in schema.fields().iter().filter(is_short).take(PUBLISHED_STATS_COLUMNS_MAX) {
        let name = field.name();
        let is_own = |leaf: &usize| matches!(leaves.column(*leaf).path().parts(), [own] if own == name);
        let Some(leaf) = (0..leaves.num_columns()).find(is_own) else { continue };
        let chunks = file.row_groups().iter().map(|group| group.column(leaf));
        let count = |chunk: &ColumnChunkMetaData| chunk.statistics()?.null_count_opt();
        let Some(counts) = chunks.clone().map(count).collect::<Option<Vec<u64>>>() else { continue };
        nulls.insert(name.clone(), counts.iter().sum::<u64>().into());
        // Chunks without a value decide nothing.
        let with_values = chunks.zip(counts).filter(|(chunk, nulls)| u64::try_from(chunk.num_values()) != Ok(*nulls));
        let all: Option<Vec<&Statistics>> = with_values.map(|(chunk, _)| chunk.statistics()).collect();
        if let Some([least, most]) = all.and_then(|all| bounds(&all, field.data_type())) {
            min.insert(name.clone(), least);
            max.insert(name.clone(), most);
        }
    }
    let rows = file.file_metadata().num_rows();
    json!({ "numRecords": rows, "minValues": min, "maxValues": max, "nullCount": nulls }).to_string()
}

/// Returns the minimum and the maximum of a column of a file; `None` where they are not known, or not as JSON.
fn bounds(chunks: &[&Statistics], data_type: &DataType) -> Option<[Value; 2]> {
    let own = |chunk: &Statistics| match (data_type, chunk) {
        (DataType::Int64 | DataType::Timestamp(..), Statistics::Int64(own)) => {
            Some(Bounds::Whole(*own.min_opt()?, *own.max_opt()?))
        }
        (DataType::Float64, Statistics::Double(own)) => Some(Bounds::Float(*own.min_opt()?, *own.max_opt()?)),
        (DataType::Utf8, Statistics::ByteArray(own)) => {
            Some(Bounds::Text(own.min_opt()?.as_utf8().ok()?.to_owned(), own.max_opt()?.as_utf8().ok()?.to_owned()))
        }
        _ => None,
    };
    let (first, others) = chunks.split_first()?;
    let bounds = others.iter().try_fold(own(first)?, |all, chunk| all.with(own(chunk)?))?;
    match (bounds, data_type) {
        (Bounds::Whole(min, max), DataType::Timestamp(..)) => Some([time(min)?, time(max)?]),
        (Bounds::Whole(min, max), _) => Some([min.into(), max.into()]),
        (Bounds::Float(min, max), _) => (min.is_finite() && max.is_finite()).then(|| [min.into(), max.into()]),
        (Bounds::Text(min, max), _) => {
            (min.len() <= TEXT_BYTES && max.len() <= TEXT_BYTES).then(|| [min.into(), max.into()])
        }
    }
}

/// Minimum and maximum.
enum Bounds {
    Whole(i64, i64),
    Float(f64, f64),
    Text(String, String),
}

impl Bounds {
    fn with(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (Self::Whole(min, max), Self::Whole(low, high)) => Self::Whole(min.min(low), max.max(high)),
            (Self::Float(min, max), Self::Float(low, high)) => Self::Float(min.min(low), max.max(high)),
            (Self::Text(min, max), Self::Text(low, high)) => Self::Text(min.min(low), max.max(high)),
            _ => return None,
        })
    }
}

/// Returns a time in microseconds, which is one of whole milliseconds, as readers parse it.
fn time(micros: i64) -> Option<Value> {
    let time = DateTime::from_timestamp_micros(micros)?;
    (0..=9_999).contains(&time.year()).then(|| time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string().into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
    use arrow::record_batch::RecordBatch;
    use parquet::arrow::ArrowWriter;
    use serde_json::{Value, json};

    #[test]
    fn of_several_row_groups() {
        let group = |n: i64, text: Option<&str>| {
            let long = "ä".repeat(100);
            let columns: [(&str, ArrayRef); 5] = [
                ("n", Arc::new(Int64Array::from(vec![Some(n), None]))),
                ("f", Arc::new(Float64Array::from(vec![n as f64 / 2.0, 0.5]))),
                ("s", Arc::new(StringArray::from(vec![text, None]))),
                ("l", Arc::new(StringArray::from(vec![long.as_str(), "z"]))),
                ("t", Arc::new(TimestampMicrosecondArray::from(vec![n * 1_000, 0]).with_timezone("UTC"))),
            ];
            RecordBatch::try_from_iter(columns).expect("rows")
        };
        let schema = group(1, None).schema();
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), None).expect("a file");
        for batch in [group(7, Some("b")), group(-7, None), group(3, Some("a"))] {
            writer.write(&batch).expect("rows");
            writer.flush().expect("a row group");
        }
        let stats = super::statistics(&writer.finish().expect("a file"), &schema);
        let mut stats: Value = serde_json::from_str(&stats).expect("JSON");
        assert!(stats["maxValues"]["l"].as_str() >= Some("ä".repeat(100).as_str()), "{stats}");
        stats["maxValues"]["l"] = Value::Null;
        let expected = json!({
            "numRecords": 6,
            "minValues": { "n": -7, "f": -3.5, "s": "a", "l": "z", "t": "1969-12-31T23:59:59.993Z" },
            "maxValues": { "n": 7, "f": 3.5, "s": "b", "l": null, "t": "1970-01-01T00:00:00.007Z" },
            "nullCount": { "n": 3, "f": 0, "s": 4, "l": 0, "t": 0 },
        });
        assert_eq!(stats, expected);
    }
}
