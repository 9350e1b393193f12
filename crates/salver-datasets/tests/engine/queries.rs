//! Queries of every shape over the table in `made`, from a seed.

use salver_model::{Aggregate, AggregateFunction, ColumnPath, Comparison, Filter, Item, Query, Sort, Value};

use super::generated::{Dice, WORDS};

const COMPARABLE: [&str; 14] = [
    "id",
    "small",
    "big",
    "short",
    "float",
    "text",
    "flag",
    "day",
    "at",
    "local",
    "price",
    "time",
    "bytes",
    "Mixed Name",
];

fn nested(field: &str) -> ColumnPath {
    ColumnPath { column: "place".to_owned(), fields: vec![field.to_owned()] }
}

fn column(dice: &mut Dice) -> ColumnPath {
    match dice.below(10) {
        0 => nested("city"),
        1 => nested("zip"),
        _ => ColumnPath::column(*dice.pick(&COMPARABLE)),
    }
}

fn value(dice: &mut Dice, column: &ColumnPath, rows: u64) -> Value {
    if dice.one_in(20) {
        return Value::Null;
    }
    let name = column.fields.first().map_or(column.column.as_str(), String::as_str);
    match name {
        "id" => match dice.below(5) {
            0 => Value::Float(dice.below(rows) as f64 + 0.5),
            1 => Value::UInt(u64::MAX),
            2 => Value::Bare(dice.below(rows).to_string()),
            _ => Value::Int(dice.below(rows) as i64),
        },
        "small" => match dice.below(6) {
            0 => Value::Int(1000),
            1 => Value::Float(-1.5),
            2 => Value::Text("3".to_owned()),
            3 => Value::Int(-1000),
            _ => Value::Int(dice.below(11) as i64 - 5),
        },
        "big" => match dice.below(3) {
            0 => Value::Int(-1),
            _ => Value::UInt(u64::MAX - dice.below(30)),
        },
        "short" | "float" => match dice.below(4) {
            0 => Value::Int(2),
            1 => Value::Text("1.5".to_owned()),
            _ => Value::Float(*dice.pick(&[0.0, 1.5, -1.5, 0.1, 1e300, 3.0, f64::INFINITY])),
        },
        "text" | "city" => Value::Text((*dice.pick(&WORDS)).to_owned()),
        "flag" => match dice.below(3) {
            0 => Value::Bare("true".to_owned()),
            _ => Value::Bool(dice.one_in(2)),
        },
        "day" => Value::Text(format!("1970-01-{:02}", dice.below(28) + 1)),
        "at" => Value::Text(format!("1970-01-{:02}T12:00:00Z", dice.below(28) + 1)),
        "local" => Value::Text(format!("1970-01-01T{:02}:00:00", dice.below(24))),
        "price" => match dice.below(4) {
            0 => Value::Float(0.25),
            1 => Value::Text("1.005".to_owned()),
            2 => Value::Int(dice.below(5) as i64),
            _ => Value::Float(dice.below(400) as f64 / 100.0),
        },
        "time" => Value::Text(format!("00:00:{:02}", dice.below(20))),
        "bytes" => Value::Text(format!("0x{:02x}ff", dice.below(6))),
        "zip" => Value::Int(dice.below(6) as i64 * 1000),
        _ => Value::Int(dice.below(5) as i64),
    }
}

pub(crate) fn filter(dice: &mut Dice, depth: u64, rows: u64) -> Filter {
    if depth > 0 && dice.one_in(2) {
        let parts = (0..dice.below(3) + 1).map(|_| filter(dice, depth - 1, rows)).collect();
        return match dice.below(5) {
            0 | 1 => Filter::And(parts),
            2 | 3 => Filter::Or(parts),
            _ => filter(dice, depth - 1, rows).negated(),
        };
    }
    let column = column(dice);
    let op = *dice.pick(&[
        Comparison::Eq,
        Comparison::NotEq,
        Comparison::Lt,
        Comparison::LtEq,
        Comparison::Gt,
        Comparison::GtEq,
    ]);
    match dice.below(10) {
        0 => Filter::IsNull { column },
        1 => Filter::IsNull { column: ColumnPath::column(*dice.pick(&["place", "tags", "text"])) },
        2 | 3 => {
            let count = *dice.pick(&[0, 1, 2, 5, 30]);
            let values = (0..count).map(|_| value(dice, &column, rows)).collect();
            Filter::In { column, values }
        }
        4 => Filter::Like {
            column: if dice.one_in(2) { ColumnPath::column("text") } else { nested("city") },
            pattern: (*dice.pick(&["%", "b%", "%er%", "a_b", "a\\_b", "", "%%x%", "100\\%", "Z_rich", "_"])).to_owned(),
            ignore_case: dice.one_in(2),
        },
        _ => {
            let value = value(dice, &column, rows);
            Filter::Compare { column, op, value }
        }
    }
}

