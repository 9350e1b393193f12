//! `salver access explain`: who may do what, and by which rule, within which limits; and what `salver check` says of
//! access rules.

pub(crate) mod entries;
pub(crate) mod idle_rules;
mod rule_cover;

use std::fmt::Write;
use std::net::IpAddr;

use salver_config::Checked;
use salver_model::access::LimitedQuantity;
use salver_model::records::Operation;
use salver_model::rule::{Rule, Term};
use salver_model::spec::{DatabaseSpec, matches_pattern};
use salver_model::{AccessPolicy, Code, ColumnMask, Error, Grants, LimitPolicy, Permission, Principal, Result};

use self::entries::RuledEntries;
use crate::cli::ExplainArguments;
use crate::failure::CommandFailure;
use crate::settings::Need;
use crate::{databases, output, settings, wiring};

/// Prints what a caller may do.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), CommandFailure> {
    let checked = settings::load(&arguments.sources, Vec::new(), Need::Settings)?;
    let caller = caller(&arguments.attributes)?;
    unknown_caller(&checked, &arguments.attributes).iter().for_each(|note| output::note(note));
    let names = names(&checked, arguments.entry.as_deref())?;
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

/// Returns the names of the entries to tell of: that of `asked`, about which a note is printed if nothing is called so,
/// or all.
fn names(checked: &Checked, asked: Option<&str>) -> Result<Vec<String>, CommandFailure> {
    let mut known = RuledEntries::declared(checked);
    if let Some(name) = asked.filter(|name| known.names().any(|own| own == *name)) {
        return Ok(vec![name.to_owned()]);
    }
    let runtime = wiring::runtime(checked.server.threads)?;
    runtime.block_on(async {
        for spec in &checked.databases {
            known.add_database(spec, databases::schema(spec).await.ok());
        }
    });
    runtime.shutdown_background();
    let Some(name) = asked else { return Ok(known.names().map(str::to_owned).collect()) };
    if !known.names().any(|own| own == name) && !known.may_be_unread(name) {
        output::note(&idle_rules::unknown_entry(name, &known));
    }
    Ok(vec![name.to_owned()])
}

/// Returns what to note of a caller that nobody can be, or whose attributes no rule names.
fn unknown_caller(checked: &Checked, attributes: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    for text in attributes {
        let Some((name, _)) = text.split_once('=') else {
            let mistake = checked.identity_mistake(text);
            notes.extend(mistake.map(|(message, hint)| format!("{message}\n  hint: {hint}")));
            continue;
        };
        let Some(policy) = checked.access.as_ref().filter(|_| name != "address") else { continue };
        let of_all = AccessPolicy::new(policy.roles().to_vec(), policy.rules().to_vec());
        let of_all = of_all.with_databases(checked.databases.iter());
        let named = of_all.attributes();
        if !named.iter().any(|own| own == name) {
            let hint = salver_model::suggest::hint(name, named.iter().map(String::as_str));
            let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
            notes.push(format!("no role or rule names `caller.{name}`{hint}"));
        }
    }
    notes
}

/// Returns the caller with these attributes: `NAME=VALUE`, `address=ADDRESS`, or an identity like `api_key:reporting`.
fn caller(attributes: &[String]) -> Result<Principal> {
    let mut caller = Principal::default();
    // What is given by name counts before what follows from an identity.
    let (named, identities): (Vec<&String>, Vec<&String>) = attributes.iter().partition(|text| text.contains('='));
    for text in named.into_iter().chain(identities) {
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
            None => caller.attributes.extend(proved(text)),
        }
    }
    Ok(caller)
}

/// Returns what a server knows of a caller with this identity, as far as it follows from that: claims of a token don't.
fn proved(identity: &str) -> Vec<(String, String)> {
    let mut proved = vec![(Principal::IDENTITY, identity)];
    let (way, name) = identity.split_once(':').unwrap_or(("", identity));
    // A proxy proves nothing.
    proved.extend(Some(("auth", way)).filter(|_| !matches!(way, "" | "proxy")));
    let user = match name.split_once(' ').filter(|_| way == "jwt") {
        Some((issuer, subject)) => {
            proved.push(("iss", issuer));
            subject
        }
        None => name,
    };
    proved.push(("user", user));
    proved.extend(Some(("sub", user)).filter(|_| way == "jwt"));
    proved.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
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
                let kept = kept_back(rule.deny, &rule.columns.hidden, &rule.columns.masked, rule.rows.as_ref());
                writeln!(out, "  {}: {words}{kept}", rule_name(number as usize))
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

fn rule_name(number: usize) -> String {
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
