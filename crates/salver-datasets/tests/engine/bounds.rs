//! What `docs/sql.md` says how deep a statement may nest and how long a chain may be holds wherever expressions stand:
//! what is as deep and as long as that is answered, and what is one deeper or longer is refused.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use salver_datasets::Engine;
use salver_model::limits::{
    SQL_CASTS_DEPTH_MAX, SQL_CHAIN_MAX, SQL_COPIED_DEPTH_MAX, SQL_DEPTH_MAX, SQL_NAME_BYTES_MAX,
};
use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, SqlQuery};
use tempfile::TempDir;

use super::generated::{self, Catalog};

#[path = "bounds/forms.rs"]
mod forms;

/// Where an expression in brackets stands, and how many brackets are around it there.
const NESTED: &[(&str, usize)] = &[
    ("select {} from t", 0),
    ("select a from t where {} = 1", 0),
    ("select a from t order by {}", 0),
    ("select a from t limit {1}", 0),
    ("select count(*) from t group by {}", 0),
    ("select t.a from t join t as u on {t.a} = u.a", 0),
    ("select case when {} = 1 then 1 end from t", 0),
    ("select sum(a) over (order by {}) from t", 1),
    ("select sum(a) over (partition by {}) from t", 1),
    ("select distinct on ({}) a from t", 1),
    ("select array_agg(a order by {}) from t", 1),
    ("select array[{}] from t", 1),
    ("select [{}] from t", 1),
    ("values ({1})", 1),
    ("select struct({}) from t", 1),
    ("select row({}) from t", 1),
    ("select a from t where a in ({}, 7)", 1),
    ("select count(*) filter (where {} = 1) from t", 1),
    ("select percentile_disc(0.5) within group (order by {}) from t", 1),
    ("select substring({b} from 1) from t", 1),
    ("select extract(year from {now()}) from t", 2),
    ("select unnest([{}]) from t", 2),
    ("select exists(select {} from t)", 1),
    ("select * from (select {} from t) as x", 1),
    ("with x as (select {} from t) select * from x", 1),
];

/// Where a chain stands, and how much of its length is taken by what is around it.
const CHAINS: &[(&str, usize)] = &[
    ("select {f} from t", 0),
    ("select a from t order by {f}", 0),
    ("select count(*) from t group by {f}", 0),
    ("select distinct on ({f}) a from t", 0),
    ("values ({true})", 0),
    ("select a from t where {f}", 0),
    ("select a from t where ({f})", 1),
    ("select t.a from t join t as u on {t.f}", 1),
    ("select sum(a) over (order by {f}) from t", 1),
    ("select sum(a) over (partition by {f}) from t", 1),
    ("select array_agg(a order by {f}) from t", 1),
    ("select array[{f}] from t", 1),
    ("select struct({f}) from t", 1),
    ("select row({f}) from t", 1),
    ("select concat({f}) from t", 1),
    ("select a from t where f in ({f}, false)", 1),
    ("select case when {f} then 1 end from t", 1),
    ("select count(*) filter (where {f}) from t", 1),
    ("select exists(select {f} from t)", 2),
    ("select * from (select {f} from t) as x", 2),
    ("with x as (select {f} from t) select * from x", 1),
];

/// A statement with something in the place that it leaves.
fn put(text: &str, made: impl Fn(&str) -> String) -> String {
    let (start, rest) = text.split_once('{').unwrap();
    let (inner, end) = rest.split_once('}').unwrap();
    format!("{start}{}{end}", made(if inner.is_empty() { "a" } else { inner }))
}

/// An engine, and a table `t` of two rows.
fn engine() -> (Arc<Engine>, Arc<dyn Tables>, TempDir) {
    let (engine, dir) = generated::engine();
    let a: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let b: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let f: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let rows = RecordBatch::try_from_iter([("a", a), ("b", b), ("f", f)]).unwrap();
    let table = generated::resident(&generated::spec("t", &[]), &rows, &engine);
    (engine, Arc::new(Catalog(vec![Arc::new(table)])), dir)
}

