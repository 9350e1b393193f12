//! The first rows of an order, whose other columns Parquet gives afterwards, are those of the table in memory. So are
//! they where those columns of Parquet are cached that the order needs, or all.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use salver_datasets::Engine;
use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::{ColumnPath, Query, Sort, SqlQuery};

use super::generated::{self, Catalog, Dice, collect};
use super::queries;

/// Enough for columns to be read late for the first rows of an order.
const ROWS: usize = 60_000;

struct Worlds {
    engine: Arc<Engine>,
    resident: Arc<dyn Tables>,
    parquet: Arc<dyn Tables>,
    /// Parquet, of which columns are cached as statements read them.
    cached: Arc<dyn Tables>,
    _dir: tempfile::TempDir,
}

impl Worlds {
    fn new() -> Self {
        Self::of(ROWS, 3)
    }

    fn of(rows: usize, files: usize) -> Self {
        let (engine, dir) = generated::engine();
        let data = generated::rows(rows, 29);
        let spec = generated::spec("t", &[]);
        let tables = |table: Arc<dyn Table>| -> Arc<dyn Tables> { Arc::new(Catalog(vec![table])) };
        let resident = tables(Arc::new(generated::resident(&spec, &data, &engine)));
        let parquet = tables(Arc::new(generated::parquet(&spec, &data, files, &engine)));
        let cached = tables(Arc::new(generated::parquet(&generated::cached(&spec), &data, files, &engine)));
        Self { engine, resident, parquet, cached, _dir: dir }
    }

    /// Runs a statement everywhere.
    async fn compare(&self, text: &str) {
        let expected = format!("{:?}", self.ask(&self.resident, text).await);
        for tables in [&self.parquet, &self.cached] {
            assert_eq!(expected, format!("{:?}", self.ask(tables, text).await), "{text}");
        }
    }

    async fn ask(&self, tables: &Arc<dyn Tables>, text: &str) -> RecordBatch {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let rows = self.engine.run(Arc::clone(tables), &query).await;
        collect(rows.unwrap_or_else(|error| panic!("{text}: {error:?}"))).await.unwrap()
    }
}

/// A statement whose order is complete, over a chain of one table.
fn statement(dice: &mut Dice) -> String {
    const COLUMNS: [&str; 12] =
        ["id", "small", "big", "float", "text", "flag", "day", "at", "price", "place", "tags", "\"Mixed Name\""];
    const KEYS: [&str; 7] = ["id", "small", "float", "text", "day", "price", "\"Mixed Name\""];
    const CONDITIONS: [&str; 11] = [
        "text like '%er%'",
        "small > 2",
        "price is not null and day < '1970-01-20'",
        "id % 7 = 3",
        "tags is null",
        "id < 0",
        // Keys that are constant, or equal to one another.
        "day = date '1970-01-05'",
        "price = 1.50 and small = 2.0",
        "at = timestamp '1970-01-01 00:00:00'",
        "small between 3 and 3",
        "float = small",
    ];
    let mut items: Vec<String> = Vec::new();
    for column in COLUMNS {
        match dice.below(5) {
            0 | 1 => items.push(format!("q.{column}")),
            2 => items.push(format!("q.{column} as c{}", items.len())),
            _ => {}
        }
    }
    if dice.one_in(3) {
        items.push(format!("coalesce(q.small, 0) + 1 as more{}", items.len()));
    }
    let list = if items.is_empty() || dice.one_in(6) { "q.*".to_owned() } else { items.join(", ") };
    let from = match dice.below(4) {
        0 => "t as q".to_owned(),
        1 => format!("(select * from t where {}) as q", dice.pick(&CONDITIONS)),
        2 => "(select *, small as other, id as number from t) as q".to_owned(),
        _ => format!("(select p.* from (select * from t where {}) as p) as q", dice.pick(&CONDITIONS)),
    };
    let filter = if dice.one_in(2) { format!(" where {}", dice.pick(&CONDITIONS)) } else { String::new() };
    let way = dice.pick(&["", " desc", " nulls first", " desc nulls last"]);
    let key = dice.pick(&KEYS);
    let key = if dice.one_in(5) { format!("coalesce(q.{key}::text, '')") } else { format!("q.{key}") };
    let offset = if dice.one_in(3) { format!(" offset {}", dice.below(3)) } else { String::new() };
    let limit = 1 + dice.below(3);
    format!("select {list} from {from}{filter} order by {key}{way}, q.id limit {limit}{offset}")
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_agree() {
    let worlds = Worlds::new();
    for seed in 1..=400_u64 {
        worlds.compare(&statement(&mut Dice(seed * 7_919))).await;
        if seed == 200 {
            generated::warm(&worlds.engine, &worlds.cached, "t").await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_the_order_needs_not_are_late() {
    let worlds = Worlds::new();
    for (text, is_late) in [
        ("select * from t order by day limit 6", true),
        ("select * from t where text = 'a' order by day desc limit 2 offset 3", true),
        ("select x.tags, x.d from (select tags, day as d from t) as x order by d limit 1", true),
        ("select * from (select * from t order by day limit 3) as x join (values (1)) as y(a) on true", true),
        // Too many rows for so small a table, nothing but the key, no limit, groups.
        ("select * from t order by day limit 7", false),
        ("select day from t order by day limit 1", false),
        ("select * from t order by day", false),
        ("select day, count(*) from t group by day order by day limit 1", false),
    ] {
        let plan = worlds.ask(&worlds.parquet, &format!("explain {text}")).await;
        let plans = plan.column(1).as_string::<i32>();
        let is_there = plans.iter().flatten().any(|plan| plan.contains("LateColumnsExec"));
        assert_eq!(is_there, is_late, "{text}: {plans:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sorted_pages_agree() {
    let worlds = Worlds::new();
    let table = |tables: &Arc<dyn Tables>| tables.table("t").unwrap().unwrap();
    let (resident, parquet) = (table(&worlds.resident), table(&worlds.parquet));
    for seed in 1..=300_u64 {
        let mut dice = Dice(seed * 15_485_863);
        let mut query = Query { count: false, distinct: false, ..queries::plain(&mut dice, 4) };
        query.sort.truncate(2);
        if query.sort.is_empty() {
            let column = ColumnPath::column(*dice.pick(&["small", "text", "float", "at"]));
            query.sort.push(Sort { column, descending: dice.one_in(2), nulls_first: dice.one_in(2) });
        }
        (query.limit, query.offset, query.after) = (Some(1 + dice.below(4)), dice.below(2), None);
        let (one, other) = (resident.read(&query).await, parquet.read(&query).await);
        match (one, other) {
            (Ok(one), Ok(other)) => {
                let (one, other) = (collect(one).await.unwrap(), collect(other).await.unwrap());
                assert_eq!(format!("{one:?}"), format!("{other:?}"), "{query:?}");
            }
            (Err(one), Err(other)) => assert_eq!((one.code, one.message), (other.code, other.message)),
            (one, other) => panic!("only one fails: {:?} and {:?}\n{query:?}", one.err(), other.err()),
        }
    }
}

/// Of large row groups a piece is read first.
#[tokio::test(flavor = "multi_thread")]
async fn statements_agree_over_large_row_groups() {
    let worlds = Worlds::of(450_000, 1);
    for seed in 1..=60_u64 {
        worlds.compare(&statement(&mut Dice(seed * 104_729))).await;
    }
    for text in ["select id from t order by id desc limit 100", "select id from t order by day, id limit 40000"] {
        worlds.compare(text).await;
    }
}
