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
const LENGTH_MAX: usize = 200;

/// What is compared: one table with its type, and what the database says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a str,
    pub(super) own: &'a Type,
    pub(super) told: &'a Own,
}

/// A row whose value is asked for, as two doors show it.
struct Asked {
    id: i64,
    records: String,
    tables: String,
}

impl Ground<'_> {
    fn class(&self) -> Class {
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
        let asked = self.asked(&mut wrong);
        for one in &asked {
            self.filters(one, &mut wrong);
        }
        self.lists(&asked, &mut wrong);
        self.orders(&mut wrong);
        self.pages(&mut wrong);
        super::aggregate::compare(self, &mut wrong);
        wrong
    }

    /// Some rows with different values, with the texts that the doors show of them.
    fn asked(&self, wrong: &mut Vec<String>) -> Vec<Asked> {
        let table = self.table;
        let mut shown: Vec<BTreeMap<i64, String>> = Vec::new();
        for (target, member) in
            [(format!("/records/{table}?include=id,v"), "records"), (format!("/tables/{table}?columns=id,v"), "")]
        {
            let answer = self.program.get(&target);
            if answer.status != 200 {
                wrong.push(format!("{target}: {} {}", answer.status, start(&answer.body)));
                return Vec::new();
            }
            let body = parse(&answer.body);
            let rows = if member.is_empty() { &body } else { &body[member] };
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
        some.map(|id| Asked { id: *id, records: shown[0][id].clone(), tables: shown[1][id].clone() }).collect()
    }

    fn filters(&self, asked: &Asked, wrong: &mut Vec<String>) {
        let (table, id) = (self.table, asked.id);
        let own = (&self.told.equal[&id], &self.told.less[&id]);
        let others = self.related(id);
        let truth = self.class() == Class::Truth;
        let value = encoded(&asked.records);
        let records = |word: &str| format!("/records/{table}?include=id&filter=v,{word},{value}");
        self.check(&records("eq"), "records", if truth { &others.0 } else { own.0 }, wrong);
        // A number may be asked for by its text, where no type is declared: which of both is less is not told.
        if self.class() != Class::Any && !truth {
            self.check(&records("lt"), "records", own.1, wrong);
        }
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

    /// The rows equal to what a door shows, and those less, as SQL has them for floats of 32 bits: a number there has 64,
    /// and is seldom the same.
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
        let mut plain = asked.iter().filter(|one| !one.records.contains(',') && !one.tables.contains(','));
        let (Some(a), Some(b)) = (plain.next(), plain.next()) else { return };
        let both = |of: &dyn Fn(i64) -> Vec<i64>| {
            let mut rows = [of(a.id), of(b.id)].concat();
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        let others = both(&|id| self.related(id).0);
        let own = if self.class() == Class::Truth { others.clone() } else { both(&|id| self.told.equal[&id].clone()) };
        let values = encoded(&format!("{},{}", a.records, b.records));
        self.check(&format!("/records/{table}?include=id&filter=v,in,{values}"), "records", &own, wrong);
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
        for (order, rows) in [("", &self.told.rising), (",desc", &self.told.falling)] {
            let target = format!("/records/{table}?include=id&order=v{order}&order=id");
            self.compare(&target, "records", rows, wrong);
        }
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
        for (order, rows) in [("", &self.told.rising), (",desc", &self.told.falling)] {
            let first = format!("/records/{table}?include=id&order=v{order}&order=id&size={size}&after=");
            let (mut all, mut after) = (Vec::new(), String::new());
            loop {
                let answer = self.program.get(&format!("{first}{after}"));
                let body = parse(&answer.body);
                all.extend(ids(&body["records"]));
                match body["next"].as_str() {
                    Some(next) if answer.status == 200 && all.len() < rows.len() => after = next.to_owned(),
                    Some(_) | None if answer.status != 200 => break wrong.push(format!("{first}: {}", answer.body)),
                    Some(_) | None => break,
                }
            }
            self.same(&first, &all, rows, wrong);
        }
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
