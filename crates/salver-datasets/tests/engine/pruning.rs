//! Row groups of Parquet that a condition on times can't hold for are not read, however the condition is written.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Date32Array, RecordBatch, TimestampMicrosecondArray, TimestampNanosecondArray};
use arrow::datatypes::{DataType, Field, Schema};
use salver_model::SqlQuery;
use salver_model::ports::{SqlEngine, Tables};

use super::generated::{self, Catalog};

/// The conditions, how many rows they hold for, and in how many of the three years.
const CONDITIONS: &[(&str, usize, usize)] = &[
    ("extract(year from t) = 2024", 366, 1),
    ("2024 = extract(year from t)", 366, 1),
    ("extract(year from z) = 2024", 366, 1),
    ("extract(year from n) = 2024", 366, 1),
    ("extract(year from d) = 2024", 366, 1),
    ("extract(year from t) >= 2025", 366, 1),
    ("extract(year from t) > 2024", 366, 1),
    ("extract(year from t) < 2024", 366, 1),
    ("extract(year from t) <= 2023", 366, 1),
    ("extract(year from t) between 2020 and 2023", 366, 1),
    ("extract(year from t) in (2023, 2030)", 366, 1),
    ("extract(year from t) = 2031", 0, 0),
    ("date_part('year', t) = 2024", 366, 1),
    ("date_part('year', t) >= 2025", 366, 1),
    ("date_part('year', t) < 2024", 366, 1),
    ("date_trunc('year', t) = '2024-01-01'", 366, 1),
    ("date_trunc('month', t) = timestamp '2024-02-01'", 29, 1),
    ("date_trunc('quarter', z) = '2023-04-01'", 91, 1),
    ("date_trunc('week', t) = '2024-02-26'", 7, 1),
    ("date_trunc('day', n) = '2025-12-31'", 2, 1),
    ("date_trunc('month', t) >= '2025-12-01'", 32, 1),
    ("t >= '2024-01-01' and t < '2025-01-01'", 366, 1),
];

/// Three years, each of 366 rows and so a row group: the last day of a shorter one comes twice.
fn days() -> RecordBatch {
    let day = |year: i32, day: u32| chrono::NaiveDate::from_yo_opt(year, day).map(|day| day.to_epoch_days());
    let year = |year: i32| (1..=366).map(move |number| day(year, number).or(day(year, 365)).unwrap());
    let days: Vec<i32> = (2023..=2025).flat_map(year).collect();
    let micros = || days.iter().map(|day| i64::from(*day) * 86_400_000_000 + 43_200_000_000);
    let t: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(micros()));
    let z: ArrayRef = Arc::new(TimestampMicrosecondArray::from_iter_values(micros()).with_timezone("UTC"));
    let n: ArrayRef = Arc::new(TimestampNanosecondArray::from_iter_values(micros().map(|micros| micros * 1_000)));
    let d: ArrayRef = Arc::new(Date32Array::from(days.clone()));
    let columns = [("t", t), ("z", z), ("n", n), ("d", d)];
    let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, DataType::clone(column.data_type()), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, column)| column).collect()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_on_parts_of_times_skip_row_groups() {
    let (engine, _dir) = generated::engine();
    let table = generated::parquet(&generated::spec("days", &[]), &days(), 1, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(table)]));
    let ask = async |text: String| {
        let query = SqlQuery { text, ..SqlQuery::default() };
        generated::collect(engine.run(Arc::clone(&tables), &query).await.unwrap()).await.unwrap()
    };
    let mut wrong = Vec::new();
    for (condition, count, years) in CONDITIONS {
        let found = ask(format!("select t from days where {condition}")).await.num_rows();
        let told = ask(format!("explain analyze select t from days where {condition}")).await;
        let told: Vec<&str> = told.column(1).as_string::<i32>().iter().flatten().collect();
        let told = told.join("\n");
        let at = told.find("row_groups_pruned_statistics=").map(|at| &told[at..(at + 80).min(told.len())]);
        let matched = at.unwrap_or_default().to_owned();
        if found != *count || !matched.contains(&format!("3 total → {years} matched")) {
            wrong.push(format!(
                "{condition}: {found} of {count}, {years}, {matched} {}",
                if at.is_none() { &told } else { "" }
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
