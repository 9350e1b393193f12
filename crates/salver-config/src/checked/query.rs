//! Validates `[[view]]`, `[[query]]` and the files of `server.queries`. What is in their SQL is known when the catalog
//! is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::spec::{DatasetSpec, ParameterSpec, QuerySpec, RunsAs, StreamSpec, ViewSpec};
use salver_model::{Code, Error, Name, ParameterType, Result};

use super::{required, stream};
use crate::keys::Section;
use crate::mistake::{Findings, Mistake, Warning};
use crate::raw::{Raw, Table};
use crate::setting_place::SettingPlace;
use crate::sql_header;

/// Ending of the files of queries.
const SUFFIX: &str = "sql";
/// Parameter that requests choose the format with.
const FORMAT: &str = "format";

/// Returns the views. None has the name of a dataset, a stream or a database.
pub(super) fn views(
    raw: &Raw,
    datasets: &[DatasetSpec],
    streams: &[StreamSpec],
    findings: &mut Findings,
) -> Vec<ViewSpec> {
    let mut views: Vec<ViewSpec> = Vec::new();
    for table in &raw.views {
        let (name, sql) = (super::name(table, "name", findings), required(table, "sql", findings));
        let (Some(name), Some(sql)) = (name, sql) else { continue };
        let is_of_database = |database: &Table| super::is_of_database(database, &name);
        let is_taken = has_entry(datasets, streams, &name) || views.iter().any(|other| other.name == name);
        if is_taken || raw.databases.iter().any(is_of_database) {
            let message = format!("there is another dataset, stream, database or view called `{name}`");
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("rename one"));
            continue;
        }
        views.push(ViewSpec { name, sql: sql.to_owned(), runs_as: runs_as(table) });
    }
    views
}

fn has_entry(datasets: &[DatasetSpec], streams: &[StreamSpec], name: &Name) -> bool {
    datasets.iter().any(|other| other.name == *name) || streams.iter().any(|other| stream::has_entry(other, name))
}

fn runs_as(table: &Table) -> RunsAs {
    if table.text("runs_as") == Some(RunsAs::Owner.word()) { RunsAs::Owner } else { RunsAs::Caller }
}

/// Returns the queries: the declared ones, then those of the files in `folder`, by name. None has the name of one of
/// the entries: a rule about it would be about both.
pub(super) fn queries(
    raw: &Raw,
    folder: Option<&Path>,
    (datasets, streams, views): (&[DatasetSpec], &[StreamSpec], &[ViewSpec]),
    findings: &mut Findings,
) -> Vec<QuerySpec> {
    let declared =
        raw.queries.iter().filter_map(|table| Some((table.place_of("name").clone(), query(table, findings)?)));
    let mut found: Vec<(SettingPlace, QuerySpec)> = declared.collect();
    let files = folder.map(|folder| files(folder, raw.server.place_of("queries"), findings));
    for file in files.unwrap_or_default() {
        let place = SettingPlace::File(Arc::new(file.clone()), 0, 0);
        found.extend(of_file(&file, &place, findings).map(|spec| (place, spec)));
    }
    let mut queries: Vec<QuerySpec> = Vec::new();
    for (place, spec) in found {
        let name = &spec.name;
        let is_entry = has_entry(datasets, streams, name) || views.iter().any(|view| view.name == *name);
        if is_entry {
            let message = format!("the query `{name}` has the name of an entry");
            let hint = "rename one, so that rules can tell them apart";
            findings.mistake(Mistake::new(&place, message).with_hint(hint));
        } else if queries.iter().any(|other| other.name == *name) {
            let message = format!("there are two queries called `{name}`");
            findings.mistake(Mistake::new(&place, message).with_hint("rename one"));
        } else {
            queries.push(spec);
        }
    }
    queries
}

fn query(table: &Table, findings: &mut Findings) -> Option<QuerySpec> {
    let name = super::name(table, "name", findings);
    let sql = required(table, "sql", findings);
    let mut parameters: Vec<ParameterSpec> = Vec::new();
    for part in table.tables.iter().filter(|part| part.section == Section::Parameter) {
        let Some(parameter) = parameter(part, findings) else { continue };
        add(&mut parameters, parameter, part.place_of("name"), findings);
    }
    Some(QuerySpec {
        name: name?,
        sql: sql?.to_owned(),
        description: table.text("description").unwrap_or_default().to_owned(),
        parameters,
        runs_as: runs_as(table),
        file: None,
    })
}

fn parameter(table: &Table, findings: &mut Findings) -> Option<ParameterSpec> {
    let name = required(table, "name", findings)?;
    Some(ParameterSpec {
        name: name.to_owned(),
        kind: table.text("type").and_then(ParameterType::named),
        default: table.text("default").map(str::to_owned),
        required: table.bool("required"),
        description: table.text("description").unwrap_or_default().to_owned(),
    })
}

