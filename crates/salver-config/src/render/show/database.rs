//! The settings of a database, in their written form.

use salver_model::Value;
use salver_model::records::Operation;
use salver_model::rule::Term;
use salver_model::secrecy::masked_alone;
use salver_model::spec::{Customization, DatabaseSpec, FunctionPath, RecordCheck, RecordRule, Tenancy, ValueFormat};

use super::{absolute, list, pairs_unless_empty, quoted, texts};
use crate::value::duration_text;

/// Returns the value of a setting; `None` when it was not given.
pub(super) fn value(spec: &DatabaseSpec, key: &str) -> Option<String> {
    let some = |list: &[String]| (!list.is_empty()).then(|| texts(list));
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "url" => Some(quoted(&url(&spec.url))),
        "init" => spec.init.as_ref().and_then(|path| path.to_str()).map(|path| quoted(&absolute(path))),
        "tables" => Some(texts(&spec.tables)),
        "writable" => Some(spec.writable.to_string()),
        "columns" => Some(spec.definable.to_string()),
        "mapping" => pairs_unless_empty(&spec.mapping),
        "strict" => Some(spec.strict.to_string()),
        "connections_max" => Some(spec.connections_max.to_string()),
        "statement_ms_max" => Some(spec.statement_ms_max.to_string()),
        "refresh" => Some(quoted(&duration_text(u64::try_from(spec.refresh.as_millis()).unwrap_or(u64::MAX)))),
        "geometry_srid" => Some(spec.geometry_srid.to_string()),
        "pages_max" => spec.pages_max.map(|n| n.to_string()),
        "records_max" => spec.records_max.map(|n| n.to_string()),
        "joins_depth_max" => spec.joins_depth_max.map(|n| n.to_string()),
        "joins_tables_max" => spec.joins_tables_max.map(|n| n.to_string()),
        "joins_records_max" => spec.joins_records_max.map(|n| n.to_string()),
        "search" => spec.search.as_deref().map(quoted),
        "validate" => some(&spec.validate),
        "check" => (!spec.checks.is_empty()).then(|| list(&spec.checks, check)),
        "sanitize" => some(&spec.sanitize),
        "strip_tags" => some(&spec.strip_tags),
        "ip_address" => some(&spec.ip_address),
        "json_columns" => some(&spec.json_columns),
        "tenant" => pairs_unless_empty(&spec.tenancy.iter().map(tenant).collect::<Vec<_>>()),
        "before" => hook(spec, |own| own.before.as_ref()),
        "after" => hook(spec, |own| own.after.as_ref()),
        "rule" => (!spec.rules.is_empty()).then(|| list(&spec.rules, rule)),
        _ => None,
    }
}

fn hook(spec: &DatabaseSpec, which: impl Fn(&Customization) -> Option<&FunctionPath>) -> Option<String> {
    spec.customization.as_ref().and_then(which).map(|path| quoted(&path.to_string()))
}

/// Makes the path in a URL absolute.
fn url(url: &str) -> String {
    match url.strip_prefix("sqlite:").filter(|path| !path.starts_with(":memory:")) {
        Some(path) => format!("sqlite:{}", absolute(path)),
        None => masked_alone(url),
    }
}

fn tenant(tenancy: &Tenancy) -> (String, String) {
    let value = match &tenancy.value {
        Term::Caller(name) => format!("caller.{name}"),
        Term::Literal(Value::Text(text)) => text.clone(),
        Term::Literal(value) => value.to_string(),
        Term::Column(name) => name.clone(),
    };
    (format!("{}.{}", tenancy.table, tenancy.column), value)
}

fn rule(rule: &RecordRule) -> String {
    let word = |operation: &Operation| Operation::ALL.iter().find(|(_, own)| own == operation).map(|(word, _)| *word);
    let operations: Vec<String> = rule.operations.iter().filter_map(word).map(str::to_owned).collect();
    let mut parts = vec![
        format!("tables = {}", texts(&rule.tables)),
        format!("operations = {}", texts(&operations)),
        format!("deny = {}", rule.deny),
        format!("columns_hidden = {}", texts(&rule.columns_hidden)),
    ];
    parts.extend(rule.rows.as_ref().map(|rows| format!("rows = {}", quoted(rows.text()))));
    parts.extend(rule.except.as_ref().map(|except| format!("except = {}", quoted(except.text()))));
    format!("{{ {} }}", parts.join(", "))
}

fn check(check: &RecordCheck) -> String {
    let mut parts = vec![format!("columns = {}", texts(&check.columns))];
    parts.extend(check.shape.map(|shape| {
        let word = match shape {
            ValueFormat::Numeric => "numeric",
            ValueFormat::Email => "email",
            ValueFormat::Filled => "filled",
        };
        format!("is = {}", quoted(word))
    }));
    parts.extend(check.rule.as_ref().map(|rule| format!("rule = {}", quoted(rule.text()))));
    parts.push(format!("message = {}", quoted(&check.message)));
    format!("{{ {} }}", parts.join(", "))
}
