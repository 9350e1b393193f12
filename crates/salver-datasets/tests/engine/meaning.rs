//! The same statements here and in PostgreSQL: what they answer is the same, or `docs/sql.md` says how it differs.

#[path = "meaning/by_pattern.rs"]
mod by_pattern;
#[path = "meaning/differences.rs"]
mod differences;
#[path = "meaning/early.rs"]
mod early;
#[path = "meaning/expressions.rs"]
mod expressions;
#[path = "meaning/joined.rs"]
mod joined;
#[path = "meaning/json.rs"]
mod json;
#[path = "meaning/nested.rs"]
mod nested;
#[path = "meaning/ordered_joins.rs"]
mod ordered_joins;
#[path = "meaning/paired.rs"]
mod paired;
#[path = "meaning/shared.rs"]
mod shared;
#[path = "meaning/statements.rs"]
mod statements;

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Error, SqlParameters, SqlQuery, Value};
use salver_testkit::servers::{self, Kind};

use super::generated::{self, Catalog, collect};
use statements::{REFUSED, SAME};

/// The rows that the statements read, in PostgreSQL's words.
const TABLE: &str = "create table n (i bigint, s text, d numeric(12,2), f double precision, t timestamp);
    insert into n values (1, 'a', 1234567.89, 1.5, '2024-03-05 14:07:09.5'), (2, 'b', 0.10, 'NaN', '1500-01-01'),
    (3, null, -7.25, '-0', '9999-12-31 23:59:59.999999'), (4, 'd', 99.99, 0, null), (null, 'e', null, null, null),
    (6, 'b', 0.10, 'Infinity', '2024-02-29'), (7, 'g', 5.00, '-Infinity', '1970-01-01');
    create table m (k bigint, v bigint); insert into m values (1, 10), (1, 20), (2, 5), (2, null), (9, 1);";

fn rows() -> [(&'static str, RecordBatch); 2] {
    let time = |text: &str| {
        let time = chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").unwrap();
        Some(time.and_utc().timestamp_micros())
    };
    let i = Int64Array::from(vec![Some(1), Some(2), Some(3), Some(4), None, Some(6), Some(7)]);
    let s = StringArray::from(vec![Some("a"), Some("b"), None, Some("d"), Some("e"), Some("b"), Some("g")]);
    let d = vec![Some(123_456_789), Some(10), Some(-725), Some(9_999), None, Some(10), Some(500)];
    let d = Decimal128Array::from(d).with_precision_and_scale(12, 2).unwrap();
    // The other NaN, which processors make.
    let nan = -f64::NAN;
    let f = vec![Some(1.5), Some(nan), Some(-0.0), Some(0.0), None, Some(f64::INFINITY), Some(f64::NEG_INFINITY)];
    let t = TimestampMicrosecondArray::from(vec![
        time("2024-03-05 14:07:09.5"),
        time("1500-01-01 00:00:00"),
        time("9999-12-31 23:59:59.999999"),
        None,
        None,
        time("2024-02-29 00:00:00"),
        time("1970-01-01 00:00:00"),
    ]);
    let n = batch(vec![
        ("i", Arc::new(i)),
        ("s", Arc::new(s)),
        ("d", Arc::new(d)),
        ("f", Arc::new(Float64Array::from(f))),
        ("t", Arc::new(t)),
    ]);
    let m = batch(vec![
        ("k", Arc::new(Int64Array::from(vec![1, 1, 2, 2, 9]))),
        ("v", Arc::new(Int64Array::from(vec![Some(10), Some(20), Some(5), None, Some(1)]))),
    ]);
    [("n", n), ("m", m)]
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(|(name, c)| Field::new(*name, c.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, column)| column).collect())
        .unwrap()
}

/// The tables in memory, or scanned from files.
struct World {
    engine: Arc<salver_datasets::Engine>,
    tables: Arc<dyn Tables>,
    _dir: tempfile::TempDir,
}

impl World {
    fn new(scanned: bool) -> Self {
        let (engine, dir) = generated::engine();
        let tables = rows().map(|(name, rows)| {
            let spec = generated::spec(name, &[]);
            let table = if scanned {
                generated::parquet(&spec, &rows, 2, &engine)
            } else {
                generated::resident(&spec, &rows, &engine)
            };
            Arc::new(table) as Arc<dyn salver_model::ports::Table>
        });
        Self { engine, tables: Arc::new(Catalog(tables.into())), _dir: dir }
    }

    async fn run(&self, text: &str, parameters: SqlParameters) -> Result<RecordBatch, Error> {
        let query = SqlQuery { text: text.to_owned(), parameters, is_safe: false, ..SqlQuery::default() };
        collect(self.engine.run(Arc::clone(&self.tables), &query).await?).await
    }

    /// The rows as text: a line a row, tabs between columns.
    async fn answer(&self, text: &str) -> Result<String, Error> {
        Ok(shown(&self.run(text, SqlParameters::None).await?))
    }
}

