//! Queries by chance, from a fixed seed: the same on every run.

use salver_model::{Aggregate, AggregateFunction, ColumnPath, Comparison, Filter, Item, Query, Sort, Value};

/// Makes queries for the rows of [`super::sample`].
pub(super) struct Generator {
    state: u64,
}

const COLUMNS: [&str; 8] = ["id", "name", "amount", "color", "n", "active", "day", "Mixed Col"];

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below `bound`: SplitMix64.
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn column(&mut self) -> &'static str {
        COLUMNS[self.below(COLUMNS.len())]
    }

    /// A query.
    pub(super) fn query(&mut self) -> Query {
        let filter = self.chance(70).then(|| self.filter(3));
        if self.chance(25) {
            return self.grouped(filter);
        }
        let items = (0..self.below(4)).map(|i| self.item(i)).collect::<Vec<_>>();
        let distinct = !items.is_empty() && self.chance(15);
        let sort = if self.chance(50) { self.sort() } else { Vec::new() };
        let limit = (!distinct && self.chance(50)).then(|| self.below(50) as u64);
        let offset = if limit.is_some() && self.chance(40) { self.below(60) as u64 } else { 0 };
        if distinct {
            // Sorted by every column: which of equal rows stays first is the backend's own.
            let sort = items.iter().map(|item| self.key(item.name().into())).collect();
            return Query { items, filter, distinct, sort, ..Query::default() };
        }
        Query { items, filter, sort, limit, offset, count: self.chance(30), ..Query::default() }
    }

    fn item(&mut self, index: usize) -> Item {
        let path = ColumnPath::column(self.column());
        Item::Column { path, name: format!("c{index}") }
    }

    fn sort(&mut self) -> Vec<Sort> {
        let mut keys: Vec<Sort> = (0..=self.below(2))
            .map(|_| {
                let column = self.column();
                self.key(column.into())
            })
            .collect();
        // The last key is unique, so that there is one right order.
        keys.push(self.key("id".into()));
        keys
    }

    fn key(&mut self, column: ColumnPath) -> Sort {
        Sort { column, descending: self.chance(50), nulls_first: self.chance(50) }
    }

    fn grouped(&mut self, filter: Option<Filter>) -> Query {
        let by = ["color", "n", "active", "name", "day"];
        let mut group: Vec<&str> = (0..self.below(3)).map(|_| by[self.below(by.len())]).collect();
        group.sort_unstable();
        group.dedup();
        let mut items: Vec<Item> = group.iter().map(|column| Item::column(*column)).collect();
        items.push(Item::Aggregate {
            aggregate: Aggregate { function: AggregateFunction::Count, column: None },
            name: "rows".to_owned(),
        });
        for index in 0..self.below(4) {
            let (_, function) = AggregateFunction::ALL[self.below(AggregateFunction::ALL.len())];
            let columns: &[&str] = match function {
                AggregateFunction::Sum | AggregateFunction::Avg => &["amount", "n", "id"],
                AggregateFunction::Min | AggregateFunction::Max => &["amount", "n", "id", "name", "day"],
                _ => &COLUMNS,
            };
            let column = Some(columns[self.below(columns.len())].into());
            items.push(Item::Aggregate { aggregate: Aggregate { function, column }, name: format!("a{index}") });
        }
        let having = self.chance(30).then(|| {
            let least = self.below(12) as i64;
            Filter::compare("rows", Comparison::GtEq, Value::Int(least))
        });
        let sort: Vec<Sort> = if self.chance(60) {
            let mut keys = vec![self.key("rows".into())];
            keys.extend(group.iter().map(|column| self.key((*column).into())));
            keys
        } else {
            Vec::new()
        };
        let limit = (!sort.is_empty() && self.chance(40)).then(|| self.below(10) as u64);
        let group = group.into_iter().map(ColumnPath::column).collect();
        Query { items, filter, group, having, sort, limit, ..Query::default() }
    }

    fn filter(&mut self, depth: usize) -> Filter {
        let branches = if depth == 0 { 4 } else { 7 };
        match self.below(branches) {
            0 | 1 => {
                let (column, value) = self.term();
                let ops = [
                    Comparison::Eq,
                    Comparison::NotEq,
                    Comparison::Lt,
                    Comparison::LtEq,
                    Comparison::Gt,
                    Comparison::GtEq,
                ];
                let op = if column == "active" { ops[self.below(2)] } else { ops[self.below(ops.len())] };
                Filter::compare(column, op, value)
            }
            2 => Filter::IsNull { column: self.column().into() },
            3 => {
                let column = self.term().0;
                let values = (0..self.below(4)).map(|_| self.value(column)).collect();
                Filter::In { column: column.into(), values }
            }
            4 => {
                let patterns = ["a%", "%a", "%", "_da", "50\\%", "%\\_%", "%O'%", "", "%ë"];
                let pattern = patterns[self.below(patterns.len())].to_owned();
                Filter::Like { column: "name".into(), pattern, ignore_case: self.chance(50) }
            }
            5 => self.filter(depth - 1).negated(),
            _ => {
                let inner = (0..self.below(4)).map(|_| self.filter(depth - 1)).collect();
                if self.chance(50) { Filter::And(inner) } else { Filter::Or(inner) }
            }
        }
    }

    fn term(&mut self) -> (&'static str, Value) {
        let column = self.column();
        let value = self.value(column);
        (column, value)
    }

    fn value(&mut self, column: &str) -> Value {
        if self.chance(3) {
            return Value::Null;
        }
        match column {
            "id" => Value::Int(self.below(650) as i64 - 20),
            "n" => Value::Int(self.below(12) as i64 - 6),
            "amount" if self.chance(50) => Value::Int(self.below(10) as i64 - 5),
            "amount" => Value::Float(self.below(48) as f64 * 0.25 - 6.0),
            "active" => Value::Bool(self.chance(50)),
            "day" => Value::Text(format!("2019-04-{:02}", self.below(30) + 1)),
            "color" => Value::Text(["red", "green", "blue", "pink"][self.below(4)].to_owned()),
            "Mixed Col" => Value::Text(format!("m{}", self.below(14))),
            _ => Value::Text(["Ada", "ada", "Bob_1", "50%", "", "Zoë", "O'Hara", "a\"b\\c"][self.below(8)].to_owned()),
        }
    }
}
