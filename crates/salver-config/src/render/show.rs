//! `salver config show`: the settings in force as a file that reads back to the same, except for secrets.

mod access;
mod auth;
mod database;
mod function;
mod outside;
mod query;
mod stream;

use std::path::Path;

use salver_model::Relation;
use salver_model::secrecy::{MASK, is_secret_name, masked};
use salver_model::spec::{ColumnSpec, DatasetSpec, ObjectStoreSpec, Quote, Residency, Secret, SourceFormat};

use super::quoted;
use crate::checked::{Checked, StoreSpec};
use crate::data_type;
use crate::hidden::{self, HiddenText};
use crate::keys::{Section, Setting};
use crate::value::duration_text;

/// Returns the settings in force, as TOML. Reading it from any directory gives the same settings, once `***` is
/// replaced by the secrets. What variables and files put into settings counts among these.
#[must_use]
pub fn show(checked: &Checked) -> String {
    let checked = &outside::without(checked);
    let hidden = checked.hidden.as_slice();
    let mut out = String::new();
    let mut section = |own, value: &dyn Fn(&str) -> Option<String>| section(own, hidden, &mut out, value);
    section(Section::Server, &|key| server(checked, key));
    section(Section::Wire, &|key| wire(checked, key).map(quoted));
    if checked.cluster.is_some() {
        section(Section::Cluster, &|key| cluster(checked, key));
    }
    if let Some(spec) = &checked.auth {
        section(Section::Auth, &|key| auth::value(spec, key));
    }
    let of_limits = checked.caller_limits.as_ref().map(|policy| policy.roles());
    let roles = checked.access.as_ref().map(|policy| policy.roles()).or(of_limits).unwrap_or_default();
    for role in roles {
        section(Section::Role, &|key| access::role(role, key));
    }
    for rule in checked.access.iter().flat_map(|policy| policy.rules()) {
        section(Section::Access, &|key| access::rule(roles, rule, key));
    }
    for rule in checked.caller_limits.iter().flat_map(|policy| policy.rules()) {
        section(Section::Limit, &|key| access::limit(roles, rule, key));
    }
    section(Section::Limits, &|key| limit(checked, key));
    section(Section::Compat, &|_| Some(checked.compat.roapi.to_string()));
    for spec in &checked.datasets {
        section(Section::Dataset, &|key| dataset(spec, key));
    }
    for spec in &checked.stores {
        section(Section::Store, &|key| Some(quoted(store(spec, key))));
    }
    for spec in &checked.databases {
        section(Section::Database, &|key| database::value(spec, key));
    }
    for spec in &checked.streams {
        section(Section::Stream, &|key| stream::value(spec, key));
    }
    for spec in &checked.functions {
        section(Section::Function, &|key| function::value(spec, key));
    }
    for spec in &checked.views {
        section(Section::View, &|key| query::view(spec, key));
    }
    for spec in checked.queries.iter().filter(|spec| spec.file.is_none()) {
        section(Section::Query, &|key| query::query(spec, key));
    }
    out
}

/// Returns the settings of `[server]`, `[wire]`, `[cluster]`, `[limits]` and `[compat]` whose values differ.
#[must_use]
pub fn differing(one: &Checked, other: &Checked) -> Vec<&'static Setting> {
    let value = |checked: &Checked, setting: &Setting| match setting.section {
        Section::Server => server(checked, setting.key),
        Section::Wire => wire(checked, setting.key).map(str::to_owned),
        Section::Cluster => cluster(checked, setting.key),
        Section::Limits => limit(checked, setting.key),
        _ => Some(checked.compat.roapi.to_string()),
    };
    let single = [Section::Server, Section::Wire, Section::Cluster, Section::Limits, Section::Compat];
    let settings = single.into_iter().flat_map(Section::settings);
    settings.filter(|setting| value(one, setting) != value(other, setting)).collect()
}

/// Writes every setting of a section that has a value.
fn section(section: Section, hidden: &[HiddenText], out: &mut String, value: &dyn Fn(&str) -> Option<String>) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{}\n", section.header()));
    for setting in section.settings() {
        let key = setting.key;
        if let Some(value) = value(key) {
            let value =
                if hidden::is_any_in(hidden, setting) { outside::masked(hidden, setting, &value) } else { value };
            out.push_str(&format!("{key} = {value}\n"));
        }
    }
}

fn wire<'a>(checked: &'a Checked, key: &str) -> Option<&'a str> {
    match key {
        "postgres" => checked.wire.postgres.as_deref(),
        _ => checked.wire.flight.as_deref(),
    }
}

fn cluster(checked: &Checked, key: &str) -> Option<String> {
    let cluster = checked.cluster.as_ref()?;
    Some(match key {
        "engine" => quoted("ballista"),
        "scheduler" => quoted(&cluster.scheduler),
        "bytes_min" => cluster.bytes_min.to_string(),
        _ => cluster.partitions.to_string(),
    })
}