/// Adds a parameter, unless it has a name that it can't have.
fn add(parameters: &mut Vec<ParameterSpec>, parameter: ParameterSpec, place: &SettingPlace, findings: &mut Findings) {
    let name = &parameter.name;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (message, hint) = if !is_name {
        (format!("`{name}` is not a name of a parameter"), "write it without `$`, of letters, digits and `_`")
    } else if name == FORMAT {
        (format!("`{name}` chooses the format of the rows"), "give the parameter another name")
    } else if parameters.iter().any(|other| other.name == *name) {
        (format!("there are two parameters called `{name}`"), "rename one")
    } else {
        if let (Some(kind), Some(default)) = (parameter.kind, parameter.default.as_deref())
            && kind.parse(default).is_none()
        {
            let message = format!("the default of `{name}` is `{default}`, and not {}", kind.example());
            findings.mistake(Mistake::new(place, message));
        }
        parameters.push(parameter);
        return;
    };
    findings.mistake(Mistake::new(place, message).with_hint(hint));
}

/// Returns the files of queries, by name.
fn files(folder: &Path, place: &SettingPlace, findings: &mut Findings) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>());
    match listed {
        Ok(mut files) => {
            files.retain(|file| {
                let is_hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
                !is_hidden && file.extension().is_some_and(|suffix| suffix == SUFFIX)
            });
            files.sort();
            files
        }
        Err(error) => {
            let message = format!("the folder of queries `{}` can't be read: {error}", folder.display());
            findings.warning(Warning::new(place, message).with_hint("name a folder with a NAME.sql for each query"));
            Vec::new()
        }
    }
}

/// Returns the query in a file.
fn of_file(file: &Path, place: &SettingPlace, findings: &mut Findings) -> Option<QuerySpec> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let name = findings.keep(Name::new(stem).map_err(|error| Mistake::from_error(place, &error)))?;
    let sql = std::fs::read_to_string(file).map_err(|error| {
        Mistake::new(place, format!("can't be read: {error}")).with_hint("it is text in UTF-8 that the server may read")
    });
    let sql = findings.keep(sql)?;
    Some(of_text(name, &sql, file, findings))
}

/// Returns the query of this text, which is that of `file`.
fn of_text(name: Name, text: &str, file: &Path, findings: &mut Findings) -> QuerySpec {
    // Editors of Windows begin a text with a byte order mark.
    let sql = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    let header = sql_header::read(&sql);
    let at = |line| SettingPlace::File(Arc::new(file.to_owned()), line, 1);
    for (line, message) in header.mistakes {
        let hint = "write `-- param NAME TYPE = DEFAULT -- DESCRIPTION`, of which all behind the name may be left out";
        findings.mistake(Mistake::new(&at(line), message).with_hint(hint));
    }
    let mut parameters = Vec::new();
    for (line, parameter) in header.parameters {
        add(&mut parameters, parameter, &at(line), findings);
    }
    let (description, runs_as) = (header.description, RunsAs::Caller);
    QuerySpec { name, sql, description, parameters, runs_as, file: Some(file.to_owned()) }
}

/// Returns the query that a file called `NAME.sql` with this text is.
///
/// # Errors
/// `InvalidName` for what is no name of a file, too, and `InvalidSql` with the line of a comment that is wrong.
pub fn query_of_text(name: &str, text: &str) -> Result<QuerySpec> {
    let valid = Name::new(name)?;
    if !is_of_file(name) {
        let message = format!("`{name}` can't be the name of a query: it is no name of a file on every system");
        return Err(Error::new(Code::InvalidName, message).with_hint("choose a name like `people_of`"));
    }
    let mut findings = Findings::default();
    let spec = of_text(valid, text, Path::new(&format!("{name}.{SUFFIX}")), &mut findings);
    match findings.finish() {
        Ok(_) => Ok(spec),
        Err(mistakes) => Err(mistakes.first().map_or_else(|| Error::internal("a mistake without a message"), told)),
    }
}

/// Returns whether every system takes a name for one of a file: Windows has some for devices, whatever follows a dot.
fn is_of_file(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device).and_then(|number| number.parse::<u8>().ok());
        stem.len() == device.len() + 1 && number.is_some_and(|number| number > 0)
    };
    let is_device = ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt");
    !is_device
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && !name.contains(['\\', ':', '*', '?', '"', '<', '>', '|'])
}

fn told(mistake: &Mistake) -> Error {
    let at = mistake.place.line().map(|line| format!(" at line {line}, column 1")).unwrap_or_default();
    Error::new(Code::InvalidSql, format!("{}{at}", mistake.message)).with_hint_if(mistake.hint.clone())
}
