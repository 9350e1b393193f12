//! A table of every type, made from a seed, held in every way; and what tests do with answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int32Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::util::pretty::pretty_format_batches;
use futures::TryStreamExt;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use salver_datasets::{CHUNK_ROWS, Content, Dataset, Engine, EngineOptions, Loaded, ParquetFile, Remote};
use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::spec::{DatasetSpec, Residency};
use salver_model::{Batches, Name, Result, Rows, SqlQuery, Version};
use tempfile::TempDir;

/// xorshift64*: a seed always gives the same numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n.max(1)
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

pub(crate) const WORDS: [&str; 10] =
    ["", "a", "Berlin", "berlin", "a_b", "100%", "Zürich", "x'y", "null", "long long text"];

/// Rows of every type with nulls, NaN, infinities and many duplicates; `id` is the position.
pub(crate) fn rows(count: usize, seed: u64) -> RecordBatch {
    let mut dice = Dice(seed);
    let mut maybe = |n: u64| -> Vec<Option<u64>> {
        (0..count).map(|_| if dice.one_in(7) { None } else { Some(dice.below(n)) }).collect()
    };
    let (small, big, short, float) = (maybe(11), maybe(30), maybe(9), maybe(12));
    let (text, flag, day, at, local) = (maybe(10), maybe(2), maybe(40), maybe(25), maybe(25));
    let (price, time, bytes, city, zip, tags) = (maybe(50), maybe(20), maybe(6), maybe(10), maybe(5), maybe(4));
    let place_nulls: Vec<bool> = maybe(2).iter().map(Option::is_some).collect();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count as i64));
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.5, -1.5, 2.0, 1e300, 0.1, -7.0, 3.25, 100.0];
    let over_null = |values: &[Option<u64>]| -> Vec<Option<u64>> {
        values.iter().zip(&place_nulls).map(|(value, valid)| value.filter(|_| *valid)).collect()
    };
    let word = |v: &u64| WORDS[*v as usize];
    let place_fields =
        Fields::from(vec![Field::new("city", DataType::Utf8, true), Field::new("zip", DataType::Int32, true)]);
    let place = StructArray::new(
        place_fields,
        vec![
            Arc::new(over_null(&city).iter().map(|v| v.as_ref().map(word)).collect::<StringArray>()) as ArrayRef,
            Arc::new(over_null(&zip).iter().map(|v| v.map(|v| v as i32 * 1000)).collect::<Int32Array>()),
        ],
        Some(NullBuffer::from(place_nulls.clone())),
    );
    let mut lists = ListBuilder::new(StringBuilder::new());
    for tag in &tags {
        match tag {
            None => lists.append(false),
            Some(n) => {
                (0..*n).for_each(|i| lists.values().append_value(WORDS[i as usize]));
                lists.append(true);
            }
        }
    }
    let price = price.iter().map(|v| v.map(|v| i128::from(v) * 25 - 300)).collect::<Decimal128Array>();
    let at = at.iter().map(|v| v.map(|v| v as i64 * 86_400_000 / 2)).collect::<TimestampMillisecondArray>();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", ids),
        ("small", Arc::new(small.iter().map(|v| v.map(|v| v as i8 - 5)).collect::<Int8Array>())),
        ("big", Arc::new(big.iter().map(|v| v.map(|v| u64::MAX - v)).collect::<UInt64Array>())),
        ("short", Arc::new(short.iter().map(|v| v.map(|v| floats[v as usize] as f32)).collect::<Float32Array>())),
        ("float", Arc::new(float.iter().map(|v| v.map(|v| floats[v as usize])).collect::<Float64Array>())),
        ("text", Arc::new(text.iter().map(|v| v.as_ref().map(word)).collect::<StringArray>())),
        ("flag", Arc::new(flag.iter().map(|v| v.map(|v| v == 1)).collect::<BooleanArray>())),
        ("day", Arc::new(day.iter().map(|v| v.map(|v| v as i32 - 3)).collect::<Date32Array>())),
        ("at", Arc::new(at.with_timezone("UTC"))),
        (
            "local",
            Arc::new(local.iter().map(|v| v.map(|v| v as i64 * 3_600_000_000)).collect::<TimestampMicrosecondArray>()),
        ),
        ("price", Arc::new(price.with_precision_and_scale(10, 2).unwrap())),
        ("time", Arc::new(time.iter().map(|v| v.map(|v| v as i64 * 1_000_000)).collect::<Time64MicrosecondArray>())),
        (
            "bytes",
            Arc::new(
                bytes
                    .iter()
                    .map(|v| v.map(|v| vec![v as u8, 0xff]))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|v| v.as_deref())
                    .collect::<BinaryArray>(),
            ),
        ),
        ("place", Arc::new(place)),
        ("tags", Arc::new(lists.finish())),
        ("Mixed Name", Arc::new(zip.iter().map(|v| v.map(|v| v as i64)).collect::<Int64Array>())),
    ];
    named(columns)
}

fn named(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), *name != "id")).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, column)| column).collect())
        .unwrap()
}

pub(crate) fn engine() -> (Arc<Engine>, TempDir) {
    engine_of(256 * 1024 * 1024)
}

