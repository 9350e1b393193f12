//! The contract of the `Table` port, clause by clause, and then thousands of generated queries against the reference.

mod generate;

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, StringArray, StructArray,
};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use salver_model::ports::Table;
use salver_model::{
    Aggregate, AggregateFunction, Code, ColumnPath, Comparison, Cursor, Filter, Item, Query, Rows, Sort, Value, Version,
};

use super::collected;
use crate::memory_table::MemoryTable;
use generate::Generator;

/// Rows of the table the suite works on.
const ROWS: usize = 200;
/// Generated queries that are compared with the reference.
const QUERIES: usize = 2_000;

/// Runs the suite on tables that `make` makes of the given rows with the given key.
///
/// # Panics
/// When the table breaks its contract; the message names the query.
pub async fn run(make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    run_on(sample(ROWS), make).await;
}

/// As [`run`], for backends whose rows have no structs in them.
///
/// # Panics
/// When the table breaks its contract; the message names the query.
pub async fn run_flat(make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    let rows = sample(ROWS);
    let flat: Vec<usize> = (0..rows.num_columns() - 1).collect();
    run_on(rows.project(&flat).unwrap_or_else(|error| panic!("{error}")), make).await;
}

async fn run_on(rows: RecordBatch, make: impl AsyncFn(RecordBatch, Vec<String>) -> Arc<dyn Table>) {
    let table = make(rows.clone(), vec!["id".to_owned()]).await;
    let reference = MemoryTable::new("reference", rows.clone());
    columns(&*table, &rows).await;
    mistakes(&*table).await;
    pages(&*table).await;
    cursors(&*table).await;
    totals(&*table).await;
    empty(&*make(rows.slice(0, 0), Vec::new()).await).await;
    let mut generator = Generator::new(0x005a_17e2);
    for _ in 0..QUERIES {
        let query = generator.query();
        agree(&*table, &reference, &query).await;
    }
}

/// Rows with every kind of value that matters: nulls, negatives, repeats, text with odd characters, a struct.
#[must_use]
pub fn sample(rows: usize) -> RecordBatch {
    let each = |skip: usize| (0..rows).map(move |i| (i % skip != skip - 1).then_some(i));
    let names = ["Ada", "ada", "Bob_1", "50%", "", "Zoë", "O'Hara", "a\"b\\c"];
    let cities: ArrayRef = Arc::new(each(6).map(|i| i.map(|i| format!("city {}", i % 4))).collect::<StringArray>());
    let zips: ArrayRef = Arc::new(each(8).map(|i| i.map(|i| 100 - i as i32)).collect::<Int32Array>());
    let fields = Fields::from(vec![Field::new("city", DataType::Utf8, true), Field::new("zip", DataType::Int32, true)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new((0..rows).map(|i| Some(i as i64 * 3)).collect::<Int64Array>())),
        ("name", Arc::new(each(7).map(|i| i.map(|i| names[i % names.len()])).collect::<StringArray>())),
        // Quarters add up without rounding, in any order.
        ("amount", Arc::new(each(9).map(|i| i.map(|i| (i % 40) as f64 * 0.25 - 5.0)).collect::<Float64Array>())),
        ("color", Arc::new((0..rows).map(|i| Some(["red", "green", "blue"][i * i % 3])).collect::<StringArray>())),
        ("n", Arc::new(each(5).map(|i| i.map(|i| (i % 11) as i32 - 5)).collect::<Int32Array>())),
        ("active", Arc::new(each(4).map(|i| i.map(|i| i % 3 == 0)).collect::<BooleanArray>())),
        ("day", Arc::new(each(10).map(|i| i.map(|i| 18_000 + (i % 30) as i32)).collect::<Date32Array>())),
        ("Mixed Col", Arc::new((0..rows).map(|i| Some(format!("m{}", i % 13))).collect::<StringArray>())),
        ("place", Arc::new(StructArray::new(fields, vec![cities, zips], None))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, name != "id")))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The answer as text: its names and its rows.
async fn answer(table: &dyn Table, query: &Query) -> (Vec<String>, Vec<Vec<String>>) {
    let rows = read(table, query).await;
    text(rows, query).await
}

async fn read(table: &dyn Table, query: &Query) -> Rows {
    table.read(query).await.unwrap_or_else(|error| panic!("{query:?}: {error:?}"))
}

