//! Converts arguments to settings in force: finds the configuration file, discovers the files of directories, and
//! passes both with the environment to `salver-config`.

use std::path::{Path, PathBuf};

use salver_config::{ArgumentTarget, Checked, Override, Sources, Warning};
use salver_model::spec::Secret;
use salver_model::{Code, Error};

use crate::cli::{CheckArguments, ServeArguments, SourceArguments};
use crate::failure::CommandFailure;
use crate::{logging, output, secrets};

/// Name of the configuration file in a directory.
const FILE_NAME: &str = "salver.toml";

/// Datasets that a command requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// At least one.
    Datasets,
    /// At least one, if the arguments name any.
    WhatIsNamed,
    /// None; a configuration file suffices.
    Settings,
}

/// Settings in force, and what they were made of.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) checked: Checked,
    /// With the text of the configuration file as it was read.
    pub(crate) sources: Sources,
    /// Directories of which every supported file is an entry.
    pub(crate) directories: Vec<PathBuf>,
}

/// Reads and validates all settings, and prints warnings.
pub(crate) fn load(
    arguments: &SourceArguments,
    overrides: Vec<Override>,
    need: Need,
) -> Result<Checked, CommandFailure> {
    load_whole(arguments, overrides, need).map(|loaded| loaded.checked)
}

/// Does the same, and returns what the settings were made of, too.
fn load_whole(arguments: &SourceArguments, overrides: Vec<Override>, need: Need) -> Result<Loaded, CommandFailure> {
    let mut sources = sources(arguments)?;
    sources.overrides.extend(overrides);
    // Should it fail here, the same is tried again, and reported.
    sources.text = sources.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).map(Secret::new);
    let (checked, warnings) = salver_config::load(&sources).map_err(CommandFailure::Mistakes)?;
    logging::mask(secrets::secrets(&checked));
    // Arguments that name nothing usable are most likely a typing error.
    let is_named = !arguments.targets.is_empty() || !arguments.settings.tables.is_empty();
    let only_datasets = checked.databases.is_empty() && checked.streams.is_empty() && checked.functions.is_empty();
    if need == Need::Datasets && is_named && only_datasets && checked.is_all_missing() {
        return Err(CommandFailure::Error(all_missing(&checked, &warnings)));
    }
    output::warnings(&warnings);
    let enough = match need {
        Need::Datasets => false,
        Need::WhatIsNamed => arguments.targets.is_empty(),
        Need::Settings => sources.file.is_some(),
    };
    if checked.datasets.is_empty() && only_datasets && !enough {
        return Err(CommandFailure::Error(nothing(&sources, arguments)));
    }
    let (directories, _) = targets(arguments);
    Ok(Loaded { checked, sources, directories })
}

/// Reads and validates the settings of a server.
pub(crate) fn of_server(arguments: &ServeArguments) -> Result<Loaded, CommandFailure> {
    let listen = given("server.listen", "listen", arguments.listen.as_deref());
    let insecure = given("server.insecure", "insecure", arguments.insecure.then_some("true"));
    let no_wait = given("server.data_dir_in_use", "no-wait", arguments.no_wait.then_some("end"));
    let given = listen.into_iter().chain(insecure).chain(no_wait).collect();
    load_whole(&arguments.sources, given, Need::Datasets)
}

/// Reads and validates the settings that a server with these arguments would have; also of a file that declares nothing
/// to serve yet.
pub(crate) fn of_check(arguments: &CheckArguments) -> Result<Loaded, CommandFailure> {
    let listen = given("server.listen", "listen", arguments.listen.as_deref());
    let insecure = given("server.insecure", "insecure", arguments.insecure.then_some("true"));
    load_whole(&arguments.sources, listen.into_iter().chain(insecure).collect(), Need::Settings)
}

/// Returns the variables of the environment that are text.
///
/// # Errors
/// `Config` for a variable of ours that is not: what it says may be what keeps others out.
fn environment() -> Result<Vec<(String, String)>, Error> {
    let mut all = Vec::new();
    for (name, value) in std::env::vars_os() {
        let shown = name.to_string_lossy().into_owned();
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => all.push((name, value)),
            _ if shown.starts_with("SALVER_") => {
                return Err(Error::new(Code::Config, format!("the variable `{shown}` is not text in UTF-8"))
                    .with_hint("write it in UTF-8, or unset it"));
            }
            _ => {}
        }
    }
    Ok(all)
}

