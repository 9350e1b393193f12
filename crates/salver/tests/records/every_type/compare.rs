//! Comparisons, orders, pages and aggregates of a type, at each door against the database.

use std::collections::BTreeMap;

use salver_testkit::servers::Kind;
use serde_json::Value as Json;

use super::super::client::value as encoded;
use super::super::program::Program;
use super::ask::ids;
use super::catalogue::{Class, Type};
use super::own::Own;
use super::value::{Value, parse, start, written};

/// Values that are asked for; longer texts than these are not.
const VALUES: usize = 5;
const LENGTH_MAX: usize = 1_100;

/// What is compared: one table with its type, and what the database says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a str,
    pub(super) own: &'a Type,
    pub(super) told: &'a Own,
}

/// A row whose value is asked for, as two doors show it.
pub(super) struct Asked {
    pub(super) id: i64,
    pub(super) records: String,
    tables: String,
}

impl Ground<'_> {
    pub(super) fn class(&self) -> Class {
        self.own.class
    }

    /// Whether the doors beside records compare by the bytes of the text.
    fn by_bytes(&self) -> bool {
        matches!(self.class(), Class::Text | Class::Any)
    }

    /// The value as the doors beside records compare it.
    pub(super) fn text(&self, id: i64) -> &Value {
        if self.class() == Class::Any { &self.told.texts[&id] } else { &self.told.values[&id] }
    }

    /// The rows equal to the value of `id`, and those less, as the doors beside records have them.
    pub(super) fn related(&self, id: i64) -> (Vec<i64>, Vec<i64>) {
        // A truth is one however many numbers stand for it.
        if !self.by_bytes() && self.class() != Class::Truth {
            return (self.told.equal[&id].clone(), self.told.less[&id].clone());
        }
        let own = self.text(id);
        let rows = |holds: &dyn Fn(&str, &str) -> bool| {
            let both = |other: &i64| self.text(*other).as_deref().zip(own.as_deref()).is_some_and(|(a, b)| holds(a, b));
            self.told.values.keys().copied().filter(both).collect()
        };
        (rows(&|a, b| a == b), rows(&|a, b| a < b))
    }

    /// The rows in order as the doors beside records have it, nulls apart.
    pub(super) fn order(&self, falling: bool) -> (Vec<i64>, Vec<i64>) {
        let mut rows = if falling { self.told.falling.clone() } else { self.told.rising.clone() };
        if self.by_bytes() || self.class() == Class::Truth {
            rows.sort_unstable();
            rows.sort_by(|a, b| {
                let order =
                    self.text(*a).as_deref().map(str::as_bytes).cmp(&self.text(*b).as_deref().map(str::as_bytes));
                if falling { order.reverse() } else { order }
            });
        }
        rows.into_iter().partition(|id| self.told.values[id].is_none())
    }

    /// What is wrong.
    pub(super) fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let asked = self.asked(&["/records/", "/tables/"], &mut wrong);
        for one in &asked {
            self.filters(one, &mut wrong);
        }
        self.lists(&asked, &mut wrong);
        self.orders(&mut wrong);
        self.pages(&mut wrong);
        self.joined(&mut wrong);
        self.at_records(&asked, &mut wrong);
        super::aggregate::compare(self, &mut wrong);
        wrong
    }

    /// Some rows with different values, with the texts that the doors show of them.
    pub(super) fn asked(&self, doors: &[&str], wrong: &mut Vec<String>) -> Vec<Asked> {
        let table = self.table;
        let mut shown: Vec<BTreeMap<i64, String>> = Vec::new();
        for door in doors {
            let target = format!("{door}{table}");
            let answer = self.program.get(&target);
            if answer.status != 200 {
                wrong.push(format!("{target}: {} {}", answer.status, start(&answer.body)));
                return Vec::new();
            }
            let body = parse(&answer.body);
            let rows = if body.is_array() { &body } else { &body["records"] };
            let rows = rows.as_array().expect("rows").iter();
            shown
                .push(rows.filter_map(|row| Some((written(&row["id"])?.parse().ok()?, written(&row["v"])?))).collect());
        }
        let mut different: BTreeMap<&Value, i64> = BTreeMap::new();
        for (id, value) in &self.told.values {
            let is_short = value.as_ref().is_some_and(|value| value.len() < LENGTH_MAX);
            if is_short && shown.iter().all(|shown| shown.contains_key(id)) {
                different.insert(value, *id);
            }
        }
        let all: Vec<i64> = different.into_values().collect();
        let step = all.len().div_ceil(VALUES).max(1);
        // The first, some between, and the last.
        let some = all.iter().step_by(step).chain(all.last());
        let of = |door: usize, id: &i64| shown.get(door).map(|shown| shown[id].clone()).unwrap_or_default();
        some.map(|id| Asked { id: *id, records: of(0, id), tables: of(1, id) }).collect()
    }

    fn filters(&self, asked: &Asked, wrong: &mut Vec<String>) {
        let (table, id) = (self.table, asked.id);
        let others = self.related(id);
        let value = encoded(&format!("'{}'", asked.tables.replace('\'', "''")));
        for (word, rows) in [("eq", &others.0), ("lt", &others.1)] {
            self.check(&format!("/tables/{table}?columns=id&filter[v]{word}={value}"), "", rows, wrong);
        }
        let Some(literal) = self.literal(&asked.tables) else { return };
        let in_sql = self.in_sql(&asked.tables).unwrap_or_else(|| others.clone());
        for (sign, rows) in [("=", &in_sql.0), ("<", &in_sql.1)] {
            self.ask("/sql", &format!("select id from {table} where v {sign} {literal}"), &[], rows, wrong);
        }
        let given = match self.class() {
            Class::Truth | Class::Whole | Class::Single | Class::Double => asked.tables.clone(),
            // Floats there.
            Class::Decimal if self.program.kind() == Kind::Sqlite => asked.tables.clone(),
            _ => Json::from(asked.tables.clone()).to_string(),
        };
        let query = format!("{{ {table}(filter: {{v: {{eq: {given}}}}}) {{ id }} }}");
        let body = Json::from_iter([("query", query)]).to_string();
        self.ask("/graphql", &body, &["data", table], &others.0, wrong);
    }

    /// The table joined with itself in SQL: each row with those that are equal.
    fn joined(&self, wrong: &mut Vec<String>) {
        let table = self.table;
        let sql = format!("select a.id, b.id as v from {table} a join {table} b on a.v = b.v");
        let answer = self.program.send("POST", "/sql", &sql);
        let body = parse(&answer.body);
        let number = |json: &Json| written(json).and_then(|text| text.parse::<i64>().ok());
        let rows = body.as_array().map(Vec::as_slice).unwrap_or_default().iter();
        let mut found: Vec<(i64, i64)> =
            rows.filter_map(|row| Some((number(&row["id"])?, number(&row["v"])?))).collect();
        let ids = self.told.values.keys().filter(|id| self.told.values[id].is_some());
        let mut pairs: Vec<(i64, i64)> =
            ids.flat_map(|id| self.related(*id).0.into_iter().map(|other| (*id, other))).collect();
        found.sort_unstable();
        pairs.sort_unstable();
        if found != pairs {
            wrong.push(format!("{sql}: {} {} pairs, not {}", answer.status, found.len(), pairs.len()));
        }
    }

    /// The rows equal to what a door shows, and those less, as SQL has them for floats of 32 bits: a number there has
    /// 64, and is seldom the same.
    fn in_sql(&self, shown: &str) -> Option<(Vec<i64>, Vec<i64>)> {
        let bound: f64 = shown.parse().ok().filter(|_| self.class() == Class::Single)?;
        let rows = |holds: &dyn Fn(f64) -> bool| {
            let values =
                self.told.values.iter().filter_map(|(id, own)| Some((*id, own.as_ref()?.parse::<f32>().ok()?)));
            values.filter(|(_, own)| holds(f64::from(*own))).map(|(id, _)| id).collect()
        };
        Some((rows(&|own| own == bound), rows(&|own| own < bound)))
    }

    /// The value as SQL; `None` where there is no word for it.
    fn literal(&self, shown: &str) -> Option<String> {
        let far = shown.starts_with(['+', '-']);
        Some(match self.class() {
            Class::Truth | Class::Whole | Class::Single | Class::Double | Class::Decimal => shown.to_owned(),
            Class::Bytes => format!("x'{shown}'"),
            Class::Day if far => return None,
            Class::Day => format!("date '{shown}'"),
            Class::Moment if far => return None,
            Class::Moment => format!("timestamp '{shown}'"),
            Class::Text | Class::Any => format!("'{}'", shown.replace('\'', "''")),
        })
    }

    /// `in` with two values.
    fn lists(&self, asked: &[Asked], wrong: &mut Vec<String>) {
        let table = self.table;
        let [a, b, ..] = asked else { return };
        let others = either(self.related(a.id).0, self.related(b.id).0);
        let quoted = |one: &Asked| format!("'{}'", one.tables.replace('\'', "''"));
        let values = encoded(&format!("({},{})", quoted(a), quoted(b)));
        self.check(&format!("/tables/{table}?columns=id&filter[v]in={values}"), "", &others, wrong);
        let (Some(a), Some(b)) = (self.literal(&a.tables), self.literal(&b.tables)) else { return };
        if self.class() != Class::Single {
            self.ask("/sql", &format!("select id from {table} where v in ({a}, {b})"), &[], &others, wrong);
        }
    }

    fn orders(&self, wrong: &mut Vec<String>) {
        let table = self.table;
        if self.class() == Class::Bytes {
            return;
        }
        for falling in [false, true] {
            let (nulls, rows) = self.order(falling);
            let sign = if falling { "-" } else { "" };
            self.compare(
                &format!("/tables/{table}?columns=id&sort={sign}v,id"),
                "",
                &[nulls.clone(), rows.clone()].concat(),
                wrong,
            );
            let sql = format!("select id from {table} order by v{}, id", if falling { " desc" } else { "" });
            let rows = if falling { [nulls, rows].concat() } else { [rows, nulls].concat() };
            self.ask_ordered("/sql", &sql, &[], &rows, wrong);
        }
    }

    /// Page by page comes what comes at once.
    fn pages(&self, wrong: &mut Vec<String>) {
        let table = self.table;
        let size = (self.told.values.len() / 5).max(1);
        for falling in [false, true].into_iter().filter(|_| self.class() != Class::Bytes) {
            let (nulls, rows) = self.order(falling);
            let first = format!("/tables/{table}?columns=id&sort={}v,id&limit={size}", if falling { "-" } else { "" });
            let (mut all, mut next) = (Vec::new(), Some(first.clone()));
            while let Some(target) = next.take() {
                let answer = self.program.get(&target);
                if answer.status != 200 || all.len() > rows.len() + nulls.len() {
                    wrong.push(format!("{first}: {} {}", answer.status, answer.body));
                    break;
                }
                all.extend(ids(&parse(&answer.body)));
                next = super::super::pages::next_of(answer.header("link").unwrap_or_default());
            }
            self.same(&first, &all, &[nulls, rows].concat(), wrong);
        }
    }
}

/// The rows of both, each once.
pub(super) fn either(one: Vec<i64>, other: Vec<i64>) -> Vec<i64> {
    let mut rows = [one, other].concat();
    rows.sort_unstable();
    rows.dedup();
    rows
}