fn server(checked: &Checked, key: &str) -> Option<String> {
    let server = &checked.server;
    Some(match key {
        "listen" => quoted(&server.listen.to_string()),
        "metrics_listen" => quoted(server.metrics_listen.as_ref()?),
        "socket_mode" => quoted(&format!("{:04o}", server.socket_mode)),
        "base_path" => quoted(&server.base_path),
        "data_dir" => quoted(&absolute(server.data_dir.as_ref()?.to_str()?)),
        "queries" => quoted(&absolute(server.queries.as_ref()?.to_str()?)),
        "data_dir_in_use" => quoted(server.data_dir_in_use.word()),
        "log" => quoted(&server.log),
        "log_format" => quoted(&server.log_format),
        "cors" => server.cors.to_string(),
        "watch" => server.watch.to_string(),
        "access_log" => server.access_log.to_string(),
        "slow_ms" => server.slow_ms.to_string(),
        "server_timing" => server.server_timing.to_string(),
        "otlp_endpoint" => quoted(server.otlp_endpoint.as_ref()?),
        "ready_needs_all" => server.ready_needs_all.to_string(),
        "default_format" => quoted(&server.default_format),
        "threads" => server.threads.to_string(),
        "reverse_proxy" => server.reverse_proxy.to_string(),
        "caller" => pairs_unless_empty(&server.caller)?,
        "firewall" => texts(&server.firewall),
        "proxy_protocol" => texts(&server.proxy_protocol),
        "callbacks" => texts(&server.callbacks),
        "tls_certificate" => quoted(&absolute(server.tls.as_ref()?.files()?.certificate.to_str()?)),
        "tls_key" => quoted(&absolute(server.tls.as_ref()?.files()?.key.to_str()?)),
        "tls_client_ca" => quoted(&absolute(server.tls.as_ref()?.client.as_ref()?.authorities.to_str()?)),
        "tls_client" => {
            let is_required = server.tls.as_ref()?.client.as_ref()?.required;
            quoted(if is_required { "required" } else { "optional" })
        }
        "acme_domains" => texts(&server.tls.as_ref()?.acme()?.domains),
        "acme_contact" => quoted(server.tls.as_ref()?.acme()?.contact.as_ref()?),
        "acme_directory" => quoted(&server.tls.as_ref()?.acme()?.directory),
        "acme_ca" => quoted(&absolute(server.tls.as_ref()?.acme()?.authorities.as_ref()?.to_str()?)),
        "ssl_redirect" => server.ssl_redirect.to_string(),
        "insecure" => server.insecure.to_string(),
        "xsrf" => server.xsrf.to_string(),
        "ajax_only" => server.ajax_only.to_string(),
        "cors_origins" => texts(&server.cors_origins),
        "hosts" => texts(&server.hosts),
        _ => return None,
    })
}

fn limit(checked: &Checked, key: &str) -> Option<String> {
    let limits = &checked.limits;
    let value = match key {
        "query_ms_max" => limits.query_ms_max,
        "rows_max" => limits.rows_max,
        "body_bytes_max" => limits.body_bytes_max,
        "queries_max" => limits.queries_max as u64,
        "queue_ms_max" => limits.queue_ms_max,
        "memory_bytes_max" => limits.memory_bytes_max,
        "cache_bytes_max" => limits.cache_bytes_max,
        "connections_max" => limits.connections_max as u64,
        "connections_per_address_max" => limits.connections_per_address_max as u64,
        "head_ms_max" => limits.head_ms_max,
        "drain_ms_max" => limits.drain_ms_max,
        "jobs_max" => limits.jobs_max as u64,
        "job_bytes_max" => limits.job_bytes_max,
        "job_ttl" => limits.job_ttl_ms,
        "spill_bytes_max" => limits.spill_bytes_max,
        "object_cache_bytes_max" => limits.object_cache_bytes_max,
        _ => return None,
    };
    Some(value.to_string())
}

