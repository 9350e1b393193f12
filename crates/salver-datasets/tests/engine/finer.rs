//! Times compared with finer ones: nothing of either is cut.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int64Array, RecordBatch, Time32SecondArray, Time64NanosecondArray, TimestampMillisecondArray,
    TimestampSecondArray,
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
        ("n", Arc::new(Time64NanosecondArray::from(vec![0, 1_000_000_000, 2_000_000_001]))),
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
        ("c = n", 2),
        ("c < n", 1),
        ("c is distinct from n", 1),
        ("n is not distinct from c", 2),
        ("c is distinct from time '00:00:01'", 2),
        ("c is distinct from '00:00:00.5'", 3),
        ("s is not distinct from ms", 2),
        ("n in (c)", 2),
        ("n between c and c", 2),
        ("case c when n then true else false end", 2),
        ("nullif(c, n) is null", 2),
    ] {
        // The types of a select list are needed before those of conditions are made equal.
        for text in [
            format!("select id from t where {condition}"),
            format!("select id from (select id, {condition} as holds from t) where holds"),
            format!("select a.id from t a join (select id as b from t) on a.id = b and {condition}"),
        ] {
            let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
            let rows =
                engine.run(Arc::clone(&tables), &query).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let rows = generated::collect(rows).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
            assert_eq!(rows.num_rows(), count, "{text}");
        }
    }
}