fn sort(dice: &mut Dice, from: &[ColumnPath]) -> Vec<Sort> {
    (0..dice.below(4))
        .map(|_| Sort { column: dice.pick(from).clone(), descending: dice.one_in(2), nulls_first: dice.one_in(2) })
        .collect()
}

fn page(dice: &mut Dice, query: &mut Query, rows: u64) {
    if dice.one_in(2) {
        query.limit = Some(*dice.pick(&[0, 1, 2, 10, 100, 5_000, 1_000_000]));
    }
    if dice.one_in(3) {
        query.offset = dice.below(rows / 2 + 2);
    }
    query.count = dice.one_in(4);
}

/// A query that neither groups nor is distinct.
pub(crate) fn plain(dice: &mut Dice, rows: u64) -> Query {
    let mut query = Query::default();
    for number in 0..dice.below(6) {
        let path = match dice.below(12) {
            0 => ColumnPath::column("place"),
            1 => ColumnPath::column("tags"),
            _ => column(dice),
        };
        let name = if dice.one_in(3) { format!("n{number}") } else { path.to_string() };
        query.items.push(Item::Column { path, name });
    }
    if dice.below(4) > 0 {
        query.filter = Some(filter(dice, 3, rows));
    }
    let keys: Vec<ColumnPath> = (0..6).map(|_| column(dice)).collect();
    query.sort = sort(dice, &keys);
    page(dice, &mut query, rows);
    query
}

/// A query that groups or is distinct. Sums and means are of whole numbers and decimals, whose order does not matter.
pub(crate) fn grouped(dice: &mut Dice, rows: u64) -> Query {
    let mut query = Query::default();
    if dice.below(3) > 0 {
        query.filter = Some(filter(dice, 2, rows));
    }
    let columns: Vec<ColumnPath> = (0..dice.below(3)).map(|_| column(dice)).collect();
    if dice.one_in(3) && !columns.is_empty() {
        query.distinct = true;
        query.items = columns.iter().cloned().map(Item::column).collect();
    } else {
        query.group = columns.clone();
        query.items = columns.iter().cloned().map(Item::column).collect();
        for number in 0..dice.below(3) + 1 {
            let aggregate = match dice.below(7) {
                0 => Aggregate { function: AggregateFunction::Count, column: None },
                1 => Aggregate { function: AggregateFunction::Count, column: Some(column(dice)) },
                2 => Aggregate { function: AggregateFunction::CountDistinct, column: Some(column(dice)) },
                3 => Aggregate { function: AggregateFunction::Sum, column: Some("small".into()) },
                4 => Aggregate { function: AggregateFunction::Avg, column: Some("Mixed Name".into()) },
                5 => Aggregate { function: AggregateFunction::Min, column: Some(column(dice)) },
                _ => Aggregate { function: AggregateFunction::Max, column: Some("price".into()) },
            };
            query.items.push(Item::Aggregate { aggregate, name: format!("a{number}") });
        }
        if dice.one_in(3) {
            query.items.push(Item::Aggregate {
                aggregate: Aggregate { function: AggregateFunction::Count, column: None },
                name: "n".to_owned(),
            });
            query.having = Some(Filter::compare("n", Comparison::Gt, Value::Int(dice.below(20) as i64)));
        }
    }
    let names: Vec<ColumnPath> = query.items.iter().map(|item| ColumnPath::column(item.name())).collect();
    if !names.is_empty() {
        query.sort = sort(dice, &names);
    }
    page(dice, &mut query, 10);
    query
}
