//! Rules that are about nothing, keep nothing back or never decide. A rule that restricts nothing is as dangerous as
//! none.

use salver_model::access::AccessRule;
use salver_model::spec::{DatabaseSpec, RecordRule, matches_pattern};
use salver_model::{AccessPolicy, ColumnMask};
use salver_service::Service;

use super::entries::{RuledEntries, RuledEntry};
use super::{rule_cover, rule_name};

/// What to do about a rule that never decides.
const FIRST_DECIDES: &str = "the first rule that is about a caller, an entry and a permission decides; put those for \
                             few before those for many";

/// Logs what [`of_policy`] says of the entries that are served.
pub(crate) fn warn(service: &Service) {
    let Some(policy) = &service.access().filter(|policy| !policy.is_open()) else { return };
    for mistake in of_policy(policy, &RuledEntries::served(service)) {
        tracing::warn!("{}", mistake.trim_start_matches("error: "));
    }
}

/// Returns what is wrong with `[[access]]` in the face of what there is: patterns that match nothing, columns that are
/// not there, masks that don't fit, and rules that never decide.
pub(crate) fn of_policy(policy: &AccessPolicy, entries: &RuledEntries) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, rule) in policy.rules().iter().enumerate() {
        let name = rule_name(number);
        if let Some(earlier) = rule_cover::covering(&policy.rules()[..=number]) {
            let earlier: Vec<String> = earlier.into_iter().map(rule_name).collect();
            let before = earlier.join(" and ");
            wrong.push(format!(
                "error: {name} never decides: what it is about is decided before, by {before}\n  hint: {FIRST_DECIDES}"
            ));
        }
        for pattern in &rule.entries {
            if !entries.names().any(|entry| matches_pattern(pattern, entry)) && !entries.may_be_unread(pattern) {
                wrong.push(format!("error: {name}: {}", unknown_entry(pattern, entries)));
            }
        }
        wrong.extend(columns(rule, &name, entries));
    }
    wrong
}

/// Says that there is no entry of this name or pattern, and which may be meant.
pub(super) fn unknown_entry(pattern: &str, entries: &RuledEntries) -> String {
    let is_table = |entry: &&str| entry.split_once('.').is_some_and(|(_, own)| own == pattern);
    let hint = match entries.names().find(is_table) {
        Some(table) => Some(format!("a table of a database is `{table}` here")),
        None => salver_model::suggest::hint(pattern, entries.names()),
    };
    let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    format!("no entry is called `{pattern}`{hint}")
}

/// Returns what is wrong with the columns that a rule names.
fn columns(rule: &AccessRule, name: &str, entries: &RuledEntries) -> Vec<String> {
    let is_about = |entry: &&RuledEntry| rule.is_about(&entry.name) && !entry.columns.is_empty();
    let about: Vec<&RuledEntry> = entries.all.iter().filter(is_about).collect();
    let may_be_unread = rule.entries.iter().any(|pattern| entries.may_be_unread(pattern));
    let mut wrong = Vec::new();
    if !may_be_unread {
        for pattern in &rule.columns.hidden {
            wrong.extend(absent(&about, pattern).then(|| no_column(name, pattern, "hide")));
        }
        for ColumnMask { columns: pattern, .. } in &rule.columns.masked {
            wrong.extend(absent(&about, pattern).then(|| no_column(name, pattern, "mask")));
        }
    }
    for entry in &about {
        for column in &entry.columns {
            if let Some(why) = rule.columns.mask(&column.name).and_then(|mask| column.misfit(mask)) {
                let (column, entry) = (&column.name, &entry.name);
                wrong.push(format!("error: {name}: `{column}` of `{entry}` can't be masked: {why}"));
            }
        }
    }
    for (rows, entry) in rule.rows.iter().flat_map(|rows| about.iter().map(move |entry| (rows, entry))) {
        let absent: Vec<&str> = rows.columns().into_iter().filter(|column| !entry.has(column)).collect();
        for column in &absent {
            wrong.push(format!("error: {name}: `rows` names `{column}`, which `{}` does not have", entry.name));
        }
        if let Some(why) = entry.rows_misfit(rows).filter(|_| absent.is_empty()) {
            wrong.push(format!("error: {name}: `rows` can't choose rows of `{}`: {why}", entry.name));
        }
    }
    wrong
}

/// Returns whether none of these entries, of which there are some, has such a column.
fn absent(about: &[&RuledEntry], pattern: &str) -> bool {
    let is_there = |entry: &&RuledEntry| entry.columns.iter().any(|column| matches_pattern(pattern, &column.name));
    !about.is_empty() && !about.iter().any(is_there)
}

fn no_column(rule_name: &str, pattern: &str, what: &str) -> String {
    format!("error: {rule_name}: no entry it is about has a column `{pattern}` to {what}")
}

/// Returns what is wrong with `[[database.rule]]` and `tenant` of a database.
pub(crate) fn of_database(spec: &DatabaseSpec, entries: &RuledEntries) -> Vec<String> {
    let name = |number: usize| format!("[[database.rule]] {} of {}", number + 1, spec.name);
    let mut wrong = Vec::new();
    for (number, rule) in spec.rules.iter().enumerate() {
        if !rule.deny && rule.columns_hidden.is_empty() && rule.rows.is_none() {
            wrong.push(format!(
                "error: {} keeps nothing back\n  hint: add `deny = true`, `columns_hidden` or `rows`, or leave it out",
                name(number)
            ));
        }
    }
    if entries.unread.iter().any(|unread| unread.as_str() == spec.name.as_str()) {
        return wrong;
    }
    let prefix = format!("{}.", spec.name);
    let tables: Vec<&RuledEntry> = entries.all.iter().filter(|entry| entry.name.starts_with(&prefix)).collect();
    for (number, rule) in spec.rules.iter().enumerate() {
        wrong.extend(
            of_record_rule(rule, &tables, prefix.len())
                .into_iter()
                .map(|what| format!("error: {}: {what}", name(number))),
        );
    }
    for tenancy in &spec.tenancy {
        let is_about = |entry: &&&RuledEntry| matches_pattern(&tenancy.table, &entry.name[prefix.len()..]);
        if !tables.iter().filter(is_about).any(|entry| entry.has(&tenancy.column)) {
            let (table, column) = (&tenancy.table, &tenancy.column);
            wrong.push(format!("error: tenant of {}: no table `{table}` has a column `{column}`", spec.name));
        }
    }
    wrong
}

/// Returns what of a rule is about nothing; `own` is where the name of a table begins in that of its entry.
fn of_record_rule(rule: &RecordRule, tables: &[&RuledEntry], own: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    for pattern in &rule.tables {
        if !tables.iter().any(|entry| matches_pattern(pattern, &entry.name[own..])) {
            let hint = salver_model::suggest::hint(pattern, tables.iter().map(|entry| &entry.name[own..]));
            let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
            wrong.push(format!("no table is called `{pattern}`{hint}"));
        }
    }
    let about = tables.iter().copied().filter(|entry| rule.is_about(&entry.name[own..]));
    let about: Vec<&RuledEntry> = about.collect();
    for pattern in rule.columns_hidden.iter().filter(|pattern| absent(&about, pattern)) {
        wrong.push(format!("no table it is about has a column `{pattern}` to hide"));
    }
    for column in rule.rows.iter().flat_map(|rows| rows.columns()) {
        for entry in about.iter().filter(|entry| !entry.has(column)) {
            wrong.push(format!("`rows` names `{column}`, which `{}` does not have", &entry.name[own..]));
        }
    }
    wrong
}
