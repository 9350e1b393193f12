//! Validates `[[database]]`, its rules and its checks.

use std::path::PathBuf;
use std::time::Duration;

use salver_model::limits::REFRESH_MS_MIN;
use salver_model::records::Operation;
use salver_model::rule::{Rule, Term};
use salver_model::secrecy::{MASK, password_of};
use salver_model::spec::{
    Customization, DatabaseKind, DatabaseSpec, DatasetSpec, FunctionPath, FunctionSpec, RecordCheck, RecordRule,
    StreamSpec, Tenancy, ValueFormat, url_template,
};
use salver_model::value::Value;

use super::{real_location, stream};
use crate::keys::Section;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::value;

pub(super) fn check_all(
    tables: &[Table],
    datasets: &[DatasetSpec],
    streams: &[StreamSpec],
    findings: &mut Findings,
) -> Vec<DatabaseSpec> {
    let mut specs: Vec<(DatabaseSpec, &Table)> = Vec::new();
    for table in tables {
        let Some(spec) = check(table, findings) else { continue };
        let taken = specs.iter().any(|(other, _)| other.name == spec.name)
            || datasets.iter().any(|dataset| dataset.name == spec.name)
            || streams.iter().any(|other| stream::has_entry(other, &spec.name));
        if taken {
            let message = format!("there is another database, dataset or stream called `{}`", spec.name);
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename one"));
            continue;
        }
        specs.push((spec, table));
    }
    real_location::once(&specs, findings);
    specs.into_iter().map(|(spec, _)| spec).collect()
}

fn check(table: &Table, findings: &mut Findings) -> Option<DatabaseSpec> {
    let name = super::name(table, "name", findings);
    let url = super::required(table, "url", findings)?;
    let Some(kind) = DatabaseKind::of_url(url) else {
        let mistake =
            Mistake::new(table.place_of("url"), format!("`{}` is not the URL of a database", secretless(url)));
        findings.mistake(
            mistake.with_hint("write \"sqlite:app.db\", \"postgres://user:password@host/db\" or \"mysql://...\""),
        );
        return None;
    };
    if password_of(url).as_deref() == Some(MASK) {
        let message = format!("the password in the `url` of `{}` is not shown here", table.text("name").unwrap_or("?"));
        let hint = "`***` stands for it; write the password itself";
        findings.mistake(Mistake::new(table.place_of("url"), message).with_hint(hint));
    }
    if has_sign_in_password(url) {
        let message = format!("the `url` of `{}` has several `@` before its host", table.text("name").unwrap_or("?"));
        let hint = "in a user's name or password `@` is written `%40`";
        findings.mistake(Mistake::new(table.place_of("url"), message).with_hint(hint));
    }
    let texts = |key| table.texts(key).unwrap_or_default().to_vec();
    let bound = |key| table.get(key).map(|_| table.count(key));
    let size = |key| bound(key).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Some(DatabaseSpec {
        of_caller: of_caller(table, url, findings),
        init: table.text("init").map(PathBuf::from),
        writable: table.bool("writable"),
        definable: table.bool("columns"),
        tables: texts("tables"),
        mapping: mapping(table, findings),
        strict: table.bool("strict"),
        connections_max: size("connections_max").unwrap_or(8),
        statement_ms_max: table.count("statement_ms_max"),
        refresh: refresh(table, findings),
        geometry_srid: u32::try_from(table.count("geometry_srid")).unwrap_or(4326),
        pages_max: bound("pages_max"),
        records_max: bound("records_max"),
        joins_depth_max: size("joins_depth_max"),
        joins_tables_max: size("joins_tables_max"),
        joins_records_max: bound("joins_records_max"),
        search: table.text("search").filter(|text| !text.is_empty()).map(str::to_owned),
        validate: texts("validate"),
        checks: parts(table, Section::Check).filter_map(|part| record_check(part, findings)).collect(),
        sanitize: texts("sanitize"),
        strip_tags: columns(table, "strip_tags", findings),
        ip_address: columns(table, "ip_address", findings),
        json_columns: columns(table, "json_columns", findings),
        tenancy: tenancy(table, findings),
        rules: parts(table, Section::Rule).map(|part| record_rule(part, findings)).collect(),
        customization: customization(table, findings),
        ..DatabaseSpec::new(name?, kind, url)
    })
}

