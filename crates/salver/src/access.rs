//! `salver access explain`: who may do what, and by which rule, within which limits; and what `salver check` says of
//! access rules.

use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;

use salver_config::Checked;
use salver_model::access::{AccessRule, LimitedQuantity, METRICS};
use salver_model::mask::MaskedKind;
use salver_model::records::Operation;
use salver_model::rule::{Rule, Term};
use salver_model::spec::{DatabaseSpec, matches_pattern};
use salver_model::{AccessPolicy, Code, ColumnMask, Error, Grants, LimitPolicy, Permission, Principal, Result};

use salver_service::Service;

use crate::cli::ExplainArguments;
use crate::failure::CommandFailure;
use crate::settings::Need;
use crate::{databases, output, settings, wiring};

/// An entry as access rules have it.
pub(crate) struct RuledEntry {
    /// Name of the entry; `database.table` for a table.
    pub(crate) name: String,
    /// Names of its columns, if they are known.
    pub(crate) columns: Vec<String>,
    /// Their kinds, in the same order, where those are known too.
    pub(crate) kinds: Vec<MaskedKind>,
}

impl RuledEntry {
    /// Returns an entry whose columns are not known.
    fn named(name: String) -> Self {
        Self { name, columns: Vec::new(), kinds: Vec::new() }
    }
}

/// Prints what a caller may do.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), CommandFailure> {
    let checked = settings::load(&arguments.sources, Vec::new(), Need::Settings)?;
    let caller = caller(&arguments.attributes)?;
    let names = match &arguments.entry {
        Some(name) => vec![name.clone()],
        None => {
            let runtime = wiring::runtime(checked.server.threads)?;
            let entries = runtime.block_on(async {
                let mut entries = declared(&checked);
                entries.extend(tables(&checked).await);
                entries
            });
            runtime.shutdown_background();
            entries.into_iter().map(|entry| entry.name).collect()
        }
    };
    let mut out = String::new();
    let grants = checked.access.as_ref().map(|policy| policy.grants(&caller));
    match (&grants, &checked.caller_limits) {
        (Some(grants), _) => out.push_str(&roles(grants.roles())),
        (None, Some(limits)) => out.push_str(&roles(limits.roles_of(&caller))),
        (None, None) => {}
    }
    if grants.is_none() {
        out.push_str("there is no [[access]]: whoever is let in may do everything that is not read-only\n");
    }
    if let Some(limits) = &checked.caller_limits {
        out.push_str(&explained_limits(limits, &caller));
    }
    for name in &names {
        let mut told = grants.as_ref().map(|grants| explained(grants, name)).unwrap_or_default();
        told.push_str(&of_database(&checked.databases, &caller, name));
        if !told.is_empty() {
            let _ = write!(out, "\n{name}\n{told}");
        }
    }
    output::out(&out)
}

/// Returns the caller with these attributes: `NAME=VALUE`, `address=ADDRESS`, or an identity like `api_key:reporting`.
fn caller(attributes: &[String]) -> Result<Principal> {
    let mut caller = Principal::default();
    for text in attributes {
        match text.split_once('=') {
            Some(("address", value)) => {
                let address: IpAddr = value.parse().map_err(|error| {
                    Error::new(Code::Config, format!("`{value}` is no address"))
                        .with_hint("write it like `--as address=192.0.2.7`")
                        .with_source(error)
                })?;
                caller.address = Some(address);
            }
            Some((name, value)) => caller.attributes.push((name.to_owned(), value.to_owned())),
            None => {
                let name = text.split_once(':').map_or(text.as_str(), |(_, name)| name);
                caller.attributes.push((Principal::IDENTITY.to_owned(), text.clone()));
                caller.attributes.push(("user".to_owned(), name.to_owned()));
            }
        }
    }
    Ok(caller)
}

