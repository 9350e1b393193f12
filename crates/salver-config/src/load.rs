//! Merges defaults, file, environment and command line, in that order, and validates the result.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::checked::reserved::ServerInputs;
use crate::checked::{self, Checked};
use crate::keys::{SETTINGS, Section};
use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::placeholders::Placeholders;
use crate::raw::{Raw, Table, arguments, environment, file};
use crate::setting_place::SettingPlace;
use crate::setting_sources::{Override, Sources};
use crate::value::Value;

/// Reads and validates all settings.
///
/// # Errors
/// Returns every mistake, in the order of their places.
pub fn load(sources: &Sources) -> Result<(Checked, Vec<Warning>), Vec<Mistake>> {
    let mut findings = Findings::default();
    let mut raw = match &sources.file {
        Some(path) => read_file(path, sources, &mut findings),
        None => Raw::new(),
    };
    environment::read(&sources.environment, &mut raw, &mut findings);
    for given in &sources.overrides {
        read_override(given, &mut raw, &mut findings);
    }
    for text in &sources.datasets {
        if let Some(table) = arguments::read(text, &mut findings) {
            // Only entries declared before this run can be replaced; the same name twice here is a mistake.
            let typed_before = |other: &Table| matches!(other.place, SettingPlace::CommandLine(_));
            let list = match table.section {
                Section::Database => &mut raw.databases,
                Section::Function => &mut raw.functions,
                _ => &mut raw.datasets,
            };
            let is_replaced = |other: &Table| !typed_before(other) && other.text("name") == table.text("name");
            if let Some(ruled) = list.iter().find(|other| is_replaced(other) && is_ruled(other)) {
                findings.mistake(unruled(&table, ruled));
            }
            list.retain(|other| !is_replaced(other));
            list.push(table);
        }
    }
    raw.refuse_empty_locations(&mut findings);
    raw.fill();
    let mut checked = checked::check(&raw, sources, &mut findings);
    checked.add_databases(&sources.discovered_databases, sources.file.as_deref(), &mut findings);
    checked.add_functions(&sources.discovered_functions);
    let given = ServerInputs { file: sources.file.as_deref(), discovered: &sources.discovered };
    checked::reserved::keep_apart(&raw, &mut checked, given, &mut findings);
    checked::database::functions_are_there(&raw.databases, &checked.functions, &mut findings);
    findings.finish().map(|warnings| (checked, warnings))
}

/// Returns whether access to a database is restricted for some callers.
fn is_ruled(table: &Table) -> bool {
    let keys = ["tenant", "tables", "before", "after"];
    let says = |key: &str| table.written.iter().any(|written| written.setting.key == key);
    table.section == Section::Database && (!table.tables.is_empty() || keys.into_iter().any(says))
}

/// Returns the mistake that the command line would remove the rules of a database.
fn unruled(table: &Table, ruled: &Table) -> Mistake {
    let name = table.text("name").unwrap_or_default();
    let message = format!("this would replace the [[database]] `{name}` of {}, with its rules", ruled.place);
    Mistake::new(&table.place, message).with_hint("change it where it is declared, or leave it out here")
}

fn read_file(path: &Path, sources: &Sources, findings: &mut Findings) -> Raw {
    let shared = Arc::new(path.to_owned());
    let read = || std::fs::read(path).map(String::from_utf8);
    let text = match sources.text.as_ref().map_or_else(read, |text| Ok(Ok(text.reveal().to_owned()))) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => {
            let place = SettingPlace::File(shared, 0, 0);
            findings.mistake(Mistake::new(&place, "this is not text in UTF-8").with_hint("save it as UTF-8"));
            return Raw::new();
        }
        Err(error) => {
            let mistake = Mistake::new(&SettingPlace::File(shared, 0, 0), format!("can't be read: {error}"));
            let hint = match error.kind() {
                io::ErrorKind::NotFound => "`salver config example > salver.toml` writes one to start from",
                io::ErrorKind::PermissionDenied => "check that the user who runs salver may read it",
                _ => "name a file of settings, like `--config salver.toml`",
            };
            findings.mistake(mistake.with_hint(hint));
            return Raw::new();
        }
    };
    // `./a.csv` and `a.csv` are the same file; the shorter one reads better.
    let directory = path.parent().filter(|parent| *parent != Path::new(".")).unwrap_or(Path::new(""));
    let given = Placeholders { environment: &sources.environment, directory };
    let mut raw = file::read(&shared, &text, &given, findings);
    for table in &mut raw.datasets {
        relate(table, "source", directory);
        relate(table, "store_credentials_file", directory);
    }
    for table in &mut raw.databases {
        relate_sqlite(table, directory);
        relate(table, "init", directory);
    }
    for table in &mut raw.streams {
        relate(table, "dir", directory);
        relate(table, "delta", directory);
        if table.text("schema").is_some_and(|text| !checked::stream::is_schema(text)) {
            relate(table, "schema", directory);
        }
    }
    for table in &mut raw.functions {
        relate(table, "file", directory);
    }
    relate(&mut raw.server, "data_dir", directory);
    relate(&mut raw.server, "queries", directory);
    for key in ["basic_file", "api_keys_file", "jwt_key_set", "oidc_client_secret_file"] {
        relate(&mut raw.auth, key, directory);
    }
    for key in ["tls_certificate", "tls_key", "tls_client_ca", "acme_ca"] {
        relate(&mut raw.server, key, directory);
    }
    raw
}

/// Makes the path of a SQLite database relative to `directory`.
fn relate_sqlite(table: &mut Table, directory: &Path) {
    for written in table.written.iter_mut().filter(|written| written.setting.key == "url") {
        if let Value::Text(url) = &mut written.value
            && let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.starts_with(":memory:"))
            && let Some(joined) = directory.join(path.strip_prefix("//").unwrap_or(path)).to_str()
        {
            *url = format!("sqlite:{joined}");
        }
    }
}

/// Makes the relative paths of a setting relative to `directory`.
fn relate(table: &mut Table, key: &str, directory: &Path) {
    let relate = |text: &mut String| {
        if !text.is_empty()
            && text != "-"
            && !text.contains("://")
            && let Some(joined) = directory.join(&*text).to_str()
        {
            *text = joined.to_owned();
        }
    };
    for written in table.written.iter_mut().filter(|written| written.setting.key == key) {
        match &mut written.value {
            Value::Text(text) => relate(text),
            Value::Texts(texts) => texts.iter_mut().for_each(relate),
            Value::Bool(_) | Value::Count(_) | Value::Pairs(_) => {}
        }
    }
}

fn read_override(given: &Override, raw: &mut Raw, findings: &mut Findings) {
    let place = SettingPlace::CommandLine(given.typed.as_str().into());
    let setting = SETTINGS.iter().find(|setting| setting.path() == given.key);
    match setting.and_then(|setting| Some((setting, raw.single(setting.section)?))) {
        Some((setting, table)) => table.set_text(setting, &given.value, &place, findings),
        None => findings.mistake(Mistake::new(&place, format!("there is no setting `{}`", given.key))),
    }
}
