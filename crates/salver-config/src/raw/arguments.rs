//! Parses entries on the command line: `PATH` or `NAME=URI[,key=value]...`.

use std::path::{Path, PathBuf};

use salver_model::functions::Language;
use toml::de::DeValue;

use super::{Table, unknown_key};
use crate::keys::{Section, Setting, SettingKind};
use crate::mistake::{Findings, Mistake};
use crate::setting_place::SettingPlace;
use crate::value::{self, Value};

/// Meaning of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentTarget {
    /// Directory, of which every supported file becomes an entry.
    Directory(PathBuf),
    /// Dataset, database or file of functions, to be passed to [`crate::load()`] unchanged.
    Dataset(String),
}

/// Classifies an argument. Text that exists as a path is one, whatever its form.
#[must_use]
pub fn target(text: &str) -> ArgumentTarget {
    if Path::new(text).is_dir() {
        ArgumentTarget::Directory(PathBuf::from(text))
    } else {
        ArgumentTarget::Dataset(text.to_owned())
    }
}

/// Parses one dataset, database or file of functions.
pub(crate) fn read(text: &str, findings: &mut Findings) -> Option<Table> {
    let place = SettingPlace::CommandLine(text.into());
    let (name, rest) = if is_database(text) { (None, text) } else { split_name(text) };
    let (uri, options) = split_options(rest);
    if has_suffix(&uri, &DUCKDB_SUFFIXES) {
        let mistake = Mistake::new(&place, format!("`{uri}` is a database of DuckDB, which can't be served"));
        let export = format!("duckdb {uri} \"EXPORT DATABASE 'exported' (FORMAT parquet)\"");
        findings.mistake(mistake.with_hint(format!("write its tables to files, and serve these: {export}")));
        return None;
    }
    // With a format it is said to be a file of rows.
    let has_format = options.iter().any(|(key, _)| key == "format");
    let uri = if !has_format && is_sqlite_file(&uri) { format!("sqlite:{uri}") } else { uri };
    let section = match &uri {
        uri if is_database(uri) => Section::Database,
        uri if Language::of_file(Path::new(uri)).is_some() => Section::Function,
        _ => Section::Dataset,
    };
    let mut table = Table::new(section, place.clone());
    let set = |table: &mut Table, key: &str, value| {
        if let Some(setting) = section.setting(key) {
            table.set(setting, value, place.clone());
        }
    };
    let stem = || stem(uri.strip_prefix("sqlite:").unwrap_or(&uri)).map(str::to_owned);
    let Some(name) = name.map(str::to_owned).or_else(stem) else {
        let mistake = Mistake::new(&place, "no name can be made of this");
        findings.mistake(mistake.with_hint(format!("give it one: my_table={text}")));
        return None;
    };
    set(&mut table, "name", Value::Text(name));
    set(&mut table, "source", Value::Texts(vec![uri.clone()]));
    set(&mut table, "url", Value::Text(uri.clone()));
    set(&mut table, "file", Value::Text(uri));
    for (key, value) in options {
        match section.setting(&key) {
            Some(setting) if let SettingKind::Tables(section) = setting.kind => {
                tables(&mut table, setting, section, (&value, &place), findings);
            }
            Some(setting) if !matches!(setting.key, "name" | "source" | "url" | "file") => {
                table.set_text(setting, &value, &place, findings);
            }
            _ => findings.mistake(unknown_key(section, &key, &place)),
        }
    }
    Some(table)
}

/// Suffixes of files that are databases of SQLite.
const SQLITE_SUFFIXES: [&str; 4] = ["db", "db3", "sqlite", "sqlite3"];
/// Suffixes of files that are databases of DuckDB.
const DUCKDB_SUFFIXES: [&str; 2] = ["duckdb", "ddb"];

/// Returns whether `uri` is the path of a SQLite database.
fn is_sqlite_file(uri: &str) -> bool {
    !is_database(uri) && !uri.contains("://") && has_suffix(uri, &SQLITE_SUFFIXES)
}

fn has_suffix(uri: &str, suffixes: &[&str]) -> bool {
    let suffix = Path::new(uri).extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
    suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix))
}

/// Returns whether the URI is that of a database.
fn is_database(uri: &str) -> bool {
    salver_model::spec::DatabaseKind::of_url(uri).is_some()
}

