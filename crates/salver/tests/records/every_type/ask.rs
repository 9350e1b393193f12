//! Asking for rows, and whether those came that should.

use serde_json::Value as Json;

use super::compare::Ground;
use super::value::{parse, start, written};

impl Ground<'_> {
    /// That these rows come, in any order.
    pub(super) fn check(&self, target: &str, member: &str, rows: &[i64], wrong: &mut Vec<String>) {
        let answer = self.program.get(target);
        self.found(target, &[member], (answer.status, &answer.body), (rows, false), wrong);
    }

    /// That these rows come, in this order.
    pub(super) fn compare(&self, target: &str, member: &str, rows: &[i64], wrong: &mut Vec<String>) {
        let answer = self.program.get(target);
        self.found(target, &[member], (answer.status, &answer.body), (rows, true), wrong);
    }

    pub(super) fn ask(&self, door: &str, body: &str, member: &[&str], rows: &[i64], wrong: &mut Vec<String>) {
        let headers = if door == "/graphql" { &[("content-type", "application/json")][..] } else { &[] };
        let answer = self.program.ask("POST", door, headers, Some(body));
        self.found(body, member, (answer.status, &answer.body), (rows, false), wrong);
    }

    pub(super) fn ask_ordered(&self, door: &str, body: &str, member: &[&str], rows: &[i64], wrong: &mut Vec<String>) {
        let answer = self.program.send("POST", door, body);
        self.found(body, member, (answer.status, &answer.body), (rows, true), wrong);
    }

    fn found(
        &self,
        what: &str,
        member: &[&str],
        (status, body): (u16, &str),
        (rows, ordered): (&[i64], bool),
        wrong: &mut Vec<String>,
    ) {
        if status != 200 {
            return wrong.push(format!("{what}: {status} {}", start(body)));
        }
        let json = parse(body);
        let list = member.iter().filter(|name| !name.is_empty()).fold(&json, |json, name| &json[*name]);
        let (mut found, mut rows) = (ids(list), rows.to_vec());
        if !ordered {
            found.sort_unstable();
            rows.sort_unstable();
        }
        self.same(what, &found, &rows, wrong);
    }

    pub(super) fn same(&self, what: &str, found: &[i64], rows: &[i64], wrong: &mut Vec<String>) {
        if found != rows {
            let shown = |ids: &[i64]| {
                let of = |id: &i64| {
                    format!(
                        "{id}={}",
                        self.told.values[id]
                            .as_deref()
                            .map_or_else(|| "null".to_owned(), |own| start(own).chars().take(30).collect())
                    )
                };
                ids.iter().take(12).map(of).collect::<Vec<_>>().join(" ")
            };
            wrong.push(format!(
                "{}: {} rows {}\n      not {}: {}",
                start(what),
                found.len(),
                shown(found),
                rows.len(),
                shown(rows)
            ));
        }
    }
}

pub(super) fn ids(list: &Json) -> Vec<i64> {
    let rows = list.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|row| written(&row["id"])?.parse().ok()).collect()
}