fn of_caller(table: &Table, url: &str, findings: &mut Findings) -> Option<String> {
    let found = url_template::caller_in(url).map_err(|error| Mistake::from_error(table.place_of("url"), &error));
    findings.keep(found).flatten().map(str::to_owned)
}

fn customization(table: &Table, findings: &mut Findings) -> Option<Customization> {
    let mut path = |key| {
        let text = table.text(key)?;
        let path = FunctionPath::parse(text);
        if path.is_none() {
            let mistake = Mistake::new(table.place_of(key), format!("`{text}` is not a function of a file"));
            findings.mistake(mistake.with_hint(format!("write {key} = \"FILE/FUNCTION\", like \"hooks/{key}\"")));
        }
        path
    };
    let (before, after) = (path("before"), path("after"));
    (before.is_some() || after.is_some()).then_some(Customization { before, after })
}

/// Checks that the files with the hooks of databases exist.
pub(crate) fn functions_are_there(tables: &[Table], functions: &[FunctionSpec], findings: &mut Findings) {
    for (table, key) in tables.iter().flat_map(|table| [(table, "before"), (table, "after")]) {
        let Some(path) = table.text(key).and_then(FunctionPath::parse) else { continue };
        let names = functions.iter().map(|spec| spec.name.as_str());
        if !names.clone().any(|name| name == path.file) {
            let message = format!("there is no file of functions called `{}`", path.file);
            let hint = salver_model::suggest::hint(&path.file, names);
            let hint = hint.unwrap_or_else(|| "declare it with [[function]]".to_owned());
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
        }
    }
}

fn parts(table: &Table, section: Section) -> impl Iterator<Item = &Table> {
    table.tables.iter().filter(move |part| part.section == section)
}

/// Returns whether the user or password of a URL contains an `@`: clients take the text behind the first one for the
/// host, and may reveal it.
fn has_sign_in_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.matches('@').count() > 1
}

/// Returns the URL without its password, for messages.
fn secretless(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}://...{}", &url[..scheme], &url[at..]),
        _ => url.to_owned(),
    }
}

fn mapping(table: &Table, findings: &mut Findings) -> Vec<(String, String)> {
    let pairs = table.pairs("mapping").unwrap_or_default();
    for (real, name) in pairs {
        if real.contains('.') != name.contains('.') || real.is_empty() || name.is_empty() {
            let message = format!("`mapping` can't make `{name}` of `{real}`");
            let hint = "write a table for a table (abc_posts = \"posts\"), or a column for a column \
                        (\"abc_posts.abc_id\" = \"posts.id\")";
            findings.mistake(Mistake::new(table.place_of("mapping"), message).with_hint(hint));
        }
    }
    pairs.to_vec()
}

/// Returns columns as `table.column`.
fn columns(table: &Table, key: &str, findings: &mut Findings) -> Vec<String> {
    let columns = table.texts(key).unwrap_or_default();
    for column in columns.iter().filter(|column| column.split('.').filter(|part| !part.is_empty()).count() != 2) {
        let mistake = Mistake::new(table.place_of(key), format!("`{column}` is not a column of a table"));
        findings.mistake(mistake.with_hint("write it as \"table.column\"; either may be, or have, a `*`"));
    }
    columns.to_vec()
}

fn tenancy(table: &Table, findings: &mut Findings) -> Vec<Tenancy> {
    let mut all = Vec::new();
    for (column, value) in table.pairs("tenant").unwrap_or_default() {
        let Some((table_name, column_name)) = column.split_once('.') else {
            let mistake = Mistake::new(table.place_of("tenant"), format!("`{column}` is not a column of a table"));
            findings.mistake(mistake.with_hint("write { \"table.column\" = \"caller.tenant\" }"));
            continue;
        };
        let attribute = value.strip_prefix("caller.").filter(|name| !name.is_empty());
        if attribute.is_none() && looks_like_attribute(value) {
            let message = format!("`{value}` as a tenant is a fixed text, and no attribute of the caller");
            let mistake = Mistake::new(table.place_of("tenant"), message);
            findings.mistake(mistake.with_hint(format!("write {{ \"{column}\" = \"caller.tenant\" }}")));
        }
        let value = match attribute {
            Some(name) => Term::Caller(name.to_owned()),
            None => Term::Literal(Value::Text(value.clone())),
        };
        all.push(Tenancy { table: table_name.to_owned(), column: column_name.to_owned(), value });
    }
    all
}