fn roles<'r>(names: impl Iterator<Item = &'r str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("roles: {}\n", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

/// Tells the limits of a caller, by the [[limit]] that decides each.
fn explained_limits(policy: &LimitPolicy, caller: &Principal) -> String {
    let mut out = String::from("\nlimits\n");
    let decided = LimitedQuantity::ALL.map(|quantity| (quantity, policy.decide(caller, quantity)));
    for number in 0..policy.rules().len() {
        let of_rule = decided.iter().filter_map(|(quantity, decided)| {
            let (_, rule) = decided.filter(|(own, _)| *own == number)?;
            let most = rule.most(*quantity)?;
            let burst = rule.burst.filter(|_| *quantity == LimitedQuantity::RequestsPerSecond);
            let burst = burst.map(|burst| format!(", burst = {burst}")).unwrap_or_default();
            Some(format!("{} = {most}{burst}", quantity.key()))
        });
        let told: Vec<String> = of_rule.collect();
        if !told.is_empty() {
            let _ = writeln!(out, "  [[limit]] {}: {}", number + 1, told.join(", "));
        }
    }
    if decided.iter().all(|(_, decided)| decided.is_none()) {
        out.push_str("  none but [limits]\n");
    }
    out
}

/// Tells what the rules permit of an entry.
fn explained(grants: &Grants, name: &str) -> String {
    let mut out = String::new();
    // Permissions by the rule that decides them, in the order of the rules.
    let mut rules: Vec<(Option<u32>, Vec<&str>)> = Vec::new();
    for (word, permission) in Permission::ALL {
        let number = grants.rule_number(permission, name);
        match rules.iter_mut().find(|(own, _)| *own == number) {
            Some((_, words)) => words.push(word),
            None => rules.push((number, vec![word])),
        }
    }
    rules.sort_by_key(|(number, _)| number.unwrap_or(u32::MAX));
    for (number, words) in rules {
        let rule = number.and_then(|number| grants.policy().rules().get(number as usize));
        let words = words.join(", ");
        let _ = match (number, rule) {
            (Some(number), Some(rule)) => {
                let kept = kept_back(rule.deny, &rule.columns_hidden, &rule.columns_masked, rule.rows.as_ref());
                writeln!(out, "  {}: {words}{kept}", rule_name(number))
            }
            _ => writeln!(out, "  no rule: not {words}"),
        };
    }
    out
}

/// Tells what the rules and tenancies of a database keep back of its table besides.
fn of_database(databases: &[DatabaseSpec], caller: &Principal, name: &str) -> String {
    let mut out = String::new();
    for spec in databases {
        let Some(table) = name.strip_prefix(spec.name.as_str()).and_then(|rest| rest.strip_prefix('.')) else {
            continue;
        };
        for (number, rule) in spec.rules.iter().enumerate() {
            if !rule.is_about(table) || !rule.is_for(caller) {
                continue;
            }
            let words = Operation::ALL.iter().filter(|(_, own)| rule.operations.contains(own)).map(|(word, _)| *word);
            let words: Vec<&str> = words.collect();
            let words = if words.is_empty() { "everything".to_owned() } else { words.join(", ") };
            let kept = kept_back(rule.deny, &rule.columns_hidden, &[], rule.rows.as_ref());
            let _ = writeln!(out, "  [[database.rule]] {} of {}: {words}{kept}", number + 1, spec.name);
        }
        for tenancy in spec.tenancy.iter().filter(|own| matches_pattern(&own.table, table)) {
            let value = match &tenancy.value {
                Term::Caller(name) => format!("caller.{name}"),
                Term::Column(name) => name.clone(),
                Term::Literal(value) => value.to_string(),
            };
            let column = &tenancy.column;
            let _ = writeln!(
                out,
                "  tenant of {}: everything, where {column} = {value}, if there is `{column}`",
                spec.name
            );
        }
    }
    out
}

fn rule_name(number: u32) -> String {
    format!("[[access]] {}", number + 1)
}

/// Describes what a rule refuses, hides or masks.
fn kept_back(deny: bool, columns_hidden: &[String], masks: &[ColumnMask], rows: Option<&Rule>) -> String {
    if deny {
        return " refused".to_owned();
    }
    let mut text = String::new();
    if !columns_hidden.is_empty() {
        let _ = write!(text, ", without {}", columns_hidden.join(", "));
    }
    for own in masks {
        let _ = write!(text, ", {} as {}", own.columns, own.mask.text());
    }
    if let Some(rows) = rows {
        let _ = write!(text, ", where {}", rows.text());
    }
    text
}

/// Logs what [`idle_rules`] says of the entries that are served.
pub(crate) fn warn_of_idle_rules(service: &Service) {
    let Some(policy) = &service.access().filter(|policy| !policy.is_open()) else { return };
    let snapshot = service.snapshot_of_all();
    let of_catalog = snapshot.entries().map(|entry| {
        let schema = entry.table().map(|table| Arc::clone(&table.describe().schema));
        let columns = schema.iter().flat_map(|schema| schema.fields()).map(|field| field.name().clone()).collect();
        RuledEntry { columns, ..RuledEntry::named(entry.ruled_name().to_owned()) }
    });
    let named = service.functions().iter().map(|file| file.spec().name.to_string()).chain([METRICS.to_owned()]);
    let others = named.map(RuledEntry::named);
    let entries: Vec<RuledEntry> = of_catalog.chain(others).collect();
    for mistake in idle_rules(policy, &entries) {
        tracing::warn!("{}", mistake.trim_start_matches("error: "));
    }
}

/// Returns the entries that the settings name themselves.
pub(crate) fn declared(checked: &Checked) -> Vec<RuledEntry> {
    let datasets = checked.datasets.iter().map(|spec| spec.name.to_string());
    let streams = checked.streams.iter().flat_map(|spec| [spec.name.to_string(), format!("{}_quarantine", spec.name)]);
    let functions = checked.functions.iter().map(|spec| spec.name.to_string());
    let names = datasets.chain(streams).chain(functions).chain([METRICS.to_owned()]);
    names.map(RuledEntry::named).collect()
}

/// Returns the tables of databases that can be reached.
pub(crate) async fn tables(checked: &Checked) -> Vec<RuledEntry> {
    let mut entries = Vec::new();
    for spec in &checked.databases {
        let Ok(database) = databases::database(spec.clone()) else { continue };
        if database.refresh().await.is_err() {
            continue;
        }
        for table in database.schema().tables() {
            let columns = table.columns.iter().map(|column| column.name.clone()).collect();
            let kinds = table.columns.iter().map(|column| salver_records::masked_kind(spec.kind, column)).collect();
            entries.push(RuledEntry { name: format!("{}.{}", spec.name, table.name), columns, kinds });
        }
    }
    entries
}

/// Returns what is wrong with the masks of a rule in the face of the entries that it is about: columns that are not
/// there, or are of a type that the mask is not for.
fn idle_masks<'e, E: Iterator<Item = &'e RuledEntry>>(
    rule: &AccessRule,
    rule_name: &str,
    about: impl Fn() -> E,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for ColumnMask { columns: pattern, .. } in &rule.columns_masked {
        let is_there = |entry: &RuledEntry| entry.columns.iter().any(|column| matches_pattern(pattern, column));
        if about().next().is_some() && !about().any(is_there) {
            wrong.push(format!("error: {rule_name}: no entry it is about has a column `{pattern}` to mask"));
        }
    }
    for entry in about() {
        for (column, kind) in entry.columns.iter().zip(&entry.kinds) {
            if let Some(why) = rule.mask(column).and_then(|mask| mask.misfit(*kind)) {
                let entry = &entry.name;
                wrong.push(format!("error: {rule_name}: `{column}` of `{entry}` can't be masked: {why}"));
            }
        }
    }
    wrong
}

/// Returns what is wrong with rules in the face of what there is: patterns that match nothing, and columns that are not
/// there. A rule that restricts nothing is as dangerous as none.
pub(crate) fn idle_rules(policy: &AccessPolicy, entries: &[RuledEntry]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, rule) in policy.rules().iter().enumerate() {
        let rule_name = rule_name(u32::try_from(number).unwrap_or(u32::MAX));
        for pattern in &rule.entries {
            let alone = AccessRule { entries: vec![pattern.clone()], ..AccessRule::default() };
            if entries.iter().any(|entry| alone.is_about(&entry.name)) {
                continue;
            }
            let as_table =
                entries.iter().find(|entry| entry.name.split_once('.').is_some_and(|(_, own)| own == pattern));
            let hint = match as_table {
                Some(table) => Some(format!("a table of a database is `{}` here", table.name)),
                None => salver_model::suggest::hint(pattern, entries.iter().map(|entry| entry.name.as_str())),
            };
            let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
            wrong.push(format!("error: {rule_name}: no entry is called `{pattern}`{hint}"));
        }
        let about = || entries.iter().filter(|entry| rule.is_about(&entry.name) && !entry.columns.is_empty());
        for pattern in &rule.columns_hidden {
            let is_there = |entry: &RuledEntry| {
                entry.columns.iter().any(|column| salver_model::spec::matches_pattern(pattern, column))
            };
            if about().next().is_some() && !about().any(is_there) {
                wrong.push(format!("error: {rule_name}: no entry it is about has a column `{pattern}` to hide"));
            }
        }
        wrong.extend(idle_masks(rule, &rule_name, about));
        for column in rule.rows.iter().flat_map(|rows| rows.columns()) {
            for entry in about().filter(|entry| !entry.columns.iter().any(|own| own == column)) {
                wrong
                    .push(format!("error: {rule_name}: `rows` names `{column}`, which `{}` does not have", entry.name));
            }
        }
    }
    wrong
}