/// Parses a list of tables in TOML: `schema=[{ name = "id", type = "int" }]`.
pub(super) fn tables(
    table: &mut Table,
    setting: &Setting,
    section: Section,
    (text, place): (&str, &SettingPlace),
    findings: &mut Findings,
) {
    let parsed = DeValue::parse(text).ok();
    let items = parsed.as_ref().and_then(|list| list.get_ref().as_array());
    let inner = |item: &DeValue<'_>, findings: &mut Findings| {
        let mut inner = Table::new(section, place.clone());
        for (key, value) in item.as_table()? {
            match section.setting(key.get_ref()) {
                Some(setting) => match value::from_toml(setting.kind, value.get_ref()) {
                    Ok(value) => inner.set(setting, value, place.clone()),
                    Err(fix) => {
                        let message = format!("`{}` is {}", setting.path(), setting.kind.words());
                        let fix = fix.unwrap_or_else(|| format!("for example {} = {}", setting.key, setting.example));
                        findings.mistake(Mistake::new(place, message).with_hint(fix));
                    }
                },
                None => findings.mistake(unknown_key(section, key.get_ref(), place)),
            }
        }
        Some(inner)
    };
    let made: Option<Vec<Table>> =
        items.and_then(|items| items.iter().map(|item| inner(item.get_ref(), findings)).collect());
    match made {
        Some(made) => table.tables.extend(made),
        None => {
            let message = format!("`{}` can't be `{text}`: it is {}", setting.path(), setting.kind.words());
            let hint = format!("write {}={}, the whole in single quotes for the shell", setting.key, setting.example);
            findings.mistake(Mistake::new(place, message).with_hint(hint));
        }
    }
}

/// Splits off `NAME=`. A path or URL may contain `=` too, but a name has neither slashes nor, here, commas.
fn split_name(text: &str) -> (Option<&str>, &str) {
    if Path::new(text).exists() {
        return (None, text);
    }
    match text.split_once('=') {
        Some((name, rest)) if !name.is_empty() && !name.contains(['/', ',', '?', '*']) => (Some(name), rest),
        _ => (None, text),
    }
}

/// Splits `URI,key=value,...`. A part without a key belongs to the one before it, so that lists (`key=a,b`), the comma
/// itself (`delimiter=,`) and URLs with commas can be written.
fn split_options(text: &str) -> (String, Vec<(String, String)>) {
    let mut uri = String::new();
    let mut options: Vec<(String, String)> = Vec::new();
    if Path::new(text).exists() {
        return (text.to_owned(), options);
    }
    for (index, part) in parts(text).into_iter().enumerate() {
        let option = part.split_once('=').filter(|(key, _)| {
            index > 0 && !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        });
        match (option, options.last_mut()) {
            (Some((key, value)), _) => options.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(',');
                value.push_str(part);
            }
            (None, None) => {
                if index > 0 {
                    uri.push(',');
                }
                uri.push_str(part);
            }
        }
    }
    (uri, options)
}

/// Splits at commas, except within the brackets of a list or a table: `schema=[{ ... }, { ... }]`.
fn parts(text: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.find('=').map_or(rest.len(), |at| at + 1);
        let is_value = rest[..start].trim_end_matches('=').bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        let bracketed = if is_value && !parts.is_empty() { bracketed_len(&rest[start..]) } else { None };
        let from = bracketed.map_or(0, |len| start + len);
        match rest[from..].find(',') {
            Some(at) => {
                parts.push(&rest[..from + at]);
                rest = &rest[from + at + 1..];
            }
            None => {
                parts.push(rest);
                return parts;
            }
        }
    }
}

/// Returns the length of the list or table at the start of `text`; `None` when there is none or it is not closed.
fn bracketed_len(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') if depth > 0 => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (None, _) if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Returns the entry name for a file: `data/uk_cities.csv.gz` is `uk_cities`.
fn stem(uri: &str) -> Option<&str> {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    let file = path.trim_end_matches('/').rsplit('/').next()?;
    let stem = file.split('.').find(|part| !part.is_empty())?;
    let usable = uri != "-" && !stem.contains(['*', '?', '[']);
    usable.then_some(stem)
}