async fn text(rows: Rows, query: &Query) -> (Vec<String>, Vec<Vec<String>>) {
    let names = rows.schema.fields().iter().map(|field| field.name().clone()).collect();
    let batches = collected(rows.batches).await.unwrap_or_else(|error| panic!("{query:?}: {error:?}"));
    let mut out = Vec::new();
    for batch in &batches {
        assert_eq!(batch.schema(), rows.schema, "a batch is not of the schema of its answer: {query:?}");
        for row in 0..batch.num_rows() {
            out.push(batch.columns().iter().map(|column| value(column, row)).collect());
        }
    }
    (names, out)
}

fn value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "NULL".to_owned();
    }
    array_value_to_string(column, row).unwrap_or_else(|error| panic!("{error}"))
}

/// "Columns in the order and under the names asked for; with no items, the columns of the schema in order."
async fn columns(table: &dyn Table, rows: &RecordBatch) {
    let described = &table.describe().schema;
    let names: Vec<String> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(described.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>(), names);
    let (got, all) = answer(table, &Query::default()).await;
    assert_eq!((got, all.len()), (names, rows.num_rows()));
    let mut items = vec![
        Item::Column { path: ColumnPath::column("color"), name: "x".to_owned() },
        Item::column("id"),
        Item::Column { path: ColumnPath::column("color"), name: "y".to_owned() },
    ];
    if rows.schema().column_with_name("place").is_some() {
        items.push(Item::Column {
            path: ColumnPath { column: "place".to_owned(), fields: vec!["city".to_owned()] },
            name: "place.city".to_owned(),
        });
    }
    let names: Vec<&str> = ["x", "id", "y", "place.city"][..items.len()].to_vec();
    let (got, _) = answer(table, &Query { items, limit: Some(1), ..Query::default() }).await;
    assert_eq!(got, names);
}

/// "An unknown column is `InvalidColumn`, `InvalidFilter` or `InvalidSort` by where it stands, with the nearest column
/// as hint; a value that can't be compared with its column is `InvalidValue`."
async fn mistakes(table: &dyn Table) {
    let filter = |filter| Query { filter: Some(filter), ..Query::default() };
    let sort = |column: &str| vec![Sort { column: column.into(), descending: false, nulls_first: true }];
    let cases = vec![
        (Query { items: vec![Item::column("colour")], ..Query::default() }, Code::InvalidColumn),
        (filter(Filter::compare("colour", Comparison::Eq, Value::Int(1))), Code::InvalidFilter),
        (filter(Filter::IsNull { column: "colour".into() }.negated()), Code::InvalidFilter),
        (filter(Filter::In { column: "colour".into(), values: Vec::new() }), Code::InvalidFilter),
        (Query { sort: sort("colour"), ..Query::default() }, Code::InvalidSort),
        (filter(Filter::compare("n", Comparison::Eq, Value::Text("x".into()))), Code::InvalidValue),
        (filter(Filter::compare("day", Comparison::Lt, Value::Text("not a day".into()))), Code::InvalidValue),
        (filter(Filter::compare("active", Comparison::Eq, Value::Int(7))), Code::InvalidValue),
    ];
    // SQLite has no days, only text.
    let days = table.describe().schema.field_with_name("day").is_ok_and(|day| *day.data_type() == DataType::Date32);
    for (query, code) in cases {
        let of_day = matches!(&query.filter, Some(Filter::Compare { column, .. }) if column.column == "day");
        if of_day && !days {
            continue;
        }
        let error = match table.read(&query).await {
            Ok(_) => panic!("{query:?} was answered"),
            Err(error) => error,
        };
        assert_eq!(error.code, code, "{query:?}: {error:?}");
        if code != Code::InvalidValue {
            assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`color`")), "{query:?}: {:?}", error.hint);
        }
    }
}

/// "Without a sort the order is the source's, and stable from call to call"; offset and limit cut it.
async fn pages(table: &dyn Table) {
    let (_, all) = answer(table, &Query::default()).await;
    for (offset, limit) in [(0, 0), (0, 1), (5, 7), (ROWS as u64 - 1, 10), (ROWS as u64, 10), (u64::MAX, u64::MAX)] {
        let query = Query { offset, limit: Some(limit), ..Query::default() };
        let start = usize::try_from(offset).unwrap_or(ROWS).min(ROWS);
        let end = start.saturating_add(usize::try_from(limit).unwrap_or(ROWS)).min(ROWS);
        assert_eq!(answer(table, &query).await.1, all[start..end], "{query:?}");
    }
}

