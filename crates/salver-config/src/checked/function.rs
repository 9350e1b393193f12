//! Validates `[[function]]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use salver_model::Name;
use salver_model::functions::Language;
use salver_model::spec::{FunctionSpec, SandboxLevel, SandboxSpec};

use super::required;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

pub(super) fn check_all(tables: &[Table], findings: &mut Findings) -> Vec<FunctionSpec> {
    let mut specs: Vec<FunctionSpec> = Vec::new();
    for table in tables {
        let Some(spec) = check(table, findings) else { continue };
        if specs.iter().any(|other| other.name == spec.name) {
            let message = format!("there are two files of functions called `{}`", spec.name);
            findings.mistake(Mistake::new(table.place_of("name"), message).with_hint("give one of them a `name`"));
            continue;
        }
        specs.push(spec);
    }
    specs
}

fn check(table: &Table, findings: &mut Findings) -> Option<FunctionSpec> {
    let text = required(table, "file", findings)?;
    let file = PathBuf::from(text);
    let Some(language) = Language::of_file(&file) else {
        let message = format!("`{text}` is neither R nor Python by its name");
        findings.mistake(Mistake::new(table.place_of("file"), message).with_hint("name a file that ends in .R or .py"));
        return None;
    };
    let name = name(table, &file, findings)?;
    let path = path(table, findings);
    let (workers, workers_min) = (size(table, "workers"), size(table, "workers_min"));
    let plain = FunctionSpec::new(name, file, language);
    let workers_max = if workers == 0 { plain.workers_max.max(workers_min) } else { workers };
    if workers_min > workers_max {
        let message = format!("`workers_min` is more than `workers`, {workers_max}");
        findings.mistake(Mistake::new(table.place_of("workers_min"), message).with_hint("raise `workers`"));
    }
    let job_workers = match size(table, "job_workers") {
        0 => FunctionSpec::job_workers_of(workers_max),
        given => given,
    };
    if job_workers > workers_max {
        let message = format!("`job_workers` is more than `workers`, {workers_max}");
        findings.mistake(Mistake::new(table.place_of("job_workers"), message).with_hint("raise `workers`"));
    }
    let sandbox = sandbox(table, workers_max, findings);
    let bound = |key| Some(table.count(key)).filter(|bound| *bound > 0);
    Some(FunctionSpec {
        interpreter: table.text("interpreter").map(PathBuf::from),
        path,
        workers_min,
        workers_max,
        waiting_max: size(table, "waiting_max"),
        wait: Duration::from_millis(table.count("wait")),
        timeout: bound("timeout").map(Duration::from_millis),
        job_workers,
        job_timeout: bound("job_timeout").map(Duration::from_millis),
        memory_bytes_max: bound("memory_bytes_max"),
        calls_max: bound("calls_max"),
        environment: table.pairs("environment").map(<[_]>::to_vec).unwrap_or_default(),
        inherited: table.texts("inherit_environment").unwrap_or_default().to_vec(),
        sandbox,
        ..plain
    })
}

/// Returns the sandbox of the file, whose parts must fit each other.
fn sandbox(table: &Table, workers_max: usize, findings: &mut Findings) -> SandboxSpec {
    let word = table.text("sandbox").unwrap_or_default();
    let level = SandboxLevel::ALL.into_iter().find(|level| level.word() == word).unwrap_or_default();
    let (network, processes) = (table.bool("network"), size(table, "processes_max"));
    let mut wrong = |key: &str, message: String, hint: &str| {
        findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
    };
    let run_as = table.text("run_as");
    // The name is a word of commands, and a field of a line.
    if let Some(name) = run_as
        && (name.is_empty() || name.starts_with('-') || name.contains(|c: char| c == ':' || c == '/' || c <= ' '))
    {
        wrong("run_as", format!("`{name}` is not the name of a user"), "write run_as = \"nobody\"");
    }
    if level == SandboxLevel::Off {
        for (key, is_asked) in [("network", !network), ("processes_max", processes > 0)] {
            if is_asked {
                let message = format!("`{key}` needs a sandbox, which `sandbox = \"off\"` takes away");
                wrong(key, message, "write sandbox = \"basic\", or leave `sandbox` out");
            }
        }
    }
    if processes > 0 && processes <= workers_max {
        let message = format!("`processes_max` is not more than `workers`, {workers_max}");
        wrong("processes_max", message, "the process that loads the file, and threads, count as well: raise it");
    }
    let bound = |key| Some(table.count(key)).filter(|bound| *bound > 0);
    let (open_files_max, processes_max) = (bound("open_files_max"), bound("processes_max"));
    SandboxSpec { level, run_as: run_as.map(str::to_owned), network, open_files_max, processes_max }
}

fn size(table: &Table, key: &str) -> usize {
    usize::try_from(table.count(key)).unwrap_or(usize::MAX)
}

/// Returns `name`, or the name of the file.
fn name(table: &Table, file: &Path, findings: &mut Findings) -> Option<Name> {
    if table.text("name").is_some() {
        return super::name(table, "name", findings);
    }
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let proved = Name::new(stem)
        .map_err(|error| Mistake::from_error(table.place_of("file"), &error).with_hint("give it another with `name`"));
    findings.keep(proved)
}

/// Returns `path` without a trailing slash.
fn path(table: &Table, findings: &mut Findings) -> String {
    let text = table.text("path").unwrap_or_default();
    let path = text.trim_end_matches('/');
    let is_path = path.is_empty() || path.starts_with('/');
    if !is_path || path.contains(['?', '#', '%']) || path.contains("//") {
        let message = format!("`{text}` is not the beginning of a path");
        findings.mistake(Mistake::new(table.place_of("path"), message).with_hint("write path = \"/maths\""));
    }
    path.to_owned()
}