pub(crate) fn engine_of(memory_bytes_max: u64) -> (Arc<Engine>, TempDir) {
    let dir = TempDir::new().unwrap();
    let data_dir = dir.path().to_owned();
    let options = EngineOptions { memory_bytes_max, data_dir, threads: 2, ..EngineOptions::default() };
    (Engine::new(&options).unwrap(), dir)
}

fn loaded(content: Content, rows: usize) -> Loaded {
    Loaded {
        content,
        version: Version(7),
        rows: rows as u64,
        memory_bytes: 0,
        source: "made".to_owned(),
        file: None,
        reservation: None,
    }
}

/// A dataset whose files are read anew by each statement, if it has any.
pub(crate) fn spec(name: &str, key: &[&str]) -> DatasetSpec {
    let mut spec = DatasetSpec::new(Name::new(name).unwrap(), vec!["made".to_owned()]);
    spec.key = key.iter().map(|k| (*k).to_owned()).collect();
    spec.residency = Residency::Never;
    spec
}

/// The same dataset, whose columns are in memory from the second statement on that reads them.
pub(crate) fn cached(spec: &DatasetSpec) -> DatasetSpec {
    DatasetSpec { residency: Residency::Auto, ..spec.clone() }
}

/// Reads all columns of a table until its plans find them in memory.
pub(crate) async fn warm(engine: &Arc<Engine>, tables: &Arc<dyn Tables>, table: &str) {
    let began = Instant::now();
    while !shown(engine, tables, &format!("explain select * from {table}")).await.contains("cached columns=") {
        assert!(began.elapsed() < Duration::from_secs(60), "the columns of {table} are not read into memory");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn resident(spec: &DatasetSpec, rows: &RecordBatch, engine: &Arc<Engine>) -> Dataset {
    let chunks = (0..rows.num_rows())
        .step_by(CHUNK_ROWS)
        .map(|start| rows.slice(start, CHUNK_ROWS.min(rows.num_rows() - start)))
        .map(|slice| concat_batches(&slice.schema(), [&slice]).unwrap())
        .collect();
    let content = Content::Resident { schema: rows.schema(), chunks };
    Dataset::new(spec, loaded(content, rows.num_rows()), engine).unwrap()
}

/// The same rows in `files` files of several row groups.
pub(crate) fn parquet(spec: &DatasetSpec, rows: &RecordBatch, files: usize, engine: &Arc<Engine>) -> Dataset {
    let dir = TempDir::with_prefix_in("hidden", engine.data_dir()).unwrap();
    let share = rows.num_rows().div_ceil(files).max(1);
    let files = (0..rows.num_rows())
        .step_by(share)
        .enumerate()
        .map(|(number, start)| {
            write(&rows.slice(start, share.min(rows.num_rows() - start)), dir.path().join(format!("{number}.parquet")))
        })
        .collect();
    let content =
        Content::Parquet { schema: rows.schema(), files, partition_columns: Vec::new(), kept: Some(Arc::new(dir)) };
    Dataset::new(spec, loaded(content, rows.num_rows()), engine).unwrap()
}

pub(crate) fn write(rows: &RecordBatch, path: PathBuf) -> ParquetFile {
    let properties =
        WriterProperties::builder().set_max_row_group_row_count(Some((rows.num_rows() / 3).max(1))).build();
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    ParquetFile {
        path,
        rows: rows.num_rows() as u64,
        bytes,
        wide: Vec::new(),
        partition_values: Vec::new(),
        remote: Remote::default(),
    }
}

/// All rows of an answer as one batch.
pub(crate) async fn collect(rows: Rows) -> Result<RecordBatch> {
    let batches: Vec<RecordBatch> = match rows.batches {
        Batches::Ready(batches) => batches,
        Batches::Stream(stream) => stream.try_collect().await?,
    };
    for batch in &batches {
        assert_eq!(batch.schema(), rows.schema, "a batch has another schema than the answer");
    }
    Ok(concat_batches(&rows.schema, &batches).unwrap())
}

/// What a statement gives, as text with its types; of many rows those at both ends.
pub(crate) async fn ask(engine: &Arc<Engine>, tables: &Arc<dyn Tables>, text: &str) -> String {
    format!("{:?}", answer(engine, tables, text).await)
}

/// All rows that a statement gives, as text.
pub(crate) async fn shown(engine: &Arc<Engine>, tables: &Arc<dyn Tables>, text: &str) -> String {
    pretty_format_batches(&[answer(engine, tables, text).await]).unwrap().to_string()
}

async fn answer(engine: &Arc<Engine>, tables: &Arc<dyn Tables>, text: &str) -> RecordBatch {
    let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
    let rows = engine.run(Arc::clone(tables), &query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    collect(rows).await.unwrap()
}

/// A catalog of some tables.
#[derive(Debug)]
pub(crate) struct Catalog(pub(crate) Vec<Arc<dyn Table>>);

impl Tables for Catalog {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        Ok(self.0.iter().find(|table| table.describe().name.as_str() == name).cloned())
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.0.iter().map(|table| (table.describe().name.clone(), Arc::clone(table))).collect()
    }

    fn generation(&self) -> u64 {
        1
    }
}