fn shown(rows: &RecordBatch) -> String {
    let options = FormatOptions::default().with_null("");
    let columns: Vec<_> =
        rows.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap()).collect();
    let line = |row: usize| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join("\t");
    (0..rows.num_rows()).map(line).collect::<Vec<_>>().join("\n")
}

/// A cell as both write it: numbers by their value, times without a `T`, `true` as `t`.
fn plain(cell: &str) -> String {
    let cell = cell.trim_end_matches('Z');
    if let Ok(number) = cell.parse::<f64>() {
        let number = if number == 0.0 { 0.0 } else { number };
        return format!("{number:.12e}");
    }
    match cell {
        "true" => return "t".to_owned(),
        "false" => return "f".to_owned(),
        _ => {}
    }
    let is_time = cell.len() > 18 && cell.as_bytes()[4] == b'-' && cell.as_bytes()[10] == b'T';
    let cell = if is_time { cell.replacen('T', " ", 1) } else { cell.to_owned() };
    let cell = cell.strip_suffix("+00").map_or(cell.clone(), str::to_owned);
    match cell.split_once('.') {
        Some((before, fraction)) if is_time || before.contains(':') => {
            format!("{before}.{}", fraction.trim_end_matches('0')).trim_end_matches('.').to_owned()
        }
        _ => cell,
    }
}

fn same(one: &str, other: &str) -> bool {
    let lines =
        |text: &str| -> Vec<Vec<String>> { text.lines().map(|line| line.split('\t').map(plain).collect()).collect() };
    lines(one) == lines(other)
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_answer_as_in_postgresql() {
    let postgres = servers::database(Kind::Postgres, TABLE);
    let (held, scanned) = (World::new(false), World::new(true));
    let mut wrong = Vec::new();
    for text in SAME.concat() {
        let expected = match postgres.try_run(&format!("{text};")) {
            Ok(expected) => expected.trim_end_matches('\n').to_owned(),
            Err(error) => {
                wrong.push(format!("PostgreSQL refuses `{text}`: {error}"));
                continue;
            }
        };
        for (world, kind) in [(&held, "held"), (&scanned, "scanned")] {
            match world.answer(text).await {
                Ok(answer) if same(&answer, &expected) => {}
                Ok(answer) => wrong.push(format!("{kind} `{text}`\n  here: {answer:?}\n  there: {expected:?}")),
                Err(error) => wrong.push(format!(
                    "{kind} `{text}`\n  here: {} ({:?})\n  there: {expected:?}",
                    error.chain(),
                    error.hint
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_says_what_to_write_instead() {
    let world = World::new(false);
    for (text, message) in REFUSED {
        let error = world.answer(text).await.expect_err(text);
        assert!(error.message.contains(message), "{text}: {}", error.message);
        assert!(error.hint.is_some(), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_parameters_are_exact() {
    let (held, scanned) = (World::new(false), World::new(true));
    for world in [&held, &scanned] {
        for (value, rows) in [(Value::Float(1_234_567.89), 1), (Value::Float(0.1), 2), (Value::Float(0.105), 0)] {
            let parameters = SqlParameters::Positional(vec![value.clone()]);
            let found = world.run("select i from n where d = $1", parameters).await.unwrap();
            assert_eq!(found.num_rows(), rows, "{value:?}");
            let parameters = SqlParameters::Positional(vec![value.clone()]);
            let found = world.run("select count(*) from n where d + 0 = $1", parameters).await.unwrap();
            assert_eq!(shown(&found), rows.to_string(), "{value:?}");
        }
        let parameters = SqlParameters::Positional(vec![Value::Float(1.5)]);
        let row = world.run("select $1 as x, f = $1 as y from n where i = 1", parameters).await.unwrap();
        assert_eq!(*row.schema().field(0).data_type(), DataType::Decimal128(2, 1));
        assert_eq!(shown(&row), "1.5\ttrue");
        for digits in ["12345678901234567.89", "-0.12345678901234567890123", "1234567890123456789012345678901234567.8"]
        {
            let parameters = SqlParameters::Positional(vec![Value::exact_number(digits).unwrap()]);
            let row = world.run("select $1::text as x, $1 + 0.1 - 0.1 = $1 as y", parameters).await.unwrap();
            assert_eq!(shown(&row), format!("{digits}\ttrue"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_postgresql_has_no_words_for() {
    let world = World::new(false);
    assert_eq!(world.answer("select v, k from m order by all desc limit 2").await.unwrap(), "\t2\n20\t1");
    let rows = world.run("select k, v, k from m where k = 9", SqlParameters::None).await.unwrap();
    let schema = rows.schema();
    let names = |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    assert_eq!(names(&schema), ["k", "v", "k_1"]);
    let text =
        "select * from m as a join m as b on a.k = b.k join (values (9, 1)) as c(k, k_1) on c.k = b.k order by b.v";
    let rows = world.run(text, SqlParameters::None).await.unwrap();
    assert_eq!(names(&rows.schema()), ["k", "v", "k_2", "v_1", "k_3", "k_1"]);
    assert_eq!(shown(&rows), "9\t1\t9\t1\t9\t1");
}