/// "With `after`, rows go on behind the cursor's row; a cursor of another version is `ExpiredCursor`, of another query
/// `InvalidCursor`. `next` is set when `limit` was given, the query is neither grouped nor distinct, and more rows
/// follow."
async fn cursors(table: &dyn Table) {
    let sort = |column: &str, descending| Sort { column: column.into(), descending, nulls_first: !descending };
    let filter = Some(Filter::compare("n", Comparison::GtEq, Value::Int(-3)));
    for sort in [vec![], vec![sort("amount", true), sort("id", false)], vec![sort("name", false), sort("id", true)]] {
        let whole = Query { filter: filter.clone(), sort, items: vec![Item::column("id")], ..Query::default() };
        let (_, all) = answer(table, &whole).await;
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let query = Query { limit: Some(7), after: after.take(), ..whole.clone() };
            let rows = read(table, &query).await;
            after = rows.next.clone();
            let (_, page) = text(rows, &query).await;
            assert!(page.len() == 7 || after.is_none(), "a short page has a next: {query:?}");
            paged.extend(page);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(paged, all, "pages don't make the whole: {whole:?}");
    }
    let first = Query { limit: Some(3), ..Query::default() };
    let next = read(table, &first).await.next.unwrap_or_else(|| panic!("no next after 3 of {ROWS} rows"));
    let stale = Cursor { version: Version(next.version.0 ^ 1), ..next.clone() };
    let refused = |query: Query, code| async move {
        let error = table.read(&query).await.err().unwrap_or_else(|| panic!("{query:?} was answered"));
        assert_eq!(error.code, code, "{query:?}");
    };
    refused(Query { after: Some(stale), ..first.clone() }, Code::ExpiredCursor).await;
    let other = vec![sort("name", true)];
    refused(Query { after: Some(next), sort: other, ..first.clone() }, Code::InvalidCursor).await;
    let none = [
        Query::default(),
        Query { limit: Some(ROWS as u64), ..Query::default() },
        Query { limit: Some(1), distinct: true, items: vec![Item::column("color")], ..Query::default() },
        Query { limit: Some(1), items: vec![Item::column("color")], group: vec!["color".into()], ..Query::default() },
    ];
    for query in none {
        assert_eq!(read(table, &query).await.next, None, "{query:?}");
    }
}

/// "`total` is set when `count` was asked for": all matching rows, whatever the page.
async fn totals(table: &dyn Table) {
    let filter = Some(Filter::compare("color", Comparison::Eq, Value::Text("red".into())));
    let (_, all) = answer(table, &Query { filter: filter.clone(), ..Query::default() }).await;
    let query = Query { filter, limit: Some(2), offset: 1, count: true, ..Query::default() };
    assert_eq!(read(table, &query).await.total, Some(all.len() as u64));
    assert_eq!(read(table, &Query { count: false, ..query }).await.total, None);
}

/// A table without rows answers like any other.
async fn empty(table: &dyn Table) {
    let (names, rows) = answer(table, &Query::default()).await;
    assert_eq!((names.len(), rows.len()), (table.describe().schema.fields().len(), 0));
    let aggregate = |function, column: Option<&str>| Item::Aggregate {
        aggregate: Aggregate { function, column: column.map(Into::into) },
        name: format!("{function:?}"),
    };
    let items = vec![
        aggregate(AggregateFunction::Count, None),
        aggregate(AggregateFunction::Sum, Some("n")),
        aggregate(AggregateFunction::Max, Some("day")),
    ];
    let (_, rows) = answer(table, &Query { items, ..Query::default() }).await;
    assert_eq!(rows, [["0", "NULL", "NULL"]], "one group of all rows, though there is none");
    let grouped = Query {
        items: vec![Item::column("color"), aggregate(AggregateFunction::Count, None)],
        group: vec!["color".into()],
        ..Query::default()
    };
    assert!(answer(table, &grouped).await.1.is_empty());
}

/// The table and the reference give the same.
async fn agree(table: &dyn Table, reference: &MemoryTable, query: &Query) {
    let wanted = reference.read(query).await;
    let got = table.read(query).await;
    let (wanted, got) = match (wanted, got) {
        (Ok(wanted), Ok(got)) => (wanted, got),
        (Err(wanted), Err(got)) => return assert_eq!(got.code, wanted.code, "{query:?}: {got:?}"),
        (wanted, got) => panic!("{query:?}: got {got:?}, wanted {wanted:?}"),
    };
    assert_eq!(got.total, wanted.total, "{query:?}");
    assert_eq!(got.next.is_some(), wanted.next.is_some(), "next: {query:?}");
    let (names, mut wanted) = text(wanted, query).await;
    let (got_names, mut got) = text(got, query).await;
    if query.is_grouped() && query.sort.is_empty() {
        // Groups have no order of their own.
        for rows in [&mut wanted, &mut got] {
            rows.sort();
        }
    }
    assert_eq!((got_names, &got), (names, &wanted), "{query:?}");
}
