//! The records door: conditions, orders and pages there are the database's own.

use salver_testkit::servers::Kind;

use super::super::client::value as encoded;
use super::ask::ids;
use super::catalogue::{Class, Compares};
use super::compare::{Asked, Ground, either};
use super::value::parse;

impl Ground<'_> {
    /// Appends what is wrong at the records door.
    pub(super) fn at_records(&self, asked: &[Asked], wrong: &mut Vec<String>) {
        let table = self.table;
        let truth = self.class() == Class::Truth;
        // A truth is one however many numbers stand for it.
        let equal = |id: i64| if truth { self.related(id).0 } else { self.told.equal[&id].clone() };
        for one in asked {
            let value = encoded(&one.records);
            let target = |word: &str| format!("/records/{table}?include=id&filter=v,{word},{value}");
            self.check(&target("eq"), "records", &equal(one.id), wrong);
            if !self.has_no_greatest() {
                let groups = format!("/records/{table}?group=id&aggregate=max,v,m&having=m,eq,{value}");
                self.check(&groups, "records", &equal(one.id), wrong);
            }
            if self.tells_which_is_less() {
                self.check(&target("lt"), "records", &self.told.less[&one.id], wrong);
            }
        }
        let mut plain = asked.iter().filter(|one| !one.records.contains(','));
        if let (Some(a), Some(b)) = (plain.next(), plain.next()) {
            let values = encoded(&format!("{},{}", a.records, b.records));
            let rows = either(equal(a.id), equal(b.id));
            self.check(&format!("/records/{table}?include=id&filter=v,in,{values}"), "records", &rows, wrong);
        }
        for (order, rows) in [("", &self.told.rising), (",desc", &self.told.falling)] {
            let target = format!("/records/{table}?include=id&order=v{order}&order=id");
            self.compare(&target, "records", rows, wrong);
            self.page_by_page(order, rows, wrong);
        }
    }

    /// Whether the door has no `max` of the type, or of truths one of numbers. In SQLite what is computed has neither
    /// the collation of its column nor what it does with values of another type.
    fn has_no_greatest(&self) -> bool {
        let is_of_column = self.own.native.contains("collate") || self.table.starts_with('o');
        if self.program.kind() == Kind::Sqlite && is_of_column {
            return true;
        }
        matches!(self.class(), Class::Bytes | Class::Any | Class::Truth)
            || self.own.compares == Compares::Text
            || self.own.native.starts_with("json")
    }

    /// Whether what is shown says by itself which is less: a number may be asked for by its text where no type is
    /// declared, and in SQLite a value of another type than its column's.
    fn tells_which_is_less(&self) -> bool {
        let is_odd = self.program.kind() == Kind::Sqlite && self.table.starts_with('o');
        !matches!(self.class(), Class::Any | Class::Truth) && !is_odd
    }

    /// Page by page comes what comes at once.
    fn page_by_page(&self, order: &str, rows: &[i64], wrong: &mut Vec<String>) {
        let size = (rows.len() / 5).max(1);
        let first = format!("/records/{}?include=id&order=v{order}&order=id&size={size}&after=", self.table);
        let (mut all, mut after) = (Vec::new(), String::new());
        loop {
            let answer = self.program.get(&format!("{first}{after}"));
            let body = parse(&answer.body);
            all.extend(ids(&body["records"]));
            match body["next"].as_str() {
                _ if answer.status != 200 => break wrong.push(format!("{first}: {}", answer.body)),
                Some(next) if all.len() < rows.len() => after = next.to_owned(),
                Some(_) | None => break,
            }
        }
        self.same(&first, &all, rows, wrong);
    }
}
