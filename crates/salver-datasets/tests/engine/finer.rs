//! Times compared with finer ones: nothing of either is cut.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int64Array, RecordBatch, Time32SecondArray, TimestampMillisecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use salver_model::SqlQuery;
use salver_model::ports::{SqlEngine, Tables};

use super::generated::{self, Catalog};

#[tokio::test(flavor = "multi_thread")]
async fn times_are_not_cut_to_the_unit_of_a_column() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("s", Arc::new(TimestampSecondArray::from(vec![0, 1, 253_402_300_799]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![0, 1_000, 1_001]))),
        ("z", Arc::new(TimestampSecondArray::from(vec![0, 1, 2]).with_timezone("UTC"))),
        ("c", Arc::new(Time32SecondArray::from(vec![0, 1, 2]))),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    assert_eq!(fields[4].data_type(), &DataType::Time32(TimeUnit::Second));
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, own)| own).collect());
    let (engine, _dir) = generated::engine();
    let table = generated::resident(&generated::spec("t", &[]), &rows.unwrap(), &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    for (condition, count) in [
        ("s = timestamp '1970-01-01 00:00:00.5'", 0),
        ("s = '1970-01-01 00:00:00.5'", 0),
        ("s < timestamp '1970-01-01 00:00:00.5'", 1),
        ("s < '1970-01-01 00:00:00.5'", 1),
        ("s <= '1970-01-01 00:00:01'", 2),
        ("s > timestamp '1970-01-01 00:00:00.5'", 2),
        ("s between '1970-01-01 00:00:00.5' and '1970-01-01 00:00:01.5'", 1),
        ("s in ('1970-01-01 00:00:00.5', '1970-01-01 00:00:01')", 1),
        ("s = '9999-12-31 23:59:59'", 1),
        ("s is distinct from timestamp '1970-01-01 00:00:00.5'", 3),
        ("ms = '1970-01-01 00:00:01.0005'", 0),
        ("ms < '1970-01-01 00:00:01.0005'", 2),
        ("ms = s", 2),
        ("z = '1970-01-01T00:00:00.5Z'", 0),
        ("z < timestamptz '1970-01-01 00:00:00.5+00'", 1),
        ("c = '00:00:00.5'", 0),
        ("c < '00:00:00.5'", 1),
        ("c = time '00:00:01'", 1),
    ] {
        let text = format!("select id from t where {condition}");
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let rows = engine.run(Arc::clone(&tables), &query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let rows = generated::collect(rows).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!(rows.num_rows(), count, "{text}");
    }
}
