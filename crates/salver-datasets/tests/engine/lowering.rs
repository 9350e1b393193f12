//! SQL that is lowered to a query answers what the engine answers to the same text.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::{SortColumn, lexsort_to_indices, take_record_batch};
use salver_model::SqlQuery;
use salver_model::ports::SqlEngine;

use super::generated::{self, Catalog, Dice, collect};

fn literal(dice: &mut Dice, column: &str) -> String {
    match column {
        "id" => dice.below(300).to_string(),
        "small" | "\"Mixed Name\"" => (dice.below(11) as i64 - 5).to_string(),
        "float" => (*dice.pick(&["1.5", "-1.5", "2", "0.1", "1e3"])).to_owned(),
        "text" => format!("'{}'", dice.pick(&generated::WORDS).replace('\'', "''")),
        "flag" => (*dice.pick(&["true", "false"])).to_owned(),
        _ => format!("'1970-01-{:02}'", dice.below(28) + 1),
    }
}

const COLUMNS: [&str; 9] = ["id", "small", "float", "text", "flag", "day", "at", "local", "\"Mixed Name\""];

fn condition(dice: &mut Dice, depth: u64) -> String {
    if depth > 0 && dice.one_in(2) {
        let (left, right) = (condition(dice, depth - 1), condition(dice, depth - 1));
        return match dice.below(3) {
            0 => format!("({left} and {right})"),
            1 => format!("({left} or {right})"),
            _ => format!("not ({left})"),
        };
    }
    let column = *dice.pick(&COLUMNS);
    let not = if dice.one_in(3) { "not " } else { "" };
    match dice.below(7) {
        0 => format!("{column} is {not}null"),
        1 => {
            let list: Vec<String> = (0..dice.below(4) + 1).map(|_| literal(dice, column)).collect();
            format!("{column} {not}in ({})", list.join(", "))
        }
        2 => format!("{column} {not}between {} and {}", literal(dice, column), literal(dice, column)),
        3 => format!("text {not}like '{}'", dice.pick(&["%", "b%", "%er%", "a_b", "a\\_b", "", "%long%"])),
        4 => format!("text {not}ilike '{}'", dice.pick(&["B%", "%ER%", "A_B"])),
        _ => {
            let op = *dice.pick(&["=", "<>", "!=", "<", "<=", ">", ">="]);
            let value = literal(dice, column);
            if dice.one_in(5) { format!("{value} {op} {column}") } else { format!("{column} {op} {value}") }
        }
    }
}

fn statement(dice: &mut Dice) -> String {
    if dice.one_in(8) {
        let alias = if dice.one_in(2) { " as total" } else { "" };
        return format!("select count(*){alias} from t where {}", condition(dice, 2));
    }
    let mut columns: Vec<String> = Vec::new();
    for column in COLUMNS {
        if dice.one_in(2) {
            let alias = if dice.one_in(4) { format!(" as n{}", columns.len()) } else { String::new() };
            let qualifier = if dice.one_in(4) { "t." } else { "" };
            columns.push(format!("{qualifier}{column}{alias}"));
        }
    }
    let list = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    let mut text = format!("SELECT {list} FROM t");
    if dice.below(4) > 0 {
        text.push_str(&format!(" WHERE {}", condition(dice, 3)));
    }
    if dice.one_in(2) {
        // The last key makes the order complete, as the engine leaves ties in any order.
        let key = *dice.pick(&COLUMNS);
        let way = *dice.pick(&["", " asc", " desc", " nulls first", " desc nulls last"]);
        text.push_str(&format!(" ORDER BY {key}{way}, t.id"));
        if dice.one_in(2) {
            text.push_str(&format!(" LIMIT {}", dice.below(50)));
        }
        if dice.one_in(3) {
            text.push_str(&format!(" OFFSET {}", dice.below(50)));
        }
    }
    text
}

/// The rows in an order of their own, so that answers without one can be compared.
fn canonical(batch: &RecordBatch) -> RecordBatch {
    let columns: Vec<SortColumn> = batch
        .columns()
        .iter()
        .filter(|column| !column.data_type().is_nested())
        .map(|column| SortColumn { values: Arc::clone(column), options: None })
        .collect();
    match lexsort_to_indices(&columns, None) {
        Ok(indices) => take_record_batch(batch, &indices).unwrap(),
        Err(_) => batch.clone(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lowered_and_planned_agree() {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(300, 11);
    let tables: Arc<Catalog> =
        Arc::new(Catalog(vec![Arc::new(generated::resident(&generated::spec("t", &["id"]), &data, &engine))]));
    let mut lowered = 0;
    for seed in 1..=2_500_u64 {
        let text = statement(&mut Dice(seed * 104_729));
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let as_dyn: Arc<dyn salver_model::ports::Tables> = Arc::<Catalog>::clone(&tables);
        let Some(direct) = engine.run(Arc::clone(&as_dyn), &query).ready() else { continue };
        lowered += 1;
        // A common table expression that changes nothing is enough to keep a statement from being lowered.
        let kept = SqlQuery { text: format!("with nothing as (select 1) {text}"), ..SqlQuery::default() };
        let planned = engine.run(Arc::clone(&as_dyn), &kept).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let direct = direct.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let (left, right) = (collect(direct).await.unwrap(), collect(planned).await.unwrap());
        let names = |batch: &RecordBatch| -> Vec<_> {
            let schema = batch.schema();
            schema.fields().iter().map(|f| (f.name().clone(), f.data_type().clone(), f.is_nullable())).collect()
        };
        assert_eq!(names(&left), names(&right), "seed {seed}: {text}");
        let (left, right) =
            if text.contains("ORDER BY") { (left, right) } else { (canonical(&left), canonical(&right)) };
        assert_eq!(left.num_rows(), right.num_rows(), "seed {seed}: {text}");
        assert_eq!(format!("{:?}", left.columns()), format!("{:?}", right.columns()), "seed {seed}: {text}");
    }
    assert!(lowered > 2_000, "only {lowered} statements were lowered");
}