/// Returns the value of a dataset's setting; `None` when it was not given.
fn dataset(spec: &DatasetSpec, key: &str) -> Option<String> {
    let character = |byte: u8| quoted(char::from(byte).encode_utf8(&mut [0; 4]));
    let some = |list: &[String]| (!list.is_empty()).then(|| texts(list));
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "source" => Some(texts(&spec.sources.iter().map(|source| absolute(source)).collect::<Vec<_>>())),
        "headers" => pairs_unless_empty(&masked_pairs(&spec.headers)),
        _ if key.starts_with("store_") => object_store(&spec.object_store, key),
        "format" => spec.format.map(|format| quoted(suffix(format))),
        "delimiter" => spec.csv.delimiter.map(character),
        "header" => spec.csv.header.map(|has_header| has_header.to_string()),
        "quote" => match spec.csv.quote {
            Quote::Guessed => None,
            Quote::Off => Some(quoted("")),
            Quote::Is(byte) => Some(character(byte)),
        },
        "escape" => spec.csv.escape.map(character),
        "comment" => spec.csv.comment.map(character),
        "skip_rows" => spec.csv.skip_rows.map(|rows| rows.to_string()),
        "null_tokens" => some(&spec.csv.null_tokens),
        "encoding" => spec.csv.encoding.as_deref().map(quoted),
        "decimal" => spec.csv.decimal.map(|mark| quoted(&mark.to_string())),
        "thousands" => spec.csv.thousands.map(|mark| quoted(&mark.to_string())),
        "dates" => spec.csv.dates.map(|order| quoted(order.word())),
        "pointer" => spec.json.pointer.as_deref().map(quoted),
        "array_encoded" => Some(spec.json.array_encoded.to_string()),
        "sheet" => spec.sheet.sheet.as_deref().map(quoted),
        "range" => spec.sheet.range.as_deref().map(quoted),
        "schema" => (!spec.schema.is_empty()).then(|| list(&spec.schema, column)),
        "partitions" => Some(spec.partitions.to_string()),
        "key" => some(&spec.key),
        "refresh" => Some(quoted(&spec.refresh.map_or_else(
            || "never".to_owned(),
            |every| duration_text(u64::try_from(every.as_millis()).unwrap_or(u64::MAX)),
        ))),
        "memory" => Some(quoted(match spec.residency {
            Residency::Auto => "auto",
            Residency::Always => "always",
            Residency::Never => "never",
        })),
        "relation" => (!spec.relations.is_empty()).then(|| list(&spec.relations, relation)),
        _ => None,
    }
}

fn object_store(spec: &ObjectStoreSpec, key: &str) -> Option<String> {
    let text = |text: &Option<String>| text.as_deref().map(quoted);
    let secret = |secret: &Option<Secret>| secret.as_ref().map(|_| quoted(MASK));
    match key {
        "store_endpoint" => text(&spec.endpoint),
        "store_region" => text(&spec.region),
        "store_profile" => text(&spec.profile),
        "store_account" => text(&spec.account),
        "store_key_id" => secret(&spec.key_id),
        "store_secret" => secret(&spec.secret),
        "store_token" => secret(&spec.token),
        "store_api_key" => secret(&spec.api_key),
        "store_credentials_file" => {
            spec.credentials_file.as_ref().map(|path| quoted(&absolute(&path.to_string_lossy())))
        }
        "store_anonymous" => Some(spec.anonymous.to_string()),
        "store_path_style" => Some(spec.path_style.to_string()),
        _ => None,
    }
}

fn store<'s>(spec: &'s StoreSpec, key: &str) -> &'s str {
    match key {
        "name" => spec.name.as_str(),
        "dataset" => spec.dataset.as_str(),
        "key" => &spec.key,
        _ => &spec.value,
    }
}

fn column(column: &ColumnSpec) -> String {
    let (name, data_type) = (quoted(&column.name), quoted(&data_type::render(&column.data_type)));
    format!("{{ name = {name}, type = {data_type}, nullable = {} }}", column.nullable)
}

fn relation(relation: &Relation) -> String {
    format!(
        "{{ name = {}, columns = {}, target = {}, target_columns = {} }}",
        quoted(&relation.name),
        texts(&relation.columns),
        quoted(relation.target.as_str()),
        texts(&relation.target_columns),
    )
}

fn pairs_unless_empty(pairs: &[(String, String)]) -> Option<String> {
    let written: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{} = {}", quoted(name), quoted(value))).collect();
    (!written.is_empty()).then(|| format!("{{ {} }}", written.join(", ")))
}

/// Masks the pairs whose values are secrets, by their names or as URLs.
fn masked_pairs(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let shown = |name: &str, value: &str| {
        if is_secret_name(name) { MASK.to_owned() } else { masked(value).into_owned() }
    };
    pairs.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect()
}

fn list<T>(items: &[T], render: impl Fn(&T) -> String) -> String {
    let lines: Vec<String> = items.iter().map(|item| format!("    {},\n", render(item))).collect();
    format!("[\n{}]", lines.concat())
}

fn texts(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Makes a path absolute. Other sources are unchanged.
fn absolute(source: &str) -> String {
    if source == "-" || source.contains("://") {
        return masked(source).into_owned();
    }
    let absolute = std::path::absolute(Path::new(source)).ok();
    absolute.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| source.to_owned())
}

fn suffix(format: SourceFormat) -> &'static str {
    let fallback = if format == SourceFormat::Delta { "delta" } else { "csv" };
    SourceFormat::SUFFIXES.iter().find(|(_, other)| *other == format).map_or(fallback, |(suffix, _)| suffix)
}