/// Returns the sources of settings for the arguments.
pub(crate) fn sources(arguments: &SourceArguments) -> Result<Sources, CommandFailure> {
    let mut sources =
        Sources { file: arguments.settings.config.clone(), environment: environment()?, ..Sources::default() };
    let (directories, datasets) = targets(arguments);
    for text in &datasets {
        // With a name or options it is the one sheet that these are for.
        if Path::new(text).is_file() {
            sources.sheets.extend(salver_datasets::further_sheets(Path::new(text))?);
        }
    }
    sources.datasets = datasets;
    if sources.file.is_none() {
        sources.file = find_file(&directories)?;
    }
    if arguments.targets.is_empty() && arguments.settings.tables.is_empty() && sources.file.is_none() {
        sources.file = Some(PathBuf::from(FILE_NAME)).filter(|path| path.is_file());
    }
    for directory in &directories {
        sources.discovered_databases.extend(salver_records::discover(directory));
        sources.discovered_functions.extend(crate::functions::discover(directory));
        let (found, left_out) = salver_datasets::discover(directory)?;
        for error in left_out {
            output::note(&format!("warning: left out: {}", output::with_hint(&error)));
        }
        for spec in found {
            if sources.discovered.iter().any(|other| other.name == spec.name) {
                let files = spec.sources.join(", ");
                output::note(&format!("warning: `{files}` is left out: there is a `{}` already", spec.name));
            } else {
                sources.discovered.push(spec);
            }
        }
    }
    let settings = &arguments.settings;
    for (key, flag, value) in
        [("server.data_dir", "data-dir", &settings.data_dir), ("server.log", "log", &settings.log)]
    {
        sources.overrides.extend(given(key, flag, value.as_deref()));
    }
    Ok(sources)
}

/// Returns the directories and the entries that the arguments name.
fn targets(arguments: &SourceArguments) -> (Vec<PathBuf>, Vec<String>) {
    let (mut directories, mut datasets) = (Vec::new(), Vec::new());
    for argument in arguments.targets.iter().chain(&arguments.settings.tables) {
        match salver_config::target(argument) {
            ArgumentTarget::Directory(directory) => directories.push(directory),
            ArgumentTarget::Dataset(text) => datasets.push(text),
        }
    }
    (directories, datasets)
}

/// Returns a setting given by an option.
pub(crate) fn given(key: &'static str, flag: &str, value: Option<&str>) -> Option<Override> {
    value.map(|value| Override { key, value: value.to_owned(), typed: format!("--{flag} {value}") })
}

/// Finds the only configuration file in `directories`.
fn find_file(directories: &[PathBuf]) -> Result<Option<PathBuf>, CommandFailure> {
    let mut files = directories.iter().map(|directory| directory.join(FILE_NAME)).filter(|path| path.is_file());
    let first = files.next();
    if let (Some(first), Some(second)) = (&first, files.next()) {
        let message = format!("there are two configurations, `{}` and `{}`", first.display(), second.display());
        let error = Error::new(Code::Config, message).with_hint("say which to use with `--config FILE`");
        return Err(CommandFailure::Usage(error));
    }
    Ok(first)
}

/// Returns the error that none of the named files exist.
fn all_missing(checked: &Checked, warnings: &[Warning]) -> Error {
    let sources: Vec<String> =
        checked.datasets.iter().flat_map(|spec| &spec.sources).map(|source| format!("`{source}`")).collect();
    let hint = warnings.iter().find_map(|warning| warning.hint.clone());
    Error::new(Code::Config, format!("there is no file or directory {}", sources.join(", ")))
        .with_hint(hint.unwrap_or_else(|| "check the path; a relative one starts at the current directory".to_owned()))
}

/// Returns the reason why there is nothing to serve.
fn nothing(sources: &Sources, arguments: &SourceArguments) -> Error {
    let formats = "files end in csv, tsv, json, ndjson, geojson, parquet, arrow, avro, xlsx, ods, also with gz, bz2, \
        xz or zst";
    if let Some(directory) = arguments.targets.iter().find(|target| Path::new(target).is_dir()) {
        return Error::new(Code::Config, format!("no file in `{directory}` can be read as rows")).with_hint(formats);
    }
    match &sources.file {
        Some(file) => {
            let message =
                format!("`{}` declares no [[dataset]], [[database]], [[stream]] or [[function]]", file.display());
            Error::new(Code::Config, message)
                .with_hint("`salver config example` shows how, or name files on the command line")
        }
        None => Error::new(Code::Config, format!("nothing to read: no argument, and no `{FILE_NAME}` here"))
            .with_hint("name a directory or files, like `salver serve data/` or `salver serve cities=uk_cities.csv`"),
    }
}