async fn check(bounded: &[(&str, usize)], most: usize, made: impl Fn(&str, &str, usize) -> String, refused: &str) {
    let (engine, tables, _dir) = engine();
    let mut wrong = Vec::new();
    for (text, around) in bounded {
        for (size, within) in [(most - around, true), (most - around + 1, false)] {
            let query = SqlQuery { text: put(text, |inner| made(text, inner, size)), ..SqlQuery::default() };
            let outcome = match engine.run(Arc::clone(&tables), &query).await {
                Ok(rows) => generated::collect(rows).await.map(|_| ()),
                Err(error) => Err(error),
            };
            match outcome {
                Ok(()) if within => {}
                Ok(()) => wrong.push(format!("{text}: {size} are not refused")),
                Err(error) if within => wrong.push(format!("{text}: {size}: {}", error.message)),
                Err(error) if error.code == Code::InvalidSql && error.message.contains(refused) => {}
                Err(error) => wrong.push(format!("{text}: {size}: {error:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn brackets_are_counted_alike_everywhere() {
    let brackets = |_: &str, inner: &str, n: usize| format!("{}{inner}{}", "(".repeat(n), ")".repeat(n));
    check(NESTED, SQL_DEPTH_MAX, brackets, "nests deeper than").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_statements_of_every_kind_are_as_deep() {
    const KINDS: &[(&str, usize)] = &[
        ("select {abs(|a|)} from t", 0),
        ("select {array[|a|]} from t", 0),
        ("select {[|a|]} from t", 0),
        ("select {cast(|a| as bigint)} from t", 0),
    ];
    const TABLES: &[(&str, usize)] =
        &[("select * from {(select * from |t|)} as x", 0), ("select * from {(select a from |t| where a > 0)} as x", 0)];
    let nested = |_: &str, inner: &str, n: usize| {
        let parts: Vec<&str> = inner.split('|').collect();
        format!("{}{}{}", parts[0].repeat(n), parts[1], parts[2].repeat(n))
    };
    check(KINDS, SQL_DEPTH_MAX, nested, "deep").await;
    // As `docs/sql.md` says of queries in the place of tables.
    check(TABLES, 24, nested, "deeper than 24").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_are_counted_alike_everywhere() {
    let chain = |_: &str, inner: &str, n: usize| format!("{inner}{}", format!(" or {inner}").repeat(n));
    check(CHAINS, SQL_CHAIN_MAX, chain, "a chain of more than").await;
}

/// Each level would multiply what planning writes out, and a line of it all of the memory.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_out_several_times_nests_a_few_times() {
    const TWICE: &[(&str, usize)] = &[
        ("select {(1 < any (select |2|))::int} from t", 0),
        ("select {(|1| < any (select 2))::int} from t", 0),
        ("select a from t where {(2 = all (select |1|))::int} = 1", 0),
        ("select a from t where {(2 <> any (select |1|))::int} = 1", 0),
        ("select {(1 < all (array[|2|, 3]))::int} from t", 0),
        ("select {(|1| between symmetric 2 and 1)::int} from t", 0),
    ];
    const ONCE: &[(&str, usize)] = &[
        ("select {((|a|, 3) overlaps (1, 2))::int} from t", 0),
        ("select {((|a|, 1, 2, 3, 4, 5, 6, 7, 8) < (1, 1, 2, 3, 4, 5, 6, 7, 8))::int} from t", 0),
        (
            "select {((|a|, 1) in ((1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2), (9, 2)))::int} from t",
            0,
        ),
    ];
    const THREE: &[(&str, usize)] = &[
        ("select {((|a|, 1, 2, 3) <= (2, 3, 4, 5))::int} from t", 0),
        ("select {((1, 2, 3) > (|a|, 3, 4))::int} from t", 0),
    ];
    const ROWS: &[(&str, usize)] = &[
        ("select {((|a|, 1) < (2, 3))::int} from t", 0),
        ("select {((|a|, 1) in ((2, 3), (3, 4)))::int} from t", 0),
        ("select a from t where {((1, 2) >= (|a|, 3))::int} = 1", 0),
    ];
    let nested = |_: &str, inner: &str, n: usize| {
        let parts: Vec<&str> = inner.split('|').collect();
        format!("{}{}{}", parts[0].repeat(n), parts[1], parts[2].repeat(n))
    };
    check(TWICE, SQL_COPIED_DEPTH_MAX / 2, nested, "nest deeper than").await;
    check(ONCE, 1, nested, "nest deeper than").await;
    check(THREE, SQL_COPIED_DEPTH_MAX / 2, nested, "nest deeper than").await;
    check(ROWS, SQL_COPIED_DEPTH_MAX, nested, "nest deeper than").await;
    const CASTS: &[(&str, usize)] = &[
        ("select {(|a| > 1)::int} from t", 0),
        ("select {(|b| like 'a%')::text} from t", 0),
        ("select a from t where {(|a| not in (1, 2, 3, 4))::int} = 1", 0),
        ("select a from t order by {(|a| > 1)::int}", 0),
        ("select sum({(|a| > 1)::int}) from t", 0),
        ("select t.a from t join t as u on {(|t.a| > u.a)::int} = 1", 0),
        ("select a from t where a in (select {(|a| > 1)::int} from t)", 0),
    ];
    check(CASTS, SQL_CASTS_DEPTH_MAX, nested, "nest deeper than").await;
    const LOW: &[(&str, usize)] = &[("select {(1 between symmetric |a| and 1)::int} from t", 0)];
    check(LOW, SQL_COPIED_DEPTH_MAX - 1, nested, "nest deeper than").await;
    const LOOKED_UP: &[(&str, usize)] = &[("select {(1 in (select |a| from t))::int} from t", 0)];
    check(LOOKED_UP, 2, nested, "in more than 100 steps").await;
}

/// Whatever planning makes of a statement, nesting it ends in an answer or a refusal, and does not multiply until the
/// memory is full or the time is over.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_nests_multiplies() {
    let (engine, tables, _dir) = engine();
    let mut wrong = Vec::new();
    // Constants are gone before most of planning is done, and columns are not.
    for (form, innermost) in forms::FORMS.iter().flat_map(|form| ["1", "a", "b"].map(|innermost| (form, innermost))) {
        let (before, behind) = form.split_once('X').unwrap();
        for depth in [3, 8, 12, SQL_DEPTH_MAX - 10] {
            let (before, behind) = (format!("({before}").repeat(depth), format!("{behind})").repeat(depth));
            let nested = format!("{before}{innermost}{behind}");
            let query = SqlQuery { text: format!("select {nested} from t"), ..SqlQuery::default() };
            let outcome = match engine.run(Arc::clone(&tables), &query).await {
                Ok(rows) => generated::collect(rows).await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(error) = outcome
                && !matches!(error.code, Code::InvalidSql | Code::Execution)
            {
                wrong.push(format!("{form}: {innermost}: {depth}: {error:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a name may have meant is compared with all that there are, which takes the product of their lengths.
#[tokio::test(flavor = "multi_thread")]
async fn names_and_numbers_have_a_length() {
    let (engine, tables, _dir) = engine();
    let (name, text) = ("n".repeat(SQL_NAME_BYTES_MAX + 1), "x".repeat(500_000));
    let outcome = |text: String| {
        let (engine, tables) = (&engine, Arc::clone(&tables));
        async move {
            let query = SqlQuery { text, ..SqlQuery::default() };
            match engine.run(tables, &query).await {
                Ok(rows) => generated::collect(rows).await.map(|rows| rows.schema().field(0).name().len()),
                Err(error) => Err(error),
            }
        }
    };
    for text in [
        format!("select {name} from t"),
        format!("select \"{name}\" from t"),
        format!("select t.{name} from t"),
        format!("select t.'{name}' from t"),
        format!("select a from t group by {name}"),
        format!("select {name}(a) from t"),
        format!("select a from {name}"),
        format!("select a from t as {name}"),
        format!("select 1 from (select 1) as x ({name})"),
        format!("select ${name}"),
        format!("select {}", "9".repeat(SQL_NAME_BYTES_MAX + 1)),
        format!("select a from t where a = 0.{}", "9".repeat(SQL_NAME_BYTES_MAX + 1)),
        format!("select a from t limit {}", "9".repeat(SQL_NAME_BYTES_MAX + 1)),
    ] {
        let error = outcome(text.clone()).await.err().unwrap_or_else(|| panic!("it ran: {text}"));
        assert_eq!(error.code, Code::InvalidSql, "{text}: {error:?}");
        assert!(error.message.contains("has more than 1024 bytes"), "{text}: {error:?}");
    }
    // Columns that are named by what computes them.
    for text in [format!("select '{text}'"), format!("select 1 as '{text}'"), format!("select '{text}' || a from t")] {
        assert_eq!(outcome(text).await.map_err(|error| error.message), Ok(SQL_NAME_BYTES_MAX));
    }
    // Of which two begin alike.
    assert!(outcome(format!("select '{text}1', '{text}2', '{text}1' from t")).await.is_ok());
    let unknown = "n".repeat(SQL_NAME_BYTES_MAX);
    let columns: Vec<String> = (0..50).map(|at| format!("'{at}{}'", &text[..10_000])).collect();
    let error = outcome(format!("select {unknown} from (select {}) as x", columns.join(","))).await.unwrap_err();
    assert!(error.message.contains("no column"), "{error:?}");
    assert!(outcome(format!("select {}", "9".repeat(30))).await.is_ok());
}

/// Planning compares each column that a `*` stands for with all the others, and takes all columns along.
#[tokio::test(flavor = "multi_thread")]
async fn columns_of_several_tables_are_counted() {
    let (engine, _dir) = generated::engine();
    let fields: Vec<Field> = (0..900).map(|at| Field::new(format!("c{at}"), DataType::Int64, false)).collect();
    let columns = (0..900).map(|_| Arc::new(Int64Array::from(vec![1])) as ArrayRef).collect();
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let wide = generated::resident(&generated::spec("wide", &[]), &rows, &engine);
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(wide)]));
    let list = |count: usize, separator: &str, made: &dyn Fn(usize) -> String| {
        (0..count).map(made).collect::<Vec<_>>().join(separator)
    };
    let tables_of = |count: usize| list(count, ", ", &|at| format!("wide as w{at}"));
    let joins = |count: usize| {
        let join = |at: usize| format!(" join wide as w{at} on w{at}.c0 = w{}.c0", at - 1);
        format!("wide as w0{}", (1..count).map(join).collect::<String>())
    };
    let steps = |count: usize| {
        let step = |at: usize| format!("s{} as (select * from s{at} where c0 > {at})", at + 1);
        format!("s0 as (select * from wide), {}", list(count, ", ", &step))
    };
    for (text, is_good) in [
        (format!("select * from {} limit 1", tables_of(5)), true),
        (format!("select * from {} limit 1", tables_of(6)), false),
        (format!("select w0.*, w1.c1 from {} limit 1", tables_of(6)), false),
        (format!("select w0.c5 from {} limit 1", joins(20)), true),
        (format!("select w0.c5 from {} limit 1", joins(23)), false),
        (list(12, " union all ", &|_| "select * from wide".to_owned()), true),
        (list(200, " union all ", &|_| "select * from wide".to_owned()), false),
        (list(200, " union all ", &|_| "select c1 from wide".to_owned()), false),
        (format!("with {} select count(*) from s9", steps(9)), true),
        (format!("with {} select count(*) from s99", steps(99)), false),
        ("select *, c1 + 1 as d from wide".to_owned(), true),
    ] {
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let outcome = engine.run(Arc::clone(&tables), &query).await;
        match outcome {
            Ok(rows) => assert!(is_good && generated::collect(rows).await.is_ok(), "{text}"),
            Err(error) => assert!(!is_good && error.message.contains("too many columns"), "{text}: {error:?}"),
        }
    }
}
