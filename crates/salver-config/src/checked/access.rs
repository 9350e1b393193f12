//! Validates `[[access]]`.

use std::sync::Arc;

use salver_model::access::{AccessRule, ColumnRestriction, Role};
use salver_model::{AccessPolicy, ColumnMask, Mask, Permission};

use super::role::{self, expression, not_empty};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Returns `None` without rules, so that nothing is decided.
pub(super) fn check(access: &[Table], known: &[Role], findings: &mut Findings) -> Option<Arc<AccessPolicy>> {
    let rules: Vec<AccessRule> = access.iter().filter_map(|table| rule(table, known, findings)).collect();
    (!access.is_empty()).then(|| Arc::new(AccessPolicy::new(known.to_vec(), rules)))
}

fn rule(table: &Table, known: &[Role], findings: &mut Findings) -> Option<AccessRule> {
    let texts = |key| table.texts(key).unwrap_or_default().to_vec();
    let roles = role::named(table, known, findings);
    not_empty(table, &["roles", "permissions"], findings);
    let mut permissions = Vec::new();
    for word in texts("permissions") {
        match Permission::named(&word) {
            Some(permission) => permissions.push(permission),
            None => {
                let mistake = Mistake::new(table.place_of("permissions"), format!("there is no permission `{word}`"));
                let words = Permission::ALL.map(|(word, _)| word);
                let hint = salver_model::suggest::hint(&word, words);
                findings
                    .mistake(mistake.with_hint(hint.unwrap_or_else(|| format!("use some of {}", words.join(", ")))));
            }
        }
    }
    if permissions.is_empty() {
        permissions = Permission::READING.to_vec();
    }
    let rule = AccessRule {
        roles,
        entries: texts("entries"),
        permissions,
        deny: table.bool("deny"),
        columns: ColumnRestriction { hidden: texts("columns_hidden"), masked: masks(table, findings) },
        rows: expression(table, "rows", findings),
    };
    if rule.entries.is_empty() && !table.is_mistaken("entries") {
        let mistake = Mistake::new(&table.place, "[[access]] has no `entries`");
        findings.mistake(mistake.with_hint("add entries = [\"cities\", \"blog.*\"], or \"*\" for all"));
    }
    let chooses = if rule.rows.is_some() { Some("rows") } else { None };
    let chooses = chooses.or((!rule.columns.hidden.is_empty()).then_some("columns_hidden"));
    let chooses = chooses.or((!rule.columns.masked.is_empty()).then_some("columns_masked"));
    if let Some(key) = chooses {
        let whole = rule.permissions.iter().find(|permission| !permission.has_rows());
        if let Some(permission) = whole {
            let message = format!("`{key}` can't be kept for `{}`, which gives all or nothing", permission.word());
            let hint = "put that permission into an [[access]] of its own";
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
        }
        if rule.deny {
            let message = format!("`{key}` means nothing where all is refused");
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint("leave it out, or `deny`"));
        }
    }
    Some(rule)
}

/// Returns the masks of columns, names before patterns.
fn masks(table: &Table, findings: &mut Findings) -> Vec<ColumnMask> {
    let place = table.place_of("columns_masked");
    let mut masks = Vec::new();
    for (columns, text) in table.pairs("columns_masked").unwrap_or_default() {
        let mask = Mask::parse(columns, text).map_err(|error| Mistake::from_error(place, &error));
        masks.extend(findings.keep(mask).map(|mask| ColumnMask { columns: columns.clone(), mask }));
    }
    ColumnMask::sort(&mut masks);
    masks
}