/// Returns whether a text was meant to be an attribute of the caller: `caller`, `Caller.tenant`, `caller_tenant`.
fn looks_like_attribute(text: &str) -> bool {
    let (head, rest) = text.split_at_checked("caller".len()).unwrap_or((text, ""));
    head.eq_ignore_ascii_case("caller") && !rest.starts_with(|first: char| first.is_alphanumeric())
}

fn record_rule(table: &Table, findings: &mut Findings) -> RecordRule {
    let mut operations = Vec::new();
    for word in table.texts("operations").unwrap_or_default() {
        match Operation::named(word) {
            Some(operation) => operations.push(operation),
            None => {
                let words = Operation::ALL.iter().map(|(word, _)| *word);
                let mistake = Mistake::new(table.place_of("operations"), format!("there is no operation `{word}`"));
                findings.mistake(mistake.with_hint_if(salver_model::suggest::hint(word, words)));
            }
        }
    }
    RecordRule {
        tables: table.texts("tables").unwrap_or_default().to_vec(),
        operations,
        deny: table.bool("deny"),
        columns_hidden: table.texts("columns_hidden").unwrap_or_default().to_vec(),
        rows: rule(table, "rows", findings),
        except: except(table, findings),
    }
}

/// Returns the exemption, which must be decidable without a row.
fn except(table: &Table, findings: &mut Findings) -> Option<Rule> {
    let except = rule(table, "except", findings)?;
    if let Some(column) = except.columns().first() {
        let message = format!("`except` is about callers, and names the column `{column}`");
        let hint = format!("write caller.{column}, or put it into `rows`");
        findings.mistake(Mistake::new(table.place_of("except"), message).with_hint(hint));
    }
    Some(except)
}

fn rule(table: &Table, key: &str, findings: &mut Findings) -> Option<Rule> {
    let text = table.text(key)?;
    findings.keep(Rule::parse(text).map_err(|error| Mistake::from_error(table.place_of(key), &error)))
}

fn record_check(table: &Table, findings: &mut Findings) -> Option<RecordCheck> {
    let (shape, rule) = (table.text("is"), rule(table, "rule", findings));
    let message = super::required(table, "message", findings)?;
    let lacks_columns = table.texts("columns").unwrap_or_default().is_empty() && !table.is_mistaken("columns");
    let is_mistaken = table.is_mistaken("is") || table.is_mistaken("rule");
    if lacks_columns || (shape.is_none() && table.get("rule").is_none() && !is_mistaken) {
        let mistake = Mistake::new(&table.place, "[[database.check]] has no `columns`, or neither `is` nor `rule`");
        findings.mistake(mistake.with_hint("add columns = [\"comments.post_id\"] and is = \"numeric\""));
    }
    Some(RecordCheck {
        columns: columns(table, "columns", findings),
        shape: match shape {
            Some("numeric") => Some(ValueFormat::Numeric),
            Some("email") => Some(ValueFormat::Email),
            Some(_) => Some(ValueFormat::Filled),
            None => None,
        },
        rule,
        message: message.to_owned(),
    })
}

fn refresh(table: &Table, findings: &mut Findings) -> Duration {
    let text = table.text("refresh").unwrap_or_default();
    match value::duration_ms(text) {
        Some(ms) if ms >= REFRESH_MS_MIN => Duration::from_millis(ms),
        _ => {
            let mistake = Mistake::new(
                table.place_of("refresh"),
                format!("`{text}` is not a time of {REFRESH_MS_MIN}ms or more"),
            );
            findings.mistake(mistake.with_hint("write \"1s\", \"30s\" or \"5m\""));
            Duration::from_secs(1)
        }
    }
}
